"""The figures that a verdict may rest on, each from one kind of evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp, log
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.benchmarks.times import (
    BenchmarkKey,
    source_of,
    times_by_run,
    written,
)
from pprofdiff.analysis.benchmarks.turns import Floats, Turns
from pprofdiff.analysis.busy import busy, clock_sigma
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.control.about_work import by_call_sites
from pprofdiff.analysis.control.estimate import control
from pprofdiff.analysis.control.totals import ratio_of_totals, total_of_turns
from pprofdiff.analysis.figures.costs import (
    ABOUT,
    CONTROL,
    CPU,
    TASK,
    THROUGHPUT,
    TIME,
    WALL,
    Cost,
)
from pprofdiff.analysis.judge.totals import (
    InTurns,
    Ratio,
    all_paired,
    median_of_values,
    of_independent,
    ratio_of_medians,
    ratio_of_runs,
    ratio_of_sums,
)
from pprofdiff.analysis.outcome.by_unit import units_by_task, units_of, user_times
from pprofdiff.analysis.outcome.model import (
    TURNS_CONFIDENCE,
    Measure,
    Unit,
    beyond_turns,
)
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.side import cpu_seconds
from pprofdiff.model.side import Side
from pprofdiff.units import times

_Runs = list[list[float]]


class Timed(NamedTuple):
    """Benchmarks' time per op: of all together, and of each if there are several."""

    whole: Measure
    each: dict[str, Ratio]
    units: tuple[Unit, ...] = ()


def timed(comparison: Comparison) -> Timed | None:
    """Return time per op of the benchmarks that both sides have, or None without any.

    The ratio is as in the benchmark table: of medians over all values, and the
    geometric mean over benchmarks. Intervals are of the averages of runs, widened to
    include that ratio.
    """
    if comparison.turns is not None:
        return _in_turns(comparison.turns)
    base, new = _times(comparison.base), _times(comparison.new)
    names = [name for name in base if name in new]
    if not names:
        return None
    clock = clock_sigma(comparison)
    pairs = comparison.pairs
    in_turns = all(all_paired(base[name], new[name], pairs) for name in names)
    by_run = [
        ratio_of_runs(base[name], new[name], clock, in_turns=in_turns) for name in names
    ]
    # Benchmarks of one run share its drift, so more of them add no certainty.
    sigma = max(ratio.sigma for ratio in by_run)
    middle = float(np.mean([log(ratio.ratio) for ratio in by_run]))
    first = by_run[0]
    part = sigma / first.sigma

    def bounds(low: float, high: float) -> tuple[float, float]:
        """Return the first benchmark's bounds as bounds of all of them."""
        below, above = (part * log(bound / first.ratio) for bound in (low, high))
        return exp(middle + below), exp(middle + above)

    medians = [[median_of_values(side[name]) for name in names] for side in (base, new)]
    old, now = (exp(float(np.mean(np.log(side)))) for side in medians)
    whole_ratio = Ratio(
        exp(middle),
        *bounds(first.low, first.high),
        bounds(*first.narrow),
        bounds(*first.wide),
        sigma,
    ).widened_to(now / old)
    if not in_turns:
        by_run = [
            ratio.tested(base[name], new[name])
            for name, ratio in zip(names, by_run, strict=True)
        ]
    each = {
        written(name): ratio.widened_to(after / before)
        for name, ratio, before, after in zip(names, by_run, *medians, strict=True)
    }
    if len(names) == 1:
        (whole_ratio,) = each.values()
    runs = _count(base, names), _count(new, names)
    source = source_of(names)
    whole = Measure(TIME, old, now, whole_ratio, source, runs, in_turns=in_turns)
    is_busy = busy(comparison) is not None
    units = units_of(comparison, names, by_run, medians, busy=is_busy)
    return Timed(whole, each, units)


def _in_turns(turns: Turns) -> Timed:
    """Return time per op of interleaved benchmarks: the geometric mean of each turn."""
    ratios = [figure.ratio() for figure in turns.each(turns.seconds)]
    seconds = _mean_of(turns, turns.seconds, ratios)
    each = dict(zip(map(written, turns.names), ratios, strict=True))
    return Timed(_of_turns(TIME, seconds, source_of(turns.names)), each)


def _mean_of(
    turns: Turns, figure: tuple[Floats, Floats], ratios: Sequence[Ratio]
) -> InTurns:
    """Return a figure's mean over benchmarks, no surer than of independent ones."""
    mean = turns.geomeans(figure)
    return mean._replace(least=of_independent(ratios)) if turns.several else mean


def _count(side: dict[BenchmarkKey, _Runs], names: Sequence[BenchmarkKey]) -> int:
    return min(len(side[name]) for name in names)


def _times(side: Side) -> dict[BenchmarkKey, _Runs]:
    return {key: list(runs.values()) for key, runs in times_by_run(side).items()}


def _tasks(comparison: Comparison) -> Measure | None:
    """Return the time of the task that changed most, else of the most frequent one.

    Where some are slower and others faster, none stands for all.
    """
    tasks = user_times(comparison, "task")
    if not tasks:
        return None
    by = units_by_task(comparison)
    moved = by.moved if by is not None and by.key == "task" else ()
    if len({unit.verdict for unit in moved}) == 1:
        tasks = [one for one in tasks if one.name == moved[0].name]
    task = tasks[0]
    source = "{:,} and {:,} user tasks of the traces".format(*task.counts)
    mean = task.mean
    if mean.by_run:
        source = f"{source}, by run"
    name = f"{TASK.figure} {task.name}"
    what = TASK._replace(figure=name, noun=name)
    return Measure(what, *mean.means, mean.ratio, source, mean.runs)


def _throughput(comparison: Comparison) -> Measure | None:
    """Return ops/s if known; it measures speed only in a closed loop."""
    work = comparison.work
    if work is None:
        return None
    rates = work.per_second((cpu_seconds(comparison.base), cpu_seconds(comparison.new)))
    if rates is None:
        return None
    what = THROUGHPUT if work.closed else THROUGHPUT._replace(more_is="")
    sigma = clock_sigma(comparison)
    base, new = ([[rate] for rate in side.values()] for side in work.by_run)
    if comparison.loads is None or not base or not new:
        ratio = ratio_of_sums(*rates, prior_sigma=sigma)
        return Measure(what, *rates, ratio, work.reason)
    in_turns = all_paired(base, new, comparison.pairs)
    ratio = ratio_of_medians(base, new, sigma, in_turns=in_turns)
    return Measure(what, *rates, ratio, work.reason, (len(base), len(new)))


def _cpu_per_operation(comparison: Comparison) -> Measure | None:
    """Return CPU time per op if the operation count is known."""
    turns = comparison.turns if comparison.measured else None
    if turns is not None:
        if turns.cpu_of_all is None:
            # Samples of a few profiled runs do not represent the turns.
            return None
        # The same mean over benchmarks as time/op: the profiles' mix is weighted by
        # iterations and appears in no benchstat table.
        ratios = [figure.ratio() for figure in turns.each(turns.cpu_of_all)]
        seconds = _mean_of(turns, turns.cpu_of_all, ratios)
        return _of_turns(CPU, seconds, "the CPU time that the kernel counted")
    diff = comparison.cpu
    if diff is None:
        return None
    return _per_operation(diff, CPU, "the CPU profile")


def _of_turns(what: Cost, seconds: InTurns, source: str) -> Measure:
    total = total_of_turns(seconds)
    low, high = beyond_turns(*total.ratio.bounds)
    ratio = total.ratio._replace(low=low, high=high)
    return Measure(
        what,
        *total.means,
        ratio,
        source,
        total.runs,
        in_turns=True,
        confidence=TURNS_CONFIDENCE,
    )


def _wall_per_operation(comparison: Comparison) -> Measure | None:
    for diff in comparison.profiles:
        if diff.is_wall and min(diff.totals) > 0:
            return _per_operation(diff, WALL, "the profile of wall time")
    return None


def _per_operation(diff: ProfileDiff, what: Cost, source: str) -> Measure | None:
    """Return a profile's total per op, or None if the operation count is unknown."""
    total = ratio_of_totals(diff)
    if total is None:
        return None
    base, new = total.means
    if total.by_run:
        source = source.replace("profile", "profiles") + ", run by run"
    in_turns = total.by_run and diff.in_turns
    sides = base / 1e9, new / 1e9
    return Measure(what, *sides, total.ratio, source, total.runs, in_turns=in_turns)


def _unchanged_code(comparison: Comparison) -> Measure | None:
    """Return CPU cost relative to unchanged code, or None if there is too little."""
    diff = comparison.cpu
    if diff is None:
        return None
    found = control(diff)
    if found is None or not found.holds:
        return None
    source = f"{found.work.rows} functions of the CPU profile"
    return Measure(CONTROL, None, None, found.cost, source, _runs(diff))


def _about(comparison: Comparison) -> Measure | None:
    """Return CPU per op with the operation count inferred from allocations."""
    cpu = comparison.cpu
    if comparison.work is not None or cpu is None:
        return None
    work = by_call_sites(cpu, comparison.profiles, comparison.base, comparison.new)
    if work is None:
        return None
    sides, runs = (cpu.totals[0], cpu.totals[1] / work.ratio), _runs(cpu)
    source = (
        f"the CPU profile at about {times(work.ratio)} the work, as allocations of "
        f"{work.rows} shared call sites show"
    )
    cost = ratio_of_sums(*sides, runs, scale_sigma=work.sigma)
    return Measure(ABOUT, None, None, cost, source, runs)


def _runs(diff: ProfileDiff) -> tuple[int, int]:
    return len(diff.base.runs), len(diff.new.runs)


def measures(comparison: Comparison) -> Iterator[Measure]:
    """Yield all figures that the evidence gives, the most direct first."""
    for measure in _all(comparison):
        yield measure._replace(same_within=comparison.same_within)


def _all(comparison: Comparison) -> Iterator[Measure]:
    benchmarks = timed(comparison)
    if benchmarks is not None:
        yield benchmarks.whole
    for figure in (
        _tasks,
        _throughput,
        _wall_per_operation,
        _cpu_per_operation,
        _unchanged_code,
        _about,
    ):
        if comparison.of_fleets and figure is _unchanged_code:
            # Hosts differ too much in their mix of code: of 20 splits of one build's
            # hosts into sides of 20, 9 raised a false alarm.
            continue
        measure = figure(comparison)
        # With benchmarks, ops/s is their time again.
        if measure is not None and (measure.id != THROUGHPUT.id or benchmarks is None):
            yield measure
