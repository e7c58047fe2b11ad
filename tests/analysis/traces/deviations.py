"""Where Go's summary of goroutines is wrong and ours is not, by number.

The source is internal/trace/summary.go of Go 1.26 and 1.27, which ``go tool trace``
shows. `as_go_has_it` undoes what we correct, so that all else can be compared with Go:

1. A goroutine that is in a system call without a processor when the trace ends has the
   time since it lost the processor twice: as sched wait time and as syscall time. Of one
   that entered its call as the trace began, such as ``runtime/pprof.profileWriter`` where
   a CPU profile began with the trace, that is its whole life. For us it is once in
   `syscall_block_ns`.
2. Go misses that some system calls lose their processor (`miscounted_by_go`): what is
   `syscall_block_ns` for us is syscall time there.
3. Of a goroutine that is in a system call without a processor when the trace begins, the
   time after its first event, which may be at the trace's end, is syscall time there;
   in formats up to 1.21 (`marked_by_chance`) more of it, and some of it twice: Go's reader
   gives it the processor on which the list of what there was is written, and takes that
   away when that processor stops.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.model.traces.trace import State, Trace

Column = NDArray[np.int64]
# From this format on a processor is in one system call at a time.
_STRICT = 22


def as_go_has_it(trace, held):
    """Return `stats` of a trace with Go's mistakes."""
    intervals, goroutines = trace.intervals, trace.goroutines
    ends = trace.ends_ns(intervals)
    # Time that Go takes for time with a processor, and time that it counts twice.
    mistaken = np.zeros(len(goroutines), np.int64)
    rows = miscounted_by_go(trace)
    owner = np.searchsorted(intervals.offsets, rows, "right") - 1
    np.add.at(mistaken, owner, (ends - intervals.start_ns)[rows])
    entered, first = calls_entered_before(trace)
    mistaken[entered] += ends[first] - goroutines.seen_ns[entered]
    twice = open_calls(trace)
    known = np.append(rows, first)
    owner = np.append(owner, entered)
    twice[owner[known + 1 == intervals.offsets[1:][owner]]] = 0
    return replace(
        held,
        sched_wait_ns=held.sched_wait_ns + twice,
        syscall_ns=held.syscall_ns + twice + mistaken,
        syscall_block_ns=held.syscall_block_ns - twice - mistaken,
        unknown_ns=np.maximum(held.unknown_ns - twice, 0),
    )


def calls_entered_before(trace):
    """Return goroutines (int64) in a call without a processor at first, and that row."""
    offsets, state = trace.intervals.offsets, trace.intervals.state
    known = np.flatnonzero((np.diff(offsets) > 0) & ~trace.goroutines.born)
    entered = known[state[offsets[known]] == State.SYSCALL_BLOCKED]
    return entered, offsets[entered]


def marked_by_chance(trace):
    """Return the goroutines whose times in system calls Go gives by chance.

    In formats up to 1.21 it is deviation 3; in all, deviation 2
    where a call ends in the unit of the clock in which the other begins or loses its
    processor: their order is not reported.
    """
    rows, ended, ended_or_met = _met_by_ends(trace)
    met = rows[(ended == 0) & (ended_or_met > 0)]
    by_chance = np.searchsorted(trace.intervals.offsets, met, "right") - 1
    if trace.version < _STRICT:
        by_chance = np.append(by_chance, calls_entered_before(trace)[0])
    return set(by_chance.tolist())


def open_calls(trace):
    """Return how long goroutines were without a processor in a call at the end (int64)."""
    intervals = trace.intervals
    open_for = np.zeros(len(trace.goroutines), np.int64)
    filled = np.flatnonzero(np.diff(intervals.offsets))
    last = intervals.offsets[1:][filled] - 1
    blocked = intervals.state[last] == State.SYSCALL_BLOCKED
    open_for[filled[blocked]] = trace.end_ns - intervals.start_ns[last[blocked]]
    return open_for


def miscounted_by_go(trace: Trace) -> Column:
    """Return rows (int64, rising) that Go's summary counts as SYSCALL by mistake.

    They are rows of `Trace.intervals` whose state is SYSCALL_BLOCKED. Go's summary
    (internal/trace/summary.go of Go 1.26 and 1.27) remembers which goroutine is in a
    system call on each processor. Where a call ends, it forgets the processor that the
    call began on, though that may long have been taken and have another goroutine's
    call on it. When this other call loses the processor, its time goes on counting as
    time with a processor.

    In formats up to 1.21, calls that keep their processor may overlap on it, too, as
    their times come from several clocks, and so do the calls of deviation 3, which Go's
    reader gives a processor.
    """
    rows, ended, _ = _met_by_ends(trace)
    return rows[ended > 0]


def _met_by_ends(trace: Trace) -> tuple[Column, Column, Column]:
    """Return losses of processors, and how many calls ended on each before (int64).

    They are the rows of `_losses`, the ends after the call began and before it lost its
    processor, and these with the ends at either time.
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
    counts = []
    for after, before in (("right", "left"), ("left", "right")):
        low = processor * size + np.searchsorted(end, begin, after)
        high = processor * size + np.searchsorted(end, loss, before)
        counts.append(np.searchsorted(ranked, high) - np.searchsorted(ranked, low))
    return rows, *counts


def _ends(trace: Trace, losses: Column) -> tuple[Column, Column]:
    """Return when calls end, and the processor on which each began (both int64)."""
    intervals = trace.intervals
    begins, last = losses - 1, losses
    if trace.version < _STRICT:
        kept = np.flatnonzero(intervals.state == State.SYSCALL)
        kept = kept[~np.isin(kept, begins)]
        entered = calls_entered_before(trace)[1]
        begins = np.concatenate([begins, kept, entered])
        last = np.concatenate([last, kept, entered])
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
