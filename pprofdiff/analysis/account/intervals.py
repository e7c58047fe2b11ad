"""How far the parts of an account may be off, where they are known run by run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.account.model import Bounds
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.stats.judgement import Runs

__all__ = ["intervals"]


def intervals(diff: ProfileDiff, runs: Runs[NDArray[np.int64]]) -> list[Bounds | None]:
    """Return the interval of each row's delta, in the comparison's scaled unit.

    `runs` are raw sums, one row a part. It is the interval by which tables mark rows.
    None with one run a side, which does not show how far runs differ, and where chance
    has no model.
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
