"""The weighted median: of ratios, what most of the weight shares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["weighted_median"]

Floats = NDArray[np.float64]


def weighted_median(values: Floats, weights: Floats) -> float:
    """Return the least value with which half of all weight is passed.

    `values` and `weights` (0 or more) are float64 of one length, at least 1.
    """
    order = np.argsort(values)
    passed = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(passed, passed[-1] / 2)])
