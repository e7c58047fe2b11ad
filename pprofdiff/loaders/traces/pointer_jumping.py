"""Pointer jumping: follow a chain of "next" links 16 at a time.

The start of an event depends on the one before it; numpy composes the table of links
with itself, so that Python takes one step in 16.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pprofdiff.model.arrays import Column

# The Python loop takes strides of 2 ** 4 links.
_DOUBLINGS = 4
TABLES = _DOUBLINGS + 1
"""The number of tables that `follow_jumps` needs."""


def follow_jumps(tables: list[Column], size: int) -> Column:
    """Return the positions below `size` on the chain from 0 (int64, increasing).

    ``tables[0][i]`` is the position after i: more than i, or at least `size` where the
    chain ends. The other tables are scratch space; all are int64 of size + 1 or more.
    """
    for short, long in pairwise(tables):
        np.take(short, short, out=long, mode="clip")
    # numpy arrays are buffers, though their annotations for Python 3.11 deny it.
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
