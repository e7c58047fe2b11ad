"""Scheduling latency: how long goroutines are runnable, whose, and why."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import TYPE_CHECKING

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.finding import Fact, Finding
from pprofdiff.analysis.causes.numbers import arrow, share_pair, times
from pprofdiff.analysis.causes.traces import (
    beyond,
    direction,
    foreign,
    pair_of,
    runnable_ns,
    scaled,
    sides_of,
    time_fact,
)
from pprofdiff.analysis.causes.wording import listed, short
from pprofdiff.analysis.judge.calibration import LATENCY, LATENCY_SURE, SLICE_NS
from pprofdiff.analysis.policy import NOTICED
from pprofdiff.analysis.traces.latency import blocked_reason

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import TraceDiff

__all__ = ["latency"]

_UNSURE = " Runs of one build may differ as much, by what else the machine does."
# Shorter waits do no harm.
_LEAST_NS = 100_000
_CAUSES = {
    "created": "just created",
    "preempted": "that were preempted",
    "yielded": "that called runtime.Gosched",
    "stopped": "that were stopped",
    "system call": "back from a system call",
    "unknown": "whose state before the trace does not show",
    "unblocked": "that were blocked for no reason given",
}


def latency(case: Case) -> Iterator[Finding]:
    """Yield a finding where p99 scheduling latency changed: whose, and why."""
    diff = case.trace
    if diff is None:
        return
    base, new = (side.latency for side in diff.sides)
    if not base.p99_ns or not new.p99_ns:
        return
    pair, waits = (base.p99_ns, new.p99_ns), (base.count, new.count)
    if not beyond(diff, LATENCY, pair, waits) or max(pair) < _LEAST_NS:
        return
    if diff.latency_changes["p99"].mark == "noise" or diff.varies("wait.p99"):
        return
    # A neighbor process that takes a CPU for one time slice makes waits of that length.
    sliced = max(pair[0], SLICE_NS), max(pair[1], SLICE_NS)
    sure = beyond(diff, LATENCY_SURE, sliced, waits)
    ratio = pair[1] / pair[0]
    yield Finding(
        "sched-latency",
        f"p99 scheduling latency {'rose' if ratio > 1 else 'fell'} "
        f"{arrow(*pair, 'ns')} ({times(ratio)})",
        f"{_whose(diff)} {_held_up(diff)}{'' if sure else _UNSURE}",
        (
            time_fact("p50 of runnable time", base.p50_ns, new.p50_ns),
            time_fact("p99 of runnable time", *pair),
            time_fact("p99.9 of runnable time", base.p999_ns, new.p999_ns),
            Fact("waits", "trace", base.count, new.count, "waits"),
        ),
        severity="minor" if sure else "info",
        direction=direction(*pair),
        # Its causes, such as locks or GC, rank above it.
        weight=min(abs(log(ratio)), 1.0) / 2,
    )


def _whose(diff: TraceDiff) -> str:
    """Return whose waiting changed most, and what those goroutines did before."""
    causes = [side.causes for side in diff.sides]
    amounts = {
        name: (causes[0].row(name).total_ns, causes[1].row(name).total_ns)
        for name in dict.fromkeys([*causes[0].name, *causes[1].name])
    }
    cause = max(amounts, key=lambda name: _moved(diff, amounts[name]))
    groups = {
        pair.name: runnable_ns(diff, pair)
        for pair in diff.groups
        if not any(foreign(side, row) for side, row in sides_of(diff, pair))
    }
    whose = max(groups, key=lambda name: _moved(diff, groups[name]), default="")
    of_group = ""
    if whose:
        of_group = f" for those of {short(whose)} ({scaled(diff, *groups[whose])}) and"
    return (
        f"Added up over goroutines, waiting changed most{of_group} for those "
        f"{_cause(cause)} ({scaled(diff, *amounts[cause])})."
    )


def _cause(name: str) -> str:
    """Return what goroutines did before, as a relative clause."""
    reason = blocked_reason(name)
    return (
        _CAUSES.get(name, name) if reason is None else f"that were blocked ({reason})"
    )


def _moved(diff: TraceDiff, times_ns: tuple[int, int]) -> float:
    base, new = pair_of(diff, *times_ns)
    return abs(new - base)


def _held_up(diff: TraceDiff) -> str:
    """Return what went on while goroutines waited, as shares of that time."""
    fields = {
        "no processor was idle": "busy_ns",
        "GC was marking": "gc_mark_ns",
        "the world was stopped": "stw_ns",
    }
    words = []
    for what, field in fields.items():
        shares = [
            side.waits.during_ns[field] / max(int(side.waits.duration_ns.sum()), 1)
            for side in diff.sides
        ]
        if max(shares) >= NOTICED:
            words.append(f"{what} for {share_pair(*shares)}")
    return f"Of all such waiting, {listed(words)}." if words else ""
