"""Cells that show base and new beside each other, shared by tables on traces."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10

from pprofdiff.report.rows import Cell, Mark, Row, Tone
from pprofdiff.units import Scale, percent, scale_for, times

__all__ = ["arrow", "arrow_of", "compared", "figure", "percents", "shares"]

Pair = tuple[float | None, float | None]

# A ratio this near to 1 is not marked.
_ALIKE = 0.05
# No number gets more decimals than this.
_MOST = 4


def compared(
    name: str, pair: Pair, unit: str, *, worse: bool = False
) -> tuple[Cell, ...]:
    """Return the cells of a row: a name, base, new, delta and ratio.

    Delta and ratio are marked if more is `worse`. `–` stands for what is missing; the
    unit, behind new, is that of the whole row.
    """
    base, new = pair
    scale = scale_for([value for value in pair if value is not None], unit)
    last = _number(new, scale)
    last = f"{last} {scale.unit}".rstrip() if any(pair) else last
    cells = Cell(name), Cell(_number(base, scale), base, unit), Cell(last, new, unit)
    if base is None or new is None:
        return (*cells, Cell(""), Cell(""))
    delta = new - base
    mark: Mark = ""
    tone: Tone = ""
    if worse and abs(delta) > _ALIKE * base:
        mark, tone = ("more", "worse") if delta > 0 else ("less", "better")
    # As fine as both sides are written.
    fine = min(len(_number(value, scale).partition(".")[2]) for value in (base, new))
    fitting = scale._replace(decimals=max(scale.decimals, fine))
    number = fitting.number(delta, signed=True)
    plain = number if number.strip("0.") else "0"
    ratio = new / base if base else None
    return (
        *cells,
        Cell(plain, delta, unit, mark, tone),
        Cell(_ratio(base, new), ratio, "", mark, tone),
    )


def figure(
    key: str, name: str, pair: Pair, unit: str, *, worse: bool = False, level: int = 0
) -> Row:
    """Return a row of its own: `compared` under a key."""
    return Row(key, "figure", compared(name, pair, unit, worse=worse), level)


def shares(key: str, name: str, base: float | None, new: float | None) -> Row:
    """Return one row of shares, their delta in points; `–` for what is not known."""
    delta = Cell("")
    if base is not None and new is not None:
        points = Scale(0.01, "points", 1).text(new - base, signed=True)
        delta = Cell(points, new - base, "share")
    sides = (Cell(_percent(value), value, "share") for value in (base, new))
    return Row(key, "figure", (Cell(name), *sides, delta, Cell("")))


def arrow(values: Sequence[float | None], scale: Scale) -> str:
    """Return ``base → new unit``, `–` for what is missing; no unit where all is 0."""
    words = " → ".join(_number(value, scale) for value in values)
    return f"{words} {scale.unit}".rstrip() if any(values) else words


def arrow_of(values: Sequence[float | None], unit: str) -> str:
    """Return ``base → new unit`` in the scale that suits the two."""
    return arrow(values, scale_for([v for v in values if v is not None], unit))


def percents(values: Sequence[float | None]) -> str:
    """Return shares as ``base% → new%``, `–` for what is missing."""
    return " → ".join(_percent(value) for value in values)


def _percent(share: float | None) -> str:
    return "–" if share is None else percent(share, 1)


def _number(value: float | None, scale: Scale) -> str:
    """Return a number in a scale, with decimals until two of its digits count.

    So 0.0128 ms beside 2.5 ms is not 0.01, and nothing but 0 is ``0``.
    """
    if not value:
        return "–" if value is None else "0"
    size = abs(value) / scale.size
    whole = size >= 10 or size == int(size)
    needed = 0 if whole else 1 - floor(log10(size))
    if needed > _MOST:
        return f"<{10**-_MOST:.{_MOST}f}"
    decimals = max(scale.decimals, needed)
    return scale._replace(decimals=decimals).number(value)


def _ratio(base: float, new: float) -> str:
    """Return new ÷ base, or that there is more than none, or none left."""
    if not base or not new:
        return "+new" if new else "-gone" if base else ""
    return times(new / base, narrow=True)
