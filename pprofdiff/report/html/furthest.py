"""Rows that stand for a folded table, in words: what moved furthest, what is most."""

from __future__ import annotations

from pprofdiff.plots.axes import shortened
from pprofdiff.report.rows import Row, Table

__all__ = ["has_moved", "largest", "moved_furthest"]

# A line has room for so much of a name beside two figures.
_NAME = 60


def moved_furthest(table: Table) -> str:
    """Return the marked row that moved furthest, as ``json.Marshal 12.43 → 0 %``.

    It is "" where nothing is marked as moved. By how much is told by the deltas, where
    all are in one unit, else by the ratios.
    """
    rows = [row for row in table.rows if not row.strong and has_moved(row)]
    delta, ratio = table.place("delta"), table.place("ratio")
    units = {row.cells[delta].unit for row in rows} if delta >= 0 else set()
    if len(units) == 1:
        rows.sort(key=lambda row: -abs(row.cells[delta].value or 0.0))
    elif ratio >= 0:
        rows.sort(key=lambda row: -_factor(row.cells[ratio].value))
    else:
        rows = []
    return _told(table, rows[0]) if rows else ""


def largest(table: Table) -> str:
    """Return the row that is largest on either side, as `moved_furthest` does."""
    sides = [table.place(role) for role in ("base", "new")]

    def size(row: Row) -> float:
        return max(abs(row.cells[side].value or 0.0) for side in sides)

    rows = [row for row in table.rows if not row.strong]
    return _told(table, max(rows, key=size)) if rows and min(sides) >= 0 else ""


def _told(table: Table, row: Row) -> str:
    """Return a row as ``name base → new unit``; "" where it has none of these."""
    name, base, new = (table.place(role) for role in ("name", "base", "new"))
    if min(name, base, new) < 0:
        return ""
    cells = row.cells
    values = f"{cells[base].text} → {cells[new].label} {table.columns[new].unit}"
    return f"{shortened(cells[name].text, _NAME)} {values}".rstrip()


def has_moved(row: Row) -> bool:
    """Return whether a figure of a row moved beyond what chance makes of it."""
    return any(cell.mark in ("more", "less") for cell in row.cells)


def _factor(ratio: float | None) -> float:
    """Return by what factor a row moved, up or down."""
    if ratio is None:
        return 0.0
    return max(ratio, 1 / ratio) if ratio > 0 else float("inf")
