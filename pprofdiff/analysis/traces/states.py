"""Time that goroutines spend in a state, by stack: a trace as a profile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from pprofdiff.analysis.traces.goroutines import (
    GoroutineChunk,
    goroutine_chunks,
    root_name,
)
from pprofdiff.analysis.traces.interval_rows import previous
from pprofdiff.analysis.traces.profiles import (
    DELAYS,
    KeyedSums,
    SampleLabel,
    informative_stacks,
    profile_of,
    sum_by_key,
)
from pprofdiff.errors import UsageError
from pprofdiff.model.arrays import Column, Index, Mask
from pprofdiff.model.csr import Offsets, grouped, offsets_of, slices, take_rows
from pprofdiff.model.profiles.profile import Profile, ValueType
from pprofdiff.model.traces.trace import State, Trace

StateName = Literal["running", "runnable", "blocked", "syscall"]
S = State

STATES: tuple[StateName, ...] = ("running", "runnable", "blocked", "syscall")
_OF = {"running": S.RUNNING, "runnable": S.RUNNABLE, "blocked": S.WAITING}
_INTERVALS = (ValueType("intervals", "count"), ValueType("time", "nanoseconds"))
_ALONE = ValueType("alone", "nanoseconds")


def state_profile(
    trace: Trace,
    state: StateName,
    *,
    goroutines: Mask | None = None,
    alone: bool = False,
) -> Profile:
    """Return the time that goroutines are in a state, by stack.

    Sample types are contentions (count) and delay (nanoseconds); for "running",
    intervals (count) and time (nanoseconds). All time in the state counts, even if cut
    off by the start or end of the trace: sums equal those of `Times` (for
    "blocked", plus goroutines blocked forever).

    The stack is the goroutine's own, unlike in Go's ``-pprof=sched`` (see `profiles`):
    where it blocks, enters the system call, will resume ("runnable") or stops running
    (a trace does not record where it ran before). The root function replaces missing
    stacks.

    Labels are ``goroutine``, the root function, and ``reason``, why it blocks or stops;
    for runnable time, why it blocked before. `goroutines` (bool) selects goroutines.
    `alone` adds the sample type alone (nanoseconds): system calls' time without a P.
    Raises UsageError for an unknown state.
    """
    if state not in STATES:
        raise UsageError(
            f"no state {state!r} of goroutines; there are {', '.join(STATES)}"
        )
    names, name_of = grouped(trace.goroutines.name)
    offsets, frame, root_of = _with_roots(trace, names)
    request = _Request(
        state,
        informative_stacks(trace),
        root_of[name_of],
        goroutines,
        alone and state == "syscall",
    )
    parts = (_of_chunk(chunk, request, name_of) for chunk in goroutine_chunks(trace))
    types = (
        *(_INTERVALS if state == "running" else DELAYS),
        *([_ALONE] if request.alone else []),
    )
    total = sum_by_key([part for some in parts for part in some], 3, len(types))
    stack, name, reason = total.keys
    roots = [root_name(trace.strings[i]) for i in names.tolist()]
    labels = [
        SampleLabel("goroutine", roots, name),
        SampleLabel("reason", trace.reasons, reason),
    ]
    frames = take_rows(offsets, frame, stack)
    profile = profile_of(trace, frames, total.values, types, labels)
    lasts = trace.end_ns - trace.start_ns
    return replace(profile, time_ns=trace.begin_wall_ns, duration_ns=lasts)


def named_for_state(trace: Trace, state: StateName) -> Profile:
    """Return `state_profile` with sample types named after the state."""
    types = ValueType("intervals", "count"), ValueType(state, "nanoseconds")
    return replace(state_profile(trace, state), sample_types=types)


class _Request(Struct, frozen=True, eq=False):
    """The requested state and goroutines (None for all).

    `stacks` is the result of `informative_stacks`; `roots` (int64) is the stack of each
    goroutine's root function, 0 if unknown. `alone` adds that sample type.
    """

    state: StateName
    stacks: Column
    roots: Column
    goroutines: Mask | None
    alone: bool


def _with_roots(trace: Trace, names: Index) -> tuple[Offsets, Index, Column]:
    """Return stacks (offsets, frames), root functions' last; and each root's stack."""
    stacks = trace.stacks
    filled = np.flatnonzero(np.diff(stacks.offsets))
    frame = stacks.frame[stacks.offsets[1:][filled] - 1]
    order = np.lexsort((stacks.line[frame], stacks.function[frame]))
    functions = stacks.function[frame[order]]
    at = np.minimum(np.searchsorted(functions, names), max(len(order) - 1, 0))
    known = np.zeros(len(names), np.bool_)
    known[:] = (names > 0) & (functions[at] == names) if len(order) else False
    root = frame[order[at[known]]]
    alone = np.full(len(stacks.function), -1, np.int64)
    single = filled[np.diff(stacks.offsets)[filled] == 1]
    alone[stacks.frame[stacks.offsets[single]]] = single
    added = alone[root] < 0
    place = len(stacks) - 1 + np.cumsum(added)
    roots = np.zeros(len(names), np.int64)
    roots[known] = np.where(added, place, alone[root])
    more = np.ones(int(added.sum()), np.int64)
    return (
        offsets_of(np.append(np.diff(stacks.offsets), more)),
        np.append(stacks.frame, root[added]),
        roots,
    )


def _of_chunk(
    chunk: GoroutineChunk, request: _Request, name_of: Column
) -> Iterator[KeyedSums]:
    """Yield the times of some goroutines by stack, name and reason, in parts."""
    begins = _rows(chunk, request.state)
    if not len(begins):
        return
    calls = request.state == "syscall"
    lengths = _call_lengths(chunk, begins, alone=request.alone) if calls else None
    place = None if request.state == "blocked" else _last_own_row(chunk)
    for here in slices(len(begins)):
        rows = begins[here]
        owner = chunk.goroutines[chunk.owner_of(rows)]
        times = [chunk.durations_of(rows)] if lengths is None else lengths[:, here]
        values = np.stack((np.ones(len(rows), np.int64), *times), axis=1)
        if request.goroutines is not None:
            kept = request.goroutines[owner]
            rows, values, owner = rows[kept], values[kept], owner[kept]
        stack = _stacks(chunk, rows, request, place)
        stack = np.where(stack == 0, request.roots[owner], stack)
        reason = _reasons(chunk, rows, request.state)
        keys = np.stack((stack, name_of[owner], reason))
        yield sum_by_key([KeyedSums(keys, values)], 3, values.shape[1])


def _calls(chunk: GoroutineChunk) -> Mask:
    calls: Mask = chunk.state == S.SYSCALL
    calls |= chunk.state == S.SYSCALL_BLOCKED
    return calls


def _rows(chunk: GoroutineChunk, state: StateName) -> Column:
    """Return the rows that begin the state; a system call may span several rows."""
    if state != "syscall":
        return np.flatnonzero(chunk.state == _OF[state])
    calls = _calls(chunk)
    return np.flatnonzero(calls & ~previous(calls, chunk.offsets, none=False))


def _call_lengths(chunk: GoroutineChunk, rows: Column, *, alone: bool) -> Column:
    """Return durations of the system calls that begin at `rows`, of shape (1, rows).

    `rows` must be all of them. `alone` adds a second row: the time without a P.
    """
    inside = np.flatnonzero(_calls(chunk))
    begins = np.zeros(len(chunk.state), np.bool_)
    begins[rows] = True
    # The rows of a call are contiguous.
    first = np.flatnonzero(begins[inside])
    lasts = chunk.durations_of(inside)
    lengths = [np.add.reduceat(lasts, first)]
    if alone:
        lasts[chunk.state[inside] != S.SYSCALL_BLOCKED] = 0
        lengths.append(np.add.reduceat(lasts, first))
    return np.stack(lengths)


def _next_row(chunk: GoroutineChunk, rows: Column) -> tuple[Column, Mask]:
    follows = rows < chunk.last[chunk.owner_of(rows)]
    return np.where(follows, rows + 1, rows), follows


def _stacks(
    chunk: GoroutineChunk, rows: Column, request: _Request, place: Index | None
) -> Column:
    if place is None:
        return request.stacks[chunk.stack[rows]]
    if request.state != "running":
        return _at(chunk, place[rows], request)
    after, follows = _next_row(chunk, rows)
    ends = chunk.state[after] == S.GONE
    return np.where(ends & follows, 0, _at(chunk, place[after], request))


def _at(chunk: GoroutineChunk, place: Index, request: _Request) -> Column:
    return np.where(place < 0, 0, request.stacks[chunk.stack[place]])


def _last_own_row(chunk: GoroutineChunk) -> Index:
    """Return each row's last row whose stack is the goroutine's own (int32).

    It is -1 for a goroutine that has only been created: its first row has the creator's
    stack.
    """
    own = _own(chunk)
    place = np.where(own, np.arange(len(own), dtype=np.int32), np.int32(0))
    place[chunk.first] = chunk.first
    np.maximum.accumulate(place, out=place)
    place[~own[place]] = -1
    return place


def _own(chunk: GoroutineChunk) -> Mask:
    """Mark rows whose stack is the goroutine's own, from an event or a status."""
    state = chunk.state
    stops = (state == S.RUNNABLE) & previous(
        state == S.RUNNING, chunk.offsets, none=False
    )
    calls = (state == S.SYSCALL) & ~previous(_calls(chunk), chunk.offsets, none=False)
    own: Mask = stops | calls | (state == S.WAITING)
    own[chunk.first] = ~chunk.trace.goroutines.born[chunk.goroutines]
    return own


def _reasons(chunk: GoroutineChunk, rows: Column, state: StateName) -> Column:
    """Return the reason (an index of `Trace.reasons`) of each row."""
    if state == "running":
        after, follows = _next_row(chunk, rows)
        return np.where(follows, chunk.reason[after], 0).astype(np.int64)
    reason = chunk.reason[rows].astype(np.int64)
    if state != "runnable":
        return reason
    before = np.maximum(rows - 1, 0)
    waited = chunk.state[before] == S.WAITING
    waited &= rows != chunk.first[chunk.owner_of(rows)]
    return np.where(waited, chunk.reason[before], reason)
