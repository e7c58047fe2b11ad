"""What the garbage collector did: against Go's events, and nanosecond by nanosecond."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from pprofdiff.analysis.traces.collector import collections, worker_intervals
from pprofdiff.analysis.traces.interval_rows import ranges_of, rows_within
from pprofdiff.analysis.traces.quantiles import quantiles
from pprofdiff.model.traces.trace import ProcessorState, RangeKind, Series, State
from tests.examples import daily
from tests.traces import oracle

from .built import END, SOME, START, WORKERS, empty, limit_at, rows_of, traces, within
from .real import ALL, CAPTURES, MADE, SIDES, path_of, slack_ns, trace_of

SWEEP, STOP = "GC incremental sweep", "stop-the-world ("


def near(trace, ours, theirs, spans):
    """Return whether sums of so many spans are equal but for what Go moves their ends."""
    return abs(ours - theirs) <= slack_ns(trace) * spans


@pytest.mark.matrix
@pytest.mark.go
@pytest.mark.parametrize("name", daily(ALL, [*SIDES, *MADE]))
def test_sums_match_go(name):
    trace, go = trace_of(name), oracle.summary(path_of(name))
    found = collections(trace)
    assert found.started == go["gc"]["begun"]
    assert found.cycles.ended.sum() == go["gc"]["ended"]
    assert near(trace, found.mark_wall_ns, go["gc"]["mark_wall_ns"], len(found.cycles))
    runs = Counter(worker_intervals(trace).mode.tolist())
    for mode, ours in found.worker_ns.items():
        theirs = go["mark_worker_ns"].get(f"GC ({mode})", 0)
        assert near(trace, ours, theirs, runs[mode])
    got = go["assist_ns"]
    ours = found.assist_cpu_ns, found.assist_wait_ns
    theirs = got.get("Running", 0), got.get("Waiting", 0) + got.get("Runnable", 0)
    # One that was on before the trace: here it counts from its begin, there from the
    # event that shows it.
    early = any(r["active"] for r in go["ranges"] if r["name"] == "GC mark assist")
    assists, end = ranges_of(trace, RangeKind.MARK_ASSIST)
    pieces = len(rows_within(trace, assists.goroutine, assists.start_ns, end)[0])
    for mine, yours in zip(ours, theirs, strict=True):
        assert near(trace, mine, yours, pieces) or (early and mine > yours)


@pytest.mark.go
@pytest.mark.parametrize("name", daily(ALL, [*SIDES, *MADE]))
def test_sweeps_and_stops_match_go(name):
    trace, go = trace_of(name), oracle.summary(path_of(name))
    found = collections(trace)
    sweeps = [r for r in go["ranges"] if r["name"] == SWEEP]
    assert found.sweeps == len(sweeps)
    # Such as were on before the trace began are as old as it.
    starts = [go["first_ns"] if r["active"] else r["start_ns"] for r in sweeps]
    lasts = sum(r["end_ns"] or go["last_ns"] for r in sweeps) - sum(starts)
    assert near(trace, found.sweep_ns, lasts, len(sweeps))
    for field, name_of_go in (
        ("swept", "bytes swept"),
        ("reclaimed", "bytes reclaimed"),
    ):
        got = [(r["attributes"] or {}).get(name_of_go, 0) for r in sweeps]
        values = getattr(ranges_of(trace, RangeKind.SWEEP)[0], field)
        assert np.maximum(values, 0).sum() == sum(got)
    stops = [r for r in go["ranges"] if r["name"].startswith(STOP)]
    assert {stop.kind: stop.count for stop in found.stops} == Counter(
        r["name"].removeprefix(STOP).removesuffix(")") for r in stops
    )
    for stop in found.stops:
        theirs = [r for r in stops if r["name"] == f"{STOP}{stop.kind})"]
        ends = [r["end_ns"] or go["last_ns"] for r in theirs]
        total = sum(e - r["start_ns"] for e, r in zip(ends, theirs, strict=True))
        assert near(trace, stop.total_ns, total, stop.count)
        waits = [
            (r["last_stop_ns"] or r["start_ns"]) - r["start_ns"]
            for r in theirs
            if r["end_ns"] is not None
        ]
        expected = quantiles(np.array(waits, np.int64))
        assert near(trace, stop.stopping.total_ns, expected.total_ns, stop.count)
        assert abs((stop.stopping.max_ns or 0) - (expected.max_ns or 0)) <= slack_ns(
            trace
        )


@pytest.mark.slow
@given(traces())
@SOME
def test_workers_assists_and_the_share_of_the_capacity(trace):
    found = collections(trace)
    running, waiting, modes = set(), 0, Counter()
    stopped = {
        t
        for i, t in within(trace, RangeKind.STOP_THE_WORLD)
        if "GC" in trace.strings[trace.ranges.name[i]]
    }
    assists = [
        (trace.ranges.goroutine[i], t) for i, t in within(trace, RangeKind.MARK_ASSIST)
    ]
    taken = Counter()
    for g in range(len(trace.goroutines)):
        assisting = {t for owner, t in assists if owner == g}
        own = trace.labels.goroutine == g
        for start, end, state, _ in rows_of(trace, g):
            time = set(range(start, end))
            if state == State.RUNNING:
                running |= {(g, t) for t in time & assisting}
            elif state in (State.WAITING, State.RUNNABLE):
                waiting += len(time & assisting)
            at = [
                i for i in np.flatnonzero(own) if start <= trace.labels.time_ns[i] < end
            ]
            if state != State.RUNNING or trace.goroutines.name[g] not in (0, WORKERS):
                at = []
            if at:
                label = trace.strings[trace.labels.label[at[-1]]]
                modes[label] += end - start
                if label != "GC (idle)":
                    taken.update(t for t in time if t not in stopped)
    taken.update(t for _, t in running if t not in stopped)
    assert found.assist_cpu_ns == len(running)
    assert found.assist_wait_ns == waiting
    assert {f"GC ({mode})": ns for mode, ns in found.worker_ns.items() if ns} == modes
    busy = taken.total() + sum(limit_at(trace, t) for t in stopped)
    assert found.gc_busy_ns == busy
    assert found.capacity_ns == sum(limit_at(trace, t) for t in range(START, END))
    assert found.gc_fraction == busy / found.capacity_ns


@pytest.mark.slow
@given(traces())
@SOME
def test_how_long_a_stop_took_to_stop(trace):
    held, rows = trace.ranges, trace.processor_intervals
    expected = Counter()
    for i in np.flatnonzero(held.kind == RangeKind.STOP_THE_WORLD):
        if held.end_ns[i] < 0:
            continue
        idle = [0]
        for p in range(len(trace.processors)):
            first, stop = rows.offsets[p : p + 2]
            idle += [
                int(rows.start_ns[row] - held.start_ns[i])
                for row in range(first + 1, stop)
                if rows.state[row] == ProcessorState.IDLE
                and held.start_ns[i] <= rows.start_ns[row] <= held.end_ns[i]
            ]
        expected[trace.strings[held.name[i]]] += max(idle)
    assert expected == Counter(
        {s.kind: s.stopping.total_ns for s in collections(trace).stops}
    )


@pytest.mark.parametrize("name", daily(CAPTURES, SIDES))
def test_cycles_and_what_was_allocated(name):
    trace = trace_of(name)
    found = collections(trace)
    frame = found.cycles.to_frame()
    assert len(frame) == len(found.cycles)
    assert (frame.end_ns - frame.start_ns).sum() == found.mark_wall_ns
    series = trace.heap_live_bytes
    live = dict(zip(series.time_ns.tolist(), series.value.tolist(), strict=True))
    for row in frame.itertuples():
        for time, got in (
            (row.start_ns, row.live_start_bytes),
            (row.end_ns, row.live_end_bytes),
        ):
            before = [t for t in live if t <= time]
            assert got == live[max(before, default=min(live))]
    rises = (max(b - a, 0) for a, b in pairwise(series.value.tolist()))
    assert found.allocated_bytes == sum(rises)


def test_without_a_collector_nothing_is_reported():
    found = collections(empty())
    assert found.gc_fraction is None
    assert found.allocated_bytes is None
    assert (found.started, found.stops, len(found.cycles)) == (0, (), 0)
    one = empty(heap_live_bytes=Series(np.array([START]), np.array([5])))
    assert collections(one).allocated_bytes is None
