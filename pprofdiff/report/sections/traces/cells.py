"""Cells that show base and new side by side, shared by tables on traces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor, log10

from msgspec.structs import replace

from pprofdiff.report.rows import (
    Cell,
    Column,
    Mark,
    Row,
    Table,
    Tone,
    name_column,
    sides,
)
from pprofdiff.units import Scale, percent, scale_for, times

Pair = tuple[float | None, float | None]

INDENT = 2
"""How far rows of a level are indented."""

# A ratio this close to 1 is not marked.
_ALIKE = 0.05
# Maximum decimals of a number.
_MOST = 5
# Units of time in ns; the smallest and the largest number of a column in them.
_TIMES = ((1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s"))
_LEAST, _LONG = 0.01, 1e6


def compared(
    name: str, pair: Pair, unit: str, *, worse: bool = False
) -> tuple[Cell, ...]:
    """Return the cells of a row: name, base, new, delta, ratio; marked if `worse`."""
    base, new = pair
    known = [value for value in pair if value is not None]
    scale = time_scale(known) if unit == "ns" else scale_for(known, unit)
    first, last = (_number(value, scale) for value in pair)
    suffix = scale.unit if any(pair) else ""
    named = Cell(name), Cell(first, base, unit)
    cells = (*named, Cell(last, new, unit, suffix=suffix))
    if base is None or new is None:
        return (*cells, Cell(""), Cell(""))
    delta = new - base
    mark: Mark = ""
    tone: Tone = ""
    if worse and abs(delta) > _ALIKE * base:
        mark, tone = ("more", "worse") if delta > 0 else ("less", "better")
    ratio = new / base if base else None
    return (
        *cells,
        Cell(_delta(base, new, scale), delta, unit, mark, tone),
        Cell(ratio_or_word(base, new), ratio, "", mark, tone),
    )


def _delta(base: float, new: float, scale: Scale) -> str:
    written = (_number(value, scale) for value in (base, new) if value)
    fine = min((len(text.partition(".")[2]) for text in written), default=0)
    fitting = scale._replace(decimals=max(scale.decimals, fine))
    number = fitting.number(new - base, signed=True)
    return number if number.strip("0.") else "0"


def in_one_unit(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return rows of `compared` with all their times in one unit."""
    scale = time_scale(cell.value for row in rows for cell in _times(row)[:2])
    return tuple(_rewritten(row, scale) for row in rows)


def _times(row: Row) -> list[Cell]:
    """Return the times of a row: base, new and, if both are known, delta."""
    return [cell for cell in row.cells if cell.unit == "ns"]


def _rewritten(row: Row, scale: Scale) -> Row:
    cells = _times(row)
    if not cells:
        return row
    base, new = cells[0].value, cells[1].value
    texts = [_number(base, scale), _number(new, scale)]
    if base is not None and new is not None:
        texts.append(_delta(base, new, scale))
    shown = iter(texts)
    return replace(
        row,
        cells=tuple(
            replace(cell, text=next(shown), suffix=scale.unit if cell.suffix else "")
            if cell.unit == "ns"
            else cell
            for cell in row.cells
        ),
    )


def compared_columns(labels: tuple[str, str]) -> tuple[Column, ...]:
    """Return base, new, delta and ratio columns; color alone shows the direction."""
    return (
        *sides(labels),
        Column("Δ", "delta", signs=False),
        Column("ratio", "ratio", signs=False),
    )


def table_of(
    labels: tuple[str, str],
    key: str,
    name: str,
    rows: Sequence[Row],
    more: tuple[Column, ...] = (),
    *,
    title: str = "",
) -> Table:
    """Return a table of `compared` rows, times in one unit, then `more` columns."""
    columns = (name_column(name), *compared_columns(labels), *more)
    return Table(key, columns, in_one_unit(rows), title=title, indent=INDENT)


def time_scale(values_ns: Iterable[float | None]) -> Scale:
    """Return the scale for times side by side: a unit that also suits the smallest.

    It is the largest unit in which the smallest time has two digits within three
    decimals, unless the largest would be a million or more in it.
    """
    sizes = [abs(value) for value in values_ns if value]
    low, high = min(sizes, default=0.0), max(sizes, default=0.0)
    fitting = [u for u in _TIMES if u[0] <= high and low >= _LEAST * u[0]] or _TIMES[:1]
    longer = [u for u in _TIMES if u[0] >= fitting[-1][0]]
    size, name = next((u for u in longer if high < _LONG * u[0]), longer[-1])
    return Scale(size, name, 0)


def figure(
    key: str, name: str, pair: Pair, unit: str, *, worse: bool = False, level: int = 0
) -> Row:
    """Return a row with a key and the cells of `compared`."""
    return Row(key, "figure", compared(name, pair, unit, worse=worse), level)


def of_whole(row: Row, raw: Sequence[int], whole: Sequence[int]) -> Row:
    """Return a row with one more cell: its share of all, on each side."""
    parts = [
        ns / all_ns if all_ns else None for ns, all_ns in zip(raw, whole, strict=True)
    ]
    return replace(row, cells=(*row.cells, Cell(percents(parts))))


def shares(key: str, name: str, base: float | None, new: float | None) -> Row:
    """Return one row of shares, their delta in points; `–` means unknown."""
    delta = Cell("")
    if base is not None and new is not None:
        points = Scale(0.01, "pp", 1).text(new - base, signed=True)
        delta = Cell(points, new - base, "share")
    sides = (Cell(_percent(value), value, "share") for value in (base, new))
    return Row(key, "figure", (Cell(name), *sides, delta, Cell("")))


def arrow(values: Sequence[float | None], scale: Scale) -> str:
    """Return ``base → new unit``, `–` for missing values; no unit if all are 0."""
    words = " → ".join(_number(value, scale) for value in values)
    return f"{words} {scale.unit}".rstrip() if any(values) else words


def arrows(pairs: Sequence[Sequence[float | None]]) -> list[str]:
    """Return pairs of times as ``base → new unit``, all in one unit."""
    scale = time_scale(value for pair in pairs for value in pair)
    return [arrow(pair, scale) for pair in pairs]


def span(low: float, high: float, scale: Scale) -> str:
    """Return ``low to high unit``, both signed."""
    words = []
    for value in (low, high):
        sign = "+" if value > 0 else "−" if value < 0 else ""
        words.append(f"{sign}{_number(abs(value), scale)}")
    return f"{' to '.join(words)} {scale.unit}"


def percents(values: Sequence[float | None]) -> str:
    """Return shares as ``base% → new%``, `–` for missing values."""
    return " → ".join(_percent(value) for value in values)


def _percent(share: float | None) -> str:
    return "–" if share is None else percent(share, 1)


def _number(value: float | None, scale: Scale) -> str:
    """Return a number in a scale with at least three of its digits, two below 1.

    So 0.0128 ms next to 2.5 ms is not 0.01, and only 0 is ``0``.
    """
    if not value:
        return "–" if value is None else "0"
    size = abs(value) / scale.size
    if scale.size == 1 and size == int(size):
        needed = 0
    elif size >= 1:
        needed = 0 if size >= 99.95 else 1 if size >= 9.995 else 2
    else:
        needed = 1 - floor(log10(size))
    if needed > _MOST:
        return f"<{10**-_MOST:.{_MOST}f}"
    decimals = max(scale.decimals, needed)
    return scale._replace(decimals=decimals).number(value)


def ratio_or_word(base: float, new: float) -> str:
    """Return new ÷ base, or that a row is new or gone."""
    if not base or not new:
        return "new" if new else "gone" if base else ""
    return times(new / base)
