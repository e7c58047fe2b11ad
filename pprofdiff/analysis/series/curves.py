"""Shares of the total, step by step, and how far hosts make them spread."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

__all__ = ["Shares", "between", "shares_of"]

Floats = NDArray[np.float64]

# Of fewer steps, the median of differences says little about all of them.
_SEVERAL = 8
# The median of |z| of the normal distribution.
_MEDIAN = 0.6745


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Some rows' shares of the total at each step.

    Attributes
    ----------
    own, totals
        Sums of rows and of all samples: float64 of shapes (rows, units, steps) and
        (units, steps). Each step has a total.
    shares
        Of all units together: float64 of shape (rows, steps).
    variance
        Of a share, as units that are measured again at another step spread about it:
        float64 of shape (rows, steps). Where a unit is of one step alone, all that it
        differs from others counts. NaN where no step has two units.
    shaken
        What a deviation is to be multiplied by where shares go up and down from step
        to step further than units explain, all together (float64, at least 1).

    """

    own: Floats
    totals: Floats
    shares: Floats
    variance: Floats
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
    return Shares(values, weights, shares, variance, _shaken(shares, variance))


def _variance(values: Floats, weights: Floats, shares: Floats) -> Floats:
    """Return the variance of each share (the ratio estimator's, over units)."""
    whole, seen = weights.sum(axis=0), weights > 0
    # How far each unit moves the share; 0 where it was not measured.
    pull = (values - shares[:, None, :] * weights) / whole
    times = seen.sum(axis=1)
    own = pull.sum(axis=2) / np.maximum(times, 1)
    again = times > 1
    left = np.where(seen, pull - np.where(again, own, 0.0)[:, :, None], 0.0)
    # Less of a unit's spread is left where it is of few steps.
    left *= np.sqrt(np.where(again, times / np.maximum(times - 1, 1), 1.0))[:, None]
    units = seen.sum(axis=0)
    several = units > 1
    if not several.any():
        return np.full(shares.shape, np.nan)
    of_step = np.square(left).sum(axis=1) * np.where(
        several, units / np.maximum(units - 1, 1), 0.0
    )
    # A step with few units hardly shows its own spread, that of all steps does.
    sizes = np.square(weights / whole).sum(axis=0)
    common = of_step[:, several].sum(axis=1) / sizes[several].sum()
    variance: Floats = np.maximum(of_step, common[:, None] * sizes)
    return variance


def _shaken(shares: Floats, variance: Floats) -> Floats:
    """Return how much further shares go from step to step than their variance says.

    The load of an hour moves all hosts alike. By the median, so that some steps may
    be changes.
    """
    rows, steps = shares.shape
    if steps < _SEVERAL:
        return np.ones(rows)
    spread = np.sqrt(variance[:, 1:] + variance[:, :-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        far = np.abs(np.diff(shares, axis=1)) / spread
    far[~np.isfinite(far)] = 0.0
    factor: Floats = np.maximum(np.median(far, axis=1) / _MEDIAN, 1.0)
    return factor


@dataclass(frozen=True, slots=True)
class Between:
    """One row's shares of two groups of steps.

    `deviation` is that of their difference over units, each of which counts once
    however many steps it was measured at; `freedom` its degrees of freedom, 0 where
    there are no two units on each side.
    """

    before: float
    after: float
    deviation: float
    freedom: int


def between(shares: Shares, row: int, first: slice, second: slice) -> Between:
    """Return what one row has in two groups of steps, and how sure the difference is.

    Units that are in both are compared with themselves; what one keeps from step to
    step is no evidence twice.
    """
    pull = np.zeros(shares.totals.shape[0])
    ratios, alike = [], []
    for steps, sign in ((first, -1), (second, 1)):
        own = shares.own[row, :, steps].sum(axis=1)
        weights = shares.totals[:, steps].sum(axis=1)
        part = weights / weights.sum()
        ratio = float(own.sum() / weights.sum())
        ratios.append(ratio)
        # So many units of one size vary as much as these do (Kish 1965, 11.7).
        alike.append(int(1 / float(np.square(part).sum()) + 1e-9))
        # What the ratio would be without a unit: the jackknife.
        without = np.maximum(1 - part, 1e-12)
        pull += sign * (own - ratio * weights) / weights.sum() / without
    few = min(alike)
    if few < 2:
        return Between(ratios[0], ratios[1], float("nan"), 0)
    variance = float(np.square(pull).sum()) * (few - 1) / few
    return Between(ratios[0], ratios[1], sqrt(variance), few - 1)
