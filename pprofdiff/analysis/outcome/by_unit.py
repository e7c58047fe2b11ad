"""Cost per op of each benchmark, judged together."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log, sqrt
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.benchmarks.allocated import allocated_by_benchmark
from pprofdiff.analysis.benchmarks.times import BenchmarkKey, unit_names
from pprofdiff.analysis.benchmarks.turns import Floats, Turns
from pprofdiff.analysis.benchmarks.units import ALLOCATED
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.judge.calibration import FALSE_DISCOVERIES, TOTAL_SIGMA
from pprofdiff.analysis.judge.samples import median
from pprofdiff.analysis.judge.together import judged_together, moderated
from pprofdiff.analysis.judge.totals import Ratio, ratio_of_figure, ratio_of_runs
from pprofdiff.analysis.judge.turns import all_paired
from pprofdiff.analysis.outcome.model import (
    TURNS_CLEAR,
    TURNS_CONFIDENCE,
    Counted,
    Unit,
    off_cpu,
    verdict_between,
)
from pprofdiff.analysis.side import measure
from pprofdiff.model.profiles.operations import operations_of
from pprofdiff.model.side import Side

__all__ = ["Figure", "figures_in_turns", "units_in_turns", "units_of"]

_SEVERAL = 2
# The median absolute value of a standard normal deviate.
_HALF = 0.6745
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
    seconds. One run a side does not show how much runs differ; the bounds then come
    from the known spread between runs of one build and from how much most benchmarks
    changed. On a busy machine, benchmarks with their own CPU profile are judged by CPU.
    """
    if len(names) < _SEVERAL:
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
    least = max(sqrt(2) * TOTAL_SIGMA, _moved_by(judged)) if runs < _SEVERAL else 0.0
    bounds = judged_together(judged, FALSE_DISCOVERIES, least)
    counted = _counted(comparison.base, comparison.new)
    units = []
    for i, (name, shown) in enumerate(zip(names, unit_names(names), strict=True)):
        base, new = values[i]
        ratio = judged[i].widened_to(new / base)
        low, high = min(bounds[i][0], ratio.ratio), max(bounds[i][1], ratio.ratio)
        of_cpu = cpu.get(name)
        unit = Unit(
            shown,
            ratio.ratio,
            low,
            high,
            figures[i],
            base,
            new,
            verdict_between(
                ratio.ratio, (low, high), ratio.narrow, comparison.same_within
            ),
            counted.get(name, ()),
            None if of_cpu is None else (median(of_cpu[0]), median(of_cpu[1])),
            name,
        )
        units.append(unit)
    return tuple(units)


_ByRun = tuple[list[float], list[float]]


def _cpu_by_run(comparison: Comparison) -> dict[BenchmarkKey, _ByRun]:
    """Return the estimated CPU seconds per op of each run, by benchmark.

    Only for benchmarks whose samples are known to be theirs alone.
    """
    apart = comparison.apart
    if apart is None:
        return {}
    found: dict[BenchmarkKey, _ByRun] = {}
    for unit in apart.units:
        if len(unit.benchmarks) == 1:
            sides = tuple(_cpu_of(side, unit.name) for side in (apart.base, apart.new))
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


def _moved_by(ratios: Sequence[Ratio]) -> float:
    """Return the log deviation by which most benchmarks changed, assumed to be noise.

    A busy machine shifts all of them: one unchanged build had some at 3.5× while their
    neighbours were at 1.6×. Only what stands out from the rest is a change.
    """
    moved = sorted(abs(log(ratio.ratio)) for ratio in ratios)
    return moved[(len(moved) - 1) // 2] / _HALF


def units_in_turns(
    turns: Turns, figure: str, same_within: float, least: float = 0.0
) -> tuple[Unit, ...]:
    """Return time or CPU per op of interleaved benchmarks; empty for a single one."""
    if not turns.several:
        return ()
    times, cpu = figures_in_turns(turns, turns.seconds, least), None
    if turns.cpu_seconds is not None:
        cpu = figures_in_turns(turns, turns.cpu_seconds, least)
    if cpu is None:
        figure = "time"
    judged = cpu if figure == "cpu" and cpu is not None else times
    units = []
    for i, name in enumerate(unit_names(turns.names)):
        counted = (
            Counted(
                unit, float(both[0][i]), float(both[1][i]), bool(turns.varies[kind][i])
            )
            for kind, unit in ALLOCATED.items()
            if (both := turns.allocated.get(kind)) is not None
        )
        one = judged[i]
        time, bounds = times[i].ratio, (one.low, one.high)
        unit = Unit(
            name,
            one.ratio.ratio,
            *bounds,
            figure,
            one.base,
            one.new,
            verdict_between(
                one.ratio.ratio, bounds, one.ratio.narrow, same_within, TURNS_CLEAR
            ),
            tuple(counted),
            key=turns.names[i],
            off_cpu=cpu is not None
            and not time.wide[0] <= 1 <= time.wide[1]
            and off_cpu(time.ratio, cpu[i].ratio.ratio),
        )
        units.append(unit)
    return tuple(units)


class Figure(NamedTuple):
    """A benchmark's time or CPU per op over interleaved turns.

    `base` and `new` are means in seconds; `low` and `high` bound `ratio` jointly with
    those of all other benchmarks.
    """

    base: float
    new: float
    ratio: Ratio
    low: float
    high: float


def figures_in_turns(
    turns: Turns, columns: tuple[Floats, Floats], least: float = 0.0
) -> list[Figure]:
    """Return each benchmark's figure, judged together; few turns give no bounds."""
    ratios = moderated([ratio_of_figure(figure) for figure in turns.each(columns)])
    bounds = judged_together(ratios, _OF_TURNS, inf if turns.few else least)
    if turns.few:
        ratios = [
            one._replace(narrow=reach, wide=reach)
            for one, reach in zip(ratios, bounds, strict=True)
        ]
    # Geometric means, so that new ÷ base is the ratio.
    base, new = np.exp(np.log(columns).mean(axis=1)).tolist()
    return [
        Figure(old, now, ratio, *reach)
        for old, now, ratio, reach in zip(base, new, ratios, bounds, strict=True)
    ]


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
