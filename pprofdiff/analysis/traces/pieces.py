"""Rows of goroutines, some goroutines at a time, so that temporaries stay small."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.traces.spans import sums_by_owner
from pprofdiff.model.csr import Offsets, chunks, row_of_item, slices
from pprofdiff.model.traces.trace import State, Trace

__all__ = ["Piece", "pieces"]

Column = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Goroutines `first` up to `stop`, of which each has a row, and all of their rows.

    `rows` is where they are in `Trace.intervals`; ``offsets[i]:offsets[i+1]`` are those
    of goroutine ``goroutines[i]``, counted from the first of `rows`.
    """

    trace: Trace
    goroutines: Column
    rows: slice
    offsets: Offsets

    @property
    def state(self) -> NDArray[np.uint8]:
        """The `State` of each row (uint8)."""
        return self.trace.intervals.state[self.rows]

    @property
    def reason(self) -> NDArray[np.uint16]:
        """The reason of each row (uint16, a position in `Trace.reasons`)."""
        return self.trace.intervals.reason[self.rows]

    @property
    def stack(self) -> NDArray[np.int32]:
        """The stack of each row (int32)."""
        return self.trace.intervals.stack[self.rows]

    @property
    def first(self) -> Column:
        """The first row of each goroutine."""
        return self.offsets[:-1]

    @property
    def last(self) -> Column:
        """The last row of each goroutine."""
        return self.offsets[1:] - 1

    def owner(self) -> Column:
        """Return the goroutine of each row."""
        return self.goroutines[row_of_item(self.offsets)]

    def durations(self) -> Column:
        """Return how long each row lasts, in ns (int64); a row GONE lasts none."""
        start = self.trace.intervals.start_ns[self.rows]
        lasts = np.empty_like(start)
        np.subtract(start[1:], start[:-1], out=lasts[:-1])
        lasts[self.last] = self.trace.end_ns - start[self.last]
        lasts[np.flatnonzero(self.state == State.GONE)] = 0
        return lasts

    def lasting(self, rows: Column) -> Column:
        """Return how long some rows last, in ns (int64), as of `durations`."""
        start = self.trace.intervals.start_ns[self.rows]
        after = np.minimum(rows + 1, len(start) - 1)
        end = start[after]
        last = self.last[np.searchsorted(self.last, rows)]
        end[rows == last] = self.trace.end_ns
        end -= start[rows]
        end[self.state[rows] == State.GONE] = 0
        return end

    def returns(self) -> Column:
        """Return the rows with which goroutines that were gone begin again.

        That is how those live which threads of C bring along for their calls.
        """
        gone = np.flatnonzero(self.state == State.GONE)
        last = np.searchsorted(self.last, gone)
        back: Column = gone[self.last[last] != gone] + 1
        return back

    def sums(self, values: Column, rows: NDArray[np.bool_]) -> Column:
        """Return each goroutine's sum (int64) of the values of some rows."""
        total = np.zeros(len(self.goroutines), np.int64)
        for here in slices(len(values)):
            offsets = np.clip(self.offsets, here.start, here.stop) - here.start
            total += sums_by_owner(offsets, values[here] * rows[here])
        return total


def pieces(trace: Trace) -> Iterator[Piece]:
    """Yield all rows of all goroutines that have some, about a million at a time."""
    counts = np.diff(trace.intervals.offsets)
    filled = np.flatnonzero(counts)
    offsets = np.append(trace.intervals.offsets[:-1][filled], len(trace.intervals))
    for start, stop in chunks(offsets) if len(filled) else ():
        low, high = int(offsets[start]), int(offsets[stop])
        yield Piece(
            trace,
            filled[start:stop],
            slice(low, high),
            offsets[start : stop + 1] - low,
        )
