"""System calls whose loss of the processor ``go tool trace`` misses, a defect of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.traces.trace import State, Trace

__all__ = ["miscounted_by_go"]

Column = NDArray[np.int64]
# From this format on a processor is in one system call at a time.
_STRICT = 22


def miscounted_by_go(trace: Trace) -> Column:
    """Return rows (int64, rising) that Go's summary counts as SYSCALL by mistake.

    They are rows of `Trace.intervals` whose state is SYSCALL_BLOCKED. Go's summary
    (internal/trace/summary.go of Go 1.26 and 1.27) remembers which goroutine is in a
    system call on each processor. Where a call ends, it forgets the processor that the
    call began on, though that may long have been taken and have another goroutine's
    call on it. When this other call loses the processor, its time goes on counting as
    time with a processor.

    In formats up to 1.21, calls that keep their processor may overlap on it, too, as
    their times come from several clocks.
    """
    intervals = trace.intervals
    rows = _losses(trace)
    begin, loss = intervals.start_ns[rows - 1], intervals.start_ns[rows]
    processor = intervals.processor[rows - 1].astype(np.int64)
    first, owner = _firsts(trace, rows)
    begin = np.where(first, trace.goroutines.seen_ns[owner], begin)
    # Ends by processor and time: places in order of time stand for times.
    end, ended = _ends(trace, rows)
    order = np.argsort(end)
    size = len(order) + 1
    ranked = np.sort(ended[order] * size + np.arange(len(order)))
    end = end[order]
    low = processor * size + np.searchsorted(end, begin, "right")
    high = processor * size + np.searchsorted(end, loss, "left")
    between = np.searchsorted(ranked, high) - np.searchsorted(ranked, low)
    return rows[between > 0]


def _ends(trace: Trace, losses: Column) -> tuple[Column, Column]:
    """Return when calls end, and the processor on which each began (both int64)."""
    intervals = trace.intervals
    begins, last = losses - 1, losses
    if trace.version < _STRICT:
        kept = np.flatnonzero(intervals.state == State.SYSCALL)
        kept = kept[~np.isin(kept, begins)]
        begins, last = np.append(begins, kept), np.append(last, kept)
    ends = (
        last + 1
        < intervals.offsets[1:][np.searchsorted(intervals.offsets, last, "right") - 1]
    )
    begins, last = begins[ends], last[ends]
    return intervals.start_ns[last + 1], intervals.processor[begins].astype(np.int64)


def _losses(trace: Trace) -> Column:
    """Return the rows with which a goroutine loses its processor within a call."""
    intervals = trace.intervals
    blocked = np.flatnonzero(intervals.state == State.SYSCALL_BLOCKED)
    starts = np.zeros(len(intervals), np.bool_)
    starts[intervals.offsets[:-1][np.diff(intervals.offsets) > 0]] = True
    blocked = blocked[~starts[blocked]]
    lost: Column = blocked[intervals.state[blocked - 1] == State.SYSCALL]
    return lost


def _firsts(trace: Trace, rows: Column) -> tuple[NDArray[np.bool_], Column]:
    """Tell which calls a goroutine was in before its first event, and all owners."""
    offsets = trace.intervals.offsets
    owner = np.searchsorted(offsets, rows, "right") - 1
    first = (offsets[:-1][owner] == rows - 1) & ~trace.goroutines.born[owner]
    return first, owner
