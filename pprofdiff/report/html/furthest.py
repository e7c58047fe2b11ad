"""One row that summarizes a folded table: the largest, or the one that changed most."""

from __future__ import annotations

from pprofdiff.plots.axes import shortened
from pprofdiff.report.rows import Row, Table

# A line has room for this much of a name next to two values.
_NAME = 60


def moved_furthest(table: Table) -> str:
    """Return the marked row that changed most, as ``json.Marshal 12.43 → 0 %``.

    Rows are ranked by delta if all deltas have the same unit, else by ratio. Returns ""
    if no row is marked as changed.
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


def has_moved(row: Row) -> bool:
    """Return whether any value in a row changed significantly."""
    return any(cell.mark in ("more", "less") for cell in row.cells)


def _factor(ratio: float | None) -> float:
    """Return the factor by which a row changed, up or down."""
    if ratio is None:
        return 0.0
    return max(ratio, 1 / ratio) if ratio > 0 else float("inf")
