"""What only traces tell: waiting for a processor, life lost to GC, GOMAXPROCS."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import TYPE_CHECKING

from pprofdiff.diff.findings.case import Case
from pprofdiff.diff.findings.model import Fact, Finding
from pprofdiff.diff.findings.wording import arrow, listed, short, times
from pprofdiff.units import percent

if TYPE_CHECKING:
    from pprofdiff.diff.trace.compare import TraceDiff
    from pprofdiff.diff.trace.goroutines import Groups
    from pprofdiff.diff.trace.side import TraceSide

__all__ = ["blocked", "gc_capacity", "latency", "life_lost", "overcommitted"]

# Two runs of one build differ by more than the intervals within each: such a ratio is
# worth a sentence, and where there is no interval only a larger one matters.
_RATIO, _UNSURE_RATIO = 1.5, 2.0
# Quantiles of fewer waits than this say little, and shorter ones hurt nobody.
_WAITS, _MANY_WAITS, _TELLING_NS = 200, 1000, 100_000
# Shares of life, and of capacity, that are worth a sentence, and those that matter.
_POINTS, _MANY_POINTS = 0.02, 0.10
_FEW_CYCLES = 3
# So many processors more than CPUs are a fault of GOMAXPROCS.
_OVER = 1.25


def latency(case: Case) -> Iterator[Finding]:
    """Runnable goroutines wait longer or shorter for a processor, and for what."""
    diff = case.trace
    if diff is None:
        return
    base, new = (side.waits.quantiles() for side in diff.sides)
    if min(base.count, new.count) < _WAITS or not base.p99_ns or not new.p99_ns:
        return
    ratio = new.p99_ns / base.p99_ns
    interval = diff.latency_intervals["p99"]
    if abs(log(ratio)) < log(_RATIO) or max(base.p99_ns, new.p99_ns) < _TELLING_NS:
        return
    if interval is not None and interval[0] <= 0 <= interval[1]:
        return
    many = min(base.count, new.count) >= _MANY_WAITS
    matters = interval is not None or (many and abs(log(ratio)) >= log(_UNSURE_RATIO))
    yield Finding(
        "sched-latency",
        f"Goroutines wait {times(ratio)} as long for a processor: 99 % of waits are "
        f"within {arrow(base.p99_ns, new.p99_ns, 'ns')}",
        f"{_causes(diff)} {_held_up(diff)}"
        + ("" if interval else " The traces are too short for an interval."),
        (
            Fact("p50 of runnable time", "trace", base.p50_ns, new.p50_ns, "ns"),
            Fact("p99 of runnable time", "trace", base.p99_ns, new.p99_ns, "ns"),
            Fact("p99.9 of runnable time", "trace", base.p999_ns, new.p999_ns, "ns"),
            Fact("waits", "trace", base.count, new.count, "waits"),
        ),
        severity="minor" if matters else "info",
        direction="worse" if ratio > 1 else "better",
        weight=abs(log(ratio)),
    )


def _causes(diff: TraceDiff) -> str:
    """Return what made goroutines runnable whose waiting moved most."""
    from pprofdiff.diff.trace.latency import by_cause

    causes = [by_cause(side.waits) for side in diff.sides]
    names = dict.fromkeys([*causes[0].name, *causes[1].name])

    def amounts(name: str) -> tuple[float, float]:
        base, new = (
            held.row(name).total_ns * factor
            for held, factor in zip(causes, diff.factors, strict=True)
        )
        return base, new

    most = max(names, key=lambda name: abs(amounts(name)[1] - amounts(name)[0]))
    return f"Most of the change is in goroutines {most}: {_by(diff, amounts(most))}."


def _by(diff: TraceDiff, pair: tuple[float, float]) -> str:
    per = "a second" if diff.rates is None else "an operation"
    return f"{arrow(pair[0], pair[1], 'ns')} runnable {per}"


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
        if max(shares) >= _POINTS:
            words.append(f"{what} for {old} → {fresh}")
    return f"Of the waiting, {listed(words)}." if words else ""


def life_lost(case: Case) -> Iterator[Finding]:
    """Goroutines lose part of their life to mark assist or stopping the world."""
    diff = case.trace
    if diff is None:
        return
    worst: tuple[float, str, list[float]] | None = None
    for pair in diff.groups:
        if pair.base < 0 or pair.new < 0:
            continue
        shares = [
            _lost(side.groups, row)
            for side, row in zip(diff.sides, (pair.base, pair.new), strict=True)
        ]
        moved = abs(shares[1] - shares[0])
        if moved >= _POINTS and (worst is None or moved > worst[0]):
            worst = moved, pair.name, shares
    if worst is None:
        return
    moved, name, shares = worst
    cycles = min(side.collections.begun for side in diff.sides)
    matters = moved >= _MANY_POINTS and max(shares) >= _UNSURE_RATIO * min(shares)
    yield Finding(
        "gc-life",
        f"Goroutines of {short(name)} spend {percent(shares[0], 1)} → "
        f"{percent(shares[1], 1)} of their life in mark assists and stops of the world",
        "Blocked and runnable time within an assist counts.",
        (Fact(f"share of life of {name}", "trace", shares[0], shares[1], "ratio"),),
        "Allocate less on this path, or raise GOGC." if shares[1] > shares[0] else "",
        severity="minor" if matters and cycles >= _FEW_CYCLES else "info",
        direction="worse" if shares[1] > shares[0] else "better",
        weight=worst[0],
    )


def _lost(held: Groups, row: int) -> float:
    """Return the share of a group's life within assists and stops of the world."""
    wanted = [
        place
        for place, name in enumerate(held.range_names)
        if name == "GC mark assist" or name.startswith("stop-the-world (GC")
    ]
    total = int(held.total_ns[row])
    return int(held.range_ns[row, wanted].sum()) / total if total else 0.0


def overcommitted(case: Case) -> Iterator[Finding]:
    """Goroutines hold processors for longer than the process got CPU time."""
    diff, cpu = case.trace, case.cpu
    if diff is None or cpu is None:
        return
    spans = cpu.diff.base.profile.duration_ns, cpu.diff.new.profile.duration_ns
    ratios = [
        _overcommit(side, total, span)
        for side, total, span in zip(diff.sides, cpu.diff.totals, spans, strict=True)
    ]
    known = [ratio for ratio in ratios if ratio is not None]
    if len(known) < 2 or max(known) < _OVER:
        return
    held = [side.processors.running_ns.sum() / side.wall_ns for side in diff.sides]
    limits = [int(side.processors.gomaxprocs.value.max()) for side in diff.sides]
    differ = (known[0] >= _OVER) != (known[1] >= _OVER) or limits[0] != limits[1]
    yield Finding(
        "gomaxprocs-over",
        f"GOMAXPROCS is {_same(limits)}, more than the CPU that the process gets",
        f"Goroutines hold processors for {known[0]:.1f}× → {known[1]:.1f}× CPU time. "
        f"That is {held[0]:.2f} → {held[1]:.2f} processors on average: the operating "
        "system runs fewer threads at a time, and running goroutines stand still.",
        (
            Fact(
                "processor time by CPU time",
                "trace, cpu profile",
                known[0],
                known[1],
                "ratio",
            ),
        ),
        "Set GOMAXPROCS to the CPU limit (Go 1.25 does so itself in containers).",
        severity="minor" if differ else "info",
        weight=max(known),
    )


def _overcommit(side: TraceSide, cpu_ns: int, span: int | None) -> float | None:
    """Return processor time a second of wall time, by CPU time a second."""
    if not span or not cpu_ns or not side.wall_ns:
        return None
    return float(side.processors.goroutine_ns / side.wall_ns / (cpu_ns / span))


def _same(limits: list[int]) -> str:
    base, new = limits
    return str(base) if base == new else f"{base} → {new}"


def gc_capacity(case: Case) -> Iterator[Finding]:
    """Tell GC's share of capacity, where traces hold cycles enough."""
    diff = case.trace
    if diff is None or case.gc is not None or case.cpu is not None:
        return
    base, new = (side.collections for side in diff.sides)
    if min(base.begun, new.begun) < _FEW_CYCLES:
        return
    old, fresh = base.gc_fraction, new.gc_fraction
    if old is None or fresh is None or abs(fresh - old) < _POINTS:
        return
    yield Finding(
        "gc-capacity",
        f"GC takes {percent(old, 1)} → {percent(fresh, 1)} of GOMAXPROCS × time",
        f"{base.begun} → {new.begun} cycles in the traces; marking "
        f"{arrow(base.mark_wall_ns, new.mark_wall_ns, 'ns')} of wall time.",
        (Fact("GC share of capacity", "trace", old, fresh, "ratio"),),
        "A GC log of each tells frequency from cost.",
        severity="minor" if abs(fresh - old) >= _MANY_POINTS else "info",
        direction="worse" if fresh > old else "better",
    )


def blocked(case: Case) -> Iterator[Finding]:
    """Goroutines are blocked on locks for longer or shorter."""
    diff = case.trace
    if diff is None:
        return
    rows = [r for r in diff.states if r.state == "blocked" and r.reason == "sync"]
    if not rows or not rows[0].base_ns or not rows[0].new_ns:
        return
    pair = rows[0].base_ns * diff.factors[0], rows[0].new_ns * diff.factors[1]
    ratio = pair[1] / pair[0]
    whole = sum(s.new_ns for s in diff.states) * diff.factors[1]
    if abs(log(ratio)) < log(_UNSURE_RATIO) or max(pair) < _POINTS * whole / 2:
        return
    yield Finding(
        "blocked-sync",
        f"Goroutines are blocked on locks {times(ratio)} as long",
        f"{arrow(pair[0], pair[1], 'ns')} "
        f"{'a second' if diff.rates is None else 'an operation'}, over all goroutines.",
        (Fact("blocked: sync", "trace", rows[0].base_ns, rows[0].new_ns, "ns"),),
        severity="info",
        direction="worse" if ratio > 1 else "better",
    )
