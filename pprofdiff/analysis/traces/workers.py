"""The goroutines that do the work, and their time."""

from __future__ import annotations

from collections import Counter

import numpy as np

from pprofdiff.analysis.policy import MOST
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.movers import movers
from pprofdiff.analysis.traces.time import UNKNOWN

# The goroutines with this share of active time do the work.
_MOST = 0.95
# Root functions of a benchmark's goroutines, and of the one that starts them.
_BENCHMARKS, _HARNESS = "testing.(*B).", "main.main"
_SLEEP = "sleep"
_ACTIVE = "exec_ns", "sched_wait_ns", "syscall_ns", "syscall_block_ns"


def workers(trace: TraceDiff) -> set[str]:
    """Return the root functions of the goroutines that do the work, on either side.

    They have 95% of the time running, runnable and in system calls, and half of the
    time running, where many wait for a processor. Those mostly in `time.Sleep` are left
    out: they wait for a timer, not for work. Those that mostly wait where they ask, as
    for a lock or for all they started, do the work that others do for them.
    """
    return trace.once("workers", _workers)


def _workers(trace: TraceDiff) -> set[str]:
    names = _asking(trace)
    for side in trace.sides:
        groups = side.groups
        own = ~(groups.system | groups.tracing)
        if any(name.startswith(_BENCHMARKS) for name in groups.names):
            # It waits for the benchmark's goroutine and does nothing itself.
            own &= np.array([name != _HARNESS for name in groups.names], np.bool_)
        if _SLEEP in groups.reasons:
            asleep = groups.block_ns[:, list(groups.reasons).index(_SLEEP)]
            own &= asleep < MOST * groups.total_ns
        active = np.where(own, sum(getattr(groups, name) for name in _ACTIVE), 0)
        order = np.argsort(-active, kind="stable")
        passed = np.cumsum(active[order])
        ran = np.cumsum(np.where(own, groups.exec_ns, 0)[order])
        if len(passed) and passed[-1]:
            needed = 1 + max(
                int(np.searchsorted(column, part * column[-1]))
                for column, part in ((passed, _MOST), (ran, MOST))
            )
            names.update(groups.names[i] for i in order[:needed].tolist())
    return names


def _asking(trace: TraceDiff) -> set[str]:
    """Return root functions that wait where they ask for most of their lives."""
    asked: Counter[tuple[str, int]] = Counter()
    for place in movers(trace, "blocked"):
        # Without a reason, a wait began before the trace.
        if place.asked and place.reason:
            asked[place.root, 0] += place.base_ns
            asked[place.root, 1] += place.new_ns
    names: set[str] = set()
    for pair in trace.groups:
        for at, side, i in ((pair.base, trace.base, 0), (pair.new, trace.new, 1)):
            if at >= 0 and asked[pair.name, i] > MOST * int(side.groups.total_ns[at]):
                names.add(side.groups.names[at])
    return names


def worker_rows(trace: TraceDiff) -> list[int] | None:
    """Return the rows of `TraceDiff.groups` of `workers`, None if a side has none."""
    names, rows = workers(trace), _rows(trace)
    for side in trace.sides:
        if names.isdisjoint(side.groups.names):
            return None
    return rows


def worker_names(trace: TraceDiff) -> tuple[set[str], set[str]]:
    """Return the names that the root functions of `worker_rows` have on each side."""
    pairs = [trace.groups[row] for row in _rows(trace)]
    base, new = trace.base.groups.names, trace.new.groups.names
    return (
        {base[pair.base] for pair in pairs if pair.base >= 0},
        {new[pair.new] for pair in pairs if pair.new >= 0},
    )


def _rows(trace: TraceDiff) -> list[int]:
    names = workers(trace)
    return [
        row
        for row, pair in enumerate(trace.groups)
        if any(
            at >= 0 and side.groups.names[at] in names
            for at, side in zip((pair.base, pair.new), trace.sides, strict=True)
        )
    ]


def time_of_workers(trace: TraceDiff) -> tuple[float, float] | None:
    """Return the `workers`' time in known states, scaled; None without them."""
    roots = worker_rows(trace)
    if roots is None:
        return None
    states = trace.time.by_state(roots)
    times = [time for state, time in states.items() if state != UNKNOWN]
    base = sum(int(view.base[0]) for view in times)
    new = sum(int(view.new[0]) for view in times)
    return trace.normalization.scaled(float(base), float(new))
