"""Runnable intervals: against Go's events, and against counting nanoseconds."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.analysis.traces.goroutines import TIMES
from pprofdiff.analysis.traces.latency import blocks, by_cause, by_group, runnable
from pprofdiff.analysis.traces.quantiles import quantiles
from pprofdiff.model import csr
from pprofdiff.model.traces.trace import ProcessorState, RangeKind, State
from tests.examples import daily
from tests.traces import oracle

from .built import SOME, limit_at, processor_states, rows_of, traces, within
from .real import ALL, MADE, SIDES, path_of, slack_ns, times_of, trace_of

HELD_UP = ("gc_mark_ns", "stw_ns", "busy_ns")
# What Go's events are called by `oracle`.
CAUSES = {
    ("created", ""): "created",
    ("yielded", "preempted"): "preempted",
    ("yielded", "runtime.Gosched"): "yielded",
    ("syscall", ""): "system call",
    ("unblocked", ""): "unblocked",
    ("unknown", ""): "unknown",
}


def cause_of(wait):
    """Return our word for the cause of one of the oracle's waits."""
    got = wait["cause"], wait["reason"]
    if got in CAUSES:
        return CAUSES[got]
    return f"unblocked: {got[1]}" if got[0] == "unblocked" else "stopped"


@pytest.mark.go
@pytest.mark.parametrize("name", daily(ALL, [*SIDES, *MADE]))
def test_waits_match_go(name):
    trace = trace_of(name)
    waits = runnable(trace)
    ids = trace.goroutines.id[waits.goroutine].tolist()
    ours = {}
    columns = (ids, waits.start_ns, waits.duration_ns, waits.cause, waits.cut)
    for g, start, lasts, cause, cut in zip(*(list(c) for c in columns), strict=True):
        if not cut:
            ours.setdefault(g, []).append((start, lasts, waits.causes[cause]))
    theirs = {}
    for wait in oracle.summary(path_of(name))["sched_waits"]:
        if wait["cause"] != "unknown":
            lasts = wait["end_ns"] - wait["start_ns"]
            row = wait["start_ns"], lasts, cause_of(wait)
            theirs.setdefault(wait["goroutine"], []).append(row)
    assert {g: len(rows) for g, rows in ours.items()} == {
        g: len(rows) for g, rows in theirs.items()
    }
    slack = slack_ns(trace)
    for g, rows in ours.items():
        for mine, go in zip(rows, theirs[g], strict=True):
            assert mine[2] == go[2]
            assert abs(int(mine[0]) - go[0]) <= slack
            assert abs(int(mine[1]) - go[1]) <= slack


@pytest.mark.slow
@given(traces(), st.data())
@SOME
def test_every_wait_and_what_held_it_up(trace, data):
    waits = runnable(trace)
    marking = {t for _, t in within(trace, RangeKind.GC_MARK)}
    stopped = {t for _, t in within(trace, RangeKind.STOP_THE_WORLD)}
    states = [processor_states(trace, p) for p in range(len(trace.processors))]
    busy = {
        t
        for t in range(trace.start_ns, trace.end_ns)
        if sum(s.get(t, ProcessorState.IDLE) != ProcessorState.IDLE for s in states)
        >= limit_at(trace, t)
    }
    expected = []
    for g in range(len(trace.goroutines)):
        rows = rows_of(trace, g)
        for i, (start, end, state, _) in enumerate(rows):
            if state != State.RUNNABLE:
                continue
            time = set(range(start, end))
            cut = i + 1 == len(rows) or (i == 0 and not trace.goroutines.born[g])
            parts = [len(time & held) for held in (marking, stopped, busy)]
            expected.append((g, start, end - start, cut, *parts))
    columns = (
        waits.goroutine, waits.start_ns, waits.duration_ns, waits.cut,
        *map(waits.held_up_ns, HELD_UP),
    )  # fmt: skip
    assert list(zip(*(c.tolist() for c in columns), strict=True)) == expected
    size = len(trace.goroutines)
    some = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    rows = some[waits.goroutine]
    during = waits.held_up_ns("gc_mark_ns")[rows].sum()
    assert waits.while_marking_ns(some) == during
    assert waits.quantiles(some) == quantiles(waits.duration_ns[rows & waits.known])


@pytest.mark.slow
@given(traces(), st.integers(1, 5))
@SOME
def test_waits_do_not_depend_on_how_many_rows_are_looked_at_at_once(trace, rows):
    def columns():
        waits, times = runnable(trace), times_of(trace)
        names = ("duration_ns", "goroutine", "cut", "start_ns", "cause")
        return [
            *(getattr(waits, name).tolist() for name in names),
            *(waits.held_up_ns(name).tolist() for name in HELD_UP),
            *(getattr(times, name).tolist() for name in (*TIMES, "block_ns")),
        ]

    expected = columns()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csr, "_ROWS", rows)
        assert columns() == expected


@pytest.mark.slow
@given(traces())
@SOME
def test_waits_still_open_at_the_end_count_if_they_are_longest(trace):
    waits = runnable(trace)
    roots = trace.goroutines.name[waits.goroutine].tolist()
    lasts, cut = waits.duration_ns.tolist(), waits.cut.tolist()
    ends = (waits.start_ns + waits.duration_ns).tolist()
    for i, known in enumerate(waits.known.tolist()):
        complete = [
            one
            for one, root, open_ in zip(lasts, roots, cut, strict=True)
            if root == roots[i] and not open_
        ]
        longest = ends[i] == trace.end_ns and lasts[i] > max(complete, default=0)
        assert known == (not cut[i] or longest)


@pytest.mark.slow
@given(traces())
@SOME
def test_causes(trace):
    waits = runnable(trace)
    found = iter(waits.cause.tolist())
    for g in range(len(trace.goroutines)):
        before = None
        for _, _, state, row in rows_of(trace, g):
            if state == State.RUNNABLE:
                reason = trace.reasons[trace.intervals.reason[row]]
                assert waits.causes[next(found)] == expected_cause(
                    trace, before, reason, born=trace.goroutines.born[g]
                )
            before = state, row


def expected_cause(trace, before, reason, *, born):
    """Return the cause of a runnable row after the row `before` (state, row)."""
    if before is None:
        return "created" if born else "unknown"
    state, row = before
    if state == State.RUNNING:
        named = {"preempted": "preempted", "runtime.Gosched": "yielded"}
        return named.get(reason, "stopped")
    if state == State.WAITING:
        why = trace.reasons[trace.intervals.reason[row]]
        return f"unblocked: {why}" if why else "unblocked"
    return "system call"


@pytest.mark.parametrize("name", ["health-check/base", "zstd/base"])
def test_groups_and_causes_add_up(name):
    trace = trace_of(name)
    waits = runnable(trace)
    whole = quantiles(waits.duration_ns[waits.known])
    for table in (by_cause(waits), by_group(waits, trace)):
        totals = [one.total_ns for one in table.values()]
        assert sum(one.count for one in table.values()) == whole.count
        assert whole.count == waits.known.sum()
        assert sum(totals) == whole.total_ns
        assert max(one.max_ns for one in table.values()) == whole.max_ns
        assert totals == sorted(totals, reverse=True)
    frame = waits.to_frame(trace)
    assert Counter(frame[waits.known].cause) == {
        name: one.count for name, one in by_cause(waits).items()
    }
    for part in map(waits.held_up_ns, HELD_UP):
        assert (part >= 0).all()
        assert (part <= waits.duration_ns).all()


@pytest.mark.go
@given(st.data())
@settings(derandomize=True, max_examples=20)
def test_blocks_are_generations_or_cycles(data):
    name = data.draw(st.sampled_from(["generations-1.27.3", "rss-search/base"]))
    trace = trace_of(name)
    time = data.draw(st.integers(trace.start_ns, trace.end_ns))
    begins = [sync.time_ns for sync in trace.syncs]
    if len(begins) < 5:
        marking = trace.ranges.kind == RangeKind.GC_MARK
        begins = trace.ranges.start_ns[marking].tolist()
    assert blocks(trace, np.array([time])).tolist() == [sum(b <= time for b in begins)]
