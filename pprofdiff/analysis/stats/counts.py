"""Is a change larger than chance? A count model for one pair of profiles.

A sampled value of v with period p rests on n = v / p samples. Counts of unchanged
builds vary a little more than Poisson's law says: over six pairs of runs of one
build, z had a root mean square of 1.11 (flat) and 1.08 (cum), hence a variance of
1.25 n. A difference is called a change where it exceeds three standard deviations
and survives the correction for how many rows are judged (Benjamini and Hochberg,
1995, at 5 %). One pair cannot show how much whole runs differ: that needs sets.
"""

from __future__ import annotations

from math import erfc, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["DISPERSION", "LIMIT", "CountModel", "Judgement"]

DISPERSION = 1.25
LIMIT = 3.0
_FALSE_DISCOVERIES = 0.05

Floats = NDArray[np.float64]


class Judgement(NamedTuple):
    """One verdict a row: `z` float64, `p` and `q` in [0, 1], `noise` bool."""

    z: Floats
    p: Floats
    q: Floats
    noise: NDArray[np.bool_]


class CountModel(NamedTuple):
    """How far a scaled value may move by chance.

    `base_step` and `new_step` are what one sample is worth on each side after
    scaling (period × factor).
    """

    base_step: float
    new_step: float
    base_factor: float
    new_factor: float

    @property
    def sound(self) -> bool:
        """Whether a sample is worth something on both sides."""
        return min(self) > 0

    def sigma(self, base: NDArray[np.int64], new: NDArray[np.int64]) -> Floats:
        """Return the standard deviation of the scaled delta of each row."""
        spread = np.abs(base) * (self.base_factor * self.base_step)
        spread = spread + np.abs(new) * (self.new_factor * self.new_step)
        # One sample is the least that a side without any could have had.
        floor = max(self.base_step, self.new_step) ** 2
        return np.sqrt(DISPERSION * np.maximum(spread, floor))

    def judge(self, base: NDArray[np.int64], new: NDArray[np.int64]) -> Judgement:
        """Judge rows of raw int64 values, base against new."""
        delta = new * self.new_factor - base * self.base_factor
        z = delta / self.sigma(base, new)
        p = np.array([erfc(abs(v) / sqrt(2)) for v in z.tolist()], np.float64)
        q = _false_discovery_rates(p)
        return Judgement(z, p, q, (np.abs(z) < LIMIT) | (q > _FALSE_DISCOVERIES))

    def lengths_needed(self, z: Floats) -> Floats:
        """Return how many times as long profiles must be for each row to be told."""
        with np.errstate(divide="ignore"):
            return np.square(LIMIT / np.abs(z))


def _false_discovery_rates(p: Floats) -> Floats:
    """Return Benjamini and Hochberg's adjusted p for each p."""
    count = len(p)
    order = np.argsort(p)[::-1]
    scaled = p[order] * count / np.arange(count, 0, -1)
    q = np.empty(count, np.float64)
    q[order] = np.minimum.accumulate(np.minimum(scaled, 1.0))
    return q
