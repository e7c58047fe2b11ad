"""Ranges, tasks, regions, logs, labels, metrics and samples of Go 1.11 to 1.21."""

from __future__ import annotations

import numpy as np

from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.loaders.traces.interning import IdMap, Interner
from pprofdiff.loaders.traces.timeline import TimelineEvents
from pprofdiff.loaders.traces.v1.events import FileTables
from pprofdiff.loaders.traces.v1.intervals import BEGIN_NS, OrderedTrace
from pprofdiff.loaders.traces.v1.schema import V1Type, stop_reasons
from pprofdiff.loaders.traces.v2.schema import EventType
from pprofdiff.model.arrays import Codes, Column
from pprofdiff.model.traces.timeline import CPUSamples, Labels, Logs, Series

E = V1Type
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
