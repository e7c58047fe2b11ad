"""How far sampled objects may move by chance: those allocated, and those held.

The runtime samples an allocation of s bytes, at a rate of r bytes, with the chance
p = 1 - exp(-s / r), and multiplies what it sampled by 1 / p (runtime/pprof, writeHeap).
Objects of one size are a sum of independent draws, so the variance of n of them is
n (1 - p) / p: about n r / s for small objects, next to none for those beyond the rate.

How many objects are held at an instant is chance as well: those in flight come and go.
Events that know nothing of each other are Poisson's, so that n objects have a variance
of n, before they are sampled, and of n / p as they are told: s² n / p of their bytes.
One buffer of 12 MB is one event, not 24 samples.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.normalization import Normalization
from pprofdiff.analysis.stats.calibration import DISPERSION, LIMIT

__all__ = ["held_moved", "held_variance", "objects_moved"]

Column = NDArray[np.int64]
Floats = NDArray[np.float64]
Pair = tuple[Column, Column]

# Sizes over the rate below which a sample's chance is lost in float64's digits.
_SMALLEST = 1e-12


def objects_moved(
    objects: Pair, space: Pair, rates: tuple[int | None, int | None], by: Normalization
) -> bool:
    """Return whether the number of objects differs by more than sampling does.

    Parameters
    ----------
    objects, space
        Numbers and bytes of each side's samples, int64. Objects of a sample are of one
        size.
    rates
        The bytes between samples of each side; without one nothing is told.
    by
        How the sides are made comparable.

    """
    known = [rate for rate in rates if rate]
    if len(known) < len(rates):
        return False
    sides = list(zip(objects, space, strict=True))
    seen = expected = 0.0
    for i, (rate, factor) in enumerate(zip(known, by.factors, strict=True)):
        seen += factor**2 * _variance(*sides[i], rate)
        # Of the objects of both, as many as this side has if nothing changed: one with
        # few samples does not show how many it could have had.
        both = sum(_variance(*side, rate) for side in sides)
        expected += factor**2 * both * by.factors[1 - i] / sum(by.factors)
    base, new = (int(side.sum()) for side in objects)
    variance = DISPERSION * max(seen, expected)
    return abs(by.delta(base, new)) >= LIMIT * sqrt(variance)


def held_variance(objects: Column, space: Column, rate: int) -> Floats:
    """Return the variance of the bytes of each sample at another instant (float64).

    `objects` and `space` are what samples hold, int64; `rate` is the bytes between
    samples.
    """
    size = np.abs(space) / np.maximum(np.abs(objects), 1)
    chance = -np.expm1(-np.maximum(size / rate, _SMALLEST))
    variance: Floats = np.abs(space) * size / chance
    return variance


def held_moved(delta: float, variance: float) -> bool:
    """Return whether held bytes differ by more than two instants of one build do.

    `variance` is the sum of `held_variance` over both sides.
    """
    return abs(delta) >= LIMIT * sqrt(DISPERSION * variance)


def _variance(objects: Column, space: Column, rate: int) -> float:
    """Return the variance of a sum of objects."""
    filled = (objects > 0) & (space > 0)
    number = objects[filled].astype(np.float64)
    # (1 - p) / p is 1 / (exp(s / r) - 1): next to 0 long before exp overflows.
    size = np.minimum(space[filled] / number / rate, 700.0)
    return float((number / np.expm1(size)).sum())
