"""Pointer chasing over a table, sixteen steps at a time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["TABLES", "reached"]

# A stride of 2 ** 4 steps: what the walk in Python takes at a time.
_DOUBLINGS = 4
TABLES = _DOUBLINGS + 1
"""How many tables `reached` works with."""


def reached(tables: list[NDArray[np.int64]], size: int) -> NDArray[np.int64]:
    """Return the places below `size` that are reached from 0, rising (int64).

    ``tables[0]`` says what follows each place up to `size`, and is above it or `size`;
    the others, of the same length, are overwritten. The table is applied to itself
    again and again, so that Python walks 16 steps at once; the steps between follow for
    all strides together.
    """
    for short, long in pairwise(tables):
        np.take(short, short, out=long, mode="clip")
    # numpy is a buffer, whatever its annotations say of Python 3.11.
    stride, at, walked = memoryview(tables[-1].data), 0, list[int]()
    while at < size:
        walked.append(at)
        at = stride[at]
    steps = np.empty((1 << _DOUBLINGS, len(walked)), np.int64)
    steps[0] = walked
    for i, table in enumerate(tables[:-1]):
        np.take(table, steps[: 1 << i], out=steps[1 << i : 2 << i], mode="clip")
    found = steps.T.ravel()
    return found[: np.count_nonzero(found < size)]
