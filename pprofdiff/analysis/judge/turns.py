"""Run-to-run variance of one build: about each side's mean, or pair by pair.

Machines drift: consecutive runs are more alike than distant ones. If both sides were
measured in turns, a run of base and the adjacent run of new drift together, so their
difference cancels the drift. Pairs have half the degrees of freedom. Whether to pair
depends on how runs were measured, never on their values: choosing the smaller of two
variances would raise too many false alarms.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.calibration import TURNS_TOGETHER

__all__ = ["InTurns", "all_paired", "squares_of_runs"]

Floats = NDArray[np.float64]


class InTurns(NamedTuple):
    """A figure of (base, new) in each turn; `together` turns make one observation.

    `layouts` means that the function order changes after each of those.
    """

    base: Sequence[float]
    new: Sequence[float]
    together: int = TURNS_TOGETHER
    layouts: bool = False

    def times(self, factor: float) -> InTurns:
        """Return the figure in another unit, `factor` times as large."""
        base, new = ([one * factor for one in side] for side in (self.base, self.new))
        return self._replace(base=base, new=new)


def all_paired(base: Sized, new: Sized, pairs: int) -> bool:
    """Return whether every run has a measure, and runs were taken in turns.

    If a run lacks the measure, the others are no longer adjacent.

    Parameters
    ----------
    base, new
        The runs that have the measure.
    pairs
        How many pairs all runs of both sides make, 0 if not taken in turns.

    """
    return len(base) == len(new) == pairs > 0


def squares_of_runs(
    base: Floats, new: Floats, *, in_turns: bool = False
) -> tuple[Floats, Floats]:
    """Return the sum of squares of runs of one build, and its degrees of freedom.

    Parameters
    ----------
    base, new
        Logarithms, float64 of shape (runs, figures), NaN where a run lacks the figure.
    in_turns
        Whether run *i* of base and run *i* of new are adjacent in time. If so, figures
        that every run has are compared in pairs.

    Returns
    -------
    squares, freedom
        Of each figure, float64. Their ratio is the variance of one run.

    """
    squares, freedom = np.zeros(base.shape[1]), np.zeros(base.shape[1])
    for side in (base, new):
        runs, apart = _apart(side)
        squares += apart
        freedom += np.maximum(runs - 1, 0)
    if in_turns and len(base) == len(new):
        pairs = new - base
        whole = ~np.isnan(pairs).any(axis=0)
        _, apart = _apart(pairs)
        # The difference of two runs has twice the variance of one.
        squares[whole] = apart[whole] / 2
        freedom[whole] = len(pairs) - 1
    return squares, freedom


def _apart(logs: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return how many runs have each figure, and squares about their mean."""
    there = ~np.isnan(logs)
    runs = there.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(there, logs, 0.0).sum(axis=0) / runs
    return runs, np.where(there, np.square(logs - mean), 0.0).sum(axis=0)
