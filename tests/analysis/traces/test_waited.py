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


@pytest.mark.go
@pytest.mark.parametrize("mode", PLANTED)
def test_a_planted_wait_is_at_its_end(program, tmp_path, mode):
    path = tmp_path / "trace.out"
    subprocess.run([program, mode, path], check=True)
    trace = load(path).data
    kind, function, calls = PLANTED[mode]
    found = Counter()
    for (root, _, end), ns in spent_waiting(TraceSide("", "", trace)).items():
        if root == "main.asker" and end.kind != "processor":
            found[end] += ns
    right = sum(
        ns
        for end, ns in found.items()
        # The clock is read in burn; a trace says where a goroutine stops.
        if end.kind == kind
        and end.function in (function, "main.burn")
        and end.call in calls
    )
    assert right >= 0.95 * sum(found.values())
