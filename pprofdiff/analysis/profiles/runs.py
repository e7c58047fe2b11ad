"""The runs of one side apart: what each of them sampled, and what it did."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.side import ProfileSide
from pprofdiff.analysis.profiles.tables import STOPPED
from pprofdiff.analysis.stats.run_spread import RunCounts
from pprofdiff.analysis.work import Work
from pprofdiff.model.profiles.profile import Profile

__all__ = ["Exposure", "counts_by_run", "exposures_of"]

Exposure = NDArray[np.float64] | None
"""The operations that each run did (float64), None where that is not known."""


def counts_by_run(
    side: ProfileSide, column: int, worth: float, exposure: Exposure
) -> RunCounts:
    """Return a side's samples by leaf function and run.

    Parameters
    ----------
    side
        The side, of one run or several.
    column
        The sample type that is counted.
    worth
        What one sample adds to a value.
    exposure
        The operations of each run; without them, runs are compared by their time.

    """
    names = side.profile.function_names()
    rows = {name: row for row, name in enumerate(dict.fromkeys(names))}
    row_of = np.array([*(rows[name] for name in names), len(rows)], np.int64)
    counts = np.zeros((len(rows) + 1, len(side.runs)))
    values = np.abs(side.by_run[:, :, column]) / worth
    np.add.at(counts, row_of[_leaves(side.profile, names)], values)
    if exposure is None or len(exposure) != len(side.runs):
        spans = [capture.content.duration_ns or 0 for capture in side.runs]
        exposure = np.array(spans if all(spans) else [1] * len(spans), np.float64)
    return RunCounts(counts, exposure)


def _leaves(profile: Profile, names: Sequence[str]) -> NDArray[np.int64]:
    """Return each sample's leaf function, -1 for none.

    What a signal stopped counts for the function that it stopped: how often that is
    sampled tells how busy the machine is.
    """
    stopping = np.array([*(name == STOPPED for name in names), False], np.bool_)
    frames = profile.frames()
    function = np.append(profile.locations.line_function, -1)
    first, ends = frames.offsets[:-1], frames.offsets[1:]
    lines = np.append(frames.line, -1)
    top = np.where(ends > first, function[lines[first]], -1)
    deeper = stopping[top] & (first + 1 < ends)
    below = function[lines[np.where(deeper, first + 1, first)]]
    return np.where(deeper, below, top).astype(np.int64)


def exposures_of(
    work: Work, base: ProfileSide, new: ProfileSide
) -> tuple[Exposure, Exposure]:
    """Return the operations that each run of each side did, as far as that is known."""
    return _exposure(work, 0, base), _exposure(work, 1, new)


def _exposure(work: Work, number: int, side: ProfileSide) -> Exposure:
    rates = work.by_run[number]
    done = [
        rates.get(capture.run, 0.0) * (capture.content.duration_ns or 0) / 1e9
        for capture in side.runs
    ]
    return np.array(done) if done and min(done) > 0 else None
