"""Cells that all tables of profiles share: values, delta, ratio, share."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.report.rows import Cell, Column, Mark, Tone, sides
from pprofdiff.units import percent, times

_TONES: dict[Mark, Tone] = {"": "", "more": "worse", "less": "better", "noise": "faint"}


def value_cells(diff: ProfileDiff, base: int, new: int) -> tuple[Cell, Cell]:
    """Return raw base and new as cells, scaled, in the unit of the report."""
    scale = scale_of(diff)
    old, now = diff.normalization.scaled(base, new)
    return Cell(scale.nonzero(old), old), Cell(scale.nonzero(now), now)


def compared_columns(
    diff: ProfileDiff, labels: tuple[str, str]
) -> tuple[Column, Column, Column]:
    """Return the columns of `compared`, in the unit of the report."""
    unit = scale_of(diff).unit
    return (*sides(labels, unit), Column("Δ", "delta", unit=unit))


def compared(
    diff: ProfileDiff, base: int, new: int, *, noise: bool | None
) -> tuple[Cell, Cell, Cell]:
    """Return the cells of base, new and delta for raw values."""
    delta = delta_cell(diff, base, new, noise=noise)
    return (*value_cells(diff, base, new), delta)


def delta_cell(diff: ProfileDiff, base: int, new: int, *, noise: bool | None) -> Cell:
    """Return the scaled delta of raw values, marked as more, less or noise if known."""
    delta = diff.normalization.delta(base, new)
    mark: Mark = ""
    if noise:
        mark = "noise"
    elif delta != 0 and noise is not None:
        mark = "more" if delta > 0 else "less"
    text = scale_of(diff).number(delta, signed=True)
    if mark in ("more", "less") and not text.strip("0."):
        # A delta that is printed as 0 has no sign.
        mark = ""
    return Cell(text, delta, mark=mark, tone=_TONES[mark])


def ratio_cell(
    diff: ProfileDiff, base: int, new: int, there: tuple[bool, bool] = (False, False)
) -> Cell:
    """Return new ÷ base of raw values after scaling, or that a row is new or gone.

    `there` says whether base and new have samples of another kind for the row: then a
    function still runs, and is not new or gone.
    """
    ratio = diff.normalization.ratio(base, new)
    if ratio is None:
        return Cell("from 0" if there[0] else "new", inf) if new else Cell("")
    if new or there[1]:
        return Cell(times(ratio), ratio)
    return Cell("gone", 0.0)


def share_columns(diff: ProfileDiff) -> tuple[Column, ...]:
    """Return the column of `share_cells`; none if all values are shares."""
    shares = diff.normalization.mode == "composition"
    return () if shares else (Column("share of total", "share"),)


def share_cells(diff: ProfileDiff, base: int, new: int) -> tuple[Cell, ...]:
    """Return raw values as shares of each side's total, in the `share_columns`."""
    totals = diff.totals
    text = f"{percent(base, totals[0])} → {percent(new, totals[1])}"
    cell = Cell(text, new / totals[1] if totals[1] else None)
    return tuple(cell for _ in share_columns(diff))


def noise_of(diff: ProfileDiff, runs: Runs[NDArray[np.int64]]) -> list[bool | None]:
    """Return which raw sums, by run, may be noise, judged together; None if unknown."""
    judged = diff.judge_runs(runs)
    return [None] * len(runs.base[0]) if judged is None else judged.chance
