"""Operations on rows of unequal length (compressed sparse rows).

Row i has the items ``offsets[i]:offsets[i+1]`` of a column. Offsets are int64, of
length rows + 1, non-decreasing from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.arrays import Column, Index, Integers, Mask

Offsets = Column
Columns = Sequence[Integers]
# The most combinations that `few_tuples` counts in a column.
_FEW = 1 << 20
T = TypeVar("T", bound=np.generic)

# Sums of float64 integers are exact below this bound (IEEE 754 binary64).
_EXACT = 1 << 53
# Items processed at a time, which limits temporaries to a few megabytes.
_CHUNK = 1 << 17
# Cells of the table in which once_per_row looks for duplicates (int32 each).
_TABLE = 1 << 20
_SMALL_TABLE = 1 << 17
# Rows for which it has to have room; else several ids share a cell.
_TABLED = 32
# Of the two hashes of a row.
_SEEDS = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03
# Rows of several columns processed at a time, to stay in the CPU cache.
_ROWS = 1 << 17


def offsets_of(counts: Integers) -> Offsets:
    """Return the int64 offsets (length n + 1) of rows with these item counts."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def row_of_item(offsets: Offsets) -> Column:
    """Return the row index of each item (int64, length offsets[-1])."""
    rows = np.arange(len(offsets) - 1, dtype=np.int64)
    return np.repeat(rows, np.diff(offsets))


def expand(starts: Integers, counts: Integers) -> Column:
    """Return ``range(starts[i], starts[i] + counts[i])`` for all i, joined (int64)."""
    ends = np.cumsum(counts, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    shift = starts.astype(np.int64) - (ends - counts)
    return np.repeat(shift, counts) + np.arange(total, dtype=np.int64)


def take_rows(
    offsets: Offsets, items: NDArray[T], rows: Integers
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


def grouped(values: NDArray[T]) -> tuple[NDArray[T], Column]:
    """Return the sorted distinct values, and the index in them of each of `values`."""
    groups = distinct(values)
    return groups, np.searchsorted(groups, values)


def order_of(keys: Integers) -> Column:
    """Return the stable order of keys that are not negative.

    Keys of 16 bits are sorted by radix. If a key and its index fit into one word,
    words are sorted: half of an argsort.
    """
    if int(keys.max(initial=0)) < 1 << 16:
        return np.argsort(keys.astype(np.uint16), kind="stable")
    bits = len(keys).bit_length()
    if int(keys.max(initial=0)).bit_length() + bits < np.iinfo(np.int64).bits:
        words = np.sort(keys.astype(np.int64) << bits | np.arange(len(keys)))
        return words & ((1 << bits) - 1)
    return np.argsort(keys, kind="stable")


def transposed(offsets: Offsets, items: Integers, size: int) -> tuple[Offsets, Index]:
    """Return (offsets, rows): the rows with each id in [0, size), in their order.

    A row is repeated as often as it has the id.
    """
    begins = offsets_of(np.bincount(items, minlength=size))
    rows = np.empty(len(items), np.int32)
    # In batches: an order of all items would take four times the memory of the rows.
    filled = begins[:-1].copy()
    for start, stop in chunks(offsets, max(_CHUNK, size)):
        some = items[int(offsets[start]) : int(offsets[stop])]
        counts = np.bincount(some, minlength=size)
        at = np.repeat(filled - (np.cumsum(counts) - counts), counts)
        at += np.arange(len(some))
        row = np.arange(start, stop, dtype=np.int32)
        rows[at] = np.repeat(row, np.diff(offsets[start : stop + 1]))[order_of(some)]
        filled += counts
    return begins, rows


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


def first_places(items: Integers, size: int) -> Column:
    """Return the first index of each id in [0, size) in `items`, or -1 (int64)."""
    places = np.full(size, -1, np.int64)
    # Of several values assigned to one index, numpy keeps the last: go backwards.
    for stop in range(len(items), 0, -_CHUNK):
        start = max(stop - _CHUNK, 0)
        places[items[start:stop][::-1]] = np.arange(stop - 1, start - 1, -1)
    return places


def first_in_row(mask: Mask, offsets: Offsets) -> Column:
    """Return the absolute index of each row's first true item, or -1 (int64)."""
    hits = np.flatnonzero(mask)
    if len(hits) < len(offsets):
        first = np.full(len(offsets) - 1, -1, np.int64)
        first[_row_of(hits, offsets)[::-1]] = hits[::-1]
        return first
    padded = np.append(hits, len(mask))
    first = padded[np.searchsorted(hits, offsets[:-1])]
    return np.where(first < offsets[1:], first, -1)


def any_in_row(mask: Mask, offsets: Offsets) -> Mask:
    """Return which rows have a true item (bool, one per row)."""
    hits = np.flatnonzero(mask)
    if len(hits) < len(offsets):
        found = np.zeros(len(offsets) - 1, np.bool_)
        found[_row_of(hits, offsets)] = True
        return found
    return np.diff(np.searchsorted(hits, offsets)) > 0


def last_in_row(mask: Mask, offsets: Offsets) -> Column:
    """Return the absolute index of each row's last true item, or -1 (int64)."""
    hits = np.flatnonzero(mask)
    if len(hits) < len(offsets):
        last = np.full(len(offsets) - 1, -1, np.int64)
        last[_row_of(hits, offsets)] = hits
        return last
    padded = np.append(hits, -1)
    last = padded[np.searchsorted(hits, offsets[1:]) - 1]
    return np.where(last >= offsets[:-1], last, -1)


def _row_of(items: Column, offsets: Offsets) -> Column:
    """Return the row of each item, given by its index in the column."""
    return np.searchsorted(offsets, items, "right") - 1


def count_in_row(mask: Mask, offsets: Offsets) -> Column:
    """Return the number of true items in each row (int64)."""
    counts = np.zeros(len(offsets) - 1, np.int64)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        counts[filled] = np.add.reduceat(mask, offsets[:-1][filled], dtype=np.int64)
    return counts


def once_per_row(offsets: Offsets, ids: Integers, size: int) -> Mask:
    """Mark one occurrence of each distinct id in each row (bool, one per item).

    `ids` lie in [0, size). numpy keeps the last of several values assigned to one
    index: positions written into a (row, id) table and read back need no sort.
    """
    # Small enough for the cache.
    room = max(_SMALL_TABLE, _TABLED * size)
    if room > _TABLE:
        return _once_per_row_of_many(offsets, ids, size)
    keep = np.empty(len(ids), np.bool_)
    rows_at_once = room // max(size, 1)
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


def _once_per_row_of_many(offsets: Offsets, ids: Integers, size: int) -> Mask:
    """Return what `once_per_row` does, of more ids than a table has room for.

    Several ids share a cell; those that others overwrite there are sorted.
    """
    keep = np.empty(len(ids), np.bool_)
    table = np.empty(_SMALL_TABLE, np.int32)
    for start, stop in chunks(offsets, _SMALL_TABLE >> 3):
        low, high = int(offsets[start]), int(offsets[stop])
        # Odd, so that an id of all rows is in different cells.
        begins = np.arange(stop - start, dtype=np.int64) * (size | 1)
        keys = np.repeat(begins, np.diff(offsets[start : stop + 1])) + ids[low:high]
        cells = keys & (_SMALL_TABLE - 1)
        positions = np.arange(high - low, dtype=np.int32)
        table[cells] = positions
        last = table[cells]
        kept = last == positions
        lost = np.flatnonzero(~kept)
        lost = lost[keys[lost] != keys[last[lost]]]
        lost = lost[order_of(keys[lost])]
        kept[lost[np.diff(keys[lost], append=-1) != 0]] = True
        keep[low:high] = kept
    return keep


def sums(ids: Integers, values: Column, size: int) -> Column:
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


def _hashes(columns: Columns) -> NDArray[np.uint64]:
    """Return two independent 64-bit hashes of each row of columns, shape (2, rows)."""
    hashes = np.zeros((2, len(columns[0])), np.uint64)
    for column in columns:
        words = column.astype(np.int64, copy=False).view(np.uint64)
        for of_all, seed in zip(hashes, _SEEDS, strict=True):
            for some in slices(len(words)):
                of_all[some] = _mixed(of_all[some] ^ _mixed(words[some], seed), seed)
    return hashes


def _row_hashes(offsets: Offsets, columns: Columns) -> NDArray[np.uint64]:
    """Return two independent 64-bit hashes of each row's sequence, shape (2, rows)."""
    hashes = np.zeros((2, len(offsets) - 1), np.uint64)
    several, columns = len(columns) > 1, _varying(columns)
    for start, stop in chunks(offsets):
        low, high = int(offsets[start]), int(offsets[stop])
        counts = np.diff(offsets[start : stop + 1])
        filled = np.flatnonzero(counts)
        if not len(filled):
            continue
        begins = (offsets[start:stop] - low)[filled]
        place = np.arange(high - low) - np.repeat(begins, counts[filled])
        place <<= 40
        some = [column[low:high] for column in columns]
        words = _hashes(some) if several else [some[0].astype(np.uint64)] * 2
        for of_all, word, seed in zip(hashes, words, _SEEDS, strict=True):
            mixed = _mixed(word + place.view(np.uint64), seed)
            of_all[start + filled] = np.add.reduceat(mixed, begins)
        hashes[0, start:stop] += counts.astype(np.uint64)
    return hashes


def unique_rows(
    offsets: Offsets, items: Columns, extra: Columns = ()
) -> tuple[Column, Column]:
    """Return the first row of each group of equal rows, and the group of each row.

    An item has a number in each column of `items`: a single column has numbers in
    [0, 2**40). A row also has a number in each column of `extra`. Rows are compared by
    two hashes of more than 100 bits; groups are numbered by first appearance (int64).
    """
    hashes = _row_hashes(offsets, items)
    return _groups(hashes + _hashes(_varying(extra)) if extra else hashes)


def unique_tuples(columns: Columns) -> tuple[Column, Column]:
    """Group rows that are equal in all columns; return what `unique_rows` returns."""
    return _groups(_hashes(_varying(columns)))


def few_tuples(columns: Columns) -> tuple[Column, Column]:
    """Return what `unique_tuples` returns, of columns without negative numbers.

    Rows are not sorted where few combinations are possible.
    """
    key, size = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        here = int(column.max(initial=0)) + 1
        if size * here > _FEW:
            # Many possible combinations do not occur.
            first, key = _numbered(key, size)
            size = len(first)
        if size * here > _FEW:
            return unique_tuples(columns)
        key, size = key * here + column, size * here
    return _numbered(key, size)


def _numbered(key: Column, size: int) -> tuple[Column, Column]:
    """Return the first row of each key below `size`, and each row's by appearance."""
    place = np.full(size, -1, np.int32)
    # Later rows first: what stays is the first row.
    place[key[::-1]] = np.arange(len(key) - 1, -1, -1, dtype=np.int32)
    first = np.sort(place[place >= 0]).astype(np.int64)
    place[key[first]] = np.arange(len(first), dtype=np.int32)
    return first, place[key].astype(np.int64)


def _varying(columns: Columns) -> Columns:
    """Return the columns, at least one, less those in which all rows are equal."""
    varying = [c for c in columns if len(c) and (c != c[0]).any()]
    return varying or columns[:1]


def _groups(hashes: NDArray[np.uint64]) -> tuple[Column, Column]:
    """Group rows with equal hashes; return (first row of each group, group of each)."""
    hash_, other = hashes
    count = len(hash_)
    row = np.uint64((1 << count.bit_length()) - 1)
    # The upper bits of a hash and its row in one word: sorted far sooner than argsort.
    words = np.sort(hash_ & ~row | np.arange(count, dtype=np.uint64))
    order = (words & row).view(np.int64)
    words ^= words & row
    other = other[order]
    apart, differs = words[1:] != words[:-1], other[1:] != other[:-1]
    if (differs & ~apart).any():
        # Several hashes have the same upper bits.
        order = np.lexsort(hashes[::-1])
        apart, differs = hashes[:, order[1:]] != hashes[:, order[:-1]]
    begins = np.append(np.ones(min(count, 1), np.bool_), apart | differs)
    first = order[begins]
    is_first = np.zeros(count, np.bool_)
    is_first[first] = True
    rank = np.cumsum(is_first)[first] - 1
    group = np.empty(count, np.int64)
    group[order] = rank[np.cumsum(begins) - 1]
    return np.flatnonzero(is_first), group
