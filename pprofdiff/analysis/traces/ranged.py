"""How long goroutines are in ranges: mark assists, sweeps, stops of the world."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.traces.marks import RangeKind, Ranges
from pprofdiff.model.traces.trace import Trace

__all__ = ["ASSIST", "STOPPED", "SWEEP", "range_times"]

Column = NDArray[np.int64]

ASSIST, SWEEP, STOPPED = "GC mark assist", "GC incremental sweep", "stop-the-world"


def range_times(trace: Trace, until: Column) -> tuple[tuple[str, ...], Column]:
    """Return names of ranges, and the time of each goroutine in each (int64, ns).

    `until` (int64, one a goroutine) is when goroutines end, or the trace. The rules are
    those of internal/trace/summary.go: a sweep is a processor's, and counts if it
    begins and ends with one goroutine; the last one that a goroutine began counts until
    its end if it does not.
    """
    held = trace.ranges
    held = held.take((held.kind != RangeKind.GC_MARK) & (held.goroutine >= 0))
    names, column = _names(trace, held)
    whole = held.end_ns >= 0
    sweeps = held.kind == RangeKind.SWEEP
    kept = whole & ~(sweeps & (held.last_goroutine != held.goroutine))
    end = np.where(kept, held.end_ns, until[held.goroutine])
    counts = ~sweeps | kept | _is_last_sweep(held, sweeps)
    lasts = np.maximum(end - held.start_ns, 0)[counts]
    times = np.zeros((len(until), len(names)), np.int64)
    np.add.at(times, (held.goroutine[counts], column[counts]), lasts)
    return names, times


def _is_last_sweep(held: Ranges, sweeps: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark the sweep that each goroutine began last."""
    rows = np.flatnonzero(sweeps)
    rows = rows[np.lexsort((held.start_ns[rows], held.goroutine[rows]))]
    owner = held.goroutine[rows]
    last = np.ones(len(rows), np.bool_)
    np.not_equal(owner[1:], owner[:-1], out=last[:-1])
    marked = np.zeros(len(held), np.bool_)
    marked[rows[last]] = True
    return marked


def _names(trace: Trace, held: Ranges) -> tuple[tuple[str, ...], Column]:
    """Return the names of ranges, and which of them each range has."""
    stops = held.kind == RangeKind.STOP_THE_WORLD
    key = np.where(stops, held.name.astype(np.int64), -1 - held.kind.astype(np.int64))
    found, column = np.unique(key, return_inverse=True)
    fixed = {
        -1 - RangeKind.MARK_ASSIST: ASSIST,
        -1 - RangeKind.SWEEP: SWEEP,
    }
    names = [
        f"{STOPPED} ({trace.strings[k]})" if k >= 0 else fixed[k]
        for k in found.tolist()
    ]
    return tuple(names), column.astype(np.int64)
