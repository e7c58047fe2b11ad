"""Intervals of an account's parts, from several runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.account.model import Bounds
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.profiles.diff import ProfileDiff

__all__ = ["intervals"]


def intervals(diff: ProfileDiff, runs: Runs[NDArray[np.int64]]) -> list[Bounds | None]:
    """Return the interval of each row's delta, in the comparison's scaled unit.

    `runs` are raw sums with one row per part. Tables use the same intervals for their
    marks. None with one run a side, which does not show how much runs differ, and for
    profiles without a noise model.
    """
    several = max(len(runs.base), len(runs.new)) > 1
    judged = diff.judge_runs(runs) if several else None
    if judged is None:
        return [None] * len(runs.base[0])
    changes = (judged.change(row) for row in range(len(judged)))
    return [
        None if low is None or high is None else (low, high)
        for _, low, high, *_ in changes
    ]
