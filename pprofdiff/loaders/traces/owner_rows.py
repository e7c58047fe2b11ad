"""Columns whose rows are grouped by owner: a goroutine, a P or a thread.

A thread has a goroutine from the event that acquires it to the event that releases it:
both readers know these, and `forward_fill` fills in the events in between.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.arrays import Column, Index, Integers, Mask
from pprofdiff.model.csr import slices

T = TypeVar("T", bound=np.generic)


def first_of_each(owner: Integers) -> Mask:
    """Mark each row (bool) whose owner differs from the row before."""
    first = np.ones(len(owner), np.bool_)
    np.not_equal(owner[1:], owner[:-1], out=first[1:])
    return first


def counts_of_each(owner: Index) -> tuple[Index, Column]:
    """Return the owners in order, and the number of consecutive rows of each."""
    first = np.flatnonzero(first_of_each(owner))
    return owner[first], np.diff(first, append=len(owner))


def shifted(column: NDArray[T]) -> NDArray[T]:
    """Return the column shifted down by one row; the first value is zero."""
    before = np.zeros_like(column)
    before[1:] = column[:-1]
    return before


def values_before(after: NDArray[T], first: Column, start: NDArray[T]) -> NDArray[T]:
    """Return the value before each row; `start` has those before rows `first`."""
    before = shifted(after)
    before[first] = start
    return before


class ForwardFill:
    """A column of the value that each event's thread has before the event.

    Once the changes of all events are added, `column` (of the given dtype) is complete
    and `last` has one value per thread, after its last event.
    """

    def __init__(self, offsets: Column, start: list[int], dtype: type) -> None:
        self.column: NDArray[Any] = np.empty(int(offsets[-1]), dtype)
        self.last: list[int] = []
        self._begins = offsets[:-1]
        self._start: NDArray[Any] = np.array(start, dtype)
        self._carried: NDArray[Any] = np.zeros(1, dtype)

    def add(self, rows: Column, values: NDArray[Any], here: slice) -> None:
        """Fill in the events `here`, the next ones in order.

        `rows` (increasing) are all events among them that change the value.
        """
        a, b = np.searchsorted(self._begins, (here.start, here.stop)).tolist()
        edges = rows + 1
        # A thread that begins where another's last change takes effect comes after it.
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
    offsets: Column, rows: Column, values: NDArray[Any], start: list[int], dtype: type
) -> ForwardFill:
    """Return the complete fill; see `ForwardFill` and its `add` for parameters."""
    fill = ForwardFill(offsets, start, dtype)
    for here in slices(int(offsets[-1])):
        a, b = np.searchsorted(rows, (here.start, here.stop)).tolist()
        fill.add(rows[a:b], values[a:b], here)
    return fill
