"""Decode a trace of Go 1.11 to 1.21 into a `Trace`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pprofdiff.errors import DamagedError
from pprofdiff.loaders.traces.damage import LATEST_TIME, Damage
from pprofdiff.loaders.traces.id_index import FRAME_NUMBERS, IdMap, Interner
from pprofdiff.loaders.traces.timeline import ranges_of, regions_of, tasks_of
from pprofdiff.loaders.traces.v1.intervals import (
    BEGIN_NS,
    V1_REASONS,
    OrderedTrace,
    goroutines_of,
    intervals_of,
    labels_of,
    logs_of,
    processors_of,
    samples_of,
    series_of,
    timeline_events_of,
)
from pprofdiff.loaders.traces.v1.reading import FileTables, V1Events, read_v1
from pprofdiff.loaders.traces.v1.schema import V1Type
from pprofdiff.loaders.traces.v1.transitions import (
    syscalls_of,
    transitions_of,
    v1_context,
)
from pprofdiff.model.arrays import Column, Index
from pprofdiff.model.traces.trace import Missing, Stacks, Sync, Trace


def decode_v1(
    data: bytes, version: int, name: str, say: Callable[[str], None] | None
) -> Trace:
    """Read a trace of format 1.11, 1.19 or 1.21; see `loaders.traces.decode`."""

    def progress(read: int) -> None:
        if say is not None:
            say(f"reading {name}: {100 * read // len(data)} %")

    try:
        events, tables, read, why = read_v1(data, version, progress)
        missing = None if why is None else Missing(read, len(data), why)
        return _trace(events, tables, version, missing)
    except Damage as damage:
        raise DamagedError(f"{name}: this trace cannot be read: {damage}") from None


def _trace(
    events: V1Events, tables: FileTables, version: int, missing: Missing | None
) -> Trace:
    interner = Interner()
    strings = interner.string_ids(tables.strings)
    stack_ids = _stack_ids(tables, strings, interner)
    stacks = interner.stacks()
    context = v1_context(events)
    goroutines = context.ids.goroutines
    transitions = transitions_of(events, context)
    syscalls = syscalls_of(events, context, transitions)
    time, sampled = _times(events.tick, tables)
    timers = np.zeros(len(goroutines), np.bool_)
    timers[goroutines.find(tables.timers)] = len(tables.timers) > 0
    ordered = OrderedTrace(
        events=events,
        context=context,
        transitions=transitions,
        syscalls=syscalls,
        time=time,
        stack=stack_ids(events.stack),
        lists_start=context.lists_start(events, transitions.row),
        timers=timers,
        stack_ids=stack_ids,
    )
    timeline = timeline_events_of(ordered, version, strings, interner)
    intervals = intervals_of(ordered)
    latest = [intervals.start_ns, time, sampled]
    return Trace(
        version=version,
        start_ns=BEGIN_NS,
        end_ns=max(int(t.max()) for t in latest if len(t)) + 1,
        events=len(events),
        experimental=0,
        syncs=(Sync(1, BEGIN_NS),),
        missing=missing,
        reasons=V1_REASONS,
        stacks=stacks,
        goroutines=goroutines_of(ordered, _roots(stacks)),
        processors=context.ids.processors.ids,
        threads=context.ids.threads.ids,
        intervals=intervals,
        processor_intervals=processors_of(ordered),
        ranges=ranges_of(timeline),
        heap_live_bytes=series_of(ordered, V1Type.HEAP_ALLOC),
        heap_goal_bytes=series_of(ordered, V1Type.HEAP_GOAL),
        gomaxprocs=series_of(ordered, V1Type.GOMAXPROCS),
        tasks=tasks_of(timeline),
        regions=regions_of(timeline),
        logs=logs_of(ordered, tables, strings, interner),
        labels=labels_of(ordered, strings),
        samples=samples_of(ordered, tables.samples, sampled),
        strings=tuple(interner.strings),
    )


def _stack_ids(tables: FileTables, strings: IdMap, interner: Interner) -> IdMap:
    stacks = [np.asarray(stack, np.uint64) for stack in tables.stacks.values()]
    numbers = np.concatenate([np.zeros(0, np.uint64), *stacks])
    numbers = numbers.reshape(-1, FRAME_NUMBERS)
    counts = np.array([len(stack) // FRAME_NUMBERS for stack in stacks], np.int64)
    return interner.stack_ids(tables.stacks, counts, numbers, strings)


def _times(tick: Column, tables: FileTables) -> tuple[Column, Column]:
    """Return the times of events and of CPU samples (int64 ns); the earliest is 0.

    Raises Damage if they are too far apart.
    """
    sampled = tables.samples[0]
    first = min(int(t.min()) for t in (tick, sampled) if len(t))
    ns_per_tick = 1e9 / tables.frequency
    longest = max(int(t.max()) - first for t in (tick, sampled) if len(t))
    if longest * ns_per_tick >= LATEST_TIME:
        raise Damage("an impossible time")
    return (
        ((tick - first) * ns_per_tick).astype(np.int64),
        ((sampled - first) * ns_per_tick).astype(np.int64),
    )


def _roots(stacks: Stacks) -> Index:
    roots = np.zeros(len(stacks), np.int32)
    some = np.flatnonzero(np.diff(stacks.offsets))
    roots[some] = stacks.function[stacks.frame[stacks.offsets[some + 1] - 1]]
    return roots
