"""Time within tasks and regions, against a count event by event."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest

from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.unit_time import (
    running_ns,
    spans,
    starts,
    waiting_ns,
)
from pprofdiff.loaders.traces import decode
from tests.conftest import DATA

TRACES = ("errands/new.trace", "errands/new.regions.trace", "service/new/trace.out")


@cache
def traced(name):
    """Return a kept trace as a side."""
    return TraceSide("new", name, decode((DATA / name).read_bytes(), name))


def names_of(trace, column):
    """Return the texts of a column of strings."""
    return [trace.strings[i] for i in column.tolist()]


def within(trace, kind):
    """Yield (name, goroutine, start, end, whole), as the trace lists them."""
    tasks = {i: (n, *r) for i, n, *r in _tasks(trace)}
    away = {
        n
        for n, g, last, start, end in tasks.values()
        if g >= 0 and last >= 0 and start >= 0 and end >= 0 and g != last
    }
    rows = trace.regions
    table = zip(
        rows.goroutine.tolist(), rows.task.tolist(), names_of(trace, rows.name),
        rows.start_ns.tolist(), rows.end_ns.tolist(), strict=True,
    )  # fmt: skip
    for goroutine, task, name, start, end in table:
        whole = start >= 0 and end >= 0
        times = max(start, trace.start_ns), trace.end_ns if end < 0 else end
        if kind == "region":
            yield name, goroutine, *times, whole
        elif task in tasks:
            yield tasks[task][0], goroutine, *times, whole
    for name, goroutine, last, start, end in tasks.values() if kind == "task" else ():
        known = end < 0 or last >= 0
        if goroutine >= 0 and start >= 0 and known and name not in away:
            yield name, goroutine, start, trace.end_ns if end < 0 else end, end >= 0


def _tasks(trace):
    rows = trace.tasks
    return zip(
        rows.id.tolist(), names_of(trace, rows.name), rows.goroutine.tolist(),
        rows.last_goroutine.tolist(), rows.start_ns.tolist(), rows.end_ns.tolist(),
        strict=True,
    )  # fmt: skip


@pytest.mark.parametrize("name", TRACES)
def test_running_and_waiting_match_the_rows(name):
    side = traced(name)
    trace, kind = side.trace, "region" if "regions" in name else "task"
    frame = trace.to_frame()
    frame["owner"] = np.repeat(
        np.arange(len(trace.goroutines)), np.diff(trace.intervals.offsets)
    )
    by_owner = dict(iter(frame.groupby("owner")))
    ran, waited = {}, Counter()
    every = sorted({one for one in within(trace, kind) if one[0] and one[1] >= 0})
    for one in every:
        unit, goroutine, start, end, whole = one
        if any(
            one != other
            and one[:2] == other[:2]
            and other[2] <= start
            and end <= other[3]
            for other in every
        ):
            continue
        rows = by_owner[goroutine]
        lasts = rows.end_ns.clip(upper=end) - rows.start_ns.clip(lower=start)
        lasts = lasts.clip(lower=0)
        if whole:
            ran.setdefault(unit, []).append(int(lasts[rows.state == "running"].sum()))
        there = rows.state.isin(["waiting", "syscall", "syscall_blocked"])
        waited[unit, whole] += int(lasts[there].sum())
    found = running_ns(side, kind)
    assert {unit: sorted(ns.tolist()) for unit, ns in found.items()} == {
        unit: sorted(ns) for unit, ns in ran.items()
    }
    total = Counter()
    for at, ns in waiting_ns(side, kind).items():
        total[at.name, at.whole] += ns
    assert total == Counter({unit: ns for unit, ns in waited.items() if ns})


def test_tasks_that_end_elsewhere_are_in_their_regions_only():
    trace = traced("errands/new.trace").trace
    rows = spans(trace, "task")
    ship = [name == "ship" for name in names_of(trace, rows.name)]
    owners = {names_of(trace, trace.goroutines.name[rows.goroutine[ship]])[0]}
    assert owners == {"main.ship"}


def test_goroutines_start_in_the_tasks_of_their_creators():
    found = starts(traced("service/new/trace.out"), "task")
    by_name = {n: k for (n, root), k in found.items() if root == "main.price.func1"}
    # Of tasks that began before the trace, the name is not known.
    assert set(by_name) == {"/orders", ""}
    assert by_name["/orders"] > 10 * by_name[""]
