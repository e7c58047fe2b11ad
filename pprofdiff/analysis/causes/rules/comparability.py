"""What else differs between the sides: load, GOMAXPROCS."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import numpy as np

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import CPUComparison, Load
from pprofdiff.analysis.causes.finding import Fact, Finding
from pprofdiff.analysis.causes.wording import listed_functions, numeral, times
from pprofdiff.analysis.control.alike import functions_alike, scaled_alike
from pprofdiff.analysis.control.estimate import control
from pprofdiff.analysis.control.totals import total_noise
from pprofdiff.analysis.policy import MOST, NAMED, SIMILAR
from pprofdiff.goruntime.names import is_runtime_like as _of_runtime
from pprofdiff.units import times as plain_times

__all__ = ["more_of_the_same", "processors", "unlike_load"]


def unlike_load(case: Case) -> Iterator[Finding]:
    """Yield a finding where most functions changed by one factor: unequal work."""
    load = None if case.cpu is None else _a_second(case.cpu)
    if load is None or not load.sure:
        return
    base, new = case.labels
    low, high = load.low, load.high
    span = f"{plain_times(low).removesuffix('×')} to {plain_times(high)}"
    factor = numeral(span, "ratio", load.ratio)
    if high < SIMILAR * low:
        factor = times(load.ratio)
    pair = f"{base.upper()}:{new.upper()}"
    flag, each = f"--rps {pair} (ops/s)", ""
    if case.comparison.of_fleets:
        flag = f"--work {pair} (operations of all hosts while profiled)"
        # Sides may differ in the number of hosts and profiles.
        each = " in a second of a host"
    yield Finding(
        "not-comparable",
        f"{new} probably did {factor} the work of {base}{each}",
        "Most functions outside the runtime cost that much more or less: another load "
        "moves them together. Rows that changed by another factor are what differs.",
        (Fact("pace of most functions", "cpu profile", 1.0, load.ratio, "ratio"),),
        f"Pass {flag} to compare per op.",
        severity="minor",
    )


def _a_second(cpu: CPUComparison) -> Load | None:
    """Return the load; shares are converted to CPU time per second.

    All other code's share falls where one function costs more: that is not less work.
    """
    load = cpu.load
    if load is None or not cpu.in_shares:
        return load
    base_by, new_by = cpu.diff.normalization.factors
    base_ns, new_ns = (
        side.profile.duration_ns for side in (cpu.diff.base, cpu.diff.new)
    )
    seconds = base_ns / new_ns if base_ns and new_ns else 1.0
    return load.times(base_by / new_by * seconds)


def more_of_the_same(case: Case) -> Iterator[Finding]:
    """Yield a finding where all code costs more or less alike: each op does more work.

    It is the same work if neither side runs functions that the other lacks. If the
    share of unchanged code in the total changed, or one function explains most of the
    change, code did not change alike.
    """
    cpu = case.cpu
    if cpu is None or cpu.diff.normalization.mode != "per_work":
        return
    diff = cpu.diff
    alike = scaled_alike(diff)
    if alike is None or not alike.alike or total_noise(diff) is not False:
        return
    if not functions_alike(diff) or _one_explains(case, cpu):
        return
    by = control(diff)
    if by is not None and by.holds and not by.low <= 1 <= by.high:
        return
    base, new = diff.normalization.scaled(*diff.totals)
    more = new > base
    table = diff.table("functions")
    own = [i for i in table.order("flat").tolist() if not _of_runtime(table.names[i])]
    own.sort(key=lambda i: -int(table.raw("flat")[1][i]))
    named = listed_functions([table.names[i] for i in own[:NAMED]])
    work = "work" if _differ(case) else "of the same work"
    yield Finding(
        "more-of-the-same",
        f"All code costs {times(new / base)} alike: each op does "
        f"{'more' if more else 'less'} {work}",
        f"{named} and all groups keep their shares of the CPU. A machine that is "
        f"{'slower' if more else 'faster'} by as much does that too; virtual machines "
        "vary by 12 to 17% from run to run.",
        (Fact("CPU per op", "cpu profile", base, new, diff.unit),),
        direction="worse" if more else "better",
        claim=cpu.all,
        weight=float("inf"),
    )


def _one_explains(case: Case, cpu: CPUComparison) -> bool:
    """Return whether one function, with its callees, explains most of the change.

    It does if the rest hardly changed without it; what only one side runs counts as one
    function. A function with most of the CPU on both sides is all code, not a part.
    """
    parts = [np.append(side, 0) for side in cpu.cum]
    if case.one_sided is not None:
        for side, alone in zip(parts, cpu.sums(case.one_sided.claim), strict=True):
            side[-1] = alone
    totals, by = cpu.diff.totals, cpu.diff.normalization
    rests = [whole - part for whole, part in zip(totals, parts, strict=True)]
    shares = np.maximum(rests[0] / totals[0], rests[1] / totals[1])
    # One sample more, as a side may have nothing left.
    left = by.scaled(*(r + w for r, w in zip(rests, cpu.model.worth, strict=True)))
    whole = by.scaled(*totals)
    if whole[0] == whole[1]:
        return True
    # With negative values, as in a diff, a part may exceed the whole.
    large = (shares >= MOST) & (left[0] > 0) & (left[1] > 0)
    moved = np.log(left[1][large] / left[0][large]) / log(whole[1] / whole[0])
    return bool((moved < 1 - MOST).any())


def _differ(case: Case) -> bool:
    """Return whether only one side runs functions that matter: it does other work."""
    alone = case.one_sided
    return alone is not None and bool(alone.gone.roots or alone.added.roots)


def processors(case: Case) -> Iterator[Finding]:
    """Yield a finding where GOMAXPROCS differs."""
    gc = case.gc
    if gc is None or gc.base.steady.procs == gc.new.steady.procs:
        return
    base, new = gc.base.steady.procs, gc.new.steady.procs
    both = numeral(f"{base:g} → {new:g}", "pair", new, base)
    yield Finding(
        "gomaxprocs",
        f"GOMAXPROCS differs: {both}",
        "Shares of capacity, scheduling and idle marking change with it.",
        (Fact("GOMAXPROCS", "gctrace P", base, new, "processors"),),
        "Compare builds under one GOMAXPROCS.",
        severity="minor",
    )
