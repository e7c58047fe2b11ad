"""p-values of many rows at once, and their false discovery rates."""

from __future__ import annotations

from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

__all__ = ["false_discovery_rates", "two_sided"]

Floats = NDArray[np.float64]


def two_sided(z: Floats) -> Floats:
    """Return the two-sided p of each normal deviate z."""
    return np.array(list(map(erfc, (np.abs(z) / sqrt(2)).tolist())), np.float64)


def false_discovery_rates(p: Floats) -> Floats:
    """Return the Benjamini-Hochberg adjusted p for each p."""
    count = len(p)
    order = np.argsort(p)[::-1]
    scaled = p[order] * count / np.arange(count, 0, -1)
    q = np.empty(count, np.float64)
    q[order] = np.minimum.accumulate(np.minimum(scaled, 1.0))
    return q
