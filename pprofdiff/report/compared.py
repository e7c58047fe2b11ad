"""Cells that show base and new beside each other, shared by sections on traces."""

from __future__ import annotations

from collections.abc import Sequence

from pprofdiff.report.blocks import Cell
from pprofdiff.units import Scale, percent, scale_for

__all__ = ["arrow", "arrow_of", "compared", "percents", "shares"]

# A ratio this near to 1 is not coloured.
_ALIKE = 0.05


def compared(
    name: str, pair: tuple[float, float], unit: str, *, worse: bool = False
) -> list[Cell]:
    """Return one row: a name, base, new, delta and ratio; `worse` says that more is."""
    scale = scale_for(pair, unit)
    delta = pair[1] - pair[0]
    ratio = pair[1] / pair[0] if pair[0] else None
    style = ""
    if worse and ratio is not None and abs(ratio - 1) > _ALIKE:
        style = "worse" if delta > 0 else "better"
    return [
        Cell(name),
        Cell(scale.number(pair[0])),
        Cell(scale.text(pair[1])),
        Cell(scale.number(delta, signed=True), style),
        Cell("" if ratio is None else f"{ratio:.2f}×", style),
    ]


def shares(name: str, base: float | None, new: float | None) -> list[Cell]:
    """Return one row of shares, their delta in points; `–` for what is not known."""
    words = ["–" if value is None else percent(value, 1) for value in (base, new)]
    delta = ""
    if base is not None and new is not None:
        delta = Scale(0.01, "points", 1).text(new - base, signed=True)
    return [Cell(name), Cell(words[0]), Cell(words[1]), Cell(delta), Cell("")]


def arrow(values: Sequence[float | None], scale: Scale) -> str:
    """Return ``base → new unit``, `–` for what is missing."""
    words = ["–" if value is None else scale.number(value) for value in values]
    return f"{words[0]} → {words[1]} {scale.unit}".rstrip()


def arrow_of(values: Sequence[float | None], unit: str) -> str:
    """Return ``base → new unit`` in the scale that suits the two."""
    return arrow(values, scale_for([v for v in values if v is not None], unit))


def percents(values: Sequence[float | None]) -> str:
    """Return shares as ``base → new %``, `–` for what is missing."""
    return arrow(values, Scale(0.01, "%", 1))
