"""What an operation of each unit of work costs: benchmarks judged together."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt

from pprofdiff.analysis.benchmarks.times import BenchmarkKey, key_of, written
from pprofdiff.analysis.benchmarks.turns import Turns
from pprofdiff.analysis.benchmarks.units import tidy
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.outcome.model import TURNS_CONFIDENCE, Counted, Unit, Verdict
from pprofdiff.analysis.stats.calibration import FALSE_DISCOVERIES
from pprofdiff.analysis.stats.samples import median
from pprofdiff.analysis.stats.together import judged_together
from pprofdiff.analysis.stats.totals import Ratio, ratio_of_turns
from pprofdiff.model.side import Side

__all__ = ["unit_names", "units_in_turns", "units_of"]

_COUNTED = ("B/op", "allocs/op")
_SEVERAL = 2
# Half of normal deviates are nearer to 0 than so many deviations.
_HALF = 0.6745
# Of what was measured in turns, as of the figure of all of it.
_OF_TURNS = 1 - TURNS_CONFIDENCE / 100


def units_of(
    comparison: Comparison,
    names: Sequence[BenchmarkKey],
    ratios: Sequence[Ratio],
    medians: Sequence[Sequence[float]],
    sigma: float,
) -> tuple[Unit, ...]:
    """Return time per operation of several benchmarks; none of one.

    `ratios` are by runs, `medians` of all values of (base, new), in seconds. Where one
    run a side is known, its values do not show how far runs differ: `sigma`, the
    deviation of one, does, and how far most units moved.
    """
    if len(names) < _SEVERAL:
        return ()
    runs = min(len(side.of("benchmark")) for side in (comparison.base, comparison.new))
    least = max(sigma * sqrt(2), _moved_by(ratios)) if runs < _SEVERAL else 0.0
    bounds = judged_together(ratios, FALSE_DISCOVERIES, least)
    counted = _counted(comparison.base, comparison.new)
    shown = unit_names(names)
    units = []
    for i, (name, base, new) in enumerate(zip(names, *medians, strict=True)):
        ratio = ratios[i].told_as(new / base)
        low, high = min(bounds[i][0], ratio.ratio), max(bounds[i][1], ratio.ratio)
        unit = Unit(
            shown[i],
            ratio.ratio,
            low,
            high,
            base=base,
            new=new,
            verdict=_verdict(ratio, low, high, comparison.same_within),
            counted=counted.get(name, ()),
        )
        units.append(unit)
    return tuple(units)


def _moved_by(ratios: Sequence[Ratio]) -> float:
    """Return the deviation by which most units moved, taken for unchanged.

    A busy machine moves them all, some of one unchanged build by 3.5 times as their
    neighbours moved by 1.6: what stands out from the others is a change.
    """
    moved = sorted(abs(log(ratio.ratio)) for ratio in ratios)
    return moved[(len(moved) - 1) // 2] / _HALF


def units_in_turns(
    turns: Turns, figure: str, same_within: float, least: float = 0.0
) -> tuple[Unit, ...]:
    """Return time or CPU per operation of benchmarks measured in turns; none of one."""
    columns = turns.seconds
    if figure == "cpu" and turns.cpu_seconds is not None:
        columns = turns.cpu_seconds
    if len(turns.names) < _SEVERAL:
        return ()
    sides = [side.T.tolist() for side in columns]
    ratios = [ratio_of_turns(*pair) for pair in zip(*sides, strict=True)]
    bounds = judged_together(ratios, _OF_TURNS, least)
    units = []
    for i, name in enumerate(unit_names(turns.names)):
        counted = (
            Counted(unit, float(both[0][i]), float(both[1][i]))
            for kind, unit in (("alloc_space", "B/op"), ("alloc_objects", "allocs/op"))
            if (both := turns.allocated.get(kind)) is not None
        )
        unit = Unit(
            name,
            ratios[i].ratio,
            *bounds[i],
            figure,
            median(sides[0][i]),
            median(sides[1][i]),
            _verdict(ratios[i], *bounds[i], same_within),
            tuple(counted),
        )
        units.append(unit)
    return tuple(units)


def unit_names(keys: Sequence[BenchmarkKey]) -> list[str]:
    """Return benchmarks' names, each with what tells it from the others.

    That is its package, or its GOMAXPROCS, where there are several of them.
    """
    packages = len({package for _, _, package in keys}) > 1
    processors = len({procs for _, procs, _ in keys}) > 1
    names = []
    for key in keys:
        name = written(key) if processors else key[0]
        names.append(f"{key[2]}.{name}" if packages and key[2] else name)
    return names


def _verdict(ratio: Ratio, low: float, high: float, same_within: float) -> Verdict:
    """Return whether one unit got slower, faster, or is the same."""
    least, most = ratio.narrow
    if least >= 1 - same_within and most <= 1 + same_within:
        return "same"
    if abs(log(ratio.ratio)) <= log(1 + same_within):
        return "unknown"
    if low > 1:
        return "slower"
    return "faster" if high < 1 else "unknown"


def _counted(base: Side, new: Side) -> dict[BenchmarkKey, tuple[Counted, ...]]:
    """Return what an operation of each benchmark allocates: medians of both sides."""
    sides = [_allocations(side) for side in (base, new)]
    found: dict[BenchmarkKey, tuple[Counted, ...]] = {}
    for unit in _COUNTED:
        old, now = (side[unit] for side in sides)
        for key in old:
            if key in now:
                one = Counted(unit, median(old[key]), median(now[key]))
                found[key] = (*found.get(key, ()), one)
    return found


def _allocations(side: Side) -> dict[str, dict[BenchmarkKey, list[float]]]:
    found: dict[str, dict[BenchmarkKey, list[float]]] = {unit: {} for unit in _COUNTED}
    for capture in side.of("benchmark"):
        for result in capture.content.results:
            of_unit = found.get(tidy(result.unit).unit)
            if of_unit is not None and result.values:
                of_unit.setdefault(key_of(result), []).extend(result.values)
    return found
