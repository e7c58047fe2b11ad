"""Merge two lists of rows, matching rows of base to rows of new, one to one.

Rows with equal keys match; the rest match by a looser key, if that is unambiguous.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import repeat

import numpy as np
from msgspec import Struct

from pprofdiff.model.arrays import Column

# A looser key for the name at a position, None if it has none.
Key = Callable[[int], Hashable | None]


class Pairing(Struct, frozen=True, eq=False):
    """Rows of the union of base and new names.

    `base_row` and `new_row` (int64) are positions in the two sides' lists, -1 if a side
    lacks the name. New's rows come first, then names that are gone.
    """

    base_row: Column
    new_row: Column

    def __len__(self) -> int:
        return len(self.new_row)

    def spread(self, base: Column, new: Column) -> tuple[Column, Column]:
        """Return both sides' values, names on axis 0, by union row; 0 where absent."""
        return _placed(base, self.base_row), _placed(new, self.new_row)

    def union_of_base(self) -> Column:
        """Return the union row of each of base's names."""
        return _inverse(self.base_row)

    def union_of_new(self) -> Column:
        """Return the union row of each of new's names."""
        return _inverse(self.new_row)


def _placed(column: Column, rows: Column) -> Column:
    none = np.zeros_like(column, shape=(1, *column.shape[1:]))
    return np.concatenate((column, none))[rows]


def _inverse(rows: Column) -> Column:
    """Return the index of each non-negative value in `rows`."""
    at = np.flatnonzero(rows >= 0)
    inverse = np.empty(len(at), np.int64)
    inverse[rows[at]] = at
    return inverse


def pair_names(
    base: Sequence[Hashable],
    new: Sequence[Hashable],
    keys: Sequence[tuple[Key, Key]] = (),
) -> Pairing:
    """Pair two lists of distinct names: equal names first, then by looser keys.

    `keys` are (base key, new key) functions, tried in order, from the position of a
    name to a key, or None. Names with the same key are paired in order if both sides
    have as many of them.
    """
    partner = np.arange(len(new))
    if base != new:
        place = dict(zip(base, range(len(base)), strict=True))
        known = map(place.get, new, repeat(-1))
        partner = np.fromiter(known, np.int64, len(new))
    lone_base = _others(partner, len(base))
    for base_key, new_key in keys:
        lone = lone_base.tolist(), np.flatnonzero(partner < 0).tolist()
        if not all(lone):
            break
        for base_row, new_row in _matched(*lone, base_key, new_key):
            partner[new_row] = base_row
        lone_base = _others(partner, len(base))
    none = np.full(len(lone_base), -1)
    return Pairing(
        np.concatenate((partner, lone_base)),
        np.concatenate((np.arange(len(new)), none)),
    )


def _others(rows: Column, size: int) -> Column:
    """Return the rows in [0, size) that are not in `rows`, which has -1 for none."""
    alone = np.ones(size + 1, np.bool_)
    alone[rows] = False
    return np.flatnonzero(alone[:-1])


def _matched(
    base: list[int], new: list[int], base_key: Key, new_key: Key
) -> list[tuple[int, int]]:
    """Return (base, new) pairs under unambiguous keys."""

    def keyed(rows: list[int], key: Key) -> Iterator[tuple[int, Hashable]]:
        return ((row, value) for row in rows if (value := key(row)) is not None)

    return [
        pair
        for base_rows, new_rows in by_key(keyed(base, base_key), keyed(new, new_key))
        if len(base_rows) == len(new_rows)
        for pair in zip(base_rows, new_rows, strict=True)
    ]


def by_key(
    base: Iterable[tuple[int, Hashable]], new: Iterable[tuple[int, Hashable]]
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the (base, new) rows of each key that both sides have, in order."""
    groups: dict[Hashable, tuple[list[int], list[int]]]
    groups = defaultdict(lambda: ([], []))
    for side, keyed in enumerate((base, new)):
        for row, key in keyed:
            groups[key][side].append(row)
    for old, now in groups.values():
        if old and now:
            yield old, now
