"""How far runs of one build differ: about their side's mean, or pair by pair.

A machine drifts: runs that follow each other are alike, more than runs far apart. Where
both sides were measured in turns, a run of base and the run of new beside it drift
together, so that differences of such pairs leave the drift out. Pairs have half the
degrees of freedom. They are taken for how runs were measured, never for what they say:
the smaller of two variances would alarm too often.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.stats.calibration import TURNS_TOGETHER

__all__ = ["InTurns", "all_paired", "squares_of_runs"]

Floats = NDArray[np.float64]


class InTurns(NamedTuple):
    """A figure of (base, new) in each turn; so many of them, `together`, are alike.

    `layouts` tells that functions had another order after each of those.
    """

    base: Sequence[float]
    new: Sequence[float]
    together: int = TURNS_TOGETHER
    layouts: bool = False

    def times(self, factor: float) -> InTurns:
        """Return the figure in another unit."""
        base, new = ([one * factor for one in side] for side in (self.base, self.new))
        return self._replace(base=base, new=new)


def all_paired(base: Sized, new: Sized, pairs: int) -> bool:
    """Return whether a measure has a value of every run, and runs were taken in turns.

    Where a run lacks the measure, those that have it no longer stand beside each other.

    Parameters
    ----------
    base, new
        The runs that have the measure.
    pairs
        How many pairs all runs of both sides make, 0 where not taken in turns.

    """
    return len(base) == len(new) == pairs > 0


def squares_of_runs(
    base: Floats, new: Floats, *, in_turns: bool = False
) -> tuple[Floats, Floats]:
    """Return the sum of squares of runs of one build, and its degrees of freedom.

    Parameters
    ----------
    base, new
        Logarithms, float64 of shape (runs, figures), NaN where a run does not tell.
    in_turns
        Whether run *i* of base and run *i* of new stand beside each other in time.
        Figures that every run tells are compared in pairs then.

    Returns
    -------
    squares, freedom
        Of each figure, float64. Their ratio is the variance of one run.

    """
    squares, freedom = np.zeros(base.shape[1]), np.zeros(base.shape[1])
    for side in (base, new):
        told, apart = _apart(side)
        squares += apart
        freedom += np.maximum(told - 1, 0)
    if in_turns and len(base) == len(new):
        pairs = new - base
        whole = ~np.isnan(pairs).any(axis=0)
        _, apart = _apart(pairs)
        # The difference of two runs varies twice as much as one run.
        squares[whole] = apart[whole] / 2
        freedom[whole] = len(pairs) - 1
    return squares, freedom


def _apart(logs: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return how many runs tell each figure, and squares about their mean."""
    there = ~np.isnan(logs)
    told = there.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(there, logs, 0.0).sum(axis=0) / told
    return told, np.where(there, np.square(logs - mean), 0.0).sum(axis=0)
