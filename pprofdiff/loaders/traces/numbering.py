"""Small numbers for the ids of a trace: goroutines, processors and threads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.batches import Damage

__all__ = ["Numbering"]

# Ids below this are looked up in a table (int32 each), others by bisection.
_TABLE = 1 << 22


class Numbering:
    """Gives ids (int64) their place in the order they appear, across generations."""

    def __init__(self, what: str) -> None:
        """Start with no id; `what` names the things in errors."""
        self.ids = np.zeros(0, np.int64)
        self._what = what
        self._ranked = self.ids
        self._order = self.ids
        self._table = np.zeros(0, np.int32)

    def __len__(self) -> int:
        """Return how many ids there are."""
        return len(self.ids)

    def add(self, ids: NDArray[np.int64]) -> None:
        """Give numbers to the ids that are new, in the order they stand."""
        fresh = ids[self.find(ids) < 0]
        if not len(fresh):
            return
        _, first = np.unique(fresh, return_index=True)
        self.ids = np.concatenate((self.ids, fresh[np.sort(first)]))
        self._order = np.argsort(self.ids, kind="stable")
        self._ranked = ranked = self.ids[self._order]
        self._table = np.zeros(0, np.int32)
        if ranked[0] >= 0 and ranked[-1] < _TABLE:
            self._table = np.full(int(ranked[-1]) + 2, -1, np.int32)
            self._table[ranked] = self._order

    def find(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return each id's place (int32), -1 where it has none."""
        if not len(self.ids):
            return np.full(len(ids), -1, np.int32)
        if len(self._table):
            if len(ids) and int(ids.min()) < 0:
                ids = np.where(ids < 0, len(self._table) - 1, ids)
            found: NDArray[np.int32] = np.take(self._table, ids, mode="clip")
            return found
        ranked = self._ranked
        at = np.minimum(np.searchsorted(ranked, ids), len(ranked) - 1)
        return np.where(ranked[at] == ids, self._order[at], -1).astype(np.int32)

    def known(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return each id's place (int32); raise Damage if one has none."""
        found = self.find(ids)
        if len(found) and int(found.min()) < 0:
            raise Damage(f"an event of a {self._what} that was never mentioned")
        return found
