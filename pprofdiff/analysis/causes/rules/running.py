"""Tasks or regions of traces whose goroutines run for longer each."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.finding import Fact, Finding, severity_of
from pprofdiff.analysis.causes.traces import beyond, direction, time_fact
from pprofdiff.analysis.causes.wording import arrow, counts, times
from pprofdiff.analysis.judge.calibration import BLOCKED
from pprofdiff.analysis.outcome.by_unit import user_times
from pprofdiff.analysis.policy import MOST
from pprofdiff.analysis.traces.unit_time import running_ns, unit_kind

# As of waits: what explains the goroutines' time ranks above what it entails.
_WEIGHT = 10.0
_MOST = 3


def running(case: Case) -> Iterator[Finding]:
    """Yield a finding for each name whose tasks last longer because goroutines run.

    A busy machine makes all of them run for longer: a task has to differ from the one
    that changed least too. CPU profiles say more of the same.
    """
    diff = case.trace
    kind = None if diff is None else unit_kind(diff)
    if diff is None or kind is None or case.cpu is not None:
        return
    ran = [running_ns(side, kind) for side in diff.sides]
    lasting = {
        one.name: (one.mean.means[0] * 1e9, one.mean.means[1] * 1e9)
        for one in user_times(case.comparison, kind)
    }
    each = {
        name: (ran[0][name][0] / ran[0][name][1], ran[1][name][0] / ran[1][name][1])
        for name in lasting
        if all(name in side and min(side[name]) > 0 for side in ran)
    }
    if len(each) < len(lasting) or not each:
        return
    factors = {name: new / base for name, (base, new) in each.items()}
    least = min(factors.values(), key=lambda factor: abs(log(factor)))
    whole = max(side.of_program("exec_ns") / side.wall_ns for side in diff.sides)
    found = []
    for name, (base, new) in each.items():
        longer, more = lasting[name][1] - lasting[name][0], new - base
        part = more / longer if longer else 0.0
        if part < MOST or not beyond(diff, BLOCKED, (base, new)):
            continue
        if not beyond(diff, BLOCKED, (base * least, new)):
            continue
        numbers = ran[0][name][1], ran[1][name][1]
        rate = min(
            n / side.wall_ns for n, side in zip(numbers, diff.sides, strict=True)
        )
        found.append((abs(more) * rate / max(whole, 1e-9), name, (base, new), numbers))
    for share, name, sides, numbers in sorted(found, reverse=True)[:_MOST]:
        yield Finding(
            "unit-running",
            f"Goroutines run for {arrow(*sides, 'ns')} per {kind}, "
            f"{times(factors[name])}",
            f"Each lasts {arrow(*lasting[name], 'ns')}: "
            f"{counts(*numbers)} complete {kind}s in the traces. That is wall time "
            "with a processor, not CPU time.",
            (
                time_fact(f"running per {kind} {name}", *sides),
                Fact(f"complete {kind}s {name}", "trace", *numbers, f"{kind}s"),
            ),
            "A CPU profile of each side shows which functions take it.",
            severity=severity_of(share),
            direction=direction(*sides),
            weight=1 + _WEIGHT * share,
            label=(kind, name),
        )
