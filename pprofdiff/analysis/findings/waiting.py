"""Goroutines that could run and do not: for how long, whose, and what held them up."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import TYPE_CHECKING

from pprofdiff.analysis.findings.case import Case
from pprofdiff.analysis.findings.model import Fact, Finding
from pprofdiff.analysis.findings.traces import (
    POINTS,
    RATIO,
    WAITS,
    direction,
    far,
    foreign,
    long,
    pair_of,
    runnable_ns,
    scaled,
    sides_of,
    time_fact,
)
from pprofdiff.analysis.findings.wording import arrow, listed, short, times
from pprofdiff.units import percent

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import TraceDiff

__all__ = ["latency"]

# Five traces of 2 s of one program, on a machine that did other work too, had 99 % of
# waits within 2.4 to 16 ms, and intervals apart: those tell what differs within a run.
_MANY_WAITS, _SURE_RATIO = 1000, 10.0
_UNSURE = " Runs of one build may differ as much, by what else the machine does."
# Shorter waits hurt nobody.
_TELLING_NS = 100_000
_CAUSES = {
    "created": "just created",
    "preempted": "that were preempted",
    "yielded": "that called runtime.Gosched",
    "stopped": "that were stopped",
    "system call": "back from a system call",
    "unknown": "of which the trace does not tell what they did before",
    "unblocked": "that were blocked for no reason given",
}
_UNBLOCKED = "unblocked: "


def latency(case: Case) -> Iterator[Finding]:
    """Runnable goroutines wait longer or shorter for a processor, and for what."""
    diff = case.trace
    if diff is None:
        return
    base, new = (side.latency for side in diff.sides)
    if min(base.count, new.count) < WAITS or not base.p99_ns or not new.p99_ns:
        return
    pair = base.p99_ns, new.p99_ns
    if not far(*pair, RATIO) or max(pair) < _TELLING_NS:
        return
    interval = diff.latency_intervals["p99"]
    if interval is not None and interval[0] <= 0 <= interval[1]:
        return
    many = min(base.count, new.count) >= _MANY_WAITS
    sure = many and far(*pair, _SURE_RATIO) and long(diff)
    ratio = pair[1] / pair[0]
    yield Finding(
        "sched-latency",
        f"99 % of waits for a processor end within {arrow(*pair, 'ns')} "
        f"({times(ratio)})",
        f"{_whose(diff)} {_held_up(diff)}{'' if sure else _UNSURE}",
        (
            time_fact("p50 of runnable time", base.p50_ns, new.p50_ns),
            time_fact("p99 of runnable time", *pair),
            time_fact("p99.9 of runnable time", base.p999_ns, new.p999_ns),
            Fact("waits", "trace", base.count, new.count, "waits"),
        ),
        severity="minor" if sure else "info",
        direction=direction(*pair),
        # What it entails stands behind it: blocking, shares of capacity.
        weight=1 + abs(log(ratio)),
    )


def _whose(diff: TraceDiff) -> str:
    """Return whose waiting moved most, and what those goroutines did before."""
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
    told = ""
    if whose:
        told = f" for those of {short(whose)} ({scaled(diff, *groups[whose])}) and"
    return (
        f"Added up over goroutines, waiting changed most{told} for those "
        f"{_cause(cause)} ({scaled(diff, *amounts[cause])})."
    )


def _cause(name: str) -> str:
    """Return what goroutines did before, behind a word for them."""
    if name.startswith(_UNBLOCKED):
        return f"that were blocked ({name.removeprefix(_UNBLOCKED)})"
    return _CAUSES.get(name, name)


def _moved(diff: TraceDiff, times_ns: tuple[int, int]) -> float:
    base, new = pair_of(diff, *times_ns)
    return abs(new - base)


def _held_up(diff: TraceDiff) -> str:
    """Return what was going on while goroutines waited, as shares of that time."""
    fields = {
        "no processor was idle": "busy_ns",
        "GC was marking": "gc_mark_ns",
        "the world was stopped": "stw_ns",
    }
    words = []
    for what, field in fields.items():
        shares = [
            int(getattr(side.waits, field).sum())
            / max(int(side.waits.duration_ns.sum()), 1)
            for side in diff.sides
        ]
        old, fresh = (percent(share, 1) for share in shares)
        if max(shares) >= POINTS:
            words.append(f"{what} for {old} → {fresh}")
    return f"Of all such waiting, {listed(words)}." if words else ""
