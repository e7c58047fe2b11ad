"""The runs of one side apart: what each of them sampled, and what it did."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.side import ProfileSide
from pprofdiff.analysis.profiles.tables import STOPPED
from pprofdiff.analysis.stats.run_spread import RunCounts
from pprofdiff.analysis.work import Work
from pprofdiff.model.profiles.profile import Profile, ValueType

__all__ = ["Exposure", "counts_by_run", "exposures_of", "totals_by_run"]

Exposure = NDArray[np.float64] | None
"""The operations that each run did (float64), None where that is not known."""


def counts_by_run(
    side: ProfileSide,
    sample_type: ValueType,
    worth: float,
    exposure: Exposure,
) -> RunCounts:
    """Return a side's samples by leaf function and run.

    Parameters
    ----------
    side
        The side, of one run or several.
    sample_type
        What is counted.
    worth
        What one sample adds to a value.
    exposure
        The operations of each run; without them, runs are compared by their time.

    """
    rows: dict[str, int] = {}
    columns = []
    for capture in side.runs:
        profile = capture.content
        column = profile.sample_types.index(sample_type)
        values = np.abs(profile.values[:, column]) / worth
        columns.append((_leaves(profile, rows), values))
    counts = np.zeros((len(rows) + 1, len(columns)))
    for run, (leaf, values) in enumerate(columns):
        np.add.at(counts[:, run], leaf, values)
    if exposure is None or len(exposure) != len(columns):
        spans = [capture.content.duration_ns or 0 for capture in side.runs]
        exposure = np.array(spans if all(spans) else [1] * len(spans), np.float64)
    return RunCounts(counts, exposure)


def _leaves(profile: Profile, rows: dict[str, int]) -> NDArray[np.int64]:
    """Return each sample's leaf function by its number in `rows`, -1 for none.

    What a signal stopped counts for the function that it stopped: how often that is
    sampled tells how busy the machine is.
    """
    names = profile.function_names()
    numbers = np.array([*(rows.setdefault(n, len(rows)) for n in names), -1], np.int64)
    frames = profile.frames()
    first = frames.offsets[:-1]
    some = frames.offsets[1:] > first
    leaf = np.full(len(profile), -1, np.int64)
    function = profile.locations.line_function
    at = first[some]
    top = numbers[function[frames.line[at]]]
    deeper = at + 1 < frames.offsets[1:][some]
    stopped = deeper & (top == rows.get(STOPPED, -2))
    below = numbers[function[frames.line[np.where(stopped, at + 1, at)]]]
    leaf[some] = below
    return leaf


def totals_by_run(side: ProfileSide, sample_type: ValueType) -> NDArray[np.float64]:
    """Return the raw sum of each run."""
    return np.array(
        [
            float(
                one.content.values[:, one.content.sample_types.index(sample_type)].sum()
            )
            for one in side.runs
        ]
    )


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
