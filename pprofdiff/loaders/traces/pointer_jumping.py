"""Pointer jumping: a chain of "what comes next" is followed 16 links at a time.

Where an event begins follows from where the one before it begins and how many numbers
that has. The chain is sequential, but the table of all links can be applied to itself
by numpy, which leaves one step in 16 to Python.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["TABLES", "follow_jumps"]

# Python's loop takes strides of 2 ** 4 links.
_DOUBLINGS = 4
TABLES = _DOUBLINGS + 1
"""How many tables `follow_jumps` works with."""


def follow_jumps(tables: list[NDArray[np.int64]], size: int) -> NDArray[np.int64]:
    """Return the positions below `size` on the chain that begins at 0, rising (int64).

    Parameters
    ----------
    tables : list of `TABLES` arrays (int64, of equal length, size + 1 at least)
        ``tables[0][i]`` is the position that follows i; it is above i, or `size` or
        more where the chain ends. The other tables are working memory.
    size : int
        The end of the positions.

    """
    for short, long in pairwise(tables):
        np.take(short, short, out=long, mode="clip")
    # numpy is a buffer, whatever its annotations say of Python 3.11.
    stride, at, strided = memoryview(tables[-1].data), 0, list[int]()
    while at < size:
        strided.append(at)
        at = stride[at]
    steps = np.empty((1 << _DOUBLINGS, len(strided)), np.int64)
    steps[0] = strided
    for i, table in enumerate(tables[:-1]):
        np.take(table, steps[: 1 << i], out=steps[1 << i : 2 << i], mode="clip")
    chain = steps.T.ravel()
    return chain[: np.count_nonzero(chain < size)]
