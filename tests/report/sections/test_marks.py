"""What marks mean is said of those that stand in tables, and of no others."""

from __future__ import annotations

import pytest

from pprofdiff.report.rows import Cell, Column, Mark, Row, Table, name_column
from pprofdiff.report.sections.changes import marks_legend

SAID: dict[Mark, str] = {"more": "▲", "less": "▼", "noise": "~", "": "o mark"}


def table(*cells: Cell, signs: bool = True, role="delta") -> Table:
    """Return a table of one change a row."""
    columns = (name_column(""), Column("Δ", role, signs=signs))
    rows = (Row(str(i), "figure", (Cell("f"), cell)) for i, cell in enumerate(cells))
    return Table("moved", columns, tuple(rows))


def legend(*tables: Table) -> str:
    """Return what is said of tables."""
    return " ".join(sentence.text for sentence in marks_legend(tables))


@pytest.mark.parametrize("marks", [("more",), ("less", "noise"), ("", "more"), ("",)])
def test_marks_that_stand_there_and_no_others(marks):
    text = legend(*(table(Cell("+1", 1.0, mark=mark)) for mark in marks))
    assert {mark for mark, said in SAID.items() if said in text} == set(marks)


def test_nothing_is_said_where_nothing_changed():
    assert legend(table(Cell("0.00", 0.0)), table(Cell("", None))) == ""
    assert (
        legend(Table("names", (name_column("f"),), (Row("f", "rule", (Cell("f"),)),)))
        == ""
    )


def test_a_mark_that_is_not_drawn_is_none():
    assert legend(table(Cell("+1", 1.0, mark="more"), signs=False)) == legend(
        table(Cell("+1", 1.0))
    )


def test_ratios_are_the_changes_where_there_are_no_deltas():
    assert "▼" in legend(table(Cell("0.5×", 0.5, mark="less"), role="ratio"))


def test_what_moved_most_in_a_row_is_a_change():
    name = Cell("allocs", -1.0, mark="less", detail="▼ −1 points  f")
    assert "▼" in legend(
        Table("glance", (name_column(""),), (Row("a", "figure", (name,)),))
    )
