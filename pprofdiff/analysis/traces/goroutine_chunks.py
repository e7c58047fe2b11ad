"""Goroutine rows in chunks, which keeps temporary arrays small."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.traces.interval_rows import lengths
from pprofdiff.model.csr import Offsets, chunks
from pprofdiff.model.traces.trace import State, Trace

__all__ = ["GoroutineChunk", "goroutine_chunks"]

Column = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class GoroutineChunk:
    """Some goroutines that have rows in `Trace.intervals`, and all of their rows.

    `goroutines` (int64, sorted) are indices; `rows` is the slice of `Trace.intervals`.
    A *row* of a chunk is relative to that slice: ``offsets[i]:offsets[i+1]`` are the
    rows of goroutine ``goroutines[i]``.
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
        """The reason of each row (uint16, an index of `Trace.reasons`)."""
        return self.trace.intervals.reason[self.rows]

    @property
    def stack(self) -> NDArray[np.int32]:
        """The stack of each row (int32, an index of `Trace.stacks`)."""
        return self.trace.intervals.stack[self.rows]

    @property
    def start_ns(self) -> Column:
        """The start time of each row (int64 ns)."""
        return self.trace.intervals.start_ns[self.rows]

    @property
    def first(self) -> Column:
        """The first row of each goroutine (int64)."""
        return self.offsets[:-1]

    @property
    def last(self) -> Column:
        """The last row of each goroutine (int64)."""
        return self.offsets[1:] - 1

    def owner_of(self, rows: Column) -> Column:
        """Return each row's position in `goroutines` (int64); `rows` must be sorted."""
        if len(rows) < len(self.goroutines):
            return np.searchsorted(self.last, rows)
        counts = np.diff(np.searchsorted(rows, self.offsets))
        return np.repeat(np.arange(len(counts)), counts)

    def durations(self, here: slice) -> Column:
        """Return the durations of a slice of rows (int64 ns); GONE rows last 0."""
        first = self.rows.start
        return lengths(self.trace, slice(first + here.start, first + here.stop))

    def durations_of(self, rows: Column) -> Column:
        """Return the durations of some rows, which must be sorted (int64 ns)."""
        start = self.start_ns
        after = np.minimum(rows + 1, len(start) - 1)
        end = start[after]
        end[rows == self.last[self.owner_of(rows)]] = self.trace.end_ns
        end -= start[rows]
        end[self.state[rows] == State.GONE] = 0
        return end

    def restarts(self) -> Column:
        """Return the rows (int64) at which GONE goroutines begin again.

        These are goroutines of C threads that call Go.
        """
        gone = np.flatnonzero(self.state == State.GONE)
        restarts: Column = gone[self.last[self.owner_of(gone)] != gone] + 1
        return restarts


def goroutine_chunks(trace: Trace) -> Iterator[GoroutineChunk]:
    """Yield all goroutines that have rows, about a million rows at a time."""
    filled = np.flatnonzero(np.diff(trace.intervals.offsets))
    offsets = np.append(trace.intervals.offsets[:-1][filled], len(trace.intervals))
    for start, stop in chunks(offsets) if len(filled) else ():
        low, high = int(offsets[start]), int(offsets[stop])
        yield GoroutineChunk(
            trace,
            filled[start:stop],
            slice(low, high),
            offsets[start : stop + 1] - low,
        )
