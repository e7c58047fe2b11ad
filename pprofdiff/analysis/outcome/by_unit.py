"""Cost per op of each unit of work: benchmarks, labels' values, and user tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from math import sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.analysis.benchmarks.compare import (
    BenchmarkRow,
    BenchmarkTable,
)
from pprofdiff.analysis.benchmarks.times import (
    BenchmarkKey,
    allocated_by_benchmark,
    unit_names,
)
from pprofdiff.analysis.benchmarks.turns import Floats, Turns
from pprofdiff.analysis.benchmarks.units import ALLOCATED, THROUGHPUT, tidy
from pprofdiff.analysis.busy import clock_sigma
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.control.totals import TotalRatio
from pprofdiff.analysis.figures.costs import CPU, TIME
from pprofdiff.analysis.figures.estimate import Estimate
from pprofdiff.analysis.judge.calibration import FALSE_DISCOVERIES, TOTAL_SIGMA
from pprofdiff.analysis.judge.judgement import Change
from pprofdiff.analysis.judge.samples import (
    Summary,
    geomean,
    median,
)
from pprofdiff.analysis.judge.totals import (
    Ratio,
    all_paired,
    judged_together,
    moderated,
    ratio_of_runs,
    ratio_of_sums,
)
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.outcome.model import (
    ALIKE,
    BEYOND_CHANCE,
    TURNS_CONFIDENCE,
    Counted,
    LabelUnits,
    Outcome,
    Unit,
    beyond_turns,
    off_cpu,
)
from pprofdiff.analysis.policy import NEARLY_ALL
from pprofdiff.analysis.side import measure
from pprofdiff.model.profiles.profile import operations_of
from pprofdiff.model.side import Side
from pprofdiff.units import scale

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.side import TraceSide
    from pprofdiff.analysis.traces.tasks import Durations

_Named = Literal["task", "region"]

# With fewer complete tasks on a side, their mean duration is too uncertain.
_FEW_TASKS = 20


class _UserTime(NamedTuple):
    """Complete user tasks, or regions, of one name: number and mean seconds."""

    name: str
    counts: tuple[int, int]
    mean: TotalRatio


def user_times(comparison: Comparison, kind: _Named) -> list[_UserTime]:
    """Return the tasks or regions that both sides have often, most frequent first.

    Empty with one run a side if goroutines of a side used nearly all Ps: scheduling
    latency then depends on the load more than on the code.
    """
    trace = comparison.trace
    if trace is None:
        return []
    used = [side.processors.utilisation or 0.0 for side in trace.sides]
    if max(used) >= NEARLY_ALL and not trace.several:
        return []

    def of(side: TraceSide) -> Durations:
        return side.tasks if kind == "task" else side.regions

    sides = [of(side) for side in trace.sides]
    names = [name for name in sides[0].counts if name and name in sides[1].counts]
    clock = clock_sigma(comparison)
    found = []
    for name in names:
        quantiles = [side.durations.row(name) for side in sides]
        both = quantiles[0].count, quantiles[1].count
        base, new = (one.total_ns / max(one.count, 1) / 1e9 for one in quantiles)
        if min(both) < _FEW_TASKS or min(base, new) <= 0:
            continue
        ratio, runs = ratio_of_sums(base, new, prior_sigma=clock), (1, 1)
        if trace.several:
            parts = [
                [of(p).durations.row(name) for p in side.parts] for side in trace.sides
            ]
            old_runs, new_runs = (
                [[one.total_ns / one.count] for one in side if one.total_ns]
                for side in parts
            )
            in_turns = all_paired(old_runs, new_runs, comparison.pairs)
            ratio = ratio_of_runs(old_runs, new_runs, clock, in_turns=in_turns)
            runs = len(old_runs), len(new_runs)
        mean = TotalRatio(ratio, (base, new), runs, trace.several)
        found.append(_UserTime(name, both, mean))
    found.sort(key=lambda one: (min(one.counts), one.name), reverse=True)
    return found


# The false discovery rate of interleaved benchmarks: the level of their overall figure.
_OF_TURNS = 1 - TURNS_CONFIDENCE / 100


def units_of(
    comparison: Comparison,
    names: Sequence[BenchmarkKey],
    ratios: Sequence[Ratio],
    medians: Sequence[Sequence[float]],
    *,
    busy: bool,
) -> tuple[Unit, ...]:
    """Return time per op of each benchmark; empty with fewer than two.

    `ratios` are computed over runs, `medians` over all values, as (base, new) in
    seconds. With one run a side, bounds are at least as wide as runs of one build are
    known to differ: of 494 pairs of files of unchanged builds, on busy machines, 2.4%
    had a benchmark marked. On a busy machine, benchmarks with their own CPU profile are
    judged by CPU.
    """
    if len(names) <= 1:
        return ()
    cpu = _cpu_by_run(comparison)
    judged, figures = list(ratios), ["time"] * len(names)
    values = list(zip(*medians, strict=True))
    for i, name in enumerate(names):
        if busy and name in cpu:
            sides = cpu[name]
            old, now = ([[run] for run in side] for side in sides)
            in_turns = all_paired(old, now, comparison.pairs)
            judged[i] = ratio_of_runs(old, now, in_turns=in_turns)
            figures[i], values[i] = "cpu", (median(sides[0]), median(sides[1]))
    runs = min(len(side.of("benchmark")) for side in (comparison.base, comparison.new))
    least = sqrt(2) * TOTAL_SIGMA if runs <= 1 else 0.0
    bounds = judged_together(judged, FALSE_DISCOVERIES, least)
    counted = _counted(comparison.base, comparison.new)
    units = []
    for i, (name, shown) in enumerate(zip(names, unit_names(names), strict=True)):
        base, new = values[i]
        ratio = judged[i].widened_to(new / base)
        low, high = min(bounds[i][0], ratio.low), max(bounds[i][1], ratio.high)
        cost, of_cpu = Estimate(base, new, ratio.ratio, low, high), cpu.get(name)
        unit = Unit.of(shown, figures[i], cost, ratio.narrow, comparison.same_within)
        unit = unit._replace(
            counted=counted.get(name, ()),
            cpu_seconds=of_cpu and (median(of_cpu[0]), median(of_cpu[1])),
            key=name,
        )
        units.append(unit)
    return tuple(units)


_ByRun = tuple[list[float], list[float]]


def _cpu_by_run(comparison: Comparison) -> dict[BenchmarkKey, _ByRun]:
    split = comparison.split
    if split is None:
        return {}
    found: dict[BenchmarkKey, _ByRun] = {}
    for unit in split.units:
        if len(unit.benchmarks) == 1:
            sides = tuple(_cpu_of(side, unit.name) for side in (split.base, split.new))
            if all(sides):
                found[unit.benchmarks[0]] = sides[0], sides[1]
    return found


def _cpu_of(side: Side, unit: str) -> list[float]:
    """Return a unit's CPU seconds per op in each run; empty if one is not positive."""
    costs = []
    for capture in side.of("profile"):
        done = operations_of(capture.content)
        if capture.unit == unit and measure(capture) == "cpu" and done is not None:
            costs.append(capture.content.total() / 1e9 / done.number)
    return costs if all(cost > 0 for cost in costs) else []


def units_in_turns(turns: Turns, figure: str, same_within: float) -> tuple[Unit, ...]:
    """Return time or CPU per op of interleaved benchmarks; empty for a single one.

    Those that are written differently are undecided, unless all are.
    """
    if not turns.several:
        return ()
    times, cpu = _figures_in_turns(turns)
    units = []
    for i, name in enumerate(unit_names(turns.names)):
        counted = (
            Counted(
                unit, float(both[0][i]), float(both[1][i]), bool(turns.varies[kind][i])
            )
            for kind, unit in ALLOCATED.items()
            if (both := turns.allocated.get(kind)) is not None
        )
        time, of_cpu = times[i].alone, cpu[i]
        by_cpu = figure == "cpu" and of_cpu is not None
        cost, alone = of_cpu if by_cpu and of_cpu else times[i]
        shown = "cpu" if by_cpu else "time"
        unit = Unit.of(name, shown, cost, alone.narrow, same_within)._replace(
            counted=tuple(counted),
            key=turns.names[i],
            off_cpu=of_cpu is not None
            and time.sure
            and off_cpu(time.ratio, of_cpu.alone.ratio),
        )
        second = times[i] if by_cpu else of_cpu
        if second is not None and not unit.moved and _excludes_one(second.cost):
            unit = unit._replace(other=second.cost)
        units.append(unit)
    differ = [_is_rewritten(turns, key) for key in turns.names]
    if not all(differ):
        pairs = zip(units, differ, strict=True)
        units = [unit.undecided() if other else unit for unit, other in pairs]
    return tuple(units)


def _excludes_one(cost: Estimate[float]) -> bool:
    """Return whether a change is significant, for all that are judged together."""
    return cost.low > 1 or cost.high < 1


def _is_rewritten(turns: Turns, key: BenchmarkKey) -> bool:
    """Return whether a benchmark's own code differs."""
    function = key[0].partition("/")[0]
    return f"Benchmark{function}" in turns.rewritten.split(", ")


class _Figure(NamedTuple):
    """A benchmark's time or CPU per op over interleaved turns.

    `cost` has means in seconds, and bounds judged together with all other benchmarks;
    `alone` is the same ratio with its own intervals.
    """

    cost: Estimate[float]
    alone: Ratio

    def open(self) -> _Figure:
        """Return the figure with bounds that exclude nothing."""
        alone = self.alone.without_bounds()
        return _Figure(self.cost._replace(low=alone.low, high=alone.high), alone)


def _figures_in_turns(turns: Turns) -> tuple[list[_Figure], list[_Figure | None]]:
    """Return time and CPU per op of each benchmark, CPU None where turns lack it."""
    times = _judged_figures(turns, turns.seconds)
    cpu: list[_Figure | None] = [None] * len(times)
    if turns.cpu_seconds is not None:
        known = turns.has_cpu
        base, new = (side[:, known] for side in turns.cpu_seconds)
        rows = np.flatnonzero(known).tolist()
        for at, figure in zip(rows, _judged_figures(turns, (base, new)), strict=True):
            cpu[at] = figure
    if turns.few:
        return _of_few(times, cpu)
    alike = np.full(len(times), turns.several)
    for kind in turns.allocated:
        alike &= _alike(turns, kind)
    pairs = [*zip(times, cpu, alike.tolist(), strict=True)]
    return (
        [_confirmed(time, of_cpu) if same else time for time, of_cpu, same in pairs],
        [
            _confirmed(of_cpu, time) if of_cpu and same else of_cpu
            for time, of_cpu, same in pairs
        ],
    )


def _of_few(
    times: Sequence[_Figure], cpu: Sequence[_Figure | None]
) -> tuple[list[_Figure], list[_Figure | None]]:
    """Return figures of few turns, without bounds where time and CPU do not agree.

    Other programs may take most of one turn's time.
    """
    agree = [
        of_cpu is not None
        and _excludes_one(time.cost)
        and _excludes_one(of_cpu.cost)
        and (time.cost.ratio > 1) == (of_cpu.cost.ratio > 1)
        for time, of_cpu in zip(times, cpu, strict=True)
    ]
    return (
        [one if both else one.open() for one, both in zip(times, agree, strict=True)],
        [
            one if both or one is None else one.open()
            for one, both in zip(cpu, agree, strict=True)
        ],
    )


def _judged_figures(turns: Turns, columns: tuple[Floats, Floats]) -> list[_Figure]:
    """Return each benchmark's figure, judged together, see `Ratio.of_few`."""
    ratios = moderated([figure.ratio() for figure in turns.each(columns)])
    if turns.few:
        ratios = [one.of_few(len(turns.seconds[0])) for one in ratios]
    together = [one.wide for one in ratios]
    if turns.several:
        together = judged_together(ratios, _OF_TURNS)
    bounds = [beyond_turns(*reach) for reach in together]
    # Geometric means, so that new ÷ base is the ratio.
    base, new = np.exp(np.log(columns).mean(axis=1)).tolist()
    return [
        _Figure(Estimate(old, now, ratio.ratio, *reach), ratio)
        for old, now, ratio, reach in zip(base, new, ratios, bounds, strict=True)
    ]


def _confirmed(figure: _Figure, other: _Figure | None) -> _Figure:
    """Return the figure of a benchmark that allocates as before, at 99.9% if alone.

    It is not alone if the `other` changed the same way at 99%. On a busy machine one
    figure of one benchmark may differ although its code is the same: of 110 unchanged
    benchmarks in 55 measurements, two were significant, one of them with this rule;
    with the sides of layouts swapped at random, 0.7% of 8,250 measurements had one,
    0.2% with it. Of 85 measured changes, 84 keep one.
    """
    cost, alone = figure
    second = other and other.alone
    confirmed = second and second.sure and (second.ratio > 1) == (alone.ratio > 1)
    if not (confirmed or cost.low <= 1 <= cost.high):
        low, high = beyond_turns(*alone.bounds_at(BEYOND_CHANCE))
        cost = cost._replace(low=min(cost.low, low), high=max(cost.high, high))
    return _Figure(cost, alone)


def _counted(base: Side, new: Side) -> dict[BenchmarkKey, tuple[Counted, ...]]:
    """Return the median allocations per op of each benchmark that both sides have."""
    sides = [allocated_by_benchmark(side) for side in (base, new)]
    found: dict[BenchmarkKey, tuple[Counted, ...]] = {}
    for unit in ALLOCATED.values():
        old, now = (side[unit] for side in sides)
        for key in old:
            if key in now:
                one = Counted(unit, median(old[key]), median(now[key]))
                found[key] = (*found.get(key, ()), one)
    return found


def units_by_label(comparison: Comparison) -> LabelUnits | None:
    """Return CPU per op by label value, for the values that both sides have.

    None if no label splits the work or the operation count is unknown.
    """
    diff, labelled = comparison.cpu, comparison.by_label
    if diff is None or labelled is None or labelled.judged is None:
        return None
    second, unit = scale(1, diff.unit, "seconds")
    if unit != "s" or diff.normalization.mode != "per_work":
        return None
    sums = zip(*(side.tolist() for side in merged(labelled.runs)), strict=True)
    units = []
    for i, (value, (old, now)) in enumerate(zip(labelled.values, sums, strict=True)):
        if not (value and old > 0 and now > 0):
            continue
        base, new = (one * second for one in diff.normalization.scaled(old, now))
        low, high = (
            max(1 + float(bound[i]) * second / base, 0.0)
            for bound in (labelled.judged.low, labelled.judged.high)
        )
        cost = Estimate(base, new, new / base, low, high)
        by_value = Unit.of(value, "cpu", cost, (low, high), comparison.same_within)
        if labelled.judged.noise[i] and by_value.moved:
            cost = cost._replace(mark="noise")
            by_value = by_value._replace(verdict="unknown", cost=cost)
        units.append(by_value)
    return LabelUnits(labelled.key, tuple(units)) if units else None


def units_by_task(comparison: Comparison) -> LabelUnits | None:
    """Return the time of user tasks, or else regions, by name; None below two."""
    return _units(comparison, "task") or _units(comparison, "region")


def _units(comparison: Comparison, kind: _Named) -> LabelUnits | None:
    tasks = user_times(comparison, kind)
    if len(tasks) <= 1:
        return None
    bounds = judged_together([task.mean.ratio for task in tasks], FALSE_DISCOVERIES)
    ran = _running_s(comparison, kind)
    units = []
    for task, reach in zip(tasks, bounds, strict=True):
        ratio = task.mean.ratio
        cost = Estimate(*task.mean.means, ratio.ratio, *reach)
        unit = Unit.of(task.name, "time", cost, ratio.narrow, comparison.same_within)
        units.append(unit._replace(running_s=ran.get(task.name)))
    return LabelUnits(kind, tuple(units))


def _running_s(comparison: Comparison, kind: _Named) -> dict[str, tuple[float, float]]:
    from pprofdiff.analysis.traces.unit_time import running_ns

    if comparison.trace is None:
        return {}
    base, new = (running_ns(side, kind) for side in comparison.trace.sides)
    return {
        name: (float(base[name].mean()) / 1e9, float(new[name].mean()) / 1e9)
        for name in base
        if name in new
    }


_TIME, _CPU = tidy(TIME.printed).unit, tidy(CPU.printed).unit

_Figures = Mapping[str, Sequence[_Figure | None]]


def judged_in_turns(comparison: Comparison, outcome: Outcome) -> Comparison:
    """Return the comparison with tables that agree with `outcome` by turns."""
    diff, turns = comparison.benchmarks, comparison.turns
    if diff is None or turns is None:
        return comparison
    times, cpu = _figures_in_turns(turns)
    figures: _Figures = {_TIME: times, _CPU: cpu}
    moved = _changed(turns, outcome)

    def judged(table: BenchmarkTable, row: BenchmarkRow) -> BenchmarkRow:
        at = _place(turns, table, row)
        if at is None or row.change is None:
            return row
        if table.unit in ALLOCATED.values():
            return _counted_row(turns, table.unit, row, at)
        return _timed(figures, table.unit, row, at, moved=moved[at])

    results = {**comparison.results, "benchmark": diff.judged(judged)}
    return replace(comparison, results=results)


def _changed(turns: Turns, outcome: Outcome) -> list[bool]:
    if outcome.units:
        known = {unit.key: unit.moved for unit in outcome.units}
        return [known.get(name, False) for name in turns.names]
    return [outcome.decided] * len(turns.names)


def _place(turns: Turns, table: BenchmarkTable, row: BenchmarkRow) -> int | None:
    package = dict(table.config).get("pkg")
    for at, (name, procs, own) in enumerate(turns.names):
        if (name, procs) == (row.name, row.procs) and package in (None, own or ""):
            return at
    return None


def _timed(
    figures: _Figures, unit: str, row: BenchmarkRow, at: int, *, moved: bool
) -> BenchmarkRow:
    """Return a row of time/op, CPU/op or a rate with the figures of the turns.

    Whatever is counted, a rate has the noise of the time.
    """
    known, timed = figures.get(unit), figures[_TIME][at]
    figure = known and known[at]
    if figure:
        shown = figure.cost
    elif timed and unit.endswith("/s"):
        time = timed.cost
        base, new = (geomean(chain.from_iterable(side)) for side in row.runs)
        if base is None or new is None:
            return row
        ratio = 1 / time.ratio if unit == THROUGHPUT else new / base
        whole = ratio * time.ratio
        shown = Estimate(base, new, ratio, whole / time.high, whole / time.low)
    else:
        return row
    sure = not shown.low <= 1 <= shown.high
    return _with(row, shown[:2], shown, noise=not (moved and sure))


def _counted_row(turns: Turns, unit: str, row: BenchmarkRow, at: int) -> BenchmarkRow:
    """Return a row of B/op or allocs/op: medians, exact unless they vary."""
    kind = next(kind for kind, name in ALLOCATED.items() if name == unit)
    if kind not in turns.allocated:
        return row
    base, new = (float(side[at]) for side in turns.allocated[kind])
    noise = bool(_alike(turns, kind)[at])
    exact = Estimate(base, new, None, None, None)
    return _with(row, (base, new), exact, noise=noise)


def counts_alike(comparison: Comparison) -> bool:
    """Return whether benchmarks count bytes and objects per op, and none changed."""
    turns = comparison.turns if comparison.measured else None
    if turns is None or any(kind not in turns.allocated for kind in ALLOCATED):
        return False
    return all(bool(_alike(turns, kind).all()) for kind in ALLOCATED)


def _alike(turns: Turns, kind: str) -> NDArray[np.bool_]:
    """Return which benchmarks allocate as before, as far as counts show (bool)."""
    base, new = turns.allocated[kind]
    alike: NDArray[np.bool_] = np.abs(new - base) <= ALIKE * base
    return alike | turns.varies[kind]


def _with(
    row: BenchmarkRow,
    sides: tuple[float, float],
    shown: Estimate[float | None],
    *,
    noise: bool,
) -> BenchmarkRow:
    factor = tidy(row.unit).factor
    count = [0 if side is None else side.n for side in (row.base, row.new)]
    tidied, raw = (
        [
            Summary(value / by, None, None, n)
            for value, n in zip(sides, count, strict=True)
        ]
        for by in (1.0, factor)
    )
    change = Change(sides[1] - sides[0], None, None, None, noise)
    return replace(
        row,
        base=raw[0],
        new=raw[1],
        tidy_base=tidied[0],
        tidy_new=tidied[1],
        change=change,
        notes=(),
        of_turns=shown,
    )
