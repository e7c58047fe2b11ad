"""What each goroutine spends its time on.

Figures match ``go tool trace`` (internal/trace/summary.go of Go 1.26), except that it
counts a system call still open at the end of the trace twice if the call has lost its
P, misses some calls that lose theirs, and adds a nanosecond to one of two equal times.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.analysis.traces.interval_rows import (
    ASSIST,
    SWEEP,
    GoroutineRanges,
    lengths,
    owners_of,
)
from pprofdiff.model.arrays import Codes, Column, Index
from pprofdiff.model.csr import (
    Offsets,
    chunks,
    last_in_row,
    row_of_item,
    slices,
    sums,
)
from pprofdiff.model.traces.trace import State, Trace


class GoroutineChunk(Struct, frozen=True, eq=False):
    """Some goroutines that have rows in `Trace.intervals`, and all of their rows.

    `goroutines` (int64, sorted) are indices. A *row* of a chunk is relative to the
    slice `rows`: ``offsets[i]:offsets[i+1]`` are the rows of ``goroutines[i]``, `first`
    and `last` (int64) the ends of that. Other columns are those of `Intervals`.
    """

    trace: Trace
    goroutines: Column
    rows: slice
    offsets: Offsets
    first: Column
    last: Column
    start_ns: Column
    state: Codes
    reason: NDArray[np.uint16]
    stack: Index

    def owner_of(self, rows: Column) -> Column:
        """Return each row's position in `goroutines` (int64); `rows` must be sorted."""
        return owners_of(self.offsets, rows)

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
        """Return the rows (int64) at which goroutines of C threads begin again."""
        gone = np.flatnonzero(self.state == State.GONE)
        restarts: Column = gone[self.last[self.owner_of(gone)] != gone] + 1
        return restarts


def goroutine_chunks(trace: Trace) -> Iterator[GoroutineChunk]:
    """Yield all goroutines that have rows, about a million rows at a time."""
    held = trace.intervals
    filled = np.flatnonzero(np.diff(held.offsets))
    offsets = np.append(held.offsets[:-1][filled], len(held))
    for start, stop in chunks(offsets) if len(filled) else ():
        rows = slice(*offsets[[start, stop]].tolist())
        own = offsets[start : stop + 1] - rows.start
        yield GoroutineChunk(
            *(trace, filled[start:stop], rows, own, own[:-1], own[1:] - 1),
            start_ns=held.start_ns[rows],
            state=held.state[rows],
            reason=held.reason[rows],
            stack=held.stack[rows],
        )


S = State

# The /goroutines page's name for goroutines without a known stack.
INACTIVE = "(Inactive, no stack trace sampled)"
# Columns of the states without reasons, by the names used in reports.
STATE_TIMES = {
    "running": "exec_ns",
    "runnable": "sched_wait_ns",
    "syscall": "syscall_ns",
    "syscall_block": "syscall_block_ns",
    "unknown": "unknown_ns",
}
# With blocked time, they add up to a goroutine's time.
TIMES = tuple(STATE_TIMES.values())
# The states of these columns, except for unknown.
_STATES = (S.RUNNING, S.RUNNABLE, S.SYSCALL, S.SYSCALL_BLOCKED)
# Go treats a goroutine that blocks for this reason as ended.
FOREVER = "forever"
# The other reasons of Go 1.22 to 1.27 (runtime/traceruntime.go), in its order. Older
# traces have some of them; "" stands for an unknown reason.
BLOCK_REASONS = (
    "unspecified",
    "network",
    "select",
    "sync.(*Cond).Wait",
    "sync",
    "chan send",
    "chan receive",
    "GC mark assist wait for work",
    "GC background sweeper wait",
    "system goroutine wait",
    "preempted",
    "wait for debug call",
    "wait until GC ends",
    "sleep",
    "GC weak to strong wait",
    "synctest",
)


class Times(Struct, frozen=True, eq=False):
    """Times of goroutines, or of groups of them; int64 columns in ns.

    `total_ns` is the sum of `exec_ns` (running), `sched_wait_ns` (runnable),
    `syscall_ns` (in system calls with a P), `syscall_block_ns` (without a P),
    `block_ns`, of shape (rows, reasons), and `unknown_ns`. `range_ns`, of shape (rows,
    range_names), is time in mark assists, sweeps and STW pauses; it overlaps the
    others.
    """

    total_ns: Column
    exec_ns: Column
    sched_wait_ns: Column
    syscall_ns: Column
    syscall_block_ns: Column
    unknown_ns: Column
    reasons: tuple[str, ...]
    block_ns: Column
    range_names: tuple[str, ...]
    range_ns: Column


def spread_columns(times: Times) -> dict[str, object]:
    """Return the columns ``block_ns (reason)`` and ``range_ns (name)``, Go's first."""
    tables = (
        ("block_ns", (*BLOCK_REASONS, ""), times.reasons, times.block_ns),
        ("range_ns", (ASSIST, SWEEP), times.range_names, times.range_ns),
    )
    none = np.zeros(len(times.total_ns), np.int64)
    columns: dict[str, object] = {}
    for field, known, names, table in tables:
        columns |= {f"{field} ({name})": none for name in known}
        for place, name in enumerate(names):
            columns[f"{field} ({name})"] = table[:, place]
    return columns


def root_name(name: str) -> str:
    """Return the display name of a root function; "" is an unknown one."""
    return name or INACTIVE


def times_in_parts(trace: Trace) -> Iterator[tuple[slice, Times]]:
    """Yield the times of consecutive goroutines, and their slice of all goroutines.

    A goroutine's total ends where it blocks forever, and excludes when a C thread's
    goroutine is gone between calls into Go. There is at least one part. All have the
    same reasons and range names.
    """
    reasons, column_of = _block_reasons(trace)
    ranges = GoroutineRanges.of(trace)
    first, chunks = 0, [*goroutine_chunks(trace)]
    for number, chunk in enumerate(chunks, 1):
        # Goroutines without rows belong to the chunk before them.
        more = number < len(chunks)
        last = int(chunks[number].goroutines[0]) if more else len(trace.goroutines)
        here = slice(first, last)
        yield here, _times_of(chunk, here, reasons, column_of, ranges)
        first = last
    if not chunks:
        here = slice(0, len(trace.goroutines))
        yield here, _times_of(None, here, reasons, column_of, ranges)


def _times_of(
    chunk: GoroutineChunk | None,
    here: slice,
    reasons: tuple[str, ...],
    column_of: Column,
    ranges: GoroutineRanges,
) -> Times:
    trace = ranges.trace
    size = here.stop - here.start
    times = np.zeros((size, len(_STATES) + len(reasons)), np.int64)
    ended = np.full(size, -1, np.int64)
    away = np.zeros(size, np.int64)
    if chunk is not None:
        own = chunk.goroutines - here.start
        times[own] = _time_sums(chunk, column_of, times.shape[1])
        ended[own] = _ended(chunk)
        away[own] = _away(chunk)
    until = np.where(ended < 0, trace.end_ns, ended)
    total = until - trace.goroutines.created_ns[here] - away
    states = times[:, : len(_STATES)].T.copy()
    return Times(
        total_ns=total,
        exec_ns=states[0],
        sched_wait_ns=states[1],
        syscall_ns=states[2],
        syscall_block_ns=states[3],
        unknown_ns=np.maximum(total - times.sum(axis=1), 0),
        reasons=reasons,
        block_ns=times[:, len(_STATES) :],
        range_names=ranges.names,
        range_ns=ranges.times(until, here),
    )


def _block_reasons(trace: Trace) -> tuple[tuple[str, ...], Column]:
    """Return the block reasons that occur, and each reason's column (int64) or -1."""
    occurs = np.zeros(len(trace.reasons), np.bool_)
    rows = trace.intervals
    for here in slices(len(rows)):
        occurs[rows.reason[here][rows.state[here] == S.WAITING]] = True
    column_of = np.full(len(occurs), -1, np.int64)
    chosen = [i for i in np.flatnonzero(occurs) if trace.reasons[i] != FOREVER]
    column_of[chosen] = np.arange(len(chosen))
    return tuple([trace.reasons[i] for i in chosen]), column_of


def _ended(chunk: GoroutineChunk) -> Column:
    """Return when each goroutine ended or blocked forever, or -1."""
    over = np.zeros(len(chunk.state), np.bool_)
    over[chunk.last] = chunk.state[chunk.last] == S.GONE
    if FOREVER in chunk.trace.reasons:
        forever = chunk.reason == chunk.trace.reasons.index(FOREVER)
        over |= (chunk.state == S.WAITING) & forever
    row = last_in_row(over, chunk.offsets)
    return np.where(row < 0, -1, chunk.start_ns[row])


def _away(chunk: GoroutineChunk) -> Column:
    """Return how long each goroutine was gone before it restarted, in ns."""
    restarts = chunk.restarts()
    away = chunk.start_ns[restarts] - chunk.start_ns[restarts - 1]
    total = np.zeros(len(chunk.goroutines), np.int64)
    np.add.at(total, chunk.owner_of(restarts), away)
    return total


def _time_sums(chunk: GoroutineChunk, column_of: Column, columns: int) -> Column:
    """Return ns by goroutine and column: `_STATES`, then blocked, by `column_of`."""
    # The last column collects everything else.
    place = np.full(max(State) + 1, columns, np.int64)
    place[list(_STATES)] = np.arange(len(_STATES))
    waits = np.where(column_of < 0, columns, column_of + len(_STATES))
    total = np.zeros((len(chunk.goroutines), columns + 1), np.int64)
    for here in slices(len(chunk.state)):
        state = chunk.state[here]
        # The goroutines with rows in this slice.
        a = int(np.searchsorted(chunk.last, here.start))
        b = int(np.searchsorted(chunk.first, here.stop))
        offsets = np.clip(chunk.offsets[a : b + 1], here.start, here.stop)
        cell = place[state]
        waiting = np.flatnonzero(state == S.WAITING)
        cell[waiting] = waits[chunk.reason[here][waiting]]
        cell += row_of_item(offsets - here.start) * (columns + 1)
        size = (b - a) * (columns + 1)
        spent = sums(cell, chunk.durations(here), size)
        total[a:b] += spent.reshape(b - a, columns + 1)
    return total[:, :columns]
