"""How long each goroutine is in mark assists, sweeps and stops of the world."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.traces.timeline import RangeKind, Ranges
from pprofdiff.model.traces.trace import Trace

__all__ = ["ASSIST", "STOPPED", "SWEEP", "range_times"]

Column = NDArray[np.int64]

ASSIST, SWEEP, STOPPED = "GC mark assist", "GC incremental sweep", "stop-the-world"


def range_times(trace: Trace, until: Column) -> tuple[tuple[str, ...], Column]:
    """Return names of ranges, and the time of each goroutine in each of them.

    The times (int64 ns) have the shape (goroutines, names). `until` (int64 ns) is when
    each goroutine ends, or the trace. The rules are those of internal/trace/summary.go:
    a sweep belongs to a processor, and counts if it begins and ends on one goroutine;
    one that does not counts until the goroutine ends, if it is the last that it began.
    """
    ranges = trace.ranges
    ranges = ranges.take((ranges.kind != RangeKind.GC_MARK) & (ranges.goroutine >= 0))
    names, column = _names(trace, ranges)
    whole = ranges.end_ns >= 0
    sweeps = ranges.kind == RangeKind.SWEEP
    kept = whole & ~(sweeps & (ranges.last_goroutine != ranges.goroutine))
    end = np.where(kept, ranges.end_ns, until[ranges.goroutine])
    counts = ~sweeps | kept | _is_last_sweep(ranges, sweeps)
    lasts = np.maximum(end - ranges.start_ns, 0)[counts]
    times = np.zeros((len(until), len(names)), np.int64)
    np.add.at(times, (ranges.goroutine[counts], column[counts]), lasts)
    return names, times


def _is_last_sweep(ranges: Ranges, sweeps: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark the sweep that each goroutine began last."""
    rows = np.flatnonzero(sweeps)
    rows = rows[np.lexsort((ranges.start_ns[rows], ranges.goroutine[rows]))]
    owner = ranges.goroutine[rows]
    last = np.ones(len(rows), np.bool_)
    np.not_equal(owner[1:], owner[:-1], out=last[:-1])
    marked = np.zeros(len(ranges), np.bool_)
    marked[rows[last]] = True
    return marked


def _names(trace: Trace, ranges: Ranges) -> tuple[tuple[str, ...], Column]:
    """Return the distinct names of ranges, and which of them each range has."""
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
