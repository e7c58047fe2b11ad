"""How long each goroutine is in mark assists, sweeps and STW pauses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.traces.timeline import RangeKind, Ranges
from pprofdiff.model.traces.trace import Trace

__all__ = ["ASSIST", "STOPPED", "SWEEP", "GoroutineRanges"]

Column = NDArray[np.int64]

ASSIST, SWEEP, STOPPED = "GC mark assist", "GC incremental sweep", "stop-the-world"


@dataclass(frozen=True, slots=True, eq=False)
class GoroutineRanges:
    """The ranges attributed to goroutines, sorted by goroutine.

    `goroutine` (int32), `column` (int64, an index of `names`) and `start_ns` (int64)
    have one row per range; `end_ns` (int64) is -1 if the range ends with its goroutine.

    The rules are those of internal/trace/summary.go: a sweep belongs to a P and counts
    if it begins and ends on one goroutine; otherwise it counts until the goroutine
    ends, if it is the last sweep that the goroutine began.
    """

    trace: Trace
    names: tuple[str, ...]
    goroutine: NDArray[np.int32]
    column: Column
    start_ns: Column
    end_ns: Column

    @classmethod
    def of(cls, trace: Trace) -> GoroutineRanges:
        """Return the ranges of a trace."""
        ranges = trace.ranges
        ranges = ranges.take(
            (ranges.kind != RangeKind.GC_MARK) & (ranges.goroutine >= 0)
        )
        names, column = _names(trace, ranges)
        sweeps = ranges.kind == RangeKind.SWEEP
        kept = ranges.end_ns >= 0
        kept &= ~(sweeps & (ranges.last_goroutine != ranges.goroutine))
        counts = np.flatnonzero(~sweeps | kept | _is_last_sweep(ranges, sweeps))
        order = counts[np.argsort(ranges.goroutine[counts], kind="stable")]
        return cls(
            trace,
            names,
            ranges.goroutine[order],
            column[order],
            ranges.start_ns[order],
            np.where(kept, ranges.end_ns, -1)[order],
        )

    def times(self, until: Column, here: slice) -> Column:
        """Return the time of the goroutines `here` in each range (int64 ns).

        The shape is (goroutines, names). `until` (int64 ns) is the end of each
        goroutine, or of the trace.
        """
        a, b = np.searchsorted(self.goroutine, (here.start, here.stop)).tolist()
        goroutine, column = self.goroutine[a:b] - here.start, self.column[a:b]
        end = np.where(self.end_ns[a:b] < 0, until[goroutine], self.end_ns[a:b])
        lasts = np.maximum(end - self.start_ns[a:b], 0)
        times = np.zeros((len(until), len(self.names)), np.int64)
        np.add.at(times, (goroutine, column), lasts)
        return times


def _is_last_sweep(ranges: Ranges, sweeps: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark the last sweep that each goroutine began."""
    rows = np.flatnonzero(sweeps)
    rows = rows[np.lexsort((ranges.start_ns[rows], ranges.goroutine[rows]))]
    owner = ranges.goroutine[rows]
    last = np.ones(len(rows), np.bool_)
    np.not_equal(owner[1:], owner[:-1], out=last[:-1])
    marked = np.zeros(len(ranges), np.bool_)
    marked[rows[last]] = True
    return marked


def _names(trace: Trace, ranges: Ranges) -> tuple[tuple[str, ...], Column]:
    """Return the distinct range names, and each range's index there."""
    stops = ranges.kind == RangeKind.STOP_THE_WORLD
    key = np.where(
        stops, ranges.name.astype(np.int64), -1 - ranges.kind.astype(np.int64)
    )
    distinct, column = np.unique(key, return_inverse=True)
    fixed = {
        -1 - RangeKind.MARK_ASSIST: ASSIST,
        -1 - RangeKind.SWEEP: SWEEP,
    }
    names = [
        f"{STOPPED} ({trace.strings[k]})" if k >= 0 else fixed[k]
        for k in distinct.tolist()
    ]
    return tuple(names), column.astype(np.int64)
