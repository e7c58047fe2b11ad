"""Pair begin and end events into ranges, user tasks and user regions.

Events of Go 1.11 to 1.21 carry the corresponding event type of Go 1.22.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.owner_rows import first_of_each, shifted
from pprofdiff.loaders.traces.v2.schema import EventType
from pprofdiff.model.arrays import Codes, Column, Index, Mask, Table
from pprofdiff.model.traces.trace import RangeKind, Ranges, Regions, Tasks

E = EventType
_NONE = np.int64(-1)
# Begin, already active, and end events of each kind of range.
_RANGES = {
    RangeKind.GC_MARK: (E.GC_BEGIN, E.GC_ACTIVE, E.GC_END),
    RangeKind.STOP_THE_WORLD: (E.STW_BEGIN, None, E.STW_END),
    RangeKind.MARK_ASSIST: (E.ASSIST_BEGIN, E.ASSIST_ACTIVE, E.ASSIST_END),
    RangeKind.SWEEP: (E.SWEEP_BEGIN, E.SWEEP_ACTIVE, E.SWEEP_END),
}


class TimelineEvents(Table, frozen=True):
    """Events that begin or end a range, task or region, or are logs or labels.

    One row per event, in order for each owner. `type` is an `EventType` (uint8);
    `time` is in ns, `since` the start of the event's generation. `owner` is the
    goroutine or P that the range, region or label belongs to, 0 for the whole program.
    `goroutine` and `processor` are the event's thread's, -1 for none.

    The others are the event's arguments, 0 if its type has none: `id` is a task id, or
    the bytes that a sweep swept; `other` the parent task's id, or the bytes that a
    sweep reclaimed; `name` and `text` are strings, `stack` is a stack.
    """

    type: Codes
    time: Column
    since: Column
    owner: Index
    goroutine: Index
    processor: NDArray[np.int16]
    id: Column
    other: Column
    name: Index
    text: Index
    stack: Index

    def by_owner(self, *types: EventType) -> TimelineEvents:
        """Return the events of these types, grouped by owner, each owner's in order."""
        rows = np.flatnonzero(np.isin(self.type, types))
        return self.take(rows[np.argsort(self.owner[rows], kind="stable")])


def ranges_of(events: TimelineEvents) -> Ranges:
    """Return all ranges, in the order documented by `Ranges`."""
    return Ranges.concatenate(
        [_ranges(events, kind, *types) for kind, types in _RANGES.items()]
    )


def _ranges(
    events: TimelineEvents,
    kind: RangeKind,
    begin: EventType,
    active: EventType | None,
    end: EventType,
) -> Ranges:
    types = (begin, end) if active is None else (begin, active, end)
    events = events.by_owner(*types)
    ends = events.type == end
    was_open = shifted(~ends) & ~first_of_each(events.owner)
    first = np.flatnonzero(~ends & (~was_open | (events.type == begin)))
    # The end is the next end event, unless one of another owner comes first.
    stops = np.append(np.flatnonzero(ends), len(ends))
    last = stops[np.searchsorted(stops, first)]
    bounds = np.append(first[1:], len(ends))
    closed = last < bounds
    closed[closed] = events.owner[last[closed]] == events.owner[first[closed]]
    last = np.where(closed, last, first)
    seen = events.type[first] == begin
    swept = closed & (kind == RangeKind.SWEEP)
    owner = events.owner[first]
    of_goroutine = kind in (RangeKind.STOP_THE_WORLD, RangeKind.MARK_ASSIST)
    of_processor = kind == RangeKind.SWEEP
    return Ranges(
        kind=np.full(len(first), kind, np.uint8),
        name=events.name[first],
        goroutine=owner if of_goroutine else events.goroutine[first],
        last_goroutine=np.where(closed, events.goroutine[last], np.int32(-1)),
        processor=(owner if of_processor else events.processor[first]).astype(np.int32),
        start_ns=np.where(seen, events.time[first], events.since[first]),
        end_ns=np.where(closed, events.time[last], _NONE),
        seen=seen,
        stack=events.stack[first],
        swept=np.where(swept, events.id[last], _NONE),
        reclaimed=np.where(swept, events.other[last], _NONE),
    )


def tasks_of(events: TimelineEvents) -> Tasks:
    """Return all user tasks, in the order documented by `Tasks`."""
    rows = np.flatnonzero(np.isin(events.type, (E.TASK_BEGIN, E.TASK_END)))
    rows = rows[np.argsort(events.time[rows], kind="stable")]
    events = events.take(rows[np.argsort(events.id[rows], kind="stable")])
    begins = events.type == E.TASK_BEGIN
    follows = shifted(begins) & ~begins & ~first_of_each(events.id)
    first = np.flatnonzero(~follows)
    known = begins[first]
    after = np.minimum(first + 1, len(begins) - 1)
    closed = follows[after] & (first + 1 < len(begins)) if len(first) else known
    last = np.where(closed, after, first)
    ended = closed | ~known
    return Tasks(
        id=events.id[first],
        parent=events.other[first],
        name=events.name[first],
        goroutine=np.where(known, events.goroutine[first], np.int32(-1)),
        last_goroutine=np.where(ended, events.goroutine[last], np.int32(-1)),
        start_ns=np.where(known, events.time[first], _NONE),
        end_ns=np.where(ended, events.time[last], _NONE),
        stack=events.stack[first],
    )


def regions_of(events: TimelineEvents) -> Regions:
    """Return all user regions, in the order documented by `Regions`."""
    events = events.by_owner(E.REGION_BEGIN, E.REGION_END)
    begins = events.type == E.REGION_BEGIN
    depth, unopened = _depths(begins, first_of_each(events.owner))
    # Regions of one goroutine and depth alternate: a begin, its end, a begin.
    order = np.lexsort((depth, events.owner))
    order = order[~unopened[order]]
    opens = begins[order]
    rows = np.flatnonzero(opens)
    after = np.minimum(rows + 1, len(order) - 1)
    closed = (rows + 1 < len(order)) & ~opens[after]
    alone = np.flatnonzero(unopened)
    first = np.concatenate((order[rows], alone))
    last = np.concatenate((order[np.where(closed, after, rows)], alone))
    ended = np.append(closed, np.ones(len(alone), np.bool_))
    known = begins[first]
    regions = Regions(
        goroutine=events.owner[first],
        task=events.id[first],
        name=events.name[first],
        depth=np.where(known, depth[first], 0).astype(np.int32),
        start_ns=np.where(known, events.time[first], _NONE),
        end_ns=np.where(ended, events.time[last], _NONE),
        stack=events.stack[first],
    )
    return regions.take(np.lexsort((first,)))


def _depths(begins: Mask, is_first: Mask) -> tuple[Column, Mask]:
    """Return the depth of each region event (int64, from 1), and mark unopened ends.

    `begins` marks begin events, `is_first` the first event of each owner.
    """
    step = np.where(begins, 1, -1)
    level = np.cumsum(step)
    owner = np.cumsum(is_first) - 1
    level -= (level - step)[is_first][owner]
    # New minima of the level are ends without a begin.
    far = len(begins) + 1
    ground = np.minimum.accumulate(np.minimum(level, 0) - owner * far) + owner * far
    ground = np.minimum(ground, 0)
    unopened = ~begins & (level == ground) & (level < 0)
    before = shifted(ground)
    before[is_first] = 0
    unopened &= ground < before
    depth = level - ground
    return np.where(begins, depth, depth + 1), unopened
