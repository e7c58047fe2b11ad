"""Planted waits, each in a real traced program: at least 95% is at its true end."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.waited import spent_waiting
from pprofdiff.api import load

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
}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Return the built program."""
    path = tmp_path_factory.mktemp("waits") / "waits"
    folder = Path(__file__).parents[2] / "workloads"
    build = ["go", "build", "-o", str(path), "./waits"]
    subprocess.run(build, cwd=folder, check=True)
    return path


# Where asker waits on the way to the end, if not only once; functions and calls.
BEHIND = {
    "channel": (
        ("main.lockChannel.func1", "sync.(*Mutex).Lock"),
        ("main.lockChannel.func1", ""),
    ),
}


@pytest.mark.go
@pytest.mark.parametrize("mode", PLANTED)
def test_a_planted_wait_is_at_its_end(program, tmp_path, mode):
    path = tmp_path / "trace.out"
    subprocess.run([program, mode, path], check=True)
    side = TraceSide("", "", load(path).data)
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
        # The clock is read in burn; a trace says where a goroutine stops.
        if chain.end.kind == kind
        and chain.end.function in (function, "main.burn")
        and chain.end.call in calls
    }
    assert sum(right.values()) >= 0.95 * sum(asked.values())
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
