"""Planted waits, each in a real traced program: at least 99% is at its true end."""

from __future__ import annotations

from collections import Counter

import pytest

from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.time import BLOCKED
from pprofdiff.analysis.traces.waited import (
    RUNNABLE,
    SYSTEM_CALL,
    off_cpu,
    spent_off,
    waited,
)
from pprofdiff.analysis.traces.workers import worker_rows
from pprofdiff.api import load
from pprofdiff.api.comparison import compare_paths
from tests.conftest import DATA, STORIES
from tests.field.capture import PAIRS

from .capture import planted

# What asker waits for, by mode of tests/workloads/waits; waits for a processor are of
# the machine.
PLANTED = {
    "fsync": ("syscall", "main.lockFsync.func1", ("syscall.Fsync", "syscall.Write")),
    "sleep": ("timer", "main.lockSleep.func1", ("time.Sleep",)),
    "cpu": ("running", "main.lockCPU.func1", ("",)),
    "channel": ("running", "main.answers", ("",)),
    "pipeline": ("running", "main.slowStage", ("",)),
    "group": ("timer", "main.slowMember", ("time.Sleep",)),
    "flight": ("timer", "main.flight.func1", ("time.Sleep",)),
    "pool": ("timer", "main.pool.func1", ("time.Sleep",)),
    "worker": ("running", "main.serve", ("",)),
    "pingpong": ("running", "main.ponger", ("",)),
    "timer": ("timer", "main.lockTimer.func1", ("select",)),
    "callee": ("running", "main.lockCallee.func1", ("",)),
    # It is not followed to its creator; from then on it waits for a processor.
    "begun": ("created", "", ("",)),
}


# Where asker waits on the way to the end, if not only once; functions and calls.
BEHIND = {
    "channel": (
        ("main.lockChannel.func1", "sync.(*Mutex).Lock"),
        ("main.lockChannel.func1", ""),
    ),
}


def spent_waiting(side):
    """Return the chains of a trace that begin with a wait."""
    own = (SYSTEM_CALL, RUNNABLE)
    chains = spent_off(side).items()
    return {one: ns for one, ns in chains if one.waits[0].reason not in own}


@pytest.mark.parametrize("mode", PLANTED)
def test_a_planted_wait_is_at_its_end(mode):
    side = TraceSide("", "", load(planted(mode)).data)
    kind, function, calls = PLANTED[mode]
    chains = spent_waiting(side)
    asked = {
        chain: ns
        for chain, ns in chains.items()
        if chain.root == "main.asker" and chain.end.kind != "processor"
    }
    right = {
        chain: ns
        for chain, ns in asked.items()
        # Between two moments in burn at which it is preempted, a goroutine is there.
        if chain.end.kind == kind
        and chain.end.function in (function, "main.burn")
        and chain.end.call in calls
    }
    assert sum(right.values()) >= 0.99 * sum(asked.values())
    blocked = dict(
        zip(side.groups.names, side.groups.block_ns.sum(axis=1), strict=True)
    )
    for root in {chain.root for chain in chains}:
        whole = sum(ns for chain, ns in chains.items() if chain.root == root)
        assert whole == blocked[root]
    if mode in BEHIND:
        ways = Counter()
        for chain, ns in right.items():
            ways[tuple((wait.function, wait.call) for wait in chain.waits)] += ns
        # The goroutine with the lock waits for the reply, all others behind it.
        assert ways.most_common(1)[0][0] == BEHIND[mode]


TRACED = [
    *(DATA / story for story in STORIES),
    *(path.parents[1] for path in sorted(PAIRS.glob("*/new/trace.out"))),
]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("pair", TRACED, ids=lambda pair: pair.name)
def test_ends_add_up_to_the_time_in_the_states(pair):
    diff = compare_paths(
        *(pair / side / "trace.out" for side in ("base", "new"))
    ).trace.data
    states = diff.time.by_state(worker_rows(diff))
    blocked = [name for name in states if name.startswith(BLOCKED)]
    for rows, names in (
        (waited(diff), blocked),
        (off_cpu(diff), [*blocked, "runnable", "syscall", "syscall_block"]),
    ):
        views = [states[name] for name in names if name in states]
        assert sum(row.base_ns for row in rows) == sum(int(v.base[0]) for v in views)
        assert sum(row.new_ns for row in rows) == sum(int(v.new[0]) for v in views)


@pytest.mark.parametrize("side", ["base", "new"])
def test_nothing_the_program_waits_for_is_the_tracer_s(side):
    """Where it starts a GC cycle, the tracer wakes all that waits for the network."""
    trace = load(DATA / f"service/{side}/flight.trace").data
    ends = {chain.end for chain in spent_waiting(TraceSide(side, side, trace))}
    assert ends
    assert not any("runtime/trace." in end.function for end in ends)
