"""The runs of one side apart: what each of them sampled, and what it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.side import ProfileSide
from pprofdiff.analysis.profiles.tables import STOPPED
from pprofdiff.analysis.stats.medians import weighted_median
from pprofdiff.analysis.stats.run_spread import RunCounts
from pprofdiff.analysis.work import Work
from pprofdiff.model.csr import expand, offsets_of
from pprofdiff.model.profiles.operations import operations_of
from pprofdiff.model.profiles.profile import Profile

__all__ = [
    "Exposure",
    "counted_exposures",
    "counts_by_run",
    "exposures_of",
    "operations_of_both",
    "shared_ratio",
]

# The ratio of fewer samples, over both sides, is not known to 30 %; fewer functions
# than these have no majority; more samples than these weigh no more.
_TELLING, _SEVERAL, _CAPPED = 40, 5, 200

Exposure = NDArray[np.float64] | None
"""The operations that each run did (float64), None where that is not known."""


def counts_by_run(
    side: ProfileSide,
    column: int,
    worth: float,
    exposure: Exposure,
    functions: Sequence[str] | None = None,
) -> RunCounts:
    """Return a side's samples by leaf function and run.

    Functions of one name are one row, in the order of `Profile.function_names`. The
    last row is of samples that end in no function.

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
    functions
        The rows, with all of the side's functions; None for these.

    """
    names = side.profile.function_names()
    known = dict.fromkeys(names if functions is None else functions)
    rows = {name: row for row, name in enumerate(known)}
    row_of = np.array([*(rows[name] for name in names), len(rows)], np.int64)
    counts = np.zeros((len(rows) + 1, len(side.runs)))
    values = np.abs(side.by_run[:, :, column]) / worth
    np.add.at(counts, row_of[_leaves(side.profile, names)], values)
    if exposure is None or len(exposure) != len(side.runs):
        spans = [capture.content.duration_ns or 0 for capture in side.runs]
        exposure = np.array(spans if all(spans) else [1] * len(spans), np.float64)
    return RunCounts(counts, exposure)


def shared_ratio(
    base: ProfileSide,
    new: ProfileSide,
    columns: tuple[int, int],
    worth: tuple[float, float],
) -> float | None:
    """Return new over base, in samples, that most functions share.

    It is the median of functions by their flat samples, weighted by these, but none by
    more than a few hundred: the largest function may be what changed. None where too
    few functions have enough samples. `columns` and `worth` are of base and new.
    """
    of_sides = []
    for side, column, one in zip((base, new), columns, worth, strict=True):
        counts = counts_by_run(side, column, one, None).counts[:-1].sum(axis=1)
        names = dict.fromkeys(side.profile.function_names())
        of_sides.append(dict(zip(names, counts.tolist(), strict=True)))
    pairs = np.array(
        [
            (old, of_sides[1][name])
            for name, old in of_sides[0].items()
            if name in of_sides[1]
        ],
        np.float64,
    ).reshape(-1, 2)
    pairs = pairs[(pairs.sum(axis=1) >= _TELLING) & (pairs.min(axis=1) > 0)]
    if len(pairs) < _SEVERAL:
        return None
    ratios = pairs[:, 1] / pairs[:, 0]
    return weighted_median(ratios, np.minimum(pairs.sum(axis=1), _CAPPED))


def _leaves(profile: Profile, names: Sequence[str]) -> NDArray[np.int64]:
    """Return each sample's leaf function, -1 for none.

    What a signal stopped counts for the function that it stopped: how often that is
    sampled tells how busy the machine is.
    """
    stopping = np.array([*(name == STOPPED for name in names), False], np.bool_)
    # No more than the first two frames count, and a location is a frame or more.
    counts = np.minimum(np.diff(profile.stack_offsets), 2)
    first_two = profile.stack_locations[expand(profile.stack_offsets[:-1], counts)]
    offsets = offsets_of(counts)
    tops = replace(profile, stack_offsets=offsets, stack_locations=first_two)
    frames = tops.frames()
    function = np.append(profile.locations.line_function, -1)
    first, ends = frames.offsets[:-1], frames.offsets[1:]
    lines = np.append(frames.line, -1)
    top = np.where(ends > first, function[lines[first]], -1)
    deeper = stopping[top] & (first + 1 < ends)
    below = function[lines[np.where(deeper, first + 1, first)]]
    return np.where(deeper, below, top).astype(np.int64)


def operations_of_both(base: ProfileSide, new: ProfileSide) -> tuple[int, int] | None:
    """Return the operations that all runs of each side cover, None if not counted."""
    counted = counted_exposures(base, new)
    return None if counted is None else (int(counted[0].sum()), int(counted[1].sum()))


def counted_exposures(
    base: ProfileSide, new: ProfileSide
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the operations of each run, None where a profile does not count them."""
    sides = []
    for side in (base, new):
        done = [operations_of(capture.content) for capture in side.runs]
        counts = [one.number for one in done if one is not None]
        if not counts or len(counts) < len(done):
            return None
        sides.append(np.array(counts, np.float64))
    return sides[0], sides[1]


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
