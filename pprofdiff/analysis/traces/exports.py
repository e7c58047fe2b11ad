"""The profiles that ``go tool trace -pprof`` writes, sample for sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.traces.goroutines import GoroutineChunk, goroutine_chunks
from pprofdiff.analysis.traces.profiles import (
    KeyedSums,
    frames_of,
    informative_stacks,
    profile_of,
    sum_by_key,
)
from pprofdiff.errors import UsageError
from pprofdiff.model.csr import first_in_row, row_of_item, slices
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.traces.trace import State, Trace

__all__ = ["EXPORTS", "Export", "export"]

Export = Literal["net", "sync", "syscall", "sched"]
Column = NDArray[np.int64]
Mask = NDArray[np.bool_]

EXPORTS: tuple[Export, ...] = ("net", "sync", "syscall", "sched")
_SYNC = ("chan", "sync", "select")


def export(trace: Trace, kind: Export) -> Profile:
    """Return the profile that ``go tool trace -pprof=kind`` exports.

    Sample types are contentions (count) and delay (nanoseconds). The stack is that of
    the event that began the wait; for "sched", that of whoever made the goroutine
    runnable.

    Like Go (cmd/trace/pprof.go), the profile omits waits still open at the end of the
    trace, anything before a goroutine first runs in the trace (unless it never runs),
    and time before a goroutine's first event. Go distinguishes stacks by address, this
    function by function, file and line. Raises UsageError for an unknown kind.
    """
    if kind not in EXPORTS:
        raise UsageError(
            f"no export {kind!r} of a trace; there are {', '.join(EXPORTS)}"
        )
    wanted, stacks = _wanted(trace, kind), informative_stacks(trace)
    parts = (
        _of_chunk(chunk, kind, wanted, stacks) for chunk in goroutine_chunks(trace)
    )
    total = sum_by_key([part for some in parts for part in some], 1)
    return profile_of(trace, frames_of(trace, total.keys[0]), total.values)


def _wanted(trace: Trace, kind: Export) -> Mask:
    """Mark the reasons (of `Trace.reasons`) whose waits count."""
    if kind == "net":
        counts = [reason == "network" for reason in trace.reasons]
    else:
        counts = [any(word in reason for word in _SYNC) for reason in trace.reasons]
    return np.array(counts, np.bool_)


def _of_chunk(
    chunk: GoroutineChunk, kind: Export, wanted: Mask, stacks: Column
) -> Iterator[KeyedSums]:
    """Yield some goroutines' waits by stack, a few thousand at a time."""
    begins = np.flatnonzero(_begins(chunk, kind, wanted))
    first_run, unseen = _first_runs(chunk), _unseen(chunk)
    for here in slices(len(begins)):
        rows = begins[here]
        owner = chunk.owner_of(rows)
        last, ran = chunk.last[owner], first_run[owner]
        lasts, over = chunk.durations_of(rows), rows + 1
        if kind == "syscall":
            # A system call continues after it loses its P.
            after = np.minimum(over, len(chunk.state) - 1)
            longer = (rows < last) & (chunk.state[after] == State.SYSCALL_BLOCKED)
            lasts += chunk.durations_of(after) * longer
            over += longer
        # The first row of an older goroutine begins before its first event.
        lasts -= unseen[owner] * (rows == chunk.first[owner])
        kept = (over <= last) & ((ran < 0) | (rows > ran))
        stack = stacks[chunk.stack[rows[kept]]]
        values = np.stack((np.ones(len(stack), np.int64), lasts[kept]), axis=1)
        yield sum_by_key([KeyedSums(stack[None], values)], 1)


def _begins(chunk: GoroutineChunk, kind: Export, wanted: Mask) -> Mask:
    """Mark the rows that begin a wait of this kind."""
    state = chunk.state
    code = {"sched": State.RUNNABLE, "syscall": State.SYSCALL}.get(kind, State.WAITING)
    marked: Mask = state == code
    if code == State.WAITING:
        marked &= wanted[chunk.reason]
    elif code == State.SYSCALL:
        # A call from before the trace may have lost its P already.
        marked[chunk.first] |= state[chunk.first] == State.SYSCALL_BLOCKED
    return marked


def _first_runs(chunk: GoroutineChunk) -> Column:
    """Return the row in which each goroutine first runs (int64), -1 if never.

    For a goroutine that ended and restarted, Go remembers only the last start.
    """
    running = chunk.state == State.RUNNING
    restarts = chunk.restarts()
    if len(restarts):
        since = chunk.first.copy()
        since[chunk.owner_of(restarts)] = restarts
        running &= np.arange(len(running)) >= since[row_of_item(chunk.offsets)]
    return first_in_row(running, chunk.offsets)


def _unseen(chunk: GoroutineChunk) -> Column:
    """Return the time from each goroutine's first row to its first event (ns)."""
    start = chunk.start_ns[chunk.first]
    seen = chunk.trace.goroutines.seen_ns[chunk.goroutines]
    before: Column = np.maximum(seen - start, 0)
    return before
