"""Cells that every table shares: values, the delta with its mark, the own ratio."""

from __future__ import annotations

from math import inf

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.report.text.layout import Cell
from pprofdiff.units import Scale, percent

__all__ = ["delta_cell", "ratio_cell", "share", "value_cells"]


def value_cells(diff: ProfileDiff, scale: Scale, base: int, new: int) -> list[Cell]:
    """Return base and new as the report writes them."""
    by = diff.normalization
    scaled = base * by.base_factor, new * by.new_factor
    return [Cell(_value(scale, value), value=value) for value in scaled]


def _value(scale: Scale, value: float) -> str:
    """Return a value; one too small for the column's decimals is not shown as 0."""
    text = scale.number(value)
    if value == 0 or text.strip("0.−"):
        return text
    return f"<{text[:-1]}1"


def delta_cell(
    diff: ProfileDiff, scale: Scale, base: int, new: int, *, noise: bool | None
) -> Cell:
    """Return the delta behind its mark: ▲ more, ▼ less, ~ within noise.

    Where chance has no model, `noise` is None: then there is no mark.
    """
    by = diff.normalization
    delta = new * by.new_factor - base * by.base_factor
    number = scale.number(delta, signed=True)
    if noise:
        return Cell(f"~ {number}", "faint", delta)
    if delta == 0 or noise is None:
        return Cell(number, value=delta)
    mark, style = ("▲", "worse") if delta > 0 else ("▼", "better")
    return Cell(f"{mark} {number}", style, delta)


def ratio_cell(diff: ProfileDiff, base: int, new: int) -> Cell:
    """Return new ÷ base of this row alone, or that it is new or gone."""
    if base == 0:
        return Cell("+new" if new else "", value=inf if new else None)
    if new == 0:
        return Cell("-gone", value=0.0)
    by = diff.normalization
    ratio = new * by.new_factor / (base * by.base_factor)
    return Cell(f"{ratio:.2f}×", value=ratio)


def share(diff: ProfileDiff, base: int, new: int) -> Cell:
    """Return the share of each side's total."""
    totals = diff.totals
    return Cell(
        f"{percent(base, totals[0])} → {percent(new, totals[1])}",
        value=new / totals[1] if totals[1] else None,
    )
