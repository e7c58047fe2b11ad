"""Goroutines, intervals, ranges and all other rows of a trace of Go 1.11 to 1.21."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.loaders.traces.byte_tables import lookup, membership, rows_in
from pprofdiff.loaders.traces.clock_order import HappensBefore, enforce_happens_before
from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.loaders.traces.id_index import IdMap, Interner
from pprofdiff.loaders.traces.owner_rows import first_of_each
from pprofdiff.loaders.traces.timeline import TimelineEvents
from pprofdiff.loaders.traces.v1.reading import FileTables, V1Events
from pprofdiff.loaders.traces.v1.schema import (
    BLOCKS,
    EXITS,
    REASONS,
    STARTS,
    UNBLOCKS,
    V1Type,
    stop_reasons,
)
from pprofdiff.loaders.traces.v1.transitions import (
    NOBODY,
    Syscalls,
    Transitions,
    V1Context,
)
from pprofdiff.loaders.traces.v2.schema import EventType
from pprofdiff.model.arrays import Codes, Column, Index, Mask
from pprofdiff.model.csr import offsets_of
from pprofdiff.model.traces.trace import (
    CPUSamples,
    Goroutines,
    Intervals,
    Labels,
    Logs,
    ProcessorIntervals,
    ProcessorState,
    Series,
    State,
)

E = V1Type
# In Go's reader a trace begins one nanosecond before its first event, at 0.
BEGIN_NS = -1
V1_REASONS = tuple(dict.fromkeys(("", *REASONS.values())))
_REASON = np.zeros(64, np.uint16)
for _type, _text in REASONS.items():
    _REASON[_type] = V1_REASONS.index(_text)
_STATE = np.zeros(64, np.uint8)
for _types, _state in (
    ((E.GO_CREATE, *UNBLOCKS, *EXITS, E.GO_SCHED, E.GO_PREEMPT), State.RUNNABLE),
    (STARTS, State.RUNNING),
    ((*BLOCKS, E.GO_STOP, E.GO_WAITING), State.WAITING),
    ((E.GO_SYSCALL,), State.SYSCALL),
    # The world is stopped as a trace starts, which takes the P from all calls.
    ((E.GO_IN_SYSCALL,), State.SYSCALL_BLOCKED),
    ((E.GO_END,), State.GONE),
):
    _STATE[list(_types)] = _state
_STATUSES = membership((*STARTS, E.GO_WAITING, E.GO_IN_SYSCALL))
# Events attributed to the goroutine itself, whatever ran on the P.
_OWN = membership((*STARTS, *EXITS, E.GO_WAITING, E.GO_IN_SYSCALL))
_SHOWS_STACK = membership((*BLOCKS, E.GO_STOP, E.GO_SCHED, E.GO_PREEMPT, E.GO_SYSCALL))
# The corresponding event type of Go 1.22.
_MODERN_TYPES = {
    E.GC_START: EventType.GC_BEGIN,
    E.GC_DONE: EventType.GC_END,
    E.STW_START: EventType.STW_BEGIN,
    E.STW_DONE: EventType.STW_END,
    E.SWEEP_START: EventType.SWEEP_BEGIN,
    E.SWEEP_DONE: EventType.SWEEP_END,
    E.ASSIST_START: EventType.ASSIST_BEGIN,
    E.ASSIST_DONE: EventType.ASSIST_END,
    E.TASK_CREATE: EventType.TASK_BEGIN,
    E.TASK_END: EventType.TASK_END,
    E.REGION: EventType.REGION_BEGIN,
}
_BY_PROCESSOR = (E.SWEEP_START, E.SWEEP_DONE)
_BY_GOROUTINE = (
    *(E.STW_START, E.STW_DONE, E.ASSIST_START, E.ASSIST_DONE),
    E.REGION,
)


class OrderedTrace(Struct, frozen=True, eq=False):
    """The events of a trace and the data derived from them.

    `time` (int64 ns) and `stack` (int32, an index) are by event; `stack_ids` maps the
    ids of other stacks to indices. `lists_start` (bool, by transition) marks events
    that list what existed when the trace began. `timers` (bool, by goroutine) marks
    goroutines that only wake others, up to Go 1.13.
    """

    events: V1Events
    context: V1Context
    transitions: Transitions
    syscalls: Syscalls
    time: Column
    stack: Index
    lists_start: Mask
    timers: Mask
    stack_ids: IdMap


def intervals_of(trace: OrderedTrace) -> Intervals:
    """Return the intervals of all goroutines."""
    transitions, syscalls = trace.transitions, trace.syscalls
    is_row = (transitions.type != E.GO_SYSBLOCK) & ~_superseded(trace)
    # A fast call has two rows, as has one that loses its P.
    counts = is_row.astype(np.int8)
    counts[syscalls.fast] += 1
    counts[syscalls.lost] += 1
    place = np.repeat(np.arange(len(counts)), counts)
    second = np.zeros(len(place), np.bool_)
    second[1:] = place[1:] == place[:-1]
    row = transitions.row[place]
    more = np.flatnonzero(second)
    lost = np.isin(place[more], syscalls.lost, kind="table")
    row[more[lost]] = syscalls.stops
    owner, types = transitions.owner[place], transitions.type[place]
    state, at_start = _STATE[types], trace.lists_start[place]
    state[more[lost]] = State.SYSCALL_BLOCKED
    state[more[~lost]] = State.RUNNING
    start = trace.time[row]
    start[more[~lost]] += 1
    stack = trace.stack[row]
    stack[more] = 0
    processor, thread, by = _actors(trace, place, row, second)
    # Of what existed when the trace began, only its state is known.
    at_start &= ~second
    start[at_start], stack[at_start] = BEGIN_NS, 0
    # A fast call may extend into the event that follows it.
    enforce_happens_before(start, [HappensBefore(None, first_of_each(owner))])
    counts = np.bincount(owner, minlength=len(trace.context.ids.goroutines))
    return Intervals(
        offsets=offsets_of(counts),
        start_ns=start,
        state=state,
        reason=_REASON[types] * ~second,
        stack=stack,
        processor=processor,
        thread=thread,
        by=by,
    )


def _superseded(trace: OrderedTrace) -> Mask:
    """Mark listed creations that the next row, also listed, makes redundant."""
    types, is_first = trace.transitions.type, trace.transitions.is_first
    superseded = np.zeros(len(types), np.bool_)
    listed = trace.lists_start
    follows = lookup(_STATUSES, types[1:]).view(np.bool_) & ~is_first[1:]
    superseded[:-1] = is_first[:-1] & listed[:-1] & follows & listed[1:]
    return superseded


def _actors(
    trace: OrderedTrace, place: Column, row: Column, second: Mask
) -> tuple[NDArray[np.int16], Index, Index]:
    """Return the P, thread and goroutine of each row's event.

    `place` are the transitions of the rows, `row` their events; `second` marks the
    second row of a transition.
    """
    context, transitions = trace.context, trace.transitions
    types, owner = transitions.type[place], transitions.owner[place]
    processor, thread = context.processor[row], context.thread[row]
    by = context.goroutine[row]
    own = lookup(_OWN, types).view(np.bool_) | (by == owner)
    # Goroutines that are runnable when the trace begins are listed by no one.
    rest = trace.lists_start[place] & (types == E.GO_CREATE)
    away = np.isin(types, EXITS) | rest
    wakes = np.flatnonzero(np.isin(types, UNBLOCKS))
    network = transitions.type[place[wakes] - 1] == E.GO_BLOCK_NET
    timer = (by[wakes] >= 0) & trace.timers[by[wakes]]
    away[wakes[network | timer]] = True
    processor[away], thread[away] = NOBODY, NOBODY
    by[(own & ~second) | rest] = NOBODY
    by[second & (by == owner)] = NOBODY
    return processor, thread, by


def goroutines_of(trace: OrderedTrace, functions: Index) -> Goroutines:
    """Return the goroutines; `functions` has the root function of each stack."""
    events, transitions = trace.events, trace.transitions
    first = np.flatnonzero(transitions.is_first)
    row = transitions.row[first]
    born = ~trace.lists_start[first]
    seen = trace.time[row]
    superseded = _superseded(trace)[first]
    seen[superseded] = trace.time[transitions.row[first[superseded] + 1]]
    seen[~superseded & ~born] = trace.time[trace.context.initial]
    named = np.zeros(len(first), np.int32)
    shows = rows_in(_SHOWS_STACK, transitions.type)
    name = functions[trace.stack[transitions.row[shows]]]
    owner, name = transitions.owner[shows][name > 0], name[name > 0]
    # Of several values assigned to one index, the last is kept.
    named[owner[::-1]] = name[::-1]
    created = functions[trace.stack_ids(events.second[row])]
    named = np.where(born & (created > 0), created, named)
    return Goroutines(
        id=trace.context.ids.goroutines.ids,
        name=named,
        born=born,
        created_ns=np.where(born, seen, BEGIN_NS),
        seen_ns=seen,
        creator=np.where(born, trace.context.goroutine[row], np.int32(NOBODY)),
        creation_stack=np.where(born, trace.stack[row], np.int32(0)),
    )


def processors_of(trace: OrderedTrace) -> ProcessorIntervals:
    """Return the intervals of all Ps."""
    events, context = trace.events, trace.context
    row = events.where(E.PROC_START, E.PROC_STOP)
    row = row[context.processor[row] >= 0]
    owner = context.processor[row]
    row = row[np.argsort(owner, kind="stable")]
    owner = context.processor[row]
    starts = events.type[row] == E.PROC_START
    start = trace.time[row]
    start[np.diff(owner, prepend=-1) != 0] = BEGIN_NS
    thread = context.thread[row]
    thread[starts] = context.ids.threads.find(events.first_argument(row[starts]))
    states = np.where(starts, ProcessorState.RUNNING, ProcessorState.IDLE)
    counts = np.bincount(owner, minlength=len(context.ids.processors))
    return ProcessorIntervals(
        offsets=offsets_of(counts),
        start_ns=start,
        state=states.astype(np.uint8),
        thread=thread,
        stolen=np.zeros(len(row), np.bool_),
    )


def timeline_events_of(
    trace: OrderedTrace, version: int, strings: IdMap, interner: Interner
) -> TimelineEvents:
    """Return the begin and end events of ranges, tasks and regions, by time.

    Adds the stop-the-world reasons of `version` to `interner`. Raises Damage if stops
    or GC cycles contradict each other.
    """
    events, context = trace.events, trace.context
    row = events.where(*_MODERN_TYPES)
    row = row[np.argsort(events.tick[row], kind="stable")]
    types = events.type[row]
    modern = np.zeros(64, np.uint8)
    for old, new in _MODERN_TYPES.items():
        modern[old] = new
    goroutine = context.goroutine[row]
    owner = np.where(np.isin(types, _BY_GOROUTINE), goroutine, np.int32(0))
    swept = np.isin(types, _BY_PROCESSOR)
    owner[swept] = context.processor[row[swept]]
    stops = np.flatnonzero(np.isin(types, (E.STW_START, E.STW_DONE)))
    cycles = np.flatnonzero(np.isin(types, (E.GC_START, E.GC_DONE)))
    for turns, begin in ((stops, E.STW_START), (cycles, E.GC_START)):
        if ((types[turns] == begin) != (np.arange(len(turns)) % 2 == 0)).any():
            raise Damage("a range that begins twice, or ends without having begun")
    # Stops do not overlap, and another goroutine may restart the world.
    ends = stops[1::2]
    owner[ends] = owner[stops[: 2 * len(ends) : 2]]
    timeline = TimelineEvents(
        type=modern[types],
        time=trace.time[row],
        since=np.full(len(row), BEGIN_NS, np.int64),
        owner=owner,
        goroutine=goroutine,
        # In Go's reader, too, a GC cycle belongs to no P.
        processor=np.where(types == E.GC_START, np.int16(-1), context.processor[row]),
        id=np.zeros(len(row), np.int64),
        other=np.zeros(len(row), np.int64),
        name=np.zeros(len(row), np.int32),
        text=np.zeros(len(row), np.int32),
        stack=trace.stack[row],
    )
    _put_arguments(trace, row, types, timeline, strings)
    names = np.array(
        [interner.string(text) for text in stop_reasons(version)], np.int32
    )
    starts = stops[::2]
    which = events.first_argument(row[starts])
    known = which < len(names)
    timeline.name[starts[known]] = names[which[known]]
    return _with_open_assists(timeline)


def _put_arguments(
    trace: OrderedTrace,
    row: Column,
    types: Codes,
    timeline: TimelineEvents,
    strings: IdMap,
) -> None:
    """Fill in, in place, the arguments of tasks, regions and sweeps."""
    events = trace.events
    for type_, columns in (
        (E.TASK_CREATE, {"id": 0, "other": 1, "name": 2}),
        (E.TASK_END, {"id": 0}),
        (E.REGION, {"id": 0, "name": 2}),
        (E.SWEEP_DONE, {"id": 0, "other": 1}),
    ):
        at = np.flatnonzero(types == type_)
        for column, place in columns.items() if len(at) else ():
            values = events.argument(place, row[at])
            is_name = column == "name"
            getattr(timeline, column)[at] = strings(values) if is_name else values
    at = np.flatnonzero(types == E.REGION)
    if len(at):
        mode = events.argument(1, row[at])
        if int(mode.min()) < 0 or int(mode.max()) > 1:
            raise Damage("a region that neither begins nor ends")
        timeline.type[at[mode == 1]] = EventType.REGION_END


def _with_open_assists(timeline: TimelineEvents) -> TimelineEvents:
    """Add an event at the start of the trace for each mark assist active by then."""
    assists = EventType.ASSIST_BEGIN, EventType.ASSIST_END
    at = np.flatnonzero(np.isin(timeline.type, assists))
    _, first = np.unique(timeline.owner[at], return_index=True)
    first = at[first]
    first = np.sort(first[timeline.type[first] == EventType.ASSIST_END])
    if not len(first):
        return timeline
    on_already = timeline.take(first)
    on_already.type[:] = EventType.ASSIST_ACTIVE
    on_already.time[:] = BEGIN_NS
    on_already.stack[:] = 0
    return TimelineEvents.concatenate([on_already, timeline])


def logs_of(
    trace: OrderedTrace, tables: FileTables, strings: IdMap, interner: Interner
) -> Logs:
    """Return all user logs by time; adds their texts to `interner`."""
    events = trace.events
    row = events.where(E.LOG)
    text = np.array([interner.string(t) for t in tables.logs], np.int32)
    order = np.argsort(events.tick[row], kind="stable")
    row, text = row[order], text[order]
    return Logs(
        time_ns=trace.time[row],
        goroutine=trace.context.goroutine[row],
        task=events.argument(0, row),
        key=strings(events.argument(1, row)),
        text=text,
        stack=trace.stack[row],
    )


def labels_of(trace: OrderedTrace, strings: IdMap) -> Labels:
    """Return the labels of mark workers, by goroutine."""
    transitions = trace.transitions
    at = np.flatnonzero(transitions.type == E.GO_START_LABEL)
    row = transitions.row[at]
    return Labels(
        time_ns=trace.time[row],
        goroutine=transitions.owner[at],
        label=strings(trace.events.argument(2, row)),
    )


def series_of(trace: OrderedTrace, metric: V1Type) -> Series:
    """Return one metric by time."""
    row = trace.events.where(metric)
    row = row[np.argsort(trace.events.tick[row], kind="stable")]
    return Series(trace.time[row], trace.events.first_argument(row))


def samples_of(trace: OrderedTrace, samples: Column, time: Column) -> CPUSamples:
    """Return the CPU samples by time; `samples` is in `FileTables`, `time` in ns."""
    order = np.argsort(time, kind="stable")
    _, processor, goroutine, stack = samples[:, order]
    ids = trace.context.ids
    return CPUSamples(
        time_ns=time[order],
        goroutine=ids.goroutines.find(goroutine),
        processor=ids.processors.find(processor),
        thread=np.full(len(order), -1, np.int32),
        stack=trace.stack_ids(stack & 0xFFFFFFFF),
    )
