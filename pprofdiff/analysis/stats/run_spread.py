"""How far runs of one side differ: by counting, and by what each run has in common.

A row's count in one run has the variance φ μ + c² μ²: counts vary φ times as much as
Poisson's, and a factor that a run's rows share (the machine's speed, the clock) adds
the rest. φ is what rows of few samples show, whose factor is lost in counting; c² is
the larger of what most rows of many samples and the totals show. Of fewer than three
runs a side, the totals' variance is drawn towards the prior of one run, as in `totals`.
The form is that of overdispersed counts with a trend (Lund et al. 2012, Statistical
Applications in Genetics and Molecular Biology 11(5)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.stats.calibration import (
    DISPERSION,
    TOTAL_FREEDOM,
    TOTAL_PRIOR,
    TOTAL_SIGMA,
)

__all__ = ["ONE_RUN", "RunCounts", "RunSpread", "normal", "spread_of", "student"]

Floats = NDArray[np.float64]

# Rows with fewer samples over all runs say nothing of a spread; those with fewer a run
# than the second number show counting alone.
_LEAST, _COUNTING = 10.0, 5.0
# So many rows show how counts vary, if that is more than the calibration has.
_ROWS = 10


class RunSpread(NamedTuple):
    """How far the sums of runs may be apart.

    Attributes
    ----------
    dispersion
        Variance of a count over its mean.
    common
        Variance of the factor that all rows of a run share.
    freedom
        Degrees of freedom that `common` is known with.
    runs
        How many runs (base, new) are the sums of.

    """

    dispersion: float = DISPERSION
    common: float = 0.0
    freedom: float = np.inf
    runs: tuple[int, int] = (1, 1)


ONE_RUN = RunSpread()
"""One run a side: nothing shows how runs differ."""


@dataclass(frozen=True, eq=False)
class RunCounts:
    """One side's samples by row and run, and each run's exposure (float64).

    An exposure is what a count is in proportion to where nothing changes: the
    operations done, or the run's samples.
    """

    counts: Floats
    exposure: Floats


def spread_of(sides: Sequence[RunCounts], *, totals: bool) -> RunSpread:
    """Return how far runs differ, from both sides' rows by run.

    Parameters
    ----------
    sides
        Base and new. Rows are the leaf functions of each: their counts add up.
    totals
        Whether a run's total may differ from its exposure, so that it shows what all
        rows share. It does not where rows are compared as shares of it.

    """
    runs = sides[0].counts.shape[1], sides[1].counts.shape[1]
    freedom = sum(runs) - len(runs)
    if freedom < 1:
        return ONE_RUN._replace(runs=runs)
    mean, ratio, weight = (np.concatenate(part) for part in zip(
        *map(_dispersions, sides), strict=True))  # fmt: skip
    few, many = mean < _COUNTING, mean >= _COUNTING
    dispersion = DISPERSION
    if few.sum() >= _ROWS:
        shown = float(np.average(ratio[few], weights=weight[few]))
        dispersion = max(DISPERSION, shown)
    common = 0.0
    if many.any():
        excess = (ratio[many] - dispersion) / mean[many]
        common = max(0.0, float(np.median(excess)))
    if totals:
        squares = sum(map(_squares, sides))
        if freedom < TOTAL_FREEDOM:
            squares += TOTAL_PRIOR * TOTAL_SIGMA**2
            freedom += TOTAL_PRIOR
        common = max(common, squares / freedom)
    return RunSpread(dispersion, common, freedom, runs)


def _dispersions(side: RunCounts) -> tuple[Floats, Floats, Floats]:
    """Return mean a run, variance over mean, and degrees of freedom of each row."""
    freedom = side.counts.shape[1] - 1
    sums = side.counts.sum(axis=1)
    rows = side.counts[sums >= _LEAST]
    if not freedom or not len(rows):
        none = np.zeros(0)
        return none, none, none
    share = side.exposure / side.exposure.sum()
    mean = rows.sum(axis=1, keepdims=True) * share
    squares = (np.square(rows - mean) / mean).sum(axis=1)
    return mean.mean(axis=1), squares / freedom, np.full(len(rows), float(freedom))


def _squares(side: RunCounts) -> float:
    """Return the sum of squares of the logarithms of totals by exposure."""
    totals = side.counts.sum(axis=0)
    if (totals <= 0).any():
        return 0.0
    logs = np.log(totals / side.exposure)
    return float(np.square(logs - logs.mean()).sum())


def normal(t: Floats, freedom: Floats) -> Floats:
    """Return the normal deviates that are as rare as Student's t.

    Wallace's approximation (1959, Annals of Mathematical Statistics 30(4)): three
    deviations are off by 0.11 at two degrees of freedom, by 0.03 at four.
    """
    known = np.isfinite(freedom)
    if not known.any():
        return t
    with np.errstate(invalid="ignore", over="ignore"):
        nu = np.where(known, freedom, 1.0)
        size = (8 * nu + 1) / (8 * nu + 3) * np.sqrt(nu * np.log1p(np.square(t) / nu))
    return np.where(known, np.sign(t) * size, t)


def student(z: float, freedom: Floats) -> Floats:
    """Return Student's t as rare as a normal deviate; the inverse of `normal`."""
    known = np.isfinite(freedom)
    if not known.any():
        return np.full(len(freedom), z)
    with np.errstate(over="ignore"):
        nu = np.where(known, freedom, 1.0)
        size = np.square(z * (8 * nu + 3) / (8 * nu + 1)) / nu
        return np.where(known, np.sqrt(nu * np.expm1(np.minimum(size, 500.0))), z)
