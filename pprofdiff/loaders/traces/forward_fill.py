"""Values carried forward along threads (or processors), some thousand events at a time.

A thread has a goroutine from the event that takes it to the event that lets go of it.
Both readers know the events that change such a value; this module fills in the events
between, and carries the value over from where the thread was before the first of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.csr import slices

__all__ = ["ForwardFill", "forward_fill"]


class ForwardFill:
    """A column with, for each event, the value that its thread has before it.

    `column` (of the dtype given) is complete once the changes of all events were
    added; then `last` has one value a thread, that after its last event.
    """

    def __init__(
        self, offsets: NDArray[np.int64], start: list[int], dtype: type
    ) -> None:
        """Take where threads begin (and the last ends), and the value of each there."""
        self.column: NDArray[Any] = np.empty(int(offsets[-1]), dtype)
        self.last: list[int] = []
        self._begins = offsets[:-1]
        self._start: NDArray[Any] = np.array(start, dtype)
        self._carried: NDArray[Any] = np.zeros(1, dtype)

    def add(self, rows: NDArray[np.int64], values: NDArray[Any], here: slice) -> None:
        """Fill in the events `here`, the next ones in order.

        `rows` are all events among them after which the value is another, rising, and
        `values` what it is then.
        """
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


def forward_fill(
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    values: NDArray[Any],
    start: list[int],
    dtype: type,
) -> ForwardFill:
    """Return the complete fill; parameters as of `ForwardFill` and its `add`."""
    fill = ForwardFill(offsets, start, dtype)
    for here in slices(int(offsets[-1])):
        a, b = np.searchsorted(rows, (here.start, here.stop)).tolist()
        fill.add(rows[a:b], values[a:b], here)
    return fill
