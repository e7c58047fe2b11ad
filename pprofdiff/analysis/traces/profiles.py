"""A trace as profiles: time by stack in a state, as Go exports it, and CPU samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from pprofdiff.errors import UsageError
from pprofdiff.model.arrays import Column, Index, Integers, Mask
from pprofdiff.model.csr import (
    Offsets,
    count_in_row,
    few_tuples,
    first_in_row,
    first_places,
    grouped,
    offsets_of,
    row_of_item,
    slices,
    sums,
    take_rows,
    unique_tuples,
)
from pprofdiff.model.profiles.profile import (
    Functions,
    Labels,
    Locations,
    Profile,
    ValueType,
)
from pprofdiff.model.traces.trace import State, Trace

DELAYS = (ValueType("contentions", "count"), ValueType("delay", "nanoseconds"))


class KeyedSums(Struct, frozen=True, eq=False):
    """How often and how long something happened, by keys; all int64.

    `keys` has shape (keys, rows): each column is one combination of keys. `values` has
    shape (rows, sample types).
    """

    keys: Column
    values: Column


def sum_by_key(parts: Sequence[KeyedSums], keys: int, types: int = 2) -> KeyedSums:
    """Return the sums of several parts, sorted by key, each key once."""
    if not parts:
        return KeyedSums(np.zeros((keys, 0), np.int64), np.zeros((0, types), np.int64))
    values = np.concatenate([part.values for part in parts])
    every = np.concatenate([part.keys for part in parts], axis=1)
    first, group = few_tuples(list(every))
    distinct = every[:, first]
    order = np.lexsort(distinct[::-1])
    columns = [sums(group, column, len(first))[order] for column in values.T]
    return KeyedSums(distinct[:, order], np.stack(columns, axis=1))


class SampleLabel(Struct, frozen=True, eq=False):
    """A label: sample i has ``texts[text_of[i]]`` (int64), "" for no label."""

    key: str
    texts: Sequence[str]
    text_of: Column


def profile_of(
    trace: Trace,
    stacks: tuple[Offsets, Index],
    values: Column,
    sample_types: tuple[ValueType, ...] = DELAYS,
    labels: Sequence[SampleLabel] = (),
) -> Profile:
    """Return a profile with one sample per stack, in the order of the stacks.

    `stacks` are (offsets, frames), leaf first: stack i is
    ``frames[offsets[i]:offsets[i+1]]``, indices of ``trace.stacks.function``, ``file``
    and ``line``. `values` is int64 of shape (stacks, sample types).
    """
    offsets, frames = stacks
    used, places = _used(frames, len(trace.stacks.function))
    words = [word for label in labels for word in (label.key, *label.texts)]
    strings, function, locations = _tables(trace, used, words)
    place = {text: i for i, text in enumerate(strings)}
    return Profile(
        strings=strings,
        sample_types=sample_types,
        functions=function,
        locations=locations,
        mappings=(),
        stack_offsets=offsets,
        stack_locations=places,
        values=values,
        labels=_labels(labels, place),
        period_type=ValueType("trace", "count"),
        period=1,
    )


def _tables(
    trace: Trace, used: Column, words: Sequence[str]
) -> tuple[tuple[str, ...], Functions, Locations]:
    """Return strings (including `words`), functions, and one location per frame."""
    table = trace.stacks
    columns = [table.function[used], table.file[used]]
    first, function = unique_tuples(columns)
    names, group = grouped(np.concatenate([column[first] for column in columns]))
    texts = [trace.strings[i] for i in names.tolist()]
    strings = tuple(dict.fromkeys(("", *texts, *words)))
    place = {text: i for i, text in enumerate(strings)}
    name, file = np.array([place[t] for t in texts], np.int32)[group].reshape(2, -1)
    none = np.zeros(len(used), np.int64)
    locations = Locations(
        none.astype(np.uint64),
        np.full(len(used), -1, np.int32),
        np.zeros(len(used), np.bool_),
        np.arange(len(used) + 1),
        function.astype(np.int32),
        table.line[used],
        none,
    )
    lines = np.zeros(len(first), np.int64)
    return strings, Functions(name, name, file, lines), locations


def _used(frames: Index, size: int) -> tuple[Column, Index]:
    """Return the frames that occur, by first use, and each frame's index there."""
    first = first_places(frames, size)
    occurring = np.flatnonzero(first >= 0)
    used = occurring[np.argsort(first[occurring])]
    place = np.zeros(size, np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    return used, place[frames]


def _labels(labels: Sequence[SampleLabel], place: dict[str, int]) -> Labels:
    if not labels:
        return Labels.none()
    texts = np.stack(
        [
            np.array([place[text] for text in label.texts], np.int32)[label.text_of]
            for label in labels
        ],
        axis=1,
    )
    keys = np.array([place[label.key] for label in labels], np.int32)
    sample, which = np.nonzero(texts)
    zero = np.zeros(len(sample), np.int64)
    unit = zero.astype(np.int32)
    return Labels(
        sample.astype(np.int64), keys[which], texts[sample, which], zero, unit
    )


def frames_of(trace: Trace, stack: Integers) -> tuple[Offsets, Index]:
    """Return (offsets, frames) of some stacks, as `profile_of` takes them."""
    return take_rows(trace.stacks.offsets, trace.stacks.frame, stack)


def informative_stacks(trace: Trace) -> Column:
    """Return each stack's own index (int64), 0 for one without information.

    The runtime writes an empty frame where it cannot walk a stack; ``go tool trace``
    treats that as no stack.
    """
    table = trace.stacks
    named = (table.function > 0) | (table.file > 0) | (table.line > 0)
    has_name = count_in_row(named[table.frame], table.offsets) > 0
    return np.where(has_name, np.arange(len(table)), 0)


_Export = Literal["net", "sync", "syscall", "sched"]

EXPORTS: tuple[_Export, ...] = ("net", "sync", "syscall", "sched")
_SYNC = ("chan", "sync", "select")


def export(trace: Trace, kind: _Export) -> Profile:
    """Return the profile that ``go tool trace -pprof=kind`` exports.

    Sample types are contentions (count) and delay (nanoseconds). The stack is from
    the event that began the wait; for "sched", from whoever made the goroutine
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


def _wanted(trace: Trace, kind: _Export) -> Mask:
    """Mark the reasons (of `Trace.reasons`) whose waits count."""
    if kind == "net":
        counts = [reason == "network" for reason in trace.reasons]
    else:
        counts = [any(word in reason for word in _SYNC) for reason in trace.reasons]
    return np.array(counts, np.bool_)


def _of_chunk(
    chunk: GoroutineChunk, kind: _Export, wanted: Mask, stacks: Column
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


def _begins(chunk: GoroutineChunk, kind: _Export, wanted: Mask) -> Mask:
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


def shared_frames(trace: Trace, start: Column, stop: Column) -> tuple[Offsets, Index]:
    """Return the frames, from the root, of each stack in `stop` that `start` shares.

    The result is (offsets, frames) as `profile_of` takes them, with the lines of
    `stop`; all of `stop` where `start` is 0 (no stack).
    """
    stacks = trace.stacks
    function = stacks.function[stacks.frame]
    (first, last), (other, end) = (
        (stacks.offsets[:-1][stack], stacks.offsets[1:][stack])
        for stack in (start, stop)
    )
    both = np.minimum(last - first, end - other)
    shared = np.where(start == 0, end - other, 0)
    live = np.flatnonzero((start > 0) & (both > 0))
    while len(live):
        depth = shared[live] + 1
        same = function[last[live] - depth] == function[end[live] - depth]
        shared[live] += same
        live = live[same & (depth < both[live])]
    offsets, frame = take_rows(stacks.offsets, stacks.frame, stop)
    kept = np.arange(len(frame)) >= np.repeat(offsets[1:] - shared, np.diff(offsets))
    return np.concatenate(([0], np.cumsum(shared))), frame[kept]


StateName = Literal["running", "runnable", "blocked", "syscall"]
STATES: tuple[StateName, ...] = ("running", "runnable", "blocked", "syscall")
_OF = {"running": State.RUNNING, "runnable": State.RUNNABLE, "blocked": State.WAITING}
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

    The stack is the goroutine's own, unlike in Go's ``-pprof=sched`` (see `export`):
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
    parts = (_in_state(chunk, request, name_of) for chunk in goroutine_chunks(trace))
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


def _in_state(
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
    calls: Mask = chunk.state == State.SYSCALL
    calls |= chunk.state == State.SYSCALL_BLOCKED
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
        lasts[chunk.state[inside] != State.SYSCALL_BLOCKED] = 0
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
    ends = chunk.state[after] == State.GONE
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
    ran = previous(state == State.RUNNING, chunk.offsets, none=False)
    called = previous(_calls(chunk), chunk.offsets, none=False)
    own: Mask = (state == State.RUNNABLE) & ran
    own |= (state == State.SYSCALL) & ~called
    own |= state == State.WAITING
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
    waited = chunk.state[before] == State.WAITING
    waited &= rows != chunk.first[chunk.owner_of(rows)]
    return np.where(waited, chunk.reason[before], reason)


PERIOD_NS = 10_000_000
"""CPU time per sample: ``pprof.StartCPUProfile`` always samples at 100 Hz."""

_SAMPLE_TYPES = (ValueType("samples", "count"), ValueType("cpu", "nanoseconds"))


def cpu_profile(trace: Trace) -> Profile | None:
    """Return the CPU samples in a trace as a profile, None if there are none.

    Sample types are samples (count) and cpu (nanoseconds, by `PERIOD_NS`: a trace does
    not record the rate). The label ``goroutine`` is the root function of the running
    goroutine.
    """
    samples = trace.samples
    if not len(samples):
        return None
    roots, group = grouped(trace.goroutines.name)
    # Place 0 stands for no goroutine.
    names = ["", *(root_name(trace.strings[i]) for i in roots.tolist())]
    name = np.append(group + 1, 0)[samples.goroutine]
    values = np.tile(np.array((1, PERIOD_NS), np.int64), (len(samples), 1))
    keys = np.stack((samples.stack.astype(np.int64), name))
    total = sum_by_key([KeyedSums(keys, values)], 2)
    stack, name = total.keys
    profile = profile_of(
        trace,
        frames_of(trace, stack),
        total.values,
        _SAMPLE_TYPES,
        [SampleLabel("goroutine", names, name)],
    )
    return replace(
        profile,
        period_type=_SAMPLE_TYPES[1],
        period=PERIOD_NS,
        duration_ns=trace.end_ns - trace.start_ns,
    )
