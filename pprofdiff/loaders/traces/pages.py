"""Columns that grow together, in memory of their own.

The C library serves arrays of some megabytes from one heap once it has seen such come
and go. What is kept between them holds the heap open: of a long trace, decoding left
behind as much unused memory as the result takes. Pages of their own go back to the
system when they are dropped, and what is never written to takes none.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["Store"]

# Smaller arrays are not worth pages of their own; larger ones are worth large pages.
_FEWEST_BYTES, _MANY_BYTES = 1 << 16, 1 << 22
_PRIVATE = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS}
    if hasattr(mmap, "MAP_ANONYMOUS")
    else {}
)
# Rows are reserved for the whole file by what there was so far, and some more.
_MARGIN = 1.5


class Store:
    """Columns of one length, `size` rows of which are kept so far.

    `share` is how much of the file will have been read when the next rows are there.
    """

    def __init__(self, *kinds: DTypeLike) -> None:
        """Take the columns' dtypes."""
        self.size = 0
        self.share = 1.0
        self._capacity = 0
        self._columns = [np.empty(0, kind) for kind in kinds]

    def room(self, rows: int) -> list[NDArray[Any]]:
        """Return columns to write the next rows to, that many at most."""
        needed = self.size + rows
        if needed > self._capacity:
            self._capacity = max(needed, int(needed / self.share * _MARGIN))
            for place, column in enumerate(self._columns):
                grown = _empty(self._capacity, column.dtype)
                grown[: self.size] = column[: self.size]
                self._columns[place] = grown
        return [column[self.size : needed] for column in self._columns]

    def keep(self, rows: int) -> None:
        """Keep the first of the rows that there was room for."""
        self.size += rows

    def drained(self) -> Iterator[NDArray[Any]]:
        """Yield one column after the other, and let go of it."""
        while self._columns:
            yield self._columns.pop(0)[: self.size]


def _empty(size: int, kind: np.dtype[Any]) -> NDArray[Any]:
    """Return an array in pages of its own, if it is large."""
    length = size * kind.itemsize
    if length < _FEWEST_BYTES:
        return np.empty(size, kind)
    pages = mmap.mmap(-1, length, **_PRIVATE)
    if length >= _MANY_BYTES and hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, kind, size)
