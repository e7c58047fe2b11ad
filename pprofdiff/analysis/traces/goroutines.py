"""What goroutines spend their time on: each, by root function, and by creator.

Figures match ``go tool trace`` (internal/trace/summary.go of Go 1.26), except that it
counts a system call still open at the end of the trace twice if the call has lost its
P, misses some calls that lose theirs, and adds a nanosecond to one of two equal times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

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
from pprofdiff.model.arrays import Codes, Column, Index, Mask
from pprofdiff.model.csr import (
    Offsets,
    chunks,
    last_in_row,
    row_of_item,
    slices,
    sums,
)
from pprofdiff.model.traces.trace import State, Trace

if TYPE_CHECKING:
    import pandas as pd


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


# A request for a profile or trace is served like any other, on a goroutine of net/http.
_HANDLERS = "net/http/pprof."
# Started by trace.Start, flight recorders and the runtime to write the trace, by
# pprof.StartCPUProfile to write a profile, and by agents to upload them.
_TRACING = (
    _HANDLERS,
    "runtime/trace.",
    "golang.org/x/exp/trace.",
    "runtime.(*traceAdvancerState).",
    "runtime.traceStartReadCPU.",
    "runtime/pprof.profileWriter",
    "gopkg.in/DataDog/dd-trace-go.v1/profiler.",
    "github.com/DataDog/dd-trace-go/v2/profiler.",
    "github.com/grafana/pyroscope-go.",
    "github.com/grafana/pyroscope-go/",
)


def is_system(name: str) -> bool:
    """Return whether goroutines of a root function belong to the runtime.

    Like Go (internal/trace/summary.go), this includes an unknown root function.
    """
    return not name or (name.startswith("runtime.") and name != "runtime.main")


def is_tracing(name: str) -> bool:
    """Return whether goroutines of a function exist only to write and send profiles."""
    return name.startswith(_TRACING)


# The group of goroutines whose creation is not in the trace.
_UNSEEN = "(created before the trace)"


class Groups(Times, frozen=True):
    """Times of goroutines by function, one row per name, largest `total_ns` first.

    `count` (int64) is the number of goroutines, `group_of` (int32, by goroutine) each
    one's row. `system` (bool) marks rows with only runtime goroutines, `tracing` rows
    with only goroutines that write the trace.
    """

    names: list[str]
    group_of: Index
    count: Column
    system: Mask
    tracing: Mask

    def __len__(self) -> int:
        return len(self.names)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per name, with the fields and `spread_columns`."""
        import pandas as pd

        columns: dict[str, object] = {"count": self.count, "total_ns": self.total_ns}
        for field in TIMES:
            columns[field] = getattr(self, field)
        columns |= spread_columns(self)
        columns |= {"system": self.system, "tracing": self.tracing}
        return pd.DataFrame(columns, pd.Index(self.names, name="name"))


def both_groups(trace: Trace) -> tuple[Groups, Groups]:
    """Return goroutines grouped by root function, and by creating function.

    Goroutines without a known root function are in the row `INACTIVE`, as on Go's page.
    """
    by_name = _Grouping(trace, trace.once("roots", _roots), INACTIVE)
    by_creation = _Grouping(trace, _creators(trace), _UNSEEN)
    for here, times in times_in_parts(trace):
        by_name.add(times, here)
        by_creation.add(times, here)
    return by_name.groups(), by_creation.groups()


class _Grouping:
    """The running sums of times by function; `key` has each goroutine's, a string."""

    def __init__(self, trace: Trace, key: Index, unknown: str) -> None:
        self._trace, self._unknown = trace, unknown
        count = np.bincount(key, minlength=len(trace.strings))
        self._key = np.flatnonzero(count)
        self._count = count[self._key]
        place = np.zeros(len(count), np.int32)
        place[self._key] = np.arange(len(self._key))
        self._group = place[key]
        self._sums: dict[str, Column] = {}
        self._names: tuple[tuple[str, ...], tuple[str, ...]] = (), ()

    def add(self, times: Times, here: slice) -> None:
        group, size = self._group[here], len(self._key)
        self._names = times.reasons, times.range_names
        for field in ("total_ns", *TIMES, "block_ns", "range_ns"):
            total = _summed(getattr(times, field), group, size)
            if field in self._sums:
                total += self._sums[field]
            self._sums[field] = total

    def groups(self) -> Groups:
        trace, size = self._trace, len(self._key)
        order = np.argsort(-self._sums["total_ns"], kind="stable")
        place = np.empty(size, np.int32)
        place[order] = np.arange(size)
        group, keys = place[self._group], self._key[order].tolist()
        reasons, range_names = self._names
        return Groups(
            names=[trace.strings[i] or self._unknown for i in keys],
            group_of=group,
            count=self._count[order],
            reasons=reasons,
            range_names=range_names,
            system=_all(_roots_that(trace, is_system), group, size),
            tracing=_all(of_tracing(trace), group, size),
            **{field: total[order] for field, total in self._sums.items()},
        )


def _creators(trace: Trace) -> Index:
    """Return the string index of each goroutine's creating function, 0 if unknown."""
    stacks, stack = trace.stacks, trace.goroutines.creation_stack
    names = np.zeros(len(stack), np.int32)
    known = np.flatnonzero(np.diff(stacks.offsets)[stack])
    names[known] = stacks.function[stacks.frame[stacks.offsets[stack[known]]]]
    return names


def _roots(trace: Trace) -> Index:
    """Return the string index of each goroutine's root function.

    Of one that served a request for a profile or trace, it is that handler.
    """
    stacks, names = trace.stacks, trace.goroutines.name.astype(np.int32)
    handles = [trace.strings[i].startswith(_HANDLERS) for i in stacks.function.tolist()]
    frames = np.flatnonzero(np.array(handles, np.bool_)[stacks.frame])
    if not len(frames):
        return names
    stack = np.searchsorted(stacks.offsets, frames, "right") - 1
    handler = np.zeros(len(stacks), np.int32)
    # Frames are leaf first: the handler is the last of its stack's.
    handler[stack] = stacks.function[stacks.frame[frames]]
    rows = trace.intervals
    for here in slices(len(rows)):
        # Where a goroutine became runnable, the stack is its waker's.
        own = rows.state[here] != State.RUNNABLE
        row = here.start + np.flatnonzero(own & (handler[rows.stack[here]] > 0))
        names[owners_of(rows.offsets, row)] = handler[rows.stack[row]]
    return names


def of_tracing(trace: Trace) -> Mask:
    """Mark goroutines (bool) that exist only to write and send profiles."""
    return _roots_that(trace, is_tracing)


def _roots_that(trace: Trace, matches: Callable[[str], bool]) -> Mask:
    """Mark goroutines (bool) whose root function's name satisfies a predicate."""
    names = trace.once("roots", _roots)
    answers = np.zeros(len(trace.strings), np.bool_)
    for name in np.flatnonzero(np.bincount(names)).tolist():
        answers[name] = matches(trace.strings[name])
    return answers[names]


def _summed(values: Column, group: Index, size: int) -> Column:
    """Return the sum of each group; `values` has a row or a cell per goroutine."""
    if values.ndim == 1:
        return sums(group, values, size)
    total = np.zeros((size, values.shape[1]), np.int64)
    for place in range(values.shape[1]):
        total[:, place] = sums(group, values[:, place], size)
    return total


def _all(marked: Mask, group: Index, size: int) -> Mask:
    """Mark the groups whose goroutines are all marked."""
    whole = np.ones(size, np.bool_)
    whole[group[~marked]] = False
    return whole


def added_up(parts: Sequence[Groups]) -> Groups:
    """Return groups of several traces by name; ties are ordered by name."""
    if len(parts) == 1:
        return parts[0]
    lives: Counter[str] = Counter()
    for part in parts:
        lives.update(dict(zip(part.names, part.total_ns.tolist(), strict=True)))
    names = sorted(lives, key=lambda name: (-lives[name], name))
    place = {name: row for row, name in enumerate(names)}
    rows = [np.array([place[n] for n in part.names], np.int64) for part in parts]

    def added(field: str) -> Column:
        values = np.concatenate([getattr(part, field) for part in parts])
        return sums(np.concatenate(rows), values, len(names))

    def everywhere(field: str) -> Mask:
        marked = np.ones(len(names), np.bool_)
        for row, part in zip(rows, parts, strict=True):
            marked[row] &= getattr(part, field)
        return marked

    reasons, block = _matrix(parts, rows, ("reasons", "block_ns"), len(names))
    ranges, within = _matrix(parts, rows, ("range_names", "range_ns"), len(names))
    return Groups(
        names=names,
        group_of=np.concatenate(
            [row[part.group_of] for row, part in zip(rows, parts, strict=True)]
        ),
        count=added("count"),
        total_ns=added("total_ns"),
        **{field: added(field) for field in TIMES},
        reasons=reasons,
        block_ns=block,
        range_names=ranges,
        range_ns=within,
        system=everywhere("system"),
        tracing=everywhere("tracing"),
    )


def _matrix(
    parts: Sequence[Times],
    rows: Sequence[Column],
    fields: tuple[Literal["reasons", "range_names"], Literal["block_ns", "range_ns"]],
    size: int,
) -> tuple[tuple[str, ...], Column]:
    """Return the column names, sorted, and the sum of shape (size, columns)."""
    named, values = fields
    names = sorted({name for part in parts for name in getattr(part, named)})
    total = np.zeros((size, len(names)), np.int64)
    for row, part in zip(rows, parts, strict=True):
        columns = np.array([names.index(n) for n in getattr(part, named)], np.int64)
        np.add.at(total, np.ix_(row, columns), getattr(part, values))
    return tuple(names), total
