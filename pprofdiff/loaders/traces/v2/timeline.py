"""Stateless events: ranges, tasks, regions, logs, labels and metrics."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from pprofdiff.loaders.traces.damage import MOST_PROCESSORS, Damage
from pprofdiff.loaders.traces.id_index import Ids
from pprofdiff.loaders.traces.timeline import TimelineEvents
from pprofdiff.loaders.traces.v2.context import Context
from pprofdiff.loaders.traces.v2.effects import (
    STATUS,
    Effects,
    OrderedEffects,
    order_effects,
)
from pprofdiff.loaders.traces.v2.events import Events
from pprofdiff.loaders.traces.v2.goroutine_states import Incarnations
from pprofdiff.loaders.traces.v2.schema import EventType
from pprofdiff.loaders.traces.v2.tables import GenerationTables
from pprofdiff.model.arrays import Codes, Column, Index, Integers, Table

E = EventType
_METRICS = (E.HEAP_ALLOC, E.HEAP_GOAL, E.PROCS_CHANGE)

# The column of `TimelineEvents` for each argument of a type.
_ARGUMENTS: dict[EventType, tuple[str, ...]] = {
    E.STW_BEGIN: ("name", "stack"),
    E.GC_ACTIVE: ("id",),
    E.GC_BEGIN: ("id", "stack"),
    E.GC_END: ("id",),
    E.SWEEP_ACTIVE: ("id",),
    E.SWEEP_BEGIN: ("stack",),
    E.SWEEP_END: ("id", "other"),
    E.ASSIST_ACTIVE: ("id",),
    E.ASSIST_BEGIN: ("stack",),
    E.GO_LABEL: ("name",),
    E.TASK_BEGIN: ("id", "other", "name", "stack"),
    E.TASK_END: ("id", "stack"),
    E.REGION_BEGIN: ("id", "name", "stack"),
    E.REGION_END: ("id", "name", "stack"),
    E.LOG: ("id", "name", "text", "stack"),
}
_OF_GOROUTINE = (
    *(E.STW_BEGIN, E.STW_END, E.ASSIST_BEGIN, E.ASSIST_END),
    *(E.REGION_BEGIN, E.REGION_END, E.GO_LABEL),
)
_OF_PROCESSOR = (E.SWEEP_BEGIN, E.SWEEP_END)
# Their first arguments are sequence numbers.
_OF_COLLECTOR = (E.GC_BEGIN, E.GC_END, E.GC_ACTIVE)
_OF_PROGRAM = (*_OF_COLLECTOR, E.TASK_BEGIN, E.TASK_END, E.LOG)


class MetricEvents(Table, frozen=True):
    """Values of metrics, in any order.

    `type` (uint8) is HEAP_ALLOC, HEAP_GOAL (bytes) or PROCS_CHANGE (GOMAXPROCS); `time`
    (int64) is in ns, except from `read_metric_events`, where it is the event's row.
    """

    type: Codes
    time: Column
    value: Column


def read_metric_events(events: Events) -> MetricEvents:
    """Return a generation's metrics, with event rows as times; raises Damage."""
    rows = events.where(*_METRICS)
    types, value = events.type[rows], events.argument(0, rows)
    limits = value[types == E.PROCS_CHANGE]
    if len(limits) and not 0 < int(limits.min()) <= int(limits.max()) < MOST_PROCESSORS:
        raise Damage("an impossible GOMAXPROCS")
    return MetricEvents(types, rows, value)


def read_timeline_events(
    events: Events,
    context: Context,
    ids: Ids,
    incarnations: Incarnations,
    tables: GenerationTables,
    since: int,
) -> TimelineEvents:
    """Return the timeline events of a generation that began at `since` (ns).

    Their times are event rows until `with_times` replaces them. Raises Damage if an
    event names an unknown goroutine, P, string or stack.
    """
    row, owner = _in_order(events, context, ids, incarnations)
    types = events.type[row]
    names = ("id", "other", "name", "text", "stack")
    columns = {name: np.zeros(len(row), np.int64) for name in names}
    for one, arguments in _ARGUMENTS.items():
        some = np.flatnonzero(types == one)
        for place, name in enumerate(arguments) if len(some) else ():
            columns[name][some] = events.argument(place, row[some])
    return TimelineEvents(
        type=types,
        time=row,
        since=np.full(len(row), since, np.int64),
        owner=owner,
        goroutine=context.goroutine[row],
        processor=context.processor[row],
        id=columns["id"],
        other=columns["other"],
        name=tables.strings(columns["name"]),
        text=tables.strings(columns["text"]),
        stack=tables.stacks(columns["stack"]),
    )


def with_times(timeline: TimelineEvents, time: Column) -> TimelineEvents:
    """Return the events with times in place of rows; `time` covers all events.

    Events of the whole program are sorted by time. At equal times, GC events keep their
    sequence, a goroutine's events their order, and a task's end follows its begin.
    """
    timed = replace(timeline, time=time[timeline.time])
    order = np.arange(len(timed))
    free = np.flatnonzero(np.isin(timed.type, _OF_PROGRAM))
    types = timed.type[free]
    rank = np.where(np.isin(types, _OF_COLLECTOR), timed.id[free], types == E.TASK_END)
    order[free] = free[np.lexsort((rank, timed.time[free]))]
    return timed.take(order)


def _in_order(
    events: Events, context: Context, ids: Ids, incarnations: Incarnations
) -> tuple[Column, Index]:
    own = events.where(*_OF_GOROUTINE)
    goroutine = context.goroutine[own]
    key = incarnations.key(goroutine, context.goroutine_key[own], own)
    on_already = events.where(E.ASSIST_ACTIVE)
    assisting = ids.goroutines.require(events.argument(0, on_already))
    of_goroutines = _ordered(
        [_effects(own, goroutine, key), _effects(on_already, assisting, None)],
        len(ids.goroutines),
        events,
    )
    own = events.where(*_OF_PROCESSOR)
    processor, key = context.processor[own], context.processor_key[own]
    on_already = events.where(E.SWEEP_ACTIVE)
    sweeping = ids.processors.require(events.argument(0, on_already))
    of_processors = _ordered(
        [_effects(own, processor, key), _effects(on_already, sweeping, None)],
        len(ids.processors),
        events,
    )
    own = events.where(*_OF_PROGRAM)
    goroutine = context.goroutine[own]
    key = incarnations.key(goroutine, context.goroutine_key[own], own)
    # They are sorted by time later; this order breaks ties.
    of_program = _ordered(
        [_effects(own, goroutine, key)], len(ids.goroutines), events
    ).event
    nobody = np.zeros(len(of_program), np.int32)
    row = np.concatenate((of_goroutines.event, of_processors.event, of_program))
    owners = of_goroutines.owner - 1, of_processors.owner - 1, nobody
    return row, np.concatenate(owners)


def _ordered(groups: list[Effects], owners: int, events: Events) -> OrderedEffects:
    most = sum(len(group.owner) for group in groups)
    order = order_effects(groups, owners + 1, len(events), most)
    return order.rows(0, len(order))


def _effects(rows: Column, owner: Integers, key: Integers | None) -> Effects:
    """Return events as effects on their owners, which count from 1: 0 is none.

    Events without a key get that of a status: before all others.
    """
    if key is None:
        key = np.full(len(rows), STATUS, np.int64)
    return Effects(owner.astype(np.int64) + 1, key, rows)
