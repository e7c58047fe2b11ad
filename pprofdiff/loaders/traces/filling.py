"""Values carried forward along threads, some thousand events at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.csr import slices

__all__ = ["Filled", "filled"]


class Filled:
    """A column that holds, before each event, what an earlier event of its thread set.

    `column` is complete once all changes were added, `last` (one a thread) then holds
    what each thread has after its last event.
    """

    def __init__(
        self, offsets: NDArray[np.int64], start: list[int], dtype: type
    ) -> None:
        """Take where threads begin, and what each has at first."""
        self.column: NDArray[Any] = np.empty(int(offsets[-1]), dtype)
        self.last: list[int] = []
        self._begins = offsets[:-1]
        self._start: NDArray[Any] = np.array(start, dtype)
        self._carried: NDArray[Any] = np.zeros(1, dtype)

    def add(self, rows: NDArray[np.int64], values: NDArray[Any], here: slice) -> None:
        """Add the changes at `rows`, all there are among the events `here`."""
        a, b = np.searchsorted(self._begins, (here.start, here.stop)).tolist()
        edges = rows + 1
        # A thread that begins where another's last change takes hold comes after it.
        at = np.searchsorted(edges, self._begins[a:b], side="right")
        edges = np.insert(edges, at, self._begins[a:b])
        values = np.insert(values, at, self._start[a:b])
        values = np.concatenate((self._carried, values.astype(self.column.dtype)))
        before = at + np.arange(b - a)
        self.last += values[before[1 if a == 0 else 0 :]].tolist()
        bounds = np.concatenate(([here.start], edges, [here.stop]))
        self.column[here] = np.repeat(values, np.diff(bounds))
        self._carried = values[-1:]
        if here.stop == len(self.column):
            self.last += self._carried.tolist()


def filled(
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    values: NDArray[Any],
    start: list[int],
    dtype: type,
) -> Filled:
    """Return the column that all changes of all events make."""
    whole = Filled(offsets, start, dtype)
    for here in slices(int(offsets[-1])):
        a, b = np.searchsorted(rows, (here.start, here.stop)).tolist()
        whole.add(rows[a:b], values[a:b], here)
    return whole
