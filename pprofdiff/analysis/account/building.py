"""The most direct account that the evidence allows: of time, or else of CPU.

================================  ===============================  =====================
evidence                          account of                       parts
================================  ===============================  =====================
trace, operation count            goroutine time per op            states, reasons
one benchmark with a CPU profile  time per op                      CPU by group, rest
CPU profile, operation count      CPU per op                       CPU by group
CPU profile, inferred count       CPU at about equal work          CPU by group
CPU profile alone                 none; shares of CPU              CPU by group
================================  ===============================  =====================
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import log

import numpy as np

from pprofdiff.analysis.account.intervals import intervals
from pprofdiff.analysis.account.model import Account, Amount, Part, in_part
from pprofdiff.analysis.benchmarks.times import is_time, measured
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.outcome.figures import timed
from pprofdiff.analysis.outcome.model import Measure
from pprofdiff.analysis.policy import SAME_WITHIN
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.side import of_benchmarks
from pprofdiff.goruntime.rules import rules

__all__ = ["account"]

_CPU = "CPU profile"
_NO_TRACE = "waiting was not measured: a trace of each side shows it by reason"
_NO_WORK = "the work is not known: these are shares, not costs"
# Root functions of goroutines that run a benchmark's operations.
_ON_THE_PATH = ("testing.(*B).launch", "testing.(*B).run1.func1")
_PARALLEL = "testing.(*B).RunParallel.func1"


def account(comparison: Comparison) -> Account | None:
    """Return the account of a comparison, or None if nothing sums to its change."""
    trace = comparison.trace
    if trace is not None and trace.rates is not None:
        from pprofdiff.analysis.account.traced import of_trace

        return of_trace(comparison, trace)
    diff = comparison.cpu
    if diff is None or not diff.classified:
        return None
    mode = diff.normalization.mode
    if mode == "composition":
        by = tuple(Fraction(100, total) for total in diff.totals)
        parts = _groups(diff, lambda base, new: Amount(base * by[0], new * by[1]))
        return Account("shares of CPU", "%", parts, gaps=(_NO_WORK,))
    if mode not in ("per_work", "about"):
        return None
    scaled, about = _scaling(diff), mode == "about"
    benchmarks = timed(comparison)
    alone = all(map(of_benchmarks, (comparison.base, comparison.new)))
    if (
        diff.turns is None
        and not about
        and alone
        and benchmarks is not None
        and len(benchmarks.each) == 1
    ):
        benchmarked = _of_benchmark(comparison, diff, benchmarks.whole, scaled)
        if benchmarked is not None:
            return benchmarked
    # If interleaved runs show a different change in time, there is a trace.
    gaps = (_NO_TRACE,) if diff.turns is None else ()
    of = "CPU at about equal work" if about else "CPU per op"
    return Account(of, "ns", _groups(diff, scaled), gaps=gaps)


_Scaled = Callable[[int, int], Amount]


def _scaling(diff: ProfileDiff) -> _Scaled:
    """Return a function that scales raw values to exact amounts."""
    base_by, new_by = (Fraction(factor) for factor in diff.normalization.factors)
    return lambda base, new: Amount(base * base_by, new * new_by)


def _groups(
    diff: ProfileDiff,
    scaled: _Scaled,
    kept: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[Part, ...]:
    """Return CPU by runtime group, of all samples or of the `kept` ones (bool)."""
    ledger = diff.ledger if kept is None else diff.ledger.among(kept)
    sums = ledger.every("group")
    return tuple(
        Part(f"cpu.{group.id}", group.label, scaled(old, now), _CPU, bounds)
        for group, old, now, bounds in zip(
            rules().groups,
            sums.base.tolist(),
            sums.new.tolist(),
            intervals(diff, sums.runs),
            strict=True,
        )
        if old or now
    )


def _of_benchmark(
    comparison: Comparison, diff: ProfileDiff, whole: Measure, scaled: _Scaled
) -> Account | None:
    """Return the account of one benchmark's time, or None if its goroutines are unseen.

    Time per op times the number of goroutines that run ops splits into their CPU and
    the rest: waiting, sleeping in system calls, other processes. Medians do not add up,
    so time is the mean of all operations, as CPU per op is.
    """
    times = [measured(side) for side in (comparison.base, comparison.new)]
    names = [name for name in times[0] if name in times[1]]
    if len(names) != 1 or whole.base is None or whole.new is None:
        return None
    means = [side[names[0]].seconds / side[names[0]].iterations for side in times]
    if not all(map(is_time, means)):
        return None
    masks = _on_the_path(diff)
    if not all(mask.any() for mask in masks):
        return None
    goroutines = [_goroutines(comparison, diff, side) for side in (0, 1)]
    time = Amount(
        *(
            Fraction(seconds) * 10**9 * count
            for seconds, count in zip(means, goroutines, strict=True)
        )
    )
    on = _groups(diff, scaled, (masks[0], masks[1]))
    rest = time.less(Amount.sum(part.amount for part in on))
    off = _groups(diff, scaled, (~masks[0], ~masks[1]))
    source = "bench.txt less the CPU profile"
    gaps = ["why it was not on a CPU was not measured: a trace shows it by reason"]
    parts = in_part(on, off)
    if parts != on:
        gaps.insert(0, "CPU of other goroutines (the CPU table includes it)")
    medians = whole.base, whole.new
    apart = max(
        abs(log(mean / each)) for mean, each in zip(means, medians, strict=True)
    )
    several = goroutines != [1, 1]
    return Account(
        "time per op, of all goroutines" if several else "time per op",
        "ns",
        (*parts, Part("off-cpu", "not on a CPU", rest, source)),
        outside=tuple(part._replace(id=f"beside.{part.id}") for part in off),
        gaps=tuple(gaps),
        medians=(medians[0] * 1e9, medians[1] * 1e9)
        if not several and apart > log(1 + SAME_WITHIN)
        else None,
    )


def _on_the_path(diff: ProfileDiff) -> tuple[np.ndarray, np.ndarray]:
    """Return masks (bool) of the samples of goroutines that run a benchmark's ops."""
    names = diff.paired_functions.names
    roots = [name in _ON_THE_PATH or name == _PARALLEL for name in names]
    return diff.having(np.array(roots, np.bool_))


def _goroutines(comparison: Comparison, diff: ProfileDiff, side: int) -> int:
    """Return how many goroutines run ops: GOMAXPROCS under RunParallel, else 1."""
    profile = (diff.base, diff.new)[side].profile
    if _PARALLEL not in profile.function_names():
        return 1
    captures = (comparison.base, comparison.new)[side].of("benchmark")
    procs = [result.procs for c in captures for result in c.content.results]
    return max((count for count in procs if count), default=1)
