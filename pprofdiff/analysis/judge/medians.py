"""The weighted median, used for the ratio that most of the weight shares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["weighted_median"]

Floats = NDArray[np.float64]


def weighted_median(values: Floats, weights: Floats) -> float:
    """Return the smallest value at which half of the total weight is reached.

    `values` and `weights` (0 or more) are float64 of equal length, at least 1.
    """
    order = np.argsort(values)
    passed = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(passed, passed[-1] / 2)])
