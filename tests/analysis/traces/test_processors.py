"""Processors and counts of goroutines: identities, Go's sums, and counting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from pprofdiff.analysis.traces.processors import (
    all_processors_busy,
    concurrency,
    cores,
    mean_over,
    processors,
)
from pprofdiff.analysis.traces.profiles import state_profile
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.loaders.traces import decode
from pprofdiff.model.traces.trace import CPUSamples, ProcessorState, State
from tests.analysis.causes.rules.capture import kept
from tests.examples import daily
from tests.traces import oracle

from .built import END, SOME, START, empty, limit_at, processor_states, rows_of, traces
from .real import ALL, MADE, SIDES, path_of, slack_ns, times_of, trace_of

MORE = ("profiled-1.21.13", "profiled-1.26.8")


@pytest.mark.slow
@pytest.mark.parametrize("name", daily([*ALL, *MORE], [*SIDES, *MADE, *MORE]))
def test_time_in_a_state_is_how_many_are_in_it_on_average(name):
    """Every figure of a trace agrees with every other, to the nanosecond."""
    trace = trace_of(name)
    held, side = times_of(trace), TraceSide("", name, trace)
    whole = (
        (held.exec_ns, side.running_at_once),
        (held.sched_wait_ns, side.runnable_at_once),
    )
    for spent, at_once in whole:
        assert at_once.mean == spent.sum() / side.wall_ns
    assert side.processors.goroutine_ns == held.exec_ns.sum()
    assert side.waits.duration_ns.sum() == held.sched_wait_ns.sum()
    by_group = [one.total_ns for one in side.group_waits.values()]
    assert sum(by_group) == side.waits.duration_ns[side.waits.known].sum()
    for state, parts in (
        ("running", [held.exec_ns]),
        ("runnable", [held.sched_wait_ns]),
        ("syscall", [held.syscall_ns, held.syscall_block_ns]),
    ):
        profile = state_profile(trace, state)
        assert profile.values[:, 1].sum() == sum(part.sum() for part in parts)
    own = ~(side.groups.system | side.groups.tracing)
    for column in ("exec_ns", "sched_wait_ns"):
        runtimes = getattr(side.groups, column)[~own].sum()
        assert side.of_program(column) + runtimes == getattr(held, column).sum()


@pytest.mark.go
@pytest.mark.parametrize("name", daily(ALL, [*SIDES, *MADE]))
def test_idle_time_matches_go(name):
    """Go knows running and idle; a processor in a system call is a running one."""
    trace, go = trace_of(name), oracle.summary(path_of(name))["procs"]
    found, held = processors(trace), trace.processor_intervals
    changes = np.diff(held.offsets).tolist()
    assert sorted(found.id.tolist()) == sorted(map(int, go))
    for place, number in enumerate(found.id.tolist()):
        assert abs(int(found.idle_ns[place]) - go[str(number)].get("Idle", 0)) <= (
            slack_ns(trace) * changes[place]
        )


@pytest.mark.slow
@given(traces())
@SOME
def test_counts_are_right_at_every_nanosecond(trace):
    for state in (State.RUNNING, State.RUNNABLE):
        count = dict.fromkeys(range(START, END), 0)
        for g in range(len(trace.goroutines)):
            for start, end, is_in, _ in rows_of(trace, g):
                for time in range(start, end) if is_in == state else ():
                    count[time] += 1
        got = concurrency(trace, state)
        assert got.most == max(count.values())
        assert got.mean == pytest.approx(sum(count.values()) / (END - START), rel=1e-12)


@pytest.mark.slow
@given(traces())
@SOME
def test_busy_is_when_no_processor_is_idle(trace):
    states = [processor_states(trace, p) for p in range(len(trace.processors))]
    expected = [
        t
        for t in range(START, END)
        if sum(s[t] != ProcessorState.IDLE for s in states) >= limit_at(trace, t)
    ]
    found = all_processors_busy(trace)
    spans = zip(found.start_ns.tolist(), found.end_ns.tolist(), strict=True)
    assert [t for start, end in spans for t in range(start, end)] == expected
    assert found.total_ns == len(expected)
    assert (found.start_ns[1:] > found.end_ns[:-1]).all()


@pytest.mark.slow
@given(traces())
@SOME
def test_capacity_is_gomaxprocs_over_time(trace):
    found = processors(trace)
    assert found.capacity_ns == sum(limit_at(trace, t) for t in range(START, END))
    for p in range(len(trace.processors)):
        states = list(processor_states(trace, p).values())
        assert found.running_ns[p] == states.count(ProcessorState.RUNNING)
        assert found.syscall_ns[p] == states.count(ProcessorState.SYSCALL)
        assert found.idle_ns[p] == states.count(ProcessorState.IDLE)
        assert found.life_ns[p] == len(states)
    ran = sum(
        end - start
        for g in range(len(trace.goroutines))
        for start, end, state, _ in rows_of(trace, g)
        if state == State.RUNNING
    )
    assert found.goroutine_ns == ran


def sampled(trace, since=0.0):
    """Return a trace with two CPU samples each 10 ms, from a part of its length on."""
    first = trace.start_ns + int(since * (trace.end_ns - trace.start_ns))
    time = np.repeat(np.arange(first, trace.end_ns, 10_000_000), 2)
    none = np.full(len(time), -1, np.int32)
    return replace(trace, samples=CPUSamples(time, none, none, none, none + 1))


def test_cpu_samples_show_how_many_cpus_are_in_use():
    trace = decode(kept("shared", 0), "shared")
    assert cores(trace) is None
    assert cores(sampled(trace)) == pytest.approx(2, rel=0.01)
    assert cores(sampled(trace, since=0.2)) is None
    assert mean_over([2.0, None], [1, 3]) is None
    assert mean_over([2.0], [1]) == 2
    assert mean_over([2.0, 1.0], [1, 3]) == 1.25


def test_an_empty_trace_has_none():
    trace = empty()
    found = processors(trace)
    assert (found.utilisation, found.capacity_ns, len(found)) == (None, 0, 0)
    assert concurrency(trace, State.RUNNING).most == 0
    assert concurrency(trace, State.RUNNING).mean == 0
    assert all_processors_busy(trace).total_ns == 0
