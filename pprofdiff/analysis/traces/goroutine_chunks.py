"""The rows of goroutines, some goroutines at a time, so that temporaries stay small."""

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

    `goroutines` (int64, rising) are indices. `rows` is where the rows are in
    `Trace.intervals`. A *row* of a chunk counts from the first of them:
    ``offsets[i]:offsets[i+1]`` are those of goroutine ``goroutines[i]``.
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
        """The time (int64 ns) at which each row begins."""
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
        """Return which of `goroutines` some rows are of (int64); rows must not fall."""
        if len(rows) < len(self.goroutines):
            return np.searchsorted(self.last, rows)
        counts = np.diff(np.searchsorted(rows, self.offsets))
        return np.repeat(np.arange(len(counts)), counts)

    def durations(self, here: slice) -> Column:
        """Return how long the rows `here` last (int64 ns); a row GONE lasts 0."""
        first = self.rows.start
        return lengths(self.trace, slice(first + here.start, first + here.stop))

    def durations_of(self, rows: Column) -> Column:
        """Return how long some rows last (int64 ns), as `durations` does for all.

        Rows must not fall.
        """
        start = self.start_ns
        after = np.minimum(rows + 1, len(start) - 1)
        end = start[after]
        end[rows == self.last[self.owner_of(rows)]] = self.trace.end_ns
        end -= start[rows]
        end[self.state[rows] == State.GONE] = 0
        return end

    def restarts(self) -> Column:
        """Return the rows (int64) with which goroutines that were GONE begin again.

        Those are goroutines that threads of C have for their calls of Go.
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
