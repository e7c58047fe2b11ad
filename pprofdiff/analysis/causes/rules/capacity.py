"""Where GOMAXPROCS × time goes: to goroutines, to GC, or to no CPU at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import CPUComparison
from pprofdiff.analysis.causes.finding import Fact, Finding
from pprofdiff.analysis.causes.traces import (
    beyond,
    collecting,
    direction,
    scaled,
    time_fact,
)
from pprofdiff.analysis.causes.wording import arrow, count, counts, fixed, share_pair
from pprofdiff.analysis.judge.calibration import GC_SHARE_SURE, QUEUE, WAITS
from pprofdiff.analysis.policy import MOST, MUCH, NOTICED
from pprofdiff.analysis.traces.interval_rows import ASSIST
from pprofdiff.analysis.traces.workers import worker_rows
from pprofdiff.goruntime.readable import short
from pprofdiff.model.kept import kept

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import TraceDiff
    from pprofdiff.analysis.traces.side import TraceSide

# Waking a thread takes less: goroutines that are runnable for longer while Ps are idle
# wait for threads that wait too.
_TOO_LONG_NS = 1_000_000
# Ranks above anything that a cause entails.
_CAUSE = 20.0


@kept
def overcommitted(case: Case) -> tuple[Finding, ...]:
    """Return a finding where GOMAXPROCS is more than the CPUs that the process gets.

    Goroutines are runnable although Ps are idle, as their threads wait for a CPU. Where
    GOMAXPROCS differs, it causes wait-processor, gc-capacity and utilisation, and in
    CPU profiles gc-cpu, gc-cycle-cost and scheduler: more scheduling, more idle mark
    workers and longer stop-the-world pauses.
    """
    diff = case.trace
    if diff is None or min(len(side.waits) for side in diff.sides) < WAITS:
        return ()
    late = max(side.latency.p99_ns or 0 for side in diff.sides)
    limits = [_limit(side) for side in diff.sides]
    if late < _TOO_LONG_NS or max(limits) < 2:
        return ()
    base, new = (_waiting_while_idle(side) for side in diff.sides)
    differ = limits[0] != limits[1]
    same = abs(new - base) < NOTICED and not differ
    if max(base, new) < MOST or same:
        return ()
    got = _got(case, diff)
    if differ and got is not None and got[limits.index(max(limits))] >= max(limits) - 1:
        return ()
    found = Finding(
        "gomaxprocs-over",
        f"GOMAXPROCS is {_same(limits)}, "
        + (
            "probably more than the CPU that the process gets"
            if got is None
            else f"the process uses {fixed(*got, 2)} CPUs"
        ),
        "While goroutines waited for a processor, one was idle for "
        f"{share_pair(base, new)} of the time: the operating system had not run its "
        "thread yet."
        f"{_cpu_note(case)}",
        (
            Fact("waiting while a processor was idle", "trace", base, new, "ratio"),
            Fact("GOMAXPROCS", "trace", limits[0], limits[1], "processors"),
            *(() if got is None else (Fact("CPUs in use", "trace", *got, "CPUs"),)),
        ),
        "Set GOMAXPROCS to the CPU limit (Go 1.25 does so itself in containers).",
        severity="major" if differ and got else "minor" if differ else "info",
        direction=direction(*limits),
        # It is a cause if it differs, else a condition that both sides share.
        weight=_CAUSE if differ else max(base, new) / 10,
    )
    return (found,)


def _got(case: Case, diff: TraceDiff) -> tuple[float, float] | None:
    """Return how many CPUs the process used, None if unknown.

    By the CPU samples in the traces, else by the CPU profiles.
    """
    base, new = (side.cores for side in diff.sides)
    if base is not None and new is not None:
        return base, new
    return None if case.cpu is None else _cores(case.cpu)


def _cores(cpu: CPUComparison) -> tuple[float, float] | None:
    """Return CPU time per second by the CPU profiles, None without durations."""
    base_ns, new_ns = cpu.diff.spans_ns
    if not base_ns or not new_ns:
        return None
    return cpu.diff.totals[0] / base_ns, cpu.diff.totals[1] / new_ns


def _waiting_while_idle(side: TraceSide) -> float:
    """Return the share of runnable time with an idle P, outside stop-the-world."""
    waits = side.waits
    whole = int(waits.duration_ns.sum())
    return waits.busy_totals.while_idle_ns / whole if whole else 0.0


def _limit(side: TraceSide) -> int:
    return int(side.processors.gomaxprocs.value.max(initial=0))


def _cpu_note(case: Case) -> str:
    """Return how many goroutines ran at once, and the CPU profiles' cores."""
    diff, cpu = case.trace, case.cpu
    cores = None if cpu is None else _cores(cpu)
    if diff is None or cores is None:
        return ""
    ran = [side.processors.goroutine_ns / max(side.wall_ns, 1) for side in diff.sides]
    return (
        f" While traced, goroutines ran on {fixed(ran[0], ran[1], 2)} processors at a "
        f"time; the CPU profiles have {fixed(*cores, 2)} cores."
    )


def _same(limits: list[int]) -> str:
    base, new = limits
    return count(base) if base == new else counts(base, new)


def utilisation(case: Case) -> Iterator[Finding]:
    """Yield a finding where goroutines' share of GOMAXPROCS × time changed."""
    diff = case.trace
    # A share of more processors is another measure: threads wait for a CPU on them.
    if diff is None or len({_limit(side) for side in diff.sides}) > 1:
        return
    base, new = (side.processors.utilisation for side in diff.sides)
    if base is None or new is None or abs(new - base) < MUCH:
        return
    if diff.varies("utilisation"):
        return
    ran = [side.processors.goroutine_ns for side in diff.sides]
    waited = [int(side.waits.duration_ns.sum()) for side in diff.sides]
    at_once, queued = (
        [ns / max(side.wall_ns, 1) for ns, side in zip(sums, diff.sides, strict=True)]
        for sums in (ran, waited)
    )
    text = f"On average {fixed(at_once[0], at_once[1], 2)} ran at once"
    if beyond(diff, QUEUE, (queued[0], queued[1])):
        text += f", and {fixed(queued[0], queued[1], 2)} waited for a processor"
    yield Finding(
        "utilisation",
        f"Goroutines use {share_pair(base, new)} of GOMAXPROCS",
        f"{text}. That is wall time with a processor, not CPU time.",
        (
            Fact("goroutines' share of capacity", "trace", base, new, "ratio"),
            time_fact("goroutines running", *ran),
            time_fact("goroutines runnable", *waited),
        ),
        weight=abs(new - base),
    )


def gc_capacity(case: Case) -> Iterator[Finding]:
    """Yield a finding on GC's share of capacity, if only traces can show it."""
    diff = case.trace
    if diff is None or case.gc is not None or case.cpu is not None:
        return
    base, new = (side.collections for side in diff.sides)
    both = collecting(diff)
    if both is None:
        return
    before, after = both
    waited = [side.waits.during_ns["gc_mark_ns"] for side in diff.sides]
    stops = [_longest_stop(side) for side in diff.sides]
    stopped = arrow(stops[0], stops[1], "ns")
    yield Finding(
        "gc-capacity",
        f"GC uses {share_pair(before, after)} of GOMAXPROCS",
        f"{_cycles(diff)}. Marking was on for "
        f"{arrow(base.mark_wall_ns, new.mark_wall_ns, 'ns')} of that wall time"
        f"{_live(diff)}; the longest stop of the world took {stopped}. {_assists(diff)}"
        f"Added up, goroutines waited {scaled(diff, *waited)} for a processor while GC "
        "was marking.",
        (
            Fact("GC share of capacity", "trace", before, after, "ratio"),
            Fact("cycles started", "trace", base.started, new.started, "cycles"),
            time_fact("marking, wall", base.mark_wall_ns, new.mark_wall_ns),
            time_fact("longest stop of the world by GC, wall", *stops),
            time_fact("runnable while GC was marking", *waited),
        ),
        "GC logs of both sides give the CPU time per cycle.",
        severity="minor" if beyond(diff, GC_SHARE_SURE, (before, after)) else "info",
        direction=direction(before, after),
        # The cause ranks above what it entails.
        weight=4 + abs(after - before),
    )


def _assists(diff: TraceDiff) -> str:
    """Return how long goroutines that do the work assist, "" if they do not."""
    base, new = diff.within(worker_rows(diff) or ()).get(ASSIST, (0, 0))
    if not base and not new:
        return ""
    return f"Mark assists took goroutines {scaled(diff, base, new)}. "


def _cycles(diff: TraceDiff) -> str:
    """Return how many cycles started, and what triggered them."""
    base, new = (side.triggers for side in diff.sides)
    spans = arrow(diff.base.wall_ns, diff.new.wall_ns, "ns")
    number = f"{counts(sum(base.values()), sum(new.values()))} cycles in {spans}"
    names = list(dict.fromkeys([*base, *new]))
    if len(names) == 1:
        return f"{number}, all triggered by {_cause(names[0])}"
    parts = [f"{counts(base.get(n, 0), new.get(n, 0))} by {_cause(n)}" for n in names]
    return f"{number}, triggered: {', '.join(parts)}"


def _cause(name: str) -> str:
    """Return what triggered cycles, with the function's package shortened."""
    head, inside, function = name.partition(" in ")
    return f"{head}{inside}{short(function)}" if inside else name


def _longest_stop(side: TraceSide) -> int:
    """Return the longest stop-the-world pause of GC (ns), 0 for none."""
    stops = side.collections.stops
    return max((s.duration.max_ns or 0 for s in stops if s.of_gc), default=0)


def _live(diff: TraceDiff) -> str:
    """Return the mean live heap at the end of cycles, "" if unknown."""
    means = []
    for side in diff.sides:
        cycles = side.collections.cycles
        live = cycles.live_end_bytes[cycles.ended & (cycles.live_end_bytes > 0)]
        if not len(live):
            return ""
        means.append(float(live.mean()))
    return f", to a live heap of {arrow(means[0], means[1], 'bytes')}"
