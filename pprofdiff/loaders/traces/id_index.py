"""Small indices for the ids of goroutines, processors and threads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.damage import Damage

__all__ = ["IdIndex", "Ids"]

# Ids below this are looked up in a table (int32 each), others by bisection.
_TABLE = 1 << 22


class IdIndex:
    """Gives each id (int64) its index: 0, 1, … in the order in which ids appear.

    Indices go on from one generation to the next. `ids` (int64) has the id of each.
    """

    def __init__(self, what: str) -> None:
        """Start with no id; `what` names the things in errors, such as "goroutine"."""
        self.ids = np.zeros(0, np.int64)
        self._what = what
        self._ranked = self.ids
        self._order = self.ids
        self._table = np.zeros(0, np.int32)

    def __len__(self) -> int:
        """Return how many ids there are."""
        return len(self.ids)

    def add(self, ids: NDArray[np.int64]) -> None:
        """Give indices to those of `ids` that have none, in the order they stand."""
        added = ids[self.find(ids) < 0]
        if not len(added):
            return
        _, first = np.unique(added, return_index=True)
        self.ids = np.concatenate((self.ids, added[np.sort(first)]))
        self._order = np.argsort(self.ids, kind="stable")
        self._ranked = ranked = self.ids[self._order]
        self._table = np.zeros(0, np.int32)
        if ranked[0] >= 0 and ranked[-1] < _TABLE:
            self._table = np.full(int(ranked[-1]) + 2, -1, np.int32)
            self._table[ranked] = self._order

    def find(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the index of each id (int32), -1 for an id that has none."""
        if not len(self.ids):
            return np.full(len(ids), -1, np.int32)
        if len(self._table):
            if len(ids) and int(ids.min()) < 0:
                ids = np.where(ids < 0, len(self._table) - 1, ids)
            indices: NDArray[np.int32] = np.take(self._table, ids, mode="clip")
            return indices
        ranked = self._ranked
        at = np.minimum(np.searchsorted(ranked, ids), len(ranked) - 1)
        return np.where(ranked[at] == ids, self._order[at], -1).astype(np.int32)

    def require(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the index of each id (int32); raise Damage for an id that has none."""
        indices = self.find(ids)
        if len(indices) and int(indices.min()) < 0:
            raise Damage(f"an event of a {self._what} that was never mentioned")
        return indices


@dataclass(frozen=True, slots=True, eq=False)
class Ids:
    """The ids of a trace's goroutines, processors and threads so far."""

    goroutines: IdIndex
    processors: IdIndex
    threads: IdIndex

    @classmethod
    def none(cls) -> Ids:
        """Return the ids of a trace of which nothing was read."""
        return cls(IdIndex("goroutine"), IdIndex("processor"), IdIndex("thread"))
