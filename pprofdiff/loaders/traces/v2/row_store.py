"""Store rows of goroutines and Ps generation by generation, then sort them by owner.

Columns live in private pages: these go back to the system when dropped, and pages never
written to take no memory. From malloc, decoding a long trace left as much unused memory
behind as the result takes.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pprofdiff.loaders.traces.owner_rows import first_of_each
from pprofdiff.model.arrays import Column, Index, Integers
from pprofdiff.model.csr import Offsets, chunks, expand, offsets_of, slices
from pprofdiff.model.table import Table, dtypes_of
from pprofdiff.model.traces.trace import Intervals, ProcessorIntervals

# Blocks of at least this many rows on average are copied one by one.
_LONG_BLOCK = 64
# Rows placed at a time, which limits temporaries to a few megabytes.
_ROWS = 1 << 17
# Minimum sizes in bytes for private pages and for huge pages.
_FEWEST_BYTES, _MANY_BYTES = 1 << 16, 1 << 22
_PRIVATE = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS}
    if hasattr(mmap, "MAP_ANONYMOUS")
    else {}
)
# Growth estimates the rows of the whole file from those so far, times this.
_MARGIN = 1.5


class RowStore:
    """Columns that grow together; the first `size` rows are kept.

    `share` is the fraction of the file read once the next rows are kept: it predicts
    how many are to come.
    """

    def __init__(self, *dtypes: DTypeLike) -> None:
        self.size = 0
        self.share = 1.0
        self._capacity = 0
        self._columns = [np.empty(0, dtype) for dtype in dtypes]

    def room(self, rows: int) -> list[NDArray[Any]]:
        """Return the columns for the next rows, at most `rows` of them."""
        needed = self.size + rows
        if needed > self._capacity:
            self._capacity = max(needed, int(needed / self.share * _MARGIN))
            for place, column in enumerate(self._columns):
                grown = _empty(self._capacity, column.dtype)
                grown[: self.size] = column[: self.size]
                self._columns[place] = grown
        return [column[self.size : needed] for column in self._columns]

    def keep(self, rows: int) -> None:
        """Keep the first `rows` of the rows from `room`."""
        self.size += rows

    def columns(self) -> list[NDArray[Any]]:
        """Return the rows kept."""
        return [column[: self.size] for column in self._columns]


def _empty(size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array, in private pages if it is large."""
    length = size * dtype.itemsize
    if length < _FEWEST_BYTES:
        return np.empty(size, dtype)
    pages = mmap.mmap(-1, length, **_PRIVATE)
    if length >= _MANY_BYTES and hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, dtype, size)


class OwnerCounts(Table, frozen=True):
    """The owners of one generation's rows in a `RowStore`, grouped by owner.

    `owner` (int32) are goroutines or Ps in the order of their rows, `count` (int64) is
    how many rows each has. An owner may appear twice in a row.
    """

    owner: Index
    count: Column


def store_of(intervals: type[Intervals | ProcessorIntervals]) -> RowStore:
    """Return a store for the columns of intervals, except `offsets`."""
    _, *dtypes = dtypes_of(intervals)
    return RowStore(*dtypes)


def rows_by_owner(
    parts: list[OwnerCounts], store: RowStore, owners: int
) -> tuple[Offsets, list[NDArray[Any]]]:
    """Return the rows of all generations by owner, in the memory of the store.

    `parts` are the generations in the order of their rows; the list is emptied. Returns
    the offsets (int64, owners + 1) and the columns.
    """
    totals = np.zeros(owners, np.int64)
    for part in parts:
        np.add.at(totals, part.owner, part.count)
    offsets, columns = offsets_of(totals), store.columns()
    del totals
    if len(parts) == 1:
        return offsets, columns
    whole = np.int32 if store.size < 1 << 31 else np.int64
    first, count = np.empty((2, sum(map(len, parts))), whole)
    _find_blocks(parts, offsets[:-1].astype(whole), first, count)
    source: Integers | None = None
    if len(first) * _LONG_BLOCK >= store.size:
        source = np.empty(store.size, whole)
        ends = offsets_of(count)
        for low, high in chunks(ends, _ROWS):
            rows = np.arange(ends[low], ends[high])
            source[expand(first[low:high], count[low:high])] = rows
        # Free what only served to find the order before moving columns.
        del ends
        first = count = first[:0].copy()
    # First touch costs more than moving the data, so the buffer is shared.
    spare = np.empty(store.size * max(c.itemsize for c in columns), np.uint8)
    for column in columns:
        before = spare[: column.nbytes].view(column.dtype)
        before[:] = column
        if source is None:
            _move_blocks(before, column, first, count)
        else:
            for here in slices(store.size):
                np.take(before, source[here], out=column[here], mode="clip")
    return offsets, columns


def _find_blocks(
    parts: list[OwnerCounts], free: Integers, first: Integers, count: Integers
) -> None:
    """Write the target of each block of rows to `first`, its size to `count`.

    `free` is the first free row of each owner, updated in place; `parts` is emptied.
    """
    done = 0
    parts.reverse()
    while parts:
        part = parts.pop()
        here = slice(done, done + len(part))
        # Rows of one owner form one block or, across two chunks, two.
        first[here] = free[part.owner] + _before_in_owner(part.owner, part.count)
        count[here] = part.count
        np.add.at(free, part.owner, part.count.astype(free.dtype))
        done = here.stop


def _move_blocks(
    rows: NDArray[Any], to: NDArray[Any], first: Integers, count: Integers
) -> None:
    """Copy each block of `count` consecutive rows to its target `first`."""
    start = np.cumsum(count) - count
    for place, at, size in zip(
        first.tolist(), start.tolist(), count.tolist(), strict=True
    ):
        to[place : place + size] = rows[at : at + size]


def _before_in_owner(owner: Index, count: Column) -> Column:
    """Return how many rows of the same owner precede each block of a part."""
    ends = np.cumsum(count)
    first = np.flatnonzero(first_of_each(owner))
    start = ends - count
    return start - np.repeat(start[first], np.diff(first, append=len(owner)))
