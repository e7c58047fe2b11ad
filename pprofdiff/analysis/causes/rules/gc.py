"""Garbage collection: how often, at what cost, who forced it, who assists."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import TYPE_CHECKING

import numpy as np

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import OF_GC
from pprofdiff.analysis.causes.finding import Claim, Fact, Finding
from pprofdiff.analysis.causes.rules.comparability import collectors
from pprofdiff.analysis.causes.rules.marking import cycle_cpu_us, marked
from pprofdiff.analysis.causes.wording import (
    amount,
    arrow,
    counts,
    fixed,
    listed,
    numeral,
    percent,
    share_pair,
    times,
)
from pprofdiff.analysis.policy import MAJOR, MOST, MUCH, SIMILAR
from pprofdiff.analysis.profiles.groups import judged_categories
from pprofdiff.goruntime.readable import short

if TYPE_CHECKING:
    from pprofdiff.analysis.gclogs.compare import Factors, GCDiff, Pace
    from pprofdiff.analysis.gclogs.side import GCSide

# Factors closer to 1 than this are not worth a sentence.
_OFTEN, _DEAR = 1.10, 1.15
# Goals whose distance above the live heap differs by this factor were set differently.
_PACE = 1.2
# A different GOGC is a finding of its own from this many cycles on.
_CYCLES = 5
# Shares of forced cycles that differ by less are those of short and long runs.
_FORCED = 0.25
_MB = 1 << 20


def frequency(case: Case) -> Iterator[Finding]:
    """Yield a finding where GC runs more or less often, with the reason."""
    gc = case.gc
    if gc is None or gc.factors is None or not _cadence_moved(gc):
        return
    factors = gc.factors
    if abs(log(factors.cycles)) < log(_OFTEN):
        return
    per = "per op" if gc.per_work else "per second"
    by = " per op" if gc.per_work else ""
    fewer_bytes = -log(factors.bytes_per_cycle)
    heap = fewer_bytes / log(factors.cycles) >= MOST
    advice = ""
    if heap:
        reason, advice = _heap_reason(gc, more=factors.cycles > 1)
    else:
        bytes_ = f"{times(factors.allocation)} as many bytes {per}"
        reason = f"it allocates {bytes_}, by the GC log"
    yield Finding(
        "gc-frequency",
        f"GC runs {times(factors.cycles)} as often{by}: {reason}",
        _sums_up(case, gc, factors),
        _evidence(gc),
        advice,
        direction="worse" if factors.cycles > 1 else "better",
        severity="minor" if case.cpu is None and gc.cadence_beyond_runs else "info",
        claim=_claim(case, factors.cycles),
        weight=abs(log(factors.cycles)),
    )


def pace(case: Case) -> Iterator[Finding]:
    """Yield a finding where GOGC differs, but not how often GC runs.

    The ratio of goal to live heap shows the setting, whatever the machine or the load.
    """
    gc = case.gc
    if gc is None or any(frequency(case)):
        return
    base, new = _pace(gc.base), _pace(gc.new)
    if base is None or new is None or not base.follows_gogc or not new.follows_gogc:
        return
    cycles = min(side.steady.cycles for side in (gc.base, gc.new))
    if abs(log(new.gogc / base.gogc)) < log(SIMILAR) or cycles < _CYCLES:
        return
    yield Finding(
        "gc-pace",
        f"GOGC is about {fixed(base.gogc, new.gogc, 0)}",
        "By the goals over the live heaps of the GC logs. GC runs "
        f"{'more' if new.gogc < base.gogc else 'less'} often for it where as much is "
        "allocated.",
        _evidence(gc),
        severity="minor",
        direction="worse" if new.gogc < base.gogc else "better",
        weight=abs(log(new.gogc / base.gogc)),
        sure=True,
    )


def limit(case: Case) -> Iterator[Finding]:
    """Yield a finding where the live heap changed under a memory limit."""
    gc = case.gc
    if gc is None or not held_back(gc):
        return
    base, new = gc.base.steady, gc.new.steady
    live = base.heap.median_live, new.heap.median_live
    grew = new.heap.mean_live > base.heap.mean_live
    shares, moved, takes = (base.gc_cpu_share, new.gc_cpu_share), 0.0, ""
    if shares[0] and shares[1] and marked(gc, shares[1] / shares[0]):
        moved = max(shares[1] - shares[0] if grew else shares[0] - shares[1], 0.0)
        parts = share_pair(shares[0], shares[1])
        takes = f", and GC takes {parts} of the CPU capacity" if moved else ""
    title, text, advice = _grown(gc, live) if grew else _shrunk(gc, live)
    yield Finding(
        "gc-limit",
        f"{title}{takes}",
        text,
        _evidence(gc),
        advice,
        direction="worse" if grew else "better",
        severity="major" if moved >= MAJOR else "minor",
        weight=moved,
        # It rests on heap sizes, which do not depend on the machine.
        sure=True,
    )


def _grown(gc: GCDiff, live: tuple[float, float]) -> tuple[str, str, str]:
    """Return title, text and advice where the live heap grew under new's limit."""
    goal, pace = gc.new.steady.heap.median_goal, _pace(gc.new)
    more, text = "Raise GOMEMLIMIT", ""
    if pace is not None and pace.alone_mb is not None:
        alone = live[1] * (1 + pace.low_gogc / 100)
        text = f"GOGC alone makes the goal about {_mb(alone)}. "
        more += f", by about {_mb(alone - goal)} for that goal,"
    title = (
        f"The memory limit (GOMEMLIMIT) binds in {gc.new.label}: the live heap grew "
        f"{times(live[1] / live[0])} to {_mb(live[1])} under a goal of {_mb(goal)}"
    )
    text += (
        "Goals stay where they are while the live heap varies: the larger it is, the "
        "less may be allocated until the next cycle, and each marks more."
    )
    advice = f"{more} or keep less in the live heap; a higher GOGC changes nothing."
    return title, text, advice


def _shrunk(gc: GCDiff, live: tuple[float, float]) -> tuple[str, str, str]:
    """Return title, text and advice where the live heap shrank under base's limit."""
    title = (
        f"The memory limit (GOMEMLIMIT) of {gc.base.label} leaves more room: the live "
        f"heap shrank {arrow(live[0] * _MB, live[1] * _MB, 'bytes')}"
    )
    text = (
        "Goals stayed where they are while the live heap varied: the smaller it is, "
        "the more may be allocated until the next cycle, and each marks less."
    )
    return title, text, ""


def held_back(gc: GCDiff) -> bool:
    """Return whether a memory limit holds the goals of the larger live heap."""
    live = gc.estimates["mean_live"]
    if not live.significant:
        return False
    pace = _pace(gc.new if live.grew else gc.base)
    return pace is not None and pace.held


def _pace(side: GCSide) -> Pace | None:
    """Return how far a side's goal is above its live heap, None if unknown."""
    # Imported only where there are logs.
    from pprofdiff.analysis.gclogs.compare import pace_of

    return pace_of(side)


def _mb(size: float) -> str:
    return amount(size * _MB, "bytes")


def _cadence_moved(gc: GCDiff) -> bool:
    """Return whether GC frequency changed significantly (one run: within the run)."""
    return gc.cadence_beyond_runs if gc.several_runs else gc.interval_change.significant


def _cost_moved(gc: GCDiff) -> bool:
    """Return whether CPU per cycle changed significantly (one run: within the run)."""
    if gc.several_runs:
        return gc.estimates["gc_cpu_us_per_cycle"].significant
    return gc.cycle_cpu_change.significant


def _claim(case: Case, factor: float) -> Claim | None:
    """Claim GC's CPU, unless it changed in the other direction than the factor."""
    if case.cpu is None:
        return None
    claim = case.cpu.of_groups(*OF_GC)
    return claim if (case.cpu.delta(claim) > 0) == (factor > 1) else None


def _heap_reason(gc: GCDiff, *, more: bool) -> tuple[str, str]:
    """Return why fewer or more bytes fit between two cycles, and advice."""
    base, new = _pace(gc.base), _pace(gc.new)
    if base is not None and new is not None:
        ratio = new.effective / base.effective if base.effective > 0 else 0.0
        # A lower goal makes GC run more often, never less.
        if ratio > 0 and abs(log(ratio)) > log(_PACE) and more == (ratio < 1):
            return _pace_reason(gc, base, new, more=more)
    held = new is not None and new.held and not more
    live = gc.base.steady.heap.mean_live, gc.new.steady.heap.mean_live
    advice = _cadence(gc) if more else ""
    if all(live):
        as_large = times(live[1] / live[0])
        way = "higher" if live[1] > live[0] else "lower"
        goal = f"the heap goal is {way}{', up to a memory limit' if held else ''}"
        return f"the mean live heap is {as_large} as large, so {goal}", advice
    return "it allocates another amount of memory between cycles", advice


def _pace_reason(gc: GCDiff, base: Pace, new: Pace, *, more: bool) -> tuple[str, str]:
    """Return whether GOGC or a memory limit changed the pace, and advice."""
    for side, other, label in ((new, base, gc.new.label), (base, new, gc.base.label)):
        if side.limited and not other.limited:
            heaps = gc.base.steady.heap, gc.new.steady.heap
            heap, wide = heaps[::-1] if side is new else heaps
            as_wide = wide.median_goal / max(wide.median_live, 1)
            room = as_wide * heap.median_live - heap.median_goal
            advice = ""
            if more and room > 0:
                advice = (
                    f"Raise GOMEMLIMIT by {_mb(room)} to run GC as seldom as in "
                    f"{gc.base.label}; a higher GOGC changes nothing."
                )
            reason = (
                f"a memory limit (GOMEMLIMIT) binds in {label}: its goal is "
                f"{_mb(heap.median_goal)} at a live heap of {_mb(heap.median_live)} "
                "(medians)"
            )
            if side.alone_mb is not None:
                alone = heap.median_live * (1 + side.low_gogc / 100)
                reason += f", where GOGC alone makes it {_mb(alone)}"
            return reason, advice
    if base.follows_gogc and new.follows_gogc:
        return (
            f"GOGC is about {fixed(base.gogc, new.gogc, 0)}",
            f"GOGC={base.gogc:.0f} restores {gc.base.label}'s cadence." if more else "",
        )
    paces = f"{fixed(base.effective, new.effective, 0)}%"
    return (
        f"the goal is {paces} above the live heap: GOGC or a memory limit differs",
        "",
    )


def _binds(gc: GCDiff) -> bool:
    """Return whether a memory limit binds on one side alone: then `_pace_reason` says.

    Sizes that a limit is compared with are medians: while a heap grows to its size,
    means are below what it has from then on. Bytes per cycle follow the means.
    """
    base, new = _pace(gc.base), _pace(gc.new)
    return base is not None and new is not None and base.limited != new.limited


def _sums_up(case: Case, gc: GCDiff, factors: Factors) -> str:
    """Return the factors of GC CPU and the numbers behind them, in words."""
    base, new = gc.base.steady, gc.new.steady
    rate = "per op" if gc.per_work else "per second"
    cost = cycle_cpu_us(case, gc)
    each = ""
    if cost is not None:
        of = cost.source or " without idle marking"
        each = f", each taking {arrow(cost.base, cost.new, 'us')} of CPU{of}"
    old, now, sizes = base.heap, new.heap, "means"
    heaps = (old.mean_live, now.mean_live), (old.mean_goal, now.mean_goal)
    if _binds(gc):
        sizes = "medians"
        heaps = (old.median_live, now.median_live), (old.median_goal, now.median_goal)
    live, goal = (arrow(one * _MB, other * _MB, "bytes") for one, other in heaps)
    words = [
        f"{arrow(base.cycles_per_second or 0, new.cycles_per_second or 0, '')} cycles",
        f"per second{each}.",
        f"Live heap {live}, goal {goal} ({sizes}).",
    ]
    if base.allocated_mb_per_second and new.allocated_mb_per_second:
        allocated = arrow(
            base.allocated_mb_per_second * _MB,
            new.allocated_mb_per_second * _MB,
            "bytes",
        )
        words.append(f"Allocated per second: {allocated}.")
    whole = gc.base.whole.heap.allocated, gc.new.whole.heap.allocated
    if whole[0] and whole[1]:
        in_all = arrow(whole[0] * _MB, whole[1] * _MB, "bytes")
        less = percent(whole[1] - whole[0], whole[0], signed=True)
        where = "windows" if gc.base.shown.asked or gc.new.shown.asked else "whole logs"
        words.append(f"Allocated in the {where}: {in_all} ({less}).")
    if cost is None or cost.source:
        return " ".join(words)
    words.append(
        f"GC CPU {rate} {times(factors.gc_cpu)} = allocation "
        f"{times(factors.allocation)} ÷ bytes per cycle "
        f"{times(factors.bytes_per_cycle)} × CPU per cycle "
        f"{times(factors.cpu_per_cycle)}."
    )
    return " ".join(words)


def _cadence(gc: GCDiff) -> str:
    """Return the settings that restore base's bytes per cycle."""
    restored = gc.restored
    if restored is None:
        return ""
    text = f"GOGC={restored.gogc:.0f} restores {gc.base.label}'s cadence"
    if restored.heap_mb is None:
        return f"{text}; from Go 1.19 GOMEMLIMIT can do it too."
    limit = restored.heap_mb + (restored.outside_mb or 0)
    return (
        f"{text}, at a heap of {restored.heap_mb:.0f} MiB; so does GOGC=off with "
        f"GOMEMLIMIT={limit:.0f}MiB plus what the runtime holds outside the heap."
    )


def _evidence(gc: GCDiff) -> tuple[Fact, ...]:
    """Return the window's numbers, each with the gctrace fields that it is made of."""
    base, new = gc.base.steady, gc.new.steady
    before, after = base.heap, new.heap
    old, now = _pace(gc.base), _pace(gc.new)
    cpu_ms = base.gc_cpu_us_per_cycle / 1000, new.gc_cpu_us_per_cycle / 1000
    rates = base.cycles_per_second, new.cycles_per_second
    allocated = base.allocated_mb_per_second, new.allocated_mb_per_second
    gogc = before.effective_gogc, after.effective_gogc
    per_cycle = before.per_cycle, after.per_cycle
    shares = base.gc_cpu_share, new.gc_cpu_share
    above = old and old.effective, now and now.effective
    set_to = _set_to(old), _set_to(now)
    facts = (
        Fact("cycles per second", "gctrace N, @T", *rates, "1/s"),
        Fact("GC CPU per cycle", "gctrace S+A+D+T", *cpu_ms, "ms"),
        Fact("live heap, mean", "gctrace H2", before.mean_live, after.mean_live, "MiB"),
        Fact("goal, mean", "gctrace goal", before.mean_goal, after.mean_goal, "MiB"),
        Fact(
            "live heap, median",
            "gctrace H2",
            before.median_live,
            after.median_live,
            "MiB",
        ),
        Fact(
            "goal, median", "gctrace goal", before.median_goal, after.median_goal, "MiB"
        ),
        Fact("allocated per cycle", "gctrace H0, H1, H2", *per_cycle, "MiB"),
        Fact("allocated per second", "gctrace H0, H1, H2, @T", *allocated, "MiB/s"),
        Fact("effective GOGC", "gctrace goal, H2", *gogc, "%"),
        Fact("goal above the live heap", "gctrace goal, H2", *above, "%"),
        Fact("GOGC", "gctrace goal, H2", *set_to, "%"),
        Fact("GC share of capacity", "gctrace S+A+D+T", *shares, "ratio"),
    )
    return tuple(fact for fact in facts if (fact.base, fact.new) != (None, None))


def _set_to(pace: Pace | None) -> float | None:
    return pace.gogc if pace is not None and pace.follows_gogc else None


def dearer(case: Case) -> Iterator[Finding]:
    """Yield a finding where a cycle costs more or less CPU, with the reason."""
    gc = case.gc
    if gc is None or gc.factors is None or not _cost_moved(gc):
        return
    cost = cycle_cpu_us(case, gc)
    if cost is None:
        return
    base, new, source = cost
    logged = gc.factors.cpu_per_cycle
    ratio = new / base if base > 0 < new else 0.0
    if ratio <= 0 or abs(log(ratio)) < log(_DEAR) or log(ratio) * log(logged) <= 0:
        return
    if not source and not marked(gc, ratio):
        return
    reason, facts = _marking_reason(case, gc, ratio)
    by_release = case.cpu is not None and case.cpu.other_release
    yield Finding(
        "gc-cycle-cost",
        f"CPU per GC cycle is {times(ratio)}{reason}",
        f"A cycle takes {arrow(base, new, 'us')} of CPU{source}.",
        (*_evidence(gc), *facts),
        direction="worse" if ratio > 1 else "better",
        severity=(
            "minor" if by_release or (case.cpu is None and _cost_sure(gc)) else "info"
        ),
        claim=_claim(case, ratio),
        weight=abs(log(ratio)),
        # A different collector has a different cost on the same heap: the log shows it.
        sure=by_release,
    )


def _cost_sure(gc: GCDiff) -> bool:
    """Return whether cost, or live heap, changed more than runs of one build differ.

    The live heap is what gets marked: if both changed, it was not the machine.
    """
    cost, live = (gc.estimates[f] for f in ("gc_cpu_us_per_cycle", "mean_live"))
    return cost.significant or (live.significant and live.grew == cost.grew)


def _marking_reason(
    case: Case, gc: GCDiff, ratio: float
) -> tuple[str, tuple[Fact, ...]]:
    """Return what decides the cost of marking, if known: bytes, or objects.

    Between Go releases it may be the collector itself. A busy machine makes cycles
    costlier too: the log counts the time that mark workers wait for a CPU.
    """
    live = gc.base.steady.heap.mean_live, gc.new.steady.heap.mean_live
    grown = log(live[1] / live[0]) if all(live) else 0.0
    if grown / log(ratio) >= MOST:
        return f": the mean live heap is {times(live[1] / live[0])} as large", ()
    at = f" at a live heap of {arrow(live[0] * _MB, live[1] * _MB, 'bytes')}"
    if case.cpu is not None and case.cpu.other_release:
        names = collectors(case.cpu)
        collector = f", and with it the collector{f': {names}' if names else ''}"
        return f"{at}: the Go release differs{collector}", ()
    live_objects = case.comparison.of_type("inuse_objects")
    if live_objects is None or min(live_objects.totals) <= 0:
        return at, ()
    base, new = live_objects.totals
    fact = Fact("live objects", "heap profile inuse_objects", base, new, "objects")
    if log(new / base) / log(ratio) >= MOST:
        return f"{at}: it holds {counts(base, new)} objects", (fact,)
    return at, (fact,)


def cpu_only(case: Case) -> Iterator[Finding]:
    """Yield a finding where GC's CPU changed, and no GC log explains it."""
    cpu = case.cpu
    if cpu is None or not cpu.moved("gc"):
        return
    if any(finding.claim for rule in (frequency, dearer) for finding in rule(case)):
        return
    group, tax = cpu.groups["gc"], cpu.groups["gc_tax"]
    unknown = (
        " A CPU profile does not show whether cycles are more frequent or cost more."
        if case.gc is None
        else ""
    )
    taxed = f"; sweeping and write barriers {cpu.words(tax.base, tax.new)}"
    rest = taxed if tax.base or tax.new else ""
    claim = cpu.of_groups(*OF_GC)
    label, several = cpu.gc_label(claim)
    yield Finding(
        "gc-cpu",
        f"{label} {cpu.moves(group.delta, several=several)}",
        f"Marking, assists and phases {cpu.words(group.base, group.new)}"
        f"{rest}.{unknown}",
        (cpu.fact("GC", group.base, group.new),),
        "Run both with GODEBUG=gctrace=1 and pass the logs as well: they show which."
        if case.gc is None
        else "",
        direction=cpu.way(group.delta),
        rises=group.delta > 0,
        claim=claim,
    )


def forced(case: Case) -> Iterator[Finding]:
    """Yield findings on cycles forced by runtime.GC, or by the two-minute timer."""
    gc = case.gc
    if gc is None:
        return
    whole = gc.base.whole, gc.new.whole
    cycles = whole[0].cycles, whole[1].cycles
    for what, why in (
        ("forced", "by runtime.GC"),
        ("timer", "after two minutes without one"),
    ):
        base, new = (getattr(side, what) for side in whole)
        shares = base / cycles[0], new / cycles[1]
        risen = shares[1] - shares[0]
        if abs(risen) < (_FORCED if what == "forced" else MUCH):
            continue
        yield Finding(
            f"gc-{what}",
            f"{_of_cycles((base, new), cycles)} GC cycles were forced {why}",
            "The heap did not reach its goal: GC runs by the clock or by request, not "
            "by what is allocated.",
            (Fact(f"cycles forced {why}", f"gctrace {what}", base, new, "cycles"),),
            "" if what == "forced" else "Latency spikes two minutes apart are these.",
            severity="minor" if abs(risen) > _FORCED else "info",
            direction="worse" if risen > 0 else "better",
        )


def _of_cycles(some: tuple[int, int], cycles: tuple[int, int]) -> str:
    """Return how many of all cycles: ``2 of 20 → 18 of 20``."""
    text = f"{some[0]} of {cycles[0]} → {some[1]} of {cycles[1]}"
    return numeral(text, "pair", some[1] / cycles[1], some[0] / cycles[0])


def assist(case: Case) -> Iterator[Finding]:
    """Yield a finding where mark assists changed, with who pays for them."""
    cpu = case.cpu
    if cpu is None:
        return
    diff = cpu.diff
    judged = judged_categories(diff, "gc", cpu.model)
    moved = next((row for row in judged if row.id == "gc.mark.assist"), None)
    if moved is None or moved.noise is not False:
        return
    names, base, new = cpu.payers(("gc.mark.assist",))
    order = np.argsort(-np.maximum(base, new), kind="stable")[:3].tolist()
    payers = [f"{short(names[i])} ({cpu.words(base[i], new[i])})" for i in order]
    more = "more" if moved.delta > 0 else "less"
    yield Finding(
        "gc-assist",
        f"Mark assists cost {more}",
        f"Mark assist {cpu.words(moved.base, moved.new)}"
        + (f", paid by {listed(payers)}." if payers else "."),
        tuple(
            cpu.fact(f"mark assist under {names[i]}", int(base[i]), int(new[i]))
            for i in order
        ),
        direction=cpu.way(moved.delta),
        rises=moved.delta > 0,
        claim=cpu.of(["gc.mark.assist"]),
    )
