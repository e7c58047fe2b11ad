"""Tables in a line: the row that changed most, or the largest, and a link."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import NamedTuple

from pprofdiff.plots.axes import shortened
from pprofdiff.report.rows import Row, Section, Table
from pprofdiff.report.sections import tiles
from pprofdiff.report.sections.changes import capitalized

# A line has room for this much of a name next to two values.
_NAME = 60
# Who pays for the runtime's work, and whose goroutines wait for a P.
_TABLES = ("payers", "goroutines.runnable")


def most_changed(table: Table) -> str:
    """Return the marked row that changed most, as ``json.Marshal 12.43 → 0 %``, or "".

    Rows are ranked by delta if all deltas have the same unit, else by ratio.
    """
    rows = [row for row in table.rows if not row.strong and has_changed(row)]
    delta, ratio = table.place("delta"), table.place("ratio")
    units = {row.cells[delta].unit for row in rows} if delta >= 0 else set()
    if len(units) == 1:
        rows.sort(key=lambda row: -abs(row.cells[delta].value or 0.0))
    elif ratio >= 0:
        rows.sort(key=lambda row: -_factor(row.cells[ratio].value))
    else:
        rows = []
    return _words(table, rows[0]) if rows else ""


def largest(table: Table) -> str:
    """Return the row with the largest value on either side, formatted the same way."""
    sides = [table.place(role) for role in ("base", "new")]

    def size(row: Row) -> float:
        return max(abs(row.cells[side].value or 0.0) for side in sides)

    rows = [row for row in table.rows if not row.strong]
    return _words(table, max(rows, key=size)) if rows and min(sides) >= 0 else ""


def _words(table: Table, row: Row) -> str:
    """Return a row as ``name base → new unit``, "" if it lacks one of these."""
    name, base, new = (table.place(role) for role in ("name", "base", "new"))
    if min(name, base, new) < 0:
        return ""
    cells = row.cells
    values = f"{cells[base].text} → {cells[new].label} {table.columns[new].unit}"
    return f"{shortened(cells[name].text, _NAME)} {values}".rstrip()


def has_changed(row: Row) -> bool:
    """Return whether any value in a row changed significantly."""
    return any(cell.mark in ("more", "less") for cell in row.cells)


def _factor(ratio: float | None) -> float:
    if ratio is None:
        return 0.0
    return max(ratio, 1 / ratio) if ratio > 0 else inf


class Asked(NamedTuple):
    """A table's title, its place on the page, and what it shows in one line.

    `lead` states the section's totals. `names` names rows, which are looked up first in
    the flame graph whose address begins with `view`.
    """

    lead: str
    title: str
    anchor: str
    names: str
    view: str


def asked(sections: Sequence[Section], anchors: Iterable[str]) -> Iterator[Asked]:
    """Yield who pays for GC and who waits for a P, from sections with such tables."""
    for section, anchor in zip(sections, anchors, strict=True):
        for table in section.tables:
            if table.key in _TABLES and table.rows:
                most, changed = largest(table), most_changed(table)
                names = f"largest: {most}"
                if most == changed:
                    names = f"largest, and changed most: {most}"
                elif changed:
                    names += f"; changed most: {changed}"
                yield Asked(
                    lead=_totals(section) if section.diff is None else "",
                    title=table.heading,
                    anchor=f"{anchor}-{table.key}",
                    names=names,
                    view="" if section.diff is None else section.diff.name,
                )


def _totals(section: Section) -> str:
    return " ".join(
        f"{capitalized(one.name)} {one.values} ({one.change.signed})."
        for one in tiles(section)
    )
