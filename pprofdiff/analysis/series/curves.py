"""Shares of the total, step by step, and their variance over hosts."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from numpy.typing import NDArray

__all__ = ["Shares", "between", "shares_of"]

Floats = NDArray[np.float64]

# With fewer steps, a row's median of differences is unreliable: off by a third.
_SEVERAL = 24
# Above `_SHAKEN`, step-to-step noise sets the deviation. A median of n differences is
# as informative as the mean of 0.37 n squares.
_SHAKEN, _OF_MEDIANS = 1.5, 0.37
# The median of |z| for a normal distribution.
_MEDIAN = 0.6745


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Some rows' shares of the total at each step.

    Attributes
    ----------
    own, totals
        Sums of rows and of all samples: float64 of shapes (rows, units, steps) and
        (units, steps). Every step has a nonzero total.
    shares
        Shares over all units: float64 of shape (rows, steps).
    variance
        Variance of each share, from how units vary when measured again at another step:
        float64 of shape (rows, steps). For a unit with only one step, its whole
        difference from the others counts. NaN if no step has two units.
    freedom
        The degrees of freedom of that variance.
    shaken
        The factor to multiply deviations by, because all units move together from step
        to step more than their variance explains (float64, at least 1).

    """

    own: Floats
    totals: Floats
    shares: Floats
    variance: Floats
    freedom: float
    shaken: Floats


def shares_of(own: NDArray[np.int64], totals: NDArray[np.int64]) -> Shares:
    """Return the shares of rows.

    Parameters
    ----------
    own
        Sums of each row: int64 of shape (rows, units, steps).
    totals
        Sums of all samples, of shape (units, steps), whose sum is above 0 at each step.

    """
    values, weights = own.astype(np.float64), totals.astype(np.float64)
    whole = weights.sum(axis=0)
    shares = values.sum(axis=1) / whole
    variance = _variance(values, weights, shares)
    freedom = _freedom(weights)
    return Shares(values, weights, shares, variance, freedom, _shaken(shares, variance))


def _freedom(weights: Floats) -> float:
    """Return the number of deviations less the number of means they are taken from.

    Units of unequal size count as fewer units of equal size (Kish 1965, 11.7).
    """
    seen = weights > 0
    again = int((seen.sum(axis=1) > 1).sum())
    left = int(seen.sum()) - again - weights.shape[1] + bool(again)
    parts = weights / weights.sum(axis=0)
    alike = 1 / np.square(parts).sum(axis=0) / seen.sum(axis=0)
    return float(max(left * alike.mean(), 0.0))


def _variance(values: Floats, weights: Floats, shares: Floats) -> Floats:
    """Return the variance of each share (the ratio estimator's, over units)."""
    whole, seen = weights.sum(axis=0), weights > 0
    # How far each unit pulls the share; 0 where it was not measured.
    pull = (values - shares[:, None, :] * weights) / whole
    times = seen.sum(axis=1)
    own = pull.sum(axis=2) / np.maximum(times, 1)
    again = times > 1
    left = np.where(seen, pull - np.where(again, own, 0.0)[:, :, None], 0.0)
    # Correct for the spread lost to the unit's own mean over few steps.
    left *= np.sqrt(np.where(again, times / np.maximum(times - 1, 1), 1.0))[:, None]
    units = np.maximum(seen.sum(axis=0), 1)
    several = units > 1
    if not several.any():
        return np.full(shares.shape, np.nan)
    # Jackknife: the share without the unit.
    left /= np.maximum(1 - weights / whole, 1e-12)
    of_step = np.square(left).sum(axis=1) * np.where(several, 1 - 1 / units, 0.0)
    # A step with few units hardly shows its own spread: use at least the pooled one.
    sizes = np.square(weights / whole).sum(axis=0)
    common = of_step[:, several].sum(axis=1) / sizes[several].sum()
    variance: Floats = np.maximum(of_step, common[:, None] * sizes)
    return variance


def _shaken(shares: Floats, variance: Floats) -> Floats:
    """Return how much more shares vary from step to step than their variance says.

    The load of an hour moves all hosts together. Uses the median, so some steps may be
    changes. A row with few steps hardly shows its own factor: use the median over rows.
    """
    rows, steps = shares.shape
    if not rows:
        return np.ones(rows)
    spread = np.sqrt(variance[:, 1:] + variance[:, :-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        far = np.abs(np.diff(shares, axis=1)) / spread
    far[~np.isfinite(far)] = 0.0
    own = np.median(far, axis=1) / _MEDIAN
    common = max(float(np.median(own)), 1.0)
    if steps < _SEVERAL:
        return np.full(rows, common)
    factor: Floats = np.maximum(own, common)
    return factor


@dataclass(frozen=True, slots=True)
class Between:
    """One row's shares in two groups of steps.

    `deviation` is that of their difference over units, each counted once however many
    steps it has; `freedom` is its degrees of freedom, 0 without two units on each side.
    `expected` is the deviation that `Shares.variance` predicts if units have no other
    source of variation, with `expected_freedom`.
    """

    before: float
    after: float
    deviation: float
    expected: float
    freedom: int
    expected_freedom: float

    @property
    def even(self) -> float:
        """Factor that gives the difference a normal tail; near 1 for large counts.

        Counts of rare samples are skewed; their powers of 2/3 are not (Anscombe 1953,
        Journal of the Royal Statistical Society B 15(2)).
        """
        if self.before == self.after:
            return 1.0
        middle = ((self.before + self.after) / 2) ** (1 / 3)
        far = abs(self.after) ** (2 / 3) - abs(self.before) ** (2 / 3)
        return float(1.5 * middle * far / (self.after - self.before))


def between(shares: Shares, row: int, first: slice, second: slice) -> Between:
    """Return one row's shares in two groups of steps, and the deviation between them.

    Units in both groups are compared with themselves: what persists in a unit from step
    to step is not independent evidence.
    """
    pull = np.zeros(shares.totals.shape[0])
    ratios, alike, expected = [], [], 0.0
    for steps, sign in ((first, -1), (second, 1)):
        own = shares.own[row, :, steps].sum(axis=1)
        weights = shares.totals[:, steps].sum(axis=1)
        part = weights / weights.sum()
        ratio = float(own.sum() / weights.sum())
        ratios.append(ratio)
        # This many units of equal size vary as much as these do (Kish 1965, 11.7).
        alike.append(round(1 / float(np.square(part).sum())))
        # Jackknife: the ratio without the unit.
        without = np.maximum(1 - part, 1e-12)
        pull += sign * (own - ratio * weights) / weights.sum() / without
        sizes = shares.totals[:, steps].sum(axis=0) / weights.sum()
        expected += float((np.square(sizes) * shares.variance[row, steps]).sum())
    few = min(alike)
    most = shares.freedom
    if shares.shaken[row] > _SHAKEN and shares.totals.shape[1] >= _SEVERAL:
        most = min(most, _OF_MEDIANS * (shares.totals.shape[1] - 1))
    if few < 2:
        return Between(ratios[0], ratios[1], nan, nan, 0, 0.0)
    variance = float(np.square(pull).sum()) * (few - 1) / few
    return Between(
        ratios[0],
        ratios[1],
        sqrt(variance),
        sqrt(expected),
        few - 1,
        most,
    )
