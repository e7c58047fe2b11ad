"""Trace time by stack as a profile; those that ``go tool trace -pprof`` writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct

from pprofdiff.analysis.traces.goroutines import GoroutineChunk, goroutine_chunks
from pprofdiff.errors import UsageError
from pprofdiff.model.arrays import Column, Index, Integers, Mask
from pprofdiff.model.csr import (
    Offsets,
    count_in_row,
    few_tuples,
    first_in_row,
    first_places,
    grouped,
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
