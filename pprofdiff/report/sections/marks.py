"""What the marks in tables mean: those that occur, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pprofdiff.report.rows import MARKS, Mark, Sentence, Table
from pprofdiff.report.sections.changes import capitalized


def marks_legend(tables: Iterable[Table]) -> Iterator[Sentence]:
    """Yield a sentence on the marks of changes, and on changes without one, if any."""
    seen = {mark for table in tables for mark in _marks(table)}
    signs = [MARKS[mark] for mark in ("more", "less") if mark in seen]
    words = []
    if signs:
        words.append(f"{' '.join(signs)} significant")
    if "noise" in seen:
        words.append(f"{MARKS['noise']} within noise")
    if "" in seen:
        words.append("no mark: can't tell")
    if words:
        yield Sentence(f"{capitalized('; '.join(words))}.", "legend")


def _marks(table: Table) -> Iterator[Mark]:
    """Yield the mark of each change as drawn, "" for one without a sign.

    Changes are deltas, or ratios without deltas. What changed most in a row, after its
    name, is a change too; rows of means sum up what is marked.
    """
    place = table.place("delta")
    if place < 0:
        place = table.place("ratio")
    for row in table.rows:
        if place >= 0 and row.role != "mean":
            cell = row.cells[place]
            if cell.value != 0 and (cell.mark or cell.text.strip("0.")):
                yield cell.mark if table.columns[place].signs else ""
        name = row.cells[table.names]
        if name.value:
            yield name.mark
