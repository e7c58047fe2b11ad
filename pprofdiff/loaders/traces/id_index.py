"""Small indices for the ids of goroutines, Ps and threads."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.model.arrays import Column, Index

T = TypeVar("T", bound=np.generic)

# Smaller ids are looked up in a table (int32 each), others by bisection.
_TABLE = 1 << 22


class IdIndex:
    """Maps ids (int64) to indices 0, 1, … in order of appearance, over generations."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._size = 0
        self._ids = np.zeros(0, np.int64)
        # Either indices by id, -1 for none, or sorted ids and their indices.
        self._table: Index | None = np.zeros(0, np.int32)
        self._ranked = self._ids
        self._order = np.zeros(0, np.int32)

    @property
    def ids(self) -> Column:
        """The id of each index (int64)."""
        return self._ids[: self._size]

    def __len__(self) -> int:
        return self._size

    def add(self, ids: Column) -> None:
        """Index the `ids` that have no index yet, in order."""
        added = ids[self.find(ids) < 0]
        if not len(added):
            return
        ranked, first = np.unique(added, return_index=True)
        added = added[np.sort(first)]
        size = self._size + len(added)
        if size > len(self._ids):
            self._ids = _grown(self._ids, size, 0)
        self._ids[self._size : size] = added
        indices = np.arange(self._size, size, dtype=np.int32)
        self._size = size
        if self._table is not None and (ranked[0] < 0 or ranked[-1] >= _TABLE):
            self._table = None
            self._order = np.argsort(self.ids, kind="stable").astype(np.int32)
            self._ranked = self.ids[self._order]
        elif self._table is not None:
            if ranked[-1] >= len(self._table):
                self._table = _grown(self._table, int(ranked[-1]) + 1, -1)
            self._table[added] = indices
        else:
            at = np.searchsorted(self._ranked, ranked)
            self._ranked = np.insert(self._ranked, at, ranked)
            ordered = indices[np.argsort(added, kind="stable")]
            self._order = np.insert(self._order, at, ordered)

    def find(self, ids: Column) -> Index:
        """Return the index of each id (int32), -1 if it has none."""
        if not self._size:
            return np.full(len(ids), -1, np.int32)
        if self._table is not None:
            indices: Index = np.take(self._table, ids, mode="clip")
            outside = (ids < 0) | (ids >= len(self._table))
            if outside.any():
                indices[outside] = -1
            return indices
        ranked = self._ranked
        at = np.minimum(np.searchsorted(ranked, ids), len(ranked) - 1)
        return np.where(ranked[at] == ids, self._order[at], np.int32(-1))

    def require(self, ids: Column) -> Index:
        """Return the index of each id (int32); raise Damage if one has none."""
        indices = self.find(ids)
        if len(indices) and int(indices.min()) < 0:
            raise Damage(f"an event of a {self._what} that was never mentioned")
        return indices


def _grown(column: NDArray[T], size: int, value: int) -> NDArray[T]:
    grown = np.full(size + size // 2, value, column.dtype)
    grown[: len(column)] = column
    return grown


class Ids(Struct, frozen=True, eq=False):
    """The ids of a trace's goroutines, Ps and threads so far."""

    goroutines: IdIndex
    processors: IdIndex
    threads: IdIndex

    @classmethod
    def none(cls) -> Ids:
        """Return empty indices."""
        return cls(IdIndex("goroutine"), IdIndex("processor"), IdIndex("thread"))
