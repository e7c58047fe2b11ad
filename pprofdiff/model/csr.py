"""Operations on rows of unequal length (compressed sparse rows).

Row i has the items ``offsets[i]:offsets[i+1]`` of a column. Offsets are int64, of
length rows + 1, non-decreasing from 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Offsets = NDArray[np.int64]
T = TypeVar("T", bound=np.generic)

# Sums of float64 integers are exact below this bound (IEEE 754 binary64).
_EXACT = 1 << 53
# Items processed at a time, which limits temporaries to a few megabytes.
_CHUNK = 1 << 20
# Cells of the table in which once_per_row looks for duplicates (int32 each).
_TABLE = 1 << 20
_SMALL_TABLE = 1 << 17
# Rows of several columns processed at a time, to stay in the CPU cache.
_ROWS = 1 << 17


def offsets_of(counts: NDArray[np.integer]) -> Offsets:
    """Return the int64 offsets (length n + 1) of rows with these item counts."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def row_of_item(offsets: Offsets) -> NDArray[np.int64]:
    """Return the row index of each item (int64, length offsets[-1])."""
    rows = np.arange(len(offsets) - 1, dtype=np.int64)
    return np.repeat(rows, np.diff(offsets))


def expand(
    starts: NDArray[np.integer], counts: NDArray[np.integer]
) -> NDArray[np.int64]:
    """Return ``range(starts[i], starts[i] + counts[i])`` for all i, joined (int64)."""
    ends = np.cumsum(counts, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    shift = starts.astype(np.int64) - (ends - counts)
    return np.repeat(shift, counts) + np.arange(total, dtype=np.int64)


def take_rows(
    offsets: Offsets, items: NDArray[T], rows: NDArray[np.integer]
) -> tuple[Offsets, NDArray[T]]:
    """Return (offsets, items) of the chosen rows, in the order of `rows`."""
    counts = np.diff(offsets)[rows]
    starts, taken = offsets[:-1][rows], offsets_of(counts)
    out = np.empty(int(taken[-1]), items.dtype)
    for start, stop in chunks(taken, _CHUNK):
        low, high = int(taken[start]), int(taken[stop])
        out[low:high] = items[expand(starts[start:stop], counts[start:stop])]
    return taken, out


def distinct(values: NDArray[T]) -> NDArray[T]:
    """Return the sorted distinct values, like np.unique but without its imports."""
    ranked = np.sort(values)
    first = np.ones(len(ranked), np.bool_)
    first[1:] = ranked[1:] != ranked[:-1]
    return ranked[first]


def grouped(values: NDArray[T]) -> tuple[NDArray[T], NDArray[np.int64]]:
    """Return the sorted distinct values, and the index in them of each of `values`."""
    groups = distinct(values)
    return groups, np.searchsorted(groups, values)


def order_of(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the stable order of keys that are not negative.

    If a key and its index fit into one word, words are sorted: half of an argsort.
    """
    bits = len(keys).bit_length()
    if int(keys.max(initial=0)).bit_length() + bits < np.iinfo(np.int64).bits:
        words = np.sort(keys << bits | np.arange(len(keys)))
        return words & ((1 << bits) - 1)
    return np.argsort(keys, kind="stable")


def chunks(offsets: Offsets, items: int = _CHUNK) -> list[tuple[int, int]]:
    """Return row ranges [start, stop) of about `items` items each, covering all."""
    rows = len(offsets) - 1
    marks = np.arange(0, int(offsets[-1]) + items, items)
    cuts = distinct(np.append(np.searchsorted(offsets[:-1], marks), (0, rows)))
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


def slices(size: int) -> Iterator[slice]:
    """Yield slices of at most 2**17 rows that cover the rows below `size`, in order."""
    for first in range(0, size, _ROWS):
        yield slice(first, min(first + _ROWS, size))


def first_places(items: NDArray[np.integer], size: int) -> NDArray[np.int64]:
    """Return the first index of each id in [0, size) in `items`, or -1 (int64)."""
    places = np.full(size, -1, np.int64)
    # Of several values assigned to one index, numpy keeps the last: go backwards.
    for stop in range(len(items), 0, -_CHUNK):
        start = max(stop - _CHUNK, 0)
        places[items[start:stop][::-1]] = np.arange(stop - 1, start - 1, -1)
    return places


def first_in_row(mask: NDArray[np.bool_], offsets: Offsets) -> NDArray[np.int64]:
    """Return the absolute index of each row's first true item, or -1 (int64)."""
    hits = np.flatnonzero(mask)
    if len(hits) < len(offsets):
        first = np.full(len(offsets) - 1, -1, np.int64)
        first[_row_of(hits, offsets)[::-1]] = hits[::-1]
        return first
    padded = np.append(hits, len(mask))
    first = padded[np.searchsorted(hits, offsets[:-1])]
    return np.where(first < offsets[1:], first, -1)


def last_in_row(mask: NDArray[np.bool_], offsets: Offsets) -> NDArray[np.int64]:
    """Return the absolute index of each row's last true item, or -1 (int64)."""
    hits = np.flatnonzero(mask)
    if len(hits) < len(offsets):
        last = np.full(len(offsets) - 1, -1, np.int64)
        last[_row_of(hits, offsets)] = hits
        return last
    padded = np.append(hits, -1)
    last = padded[np.searchsorted(hits, offsets[1:]) - 1]
    return np.where(last >= offsets[:-1], last, -1)


def _row_of(items: NDArray[np.int64], offsets: Offsets) -> NDArray[np.int64]:
    """Return the row of each item, given by its index in the column."""
    return np.searchsorted(offsets, items, "right") - 1


def count_in_row(mask: NDArray[np.bool_], offsets: Offsets) -> NDArray[np.int64]:
    """Return the number of true items in each row (int64)."""
    counts = np.zeros(len(offsets) - 1, np.int64)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        counts[filled] = np.add.reduceat(mask, offsets[:-1][filled], dtype=np.int64)
    return counts


def once_per_row(
    offsets: Offsets, ids: NDArray[np.integer], size: int
) -> NDArray[np.bool_]:
    """Mark one occurrence of each distinct id in each row (bool, one per item).

    `ids` lie in [0, size). numpy keeps the last of several values assigned to one
    index: positions written into a (row, id) table and read back need no sort.
    """
    keep = np.empty(len(ids), np.bool_)
    # Small enough for the cache, large enough for 32 rows at a time.
    cells_at_once = min(_TABLE, max(_SMALL_TABLE, 32 * size))
    rows_at_once = max(1, cells_at_once // max(size, 1))
    table = np.empty(rows_at_once * max(size, 1), np.int32)
    cuts = np.arange(0, len(offsets) - 1 + rows_at_once, rows_at_once)
    cuts = np.minimum(cuts, len(offsets) - 1)
    bounds = offsets[cuts].tolist()
    counts = np.diff(offsets)
    bases = np.arange(rows_at_once, dtype=np.int64) * size
    for i, start in enumerate(cuts[:-1].tolist()):
        low, high = bounds[i], bounds[i + 1]
        row_counts = counts[start : start + rows_at_once]
        cells = np.repeat(bases[: len(row_counts)], row_counts)
        cells += ids[low:high]
        positions = np.arange(high - low, dtype=np.int32)
        table[cells] = positions
        np.equal(table[cells], positions, out=keep[low:high])
    return keep


def sums(
    ids: NDArray[np.integer], values: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    """Return the sum of `values` for each id in [0, size), exact in int64."""
    if len(ids) == 0:
        return np.zeros(size, np.int64)
    bound = max(abs(int(values.max())), abs(int(values.min())))
    if bound == 0:
        return np.zeros(size, np.int64)
    if bound * len(values) < _EXACT:
        return np.bincount(ids, values, size).astype(np.int64)
    total = np.zeros(size, np.int64)
    np.add.at(total, ids, values)
    return total


def _mixed(items: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Scramble 64-bit words (the finalizer of splitmix64, Steele et al. 2014)."""
    z = items + np.uint64(seed)
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z


def row_hashes(offsets: Offsets, items: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Return two independent 64-bit hashes of each row's sequence, shape (rows, 2)."""
    hashes = np.zeros((len(offsets) - 1, 2), np.uint64)
    for start, stop in chunks(offsets):
        low, high = int(offsets[start]), int(offsets[stop])
        counts = np.diff(offsets[start : stop + 1])
        filled = np.flatnonzero(counts)
        if not len(filled):
            continue
        begins = (offsets[start:stop] - low)[filled]
        place = np.arange(high - low) - np.repeat(begins, counts[filled])
        words = items[low:high].astype(np.uint64)
        words += place.astype(np.uint64) << np.uint64(40)
        for column, seed in enumerate((0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)):
            total = np.add.reduceat(_mixed(words, seed), begins)
            hashes[start + filled, column] = total
        hashes[start:stop, 0] += counts.astype(np.uint64)
    return hashes


def unique_rows(
    offsets: Offsets,
    items: NDArray[np.integer],
    extra: NDArray[np.integer] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first row of each group of equal rows, and the group of each row.

    Items lie in [0, 2**40); `extra` is one more number for each row. Rows are compared
    by two 64-bit hashes; groups are numbered by first appearance (both int64).
    """
    hashes = row_hashes(offsets, items)
    if extra is not None:
        hashes += _mixed(extra.astype(np.uint64), 0xA0761D6478BD642F)[:, None]
    return _groups(hashes)


def unique_tuples(
    columns: Sequence[NDArray[np.integer]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Group rows that are equal in all columns; return what `unique_rows` returns."""
    hashes = np.zeros((len(columns[0]), 2), np.uint64)
    for column in columns:
        if len(column) and (column == column[0]).all():
            continue  # constant: distinguishes no rows
        words = column.astype(np.int64, copy=False).view(np.uint64)
        for i, seed in enumerate((0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)):
            hashes[:, i] = _mixed(hashes[:, i] ^ _mixed(words, seed), seed)
    return _groups(hashes)


def _groups(
    hashes: NDArray[np.uint64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Group rows with equal hashes; return (first row of each group, group of each)."""
    order = np.argsort(hashes[:, 0])
    ranked = hashes[order]
    changed = ranked[1:] != ranked[:-1]
    if (changed[:, 1] & ~changed[:, 0]).any():
        order = np.lexsort((hashes[:, 1], hashes[:, 0]))
        ranked = hashes[order]
        changed = ranked[1:] != ranked[:-1]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = changed.any(axis=1)
    starts = np.flatnonzero(begins)
    first = np.minimum.reduceat(order, starts) if len(starts) else order
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    group = np.empty(len(order), np.int64)
    group[order] = rank[np.cumsum(begins) - 1]
    return np.sort(first), group
