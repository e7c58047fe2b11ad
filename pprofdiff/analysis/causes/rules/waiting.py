"""Life that goroutines lose: waiting for a processor, and to garbage collection."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.finding import Fact, Finding
from pprofdiff.analysis.causes.traces import (
    beyond,
    collecting,
    direction,
    own_groups,
    pair_of,
    runnable_ns,
    scaled,
    sides_of,
    time_fact,
    varies,
)
from pprofdiff.analysis.causes.wording import arrow, listed, share_pair, times
from pprofdiff.analysis.judge.calibration import (
    GC_LIFE_SURE,
    LATENCY,
    LATENCY_SURE,
    SHARE,
    SLICE_NS,
    WAITS,
)
from pprofdiff.analysis.policy import MOST, MUCH, NOTICED
from pprofdiff.analysis.traces.interval_rows import ASSIST, STOPPED, SWEEP, ranges_of
from pprofdiff.analysis.traces.latency import blocked_reason
from pprofdiff.analysis.traces.waited import spent_waiting
from pprofdiff.goruntime.readable import short
from pprofdiff.model.csr import sums
from pprofdiff.model.traces.timeline import RangeKind

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import GroupPair, TraceDiff
    from pprofdiff.analysis.traces.groups import Groups
    from pprofdiff.analysis.traces.side import TraceSide

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
    groups = {pair.name: runnable_ns(diff, pair) for pair in own_groups(diff)}
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


# One long assist is a large part of a short life: fewer than this are chance.
_MANY_ASSISTS = 20


class _Life(NamedTuple):
    """Goroutines of a root function, with their lost share of life, base and new."""

    pair: GroupPair
    shares: tuple[float, float]

    @property
    def moved(self) -> float:
        return abs(self.shares[1] - self.shares[0])


def life_waiting(case: Case) -> Iterator[Finding]:
    """Yield a finding where goroutines wait for a P for more or less of their life."""
    diff = case.trace
    if diff is None or next(latency(case), None) is not None:
        return
    counts = [_counts(side, side.waits.goroutine) for side in diff.sides]
    lives = [
        _Life(pair, _of_life(diff, pair, runnable_ns(diff, pair)))
        for pair in _both(diff)
        if min(counts[0][pair.base], counts[1][pair.new]) >= WAITS
    ]
    lives = [
        life
        for life in lives
        if beyond(diff, SHARE, life.shares)
        and _costs_so(diff, life)
        and not varies(diff, "goroutines.runnable", life.pair)
    ]
    if not lives:
        return
    pair, shares = max(lives, key=lambda life: life.moved)
    waits, marking = runnable_ns(diff, pair), _marking(diff, pair)
    in_gc = _of_life(diff, pair, marking)
    decides = (in_gc[1] - in_gc[0]) / (shares[1] - shares[0]) >= MOST
    base, new = (
        side.waits.quantiles(side.groups.group_of == row).p99_ns
        for side, row in sides_of(diff, pair)
    )
    late = f" Their p99 wait: {arrow(base, new, 'ns')}." if base and new else ""
    yield Finding(
        "sched-life",
        f"Goroutines of {short(pair.name)} wait for a processor for "
        f"{share_pair(*shares)} of their lifetime"
        + (f", for {share_pair(*in_gc)} while GC is marking" if decides else ""),
        f"They wait {scaled(diff, *waits)}; while GC is marking "
        f"{scaled(diff, *marking)}.{late}",
        (
            time_fact(f"runnable: {pair.name}", *waits),
            time_fact(f"runnable while GC is marking: {pair.name}", *marking),
            time_fact(f"lifetime: {pair.name}", *_lifetime(diff, pair)),
            time_fact(f"p99 of runnable time: {pair.name}", base, new),
        ),
        direction=direction(*shares),
        weight=abs(shares[1] - shares[0]),
    )


def _costs_so(diff: TraceDiff, life: _Life) -> bool:
    """Return whether waiting for a processor changed as its share of life did.

    A life that is longer for other reasons lowers all shares of it: where the work is
    known, waiting per op decides. And goroutines that wait for a lock whose holder
    waits for a processor wait for that as well.
    """
    waits, way = runnable_ns(diff, life.pair), direction(*life.shares)
    base, new = (
        ns + _behind(side, row)
        for ns, (side, row) in zip(waits, sides_of(diff, life.pair), strict=True)
    )
    whole = _of_life(diff, life.pair, (base, new))
    if direction(*whole) != way or not beyond(diff, SHARE, whole):
        return False
    return diff.rates is None or direction(*pair_of(diff, *waits)) == way


def _behind(side: TraceSide, row: int) -> int:
    """Return how long (ns) a group waits for others that wait for a processor."""
    name = side.groups.names[row]
    return sum(
        ns
        for part in side.parts
        for (root, _, end), ns in spent_waiting(part).items()
        if root == name and end.kind == "processor"
    )


def _marking(diff: TraceDiff, pair: GroupPair) -> tuple[int, int]:
    """Return how long a group's goroutines were runnable (ns) while GC was marking."""
    base, new = (
        side.waits.while_marking_ns(side.groups.group_of == row)
        for side, row in sides_of(diff, pair)
    )
    return base, new


def _both(diff: TraceDiff) -> Iterator[GroupPair]:
    """Yield the program's root functions that both sides have."""
    return (pair for pair in own_groups(diff) if min(pair.base, pair.new) >= 0)


def _counts(side: TraceSide, goroutine: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return how many items each group's goroutines have; -1 is no goroutine."""
    groups = side.groups
    some = goroutine[goroutine >= 0]
    of_each = np.bincount(some, minlength=len(groups.group_of))
    return sums(groups.group_of, of_each, len(groups))


def _of_life(
    diff: TraceDiff, pair: GroupPair, times_ns: tuple[int, int]
) -> tuple[float, float]:
    """Return times as shares of a group's life, base and new."""
    base, new = (
        time / max(life, 1)
        for time, life in zip(times_ns, _lifetime(diff, pair), strict=True)
    )
    return base, new


def _lifetime(diff: TraceDiff, pair: GroupPair) -> tuple[int, int]:
    """Return the total time (ns) of a group's goroutines, base and new."""
    base, new = (int(side.groups.total_ns[row]) for side, row in sides_of(diff, pair))
    return base, new


def life_lost(case: Case) -> Iterator[Finding]:
    """Yield a finding where goroutines lose life to mark assists, sweeping and STW.

    Only where GC as a whole takes a different share of capacity.
    """
    diff = case.trace
    whole = None if diff is None else collecting(diff)
    if diff is None or whole is None:
        return
    assists = [_assists(side) for side in diff.sides]
    lives = [
        _Life(
            pair,
            (_lost(diff.base.groups, pair.base), _lost(diff.new.groups, pair.new)),
        )
        for pair in _both(diff)
        if max(assists[0][pair.base], assists[1][pair.new]) >= _MANY_ASSISTS
        and _runs_much(diff, pair)
    ]
    lives = [life for life in lives if direction(*life.shares) == direction(*whole)]
    worst = max(lives, key=lambda life: life.moved, default=None)
    if worst is None or not beyond(diff, SHARE, worst.shares):
        return
    if varies(diff, "gc", "gc.mark.assist"):
        return
    name, shares = worst.pair.name, worst.shares
    sure = beyond(diff, GC_LIFE_SURE, shares)
    yield Finding(
        "gc-life",
        f"Goroutines of {short(name)} spend {share_pair(*shares)} of their lifetime in "
        "mark assists, sweeping and stopping the world",
        "That is wall time from begin to end of each: time blocked or runnable within "
        "it counts.",
        (Fact(f"share of life of {name}", "trace", shares[0], shares[1], "ratio"),),
        "Allocate less on this path, or raise GOGC." if shares[1] > shares[0] else "",
        severity="minor" if sure else "info",
        direction=direction(*shares),
        # What GC costs ranks above what it entails.
        weight=1 + worst.moved,
    )


def _runs_much(diff: TraceDiff, pair: GroupPair) -> bool:
    """Return whether a group has enough of all running time on both sides."""
    for side, row in sides_of(diff, pair):
        groups = side.groups
        own = ~(groups.system | groups.tracing)
        if groups.exec_ns[row] < MUCH * int(groups.exec_ns[own].sum()):
            return False
    return True


def _assists(side: TraceSide) -> NDArray[np.int64]:
    """Return how many mark assists the goroutines of each group made."""
    before, counts = 0, np.zeros(len(side.groups), np.int64)
    for part in side.parts:
        made, _ = ranges_of(part.trace, RangeKind.MARK_ASSIST)
        counts += _counts(side, made.goroutine + before)
        before += len(part.trace.goroutines)
    return counts


def _lost(groups: Groups, row: int) -> float:
    """Return the share of a group's life that its goroutines spend on GC work."""
    wanted = [
        place
        for place, name in enumerate(groups.range_names)
        if name in (ASSIST, SWEEP) or name.startswith(f"{STOPPED} (GC")
    ]
    total = int(groups.total_ns[row])
    return int(groups.range_ns[row, wanted].sum()) / total if total else 0.0
