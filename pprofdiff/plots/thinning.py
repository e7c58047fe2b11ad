"""Reduces lines that have more points than a picture can show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Band:
    """The range of a line, column by column: float64 arrays of one length.

    `x` is the middle of a column; `low`, `middle` and `high` are the line's lowest
    value in the column, its median (the lower of two) and its highest value.
    """

    x: Floats
    low: Floats
    middle: Floats
    high: Floats


def banded(x: Floats, y: Floats, columns: int) -> Band:
    """Return the range of a line in each column of x that holds a point.

    `x` and `y` are the line's points, float64, in any order; the range of x is divided
    into `columns` of equal width.
    """
    if not len(x):
        return Band(x, x, x, x)
    start = float(x.min())
    width = max(float(x.max()) - start, 1e-12) / columns
    column = np.minimum(((x - start) / width).astype(np.int64), columns - 1)
    order = np.lexsort((y, column))
    ranked, columns_in_order = y[order], column[order]
    first = np.flatnonzero(np.diff(columns_in_order, prepend=-1))
    last = np.append(first[1:], len(x)) - 1
    low, middle, high = (ranked[i] for i in (first, (first + last) // 2, last))
    return Band(start + (columns_in_order[first] + 0.5) * width, low, middle, high)


def thinned(x: Floats, y: Floats, columns: int) -> tuple[Floats, Floats]:
    """Return a line's lowest and highest point in each column of x, and its ends.

    Points and `columns` are as in `banded`, x ascending. A line with at most twice as
    many points as columns is returned as is.
    """
    if len(x) <= 2 * columns:
        return x, y
    start = float(x.min())
    column = ((x - start) * (columns / max(x.max() - start, 1e-12))).astype(np.int64)
    order = np.lexsort((y, column))
    first = np.flatnonzero(np.diff(column[order], prepend=-1))
    last = np.append(first[1:], len(x)) - 1
    kept = np.unique(np.concatenate(([0, len(x) - 1], order[first], order[last])))
    return x[kept], y[kept]
