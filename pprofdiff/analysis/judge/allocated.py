"""Noise in sampled objects: those allocated, and those live at an instant.

The runtime samples an allocation of s bytes, at a rate of r bytes, with a probability
of p = 1 - exp(-s / r), and multiplies what it sampled by 1 / p (runtime/pprof,
writeHeap). Objects of one size are a sum of independent draws: n of them have a
variance of n (1 - p) / p, about n r / s for small objects, almost 0 for those larger
than the rate.

The number of objects live at an instant is random as well: in-flight ones come and go.
Independent events are Poisson, so n objects have a variance of n before sampling, and
of n / p as reported: s² n / p for their bytes. One buffer of 12 MB is one event, not 24
samples.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.calibration import DISPERSION, LIMIT
from pprofdiff.analysis.judge.scaling import Normalization

__all__ = ["held_moved", "held_variance", "objects_moved"]

Column = NDArray[np.int64]
Floats = NDArray[np.float64]
Pair = tuple[Column, Column]

# Size ÷ rate below which a sample's probability vanishes in float64.
_SMALLEST = 1e-12


def objects_moved(
    objects: Pair, space: Pair, rates: tuple[int | None, int | None], by: Normalization
) -> bool:
    """Return whether the number of objects differs by more than sampling noise.

    Parameters
    ----------
    objects, space
        Counts and bytes of each side's samples, int64. A sample's objects have one
        size.
    rates
        The bytes between samples of each side; if one is missing, returns False.
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
        # This side's part of both sides' objects if nothing changed: one with few
        # samples does not show how many it could have had.
        both = sum(_variance(*side, rate) for side in sides)
        expected += factor**2 * both * by.factors[1 - i] / sum(by.factors)
    base, new = (int(side.sum()) for side in objects)
    variance = DISPERSION * max(seen, expected)
    return abs(by.delta(base, new)) >= LIMIT * sqrt(variance)


def held_variance(objects: Column, space: Column, rate: int) -> Floats:
    """Return the variance of each sample's bytes at another instant (float64).

    `objects` and `space` are what samples hold, int64; `rate` is the bytes between
    samples.
    """
    size = np.abs(space) / np.maximum(np.abs(objects), 1)
    chance = -np.expm1(-np.maximum(size / rate, _SMALLEST))
    variance: Floats = np.abs(space) * size / chance
    return variance


def held_moved(delta: float, variance: float) -> bool:
    """Return whether live bytes differ by more than two instants of one build do.

    `variance` is the sum of `held_variance` over both sides.
    """
    return abs(delta) >= LIMIT * sqrt(DISPERSION * variance)


def _variance(objects: Column, space: Column, rate: int) -> float:
    """Return the sampling variance of a number of objects."""
    filled = (objects > 0) & (space > 0)
    number = objects[filled].astype(np.float64)
    # (1 - p) / p is 1 / (exp(s / r) - 1): almost 0 long before exp overflows.
    size = np.minimum(space[filled] / number / rate, 700.0)
    return float((number / np.expm1(size)).sum())
