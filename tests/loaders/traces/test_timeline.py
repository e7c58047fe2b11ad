"""Ranges, tasks and regions are what reading one event after the other gives."""

from __future__ import annotations

import hypothesis
import numpy as np
from hypothesis import strategies as st

from pprofdiff.loaders.traces.timeline import (
    TimelineEvents,
    ranges_of,
    regions_of,
    tasks_of,
)
from pprofdiff.loaders.traces.v2.schema import EventType
from pprofdiff.model.traces.trace import RangeKind, Ranges, Regions, Tasks
from tests.examples import examples

E = EventType
MANY = hypothesis.settings(derandomize=True, max_examples=examples(300))
DTYPES = {
    "type": np.uint8, "time": np.int64, "since": np.int64, "owner": np.int32,
    "goroutine": np.int32, "processor": np.int16, "id": np.int64, "other": np.int64,
    "name": np.int32, "text": np.int32, "stack": np.int32,
}  # fmt: skip
BEGINS = {
    E.GC_BEGIN: RangeKind.GC_MARK, E.STW_BEGIN: RangeKind.STOP_THE_WORLD,
    E.ASSIST_BEGIN: RangeKind.MARK_ASSIST, E.SWEEP_BEGIN: RangeKind.SWEEP,
}  # fmt: skip
GOES_ON = {
    E.GC_ACTIVE: RangeKind.GC_MARK, E.ASSIST_ACTIVE: RangeKind.MARK_ASSIST,
    E.SWEEP_ACTIVE: RangeKind.SWEEP,
}  # fmt: skip
ENDS = {
    E.GC_END: RangeKind.GC_MARK, E.STW_END: RangeKind.STOP_THE_WORLD,
    E.ASSIST_END: RangeKind.MARK_ASSIST, E.SWEEP_END: RangeKind.SWEEP,
}  # fmt: skip
COLUMNS = TimelineEvents.__struct_fields__
OF_GOROUTINE = (RangeKind.STOP_THE_WORLD, RangeKind.MARK_ASSIST)


def marks(*kinds):
    """Return a strategy: some marks of some types, no two with a column in common.

    What distinguishes events (owner, id, time) is drawn from few values, the other
    columns differ in each row, so that none is taken from a wrong one.
    """
    row = st.tuples(
        st.sampled_from(kinds),
        st.integers(0, 2),
        st.integers(1, 3),
        st.integers(5_000, 5_004),
    )
    return st.lists(row, max_size=24).map(_marks)


def _marks(rows):
    places = range(len(rows))
    columns = {
        "type": [row[0] for row in rows],
        "owner": [row[1] for row in rows],
        "id": [row[2] for row in rows],
        "time": [row[3] for row in rows],
    } | {
        name: [1_000 * (i + 1) + place for place in places]
        for i, name in enumerate(("goroutine", "processor", "since", "other", "name", "text", "stack"))
    }  # fmt: skip
    return TimelineEvents(
        **{name: np.array(columns[name], DTYPES[name]) for name in COLUMNS}
    )


def events(held):
    """Return marks as one tuple of plain numbers an event."""
    return [
        TimelineEvents(*row)
        for row in zip(*(getattr(held, n).tolist() for n in COLUMNS), strict=True)
    ]  # fmt: skip


def rows_of(table):
    """Return a table as one dict a row."""
    names = table.__struct_fields__
    columns = [getattr(table, name).tolist() for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def typed(table, wide):
    """Check columns' types: `wide` are int64, those called otherwise int32."""
    for name in table.__struct_fields__:
        dtype = {"kind": np.uint8, "seen": np.bool_}.get(name, np.int32)
        wanted = np.int64 if name in wide else dtype
        assert getattr(table, name).dtype == wanted, name


def read_ranges(held):
    """Return the ranges, event after event."""
    open_, found = {}, []
    for event in events(held):
        begins, on = BEGINS.get(event.type), GOES_ON.get(event.type)
        kind = next(k for k in (begins, on, ENDS.get(event.type)) if k is not None)
        key = kind, event.owner
        if begins is not None or (on is not None and key not in open_):
            row = {
                "kind": kind,
                "name": event.name,
                "goroutine": event.owner if kind in OF_GOROUTINE else event.goroutine,
                "last_goroutine": -1,
                "processor": event.owner
                if kind == RangeKind.SWEEP
                else event.processor,
                "start_ns": event.since if begins is None else event.time,
                "end_ns": -1,
                "seen": begins is not None,
                "stack": event.stack,
                "swept": -1,
                "reclaimed": -1,
            }
            found.append((key, row))
            open_[key] = row
        elif on is None and key in open_:
            # `found` holds the same row.
            row = open_.pop(key)
            row |= {"last_goroutine": event.goroutine, "end_ns": event.time}
            if kind == RangeKind.SWEEP:
                row |= {"swept": event.id, "reclaimed": event.other}
    return [row for _, row in sorted(found, key=lambda pair: pair[0])]


def read_tasks(held):
    """Return the tasks, id after id, event after event."""
    found = []
    by_time = sorted(events(held), key=lambda event: event.time)
    for name in sorted({event.id for event in by_time}):
        begun = None
        for event in (event for event in by_time if event.id == name):
            if event.type == E.TASK_END and begun is not None:
                begun["last_goroutine"], begun["end_ns"] = event.goroutine, event.time
                begun = None
                continue
            row = {
                "id": event.id, "parent": event.other, "name": event.name,
                "goroutine": -1, "last_goroutine": -1, "start_ns": -1, "end_ns": -1,
                "stack": event.stack,
            }  # fmt: skip
            if event.type == E.TASK_BEGIN:
                row["goroutine"], row["start_ns"] = event.goroutine, event.time
                begun = row
            else:
                row["last_goroutine"], row["end_ns"] = event.goroutine, event.time
            found.append(row)
    return found


def read_regions(held):
    """Return the regions, goroutine after goroutine, on a stack of open ones."""
    found = []
    for goroutine in sorted({event.owner for event in events(held)}):
        stack = []
        for event in (event for event in events(held) if event.owner == goroutine):
            if event.type == E.REGION_END and stack:
                stack.pop()["end_ns"] = event.time
                continue
            row = {
                "goroutine": goroutine, "task": event.id, "name": event.name,
                "depth": 0, "start_ns": -1, "end_ns": event.time, "stack": event.stack,
            }  # fmt: skip
            if event.type == E.REGION_BEGIN:
                stack.append(row)
                row |= {"depth": len(stack), "start_ns": event.time, "end_ns": -1}
            found.append(row)
    return found


@hypothesis.given(marks(*BEGINS, *GOES_ON, *ENDS))
@MANY
def test_ranges(held):
    found = ranges_of(held)
    assert isinstance(found, Ranges)
    typed(found, ("start_ns", "end_ns", "swept", "reclaimed"))
    assert rows_of(found) == read_ranges(held)


@hypothesis.given(marks(E.TASK_BEGIN, E.TASK_END))
@MANY
def test_tasks(held):
    found = tasks_of(held)
    assert isinstance(found, Tasks)
    typed(found, ("id", "parent", "start_ns", "end_ns"))
    assert rows_of(found) == read_tasks(held)


@hypothesis.given(marks(E.REGION_BEGIN, E.REGION_END))
@MANY
def test_regions(held):
    found = regions_of(held)
    assert isinstance(found, Regions)
    typed(found, ("task", "start_ns", "end_ns"))
    assert rows_of(found) == read_regions(held)


@hypothesis.given(marks(*BEGINS, *ENDS, E.TASK_BEGIN, E.TASK_END, E.REGION_BEGIN, E.REGION_END, E.LOG, E.GO_LABEL))  # fmt: skip
@MANY
def test_each_takes_its_own_events_alone(held):
    chosen = {
        ranges_of: (*BEGINS, *ENDS),
        tasks_of: (E.TASK_BEGIN, E.TASK_END),
        regions_of: (E.REGION_BEGIN, E.REGION_END),
    }
    for read, kinds in chosen.items():
        some = np.flatnonzero(np.isin(held.type, kinds))
        alone = held.take(some)
        assert rows_of(read(held)) == rows_of(read(alone))
