"""Rules on benchmarks in a unit, on the cost of units, and on load generators."""

from __future__ import annotations

import re

from pprofdiff.analysis.benchmarks.compare import BenchmarkRow
from pprofdiff.analysis.benchmarks.loads import FAILED, LONGEST, MEAN, RATE
from pprofdiff.analysis.benchmarks.units import THROUGHPUT, better, tidy
from pprofdiff.analysis.busy import clock_sigma
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.figures.costs import COSTS, TIME
from pprofdiff.analysis.figures.estimate import Estimate
from pprofdiff.analysis.gate.measures import (
    Asked,
    Figure,
    Judged,
    Kind,
    Limit,
    NoDataError,
    delta_bounds,
)
from pprofdiff.analysis.judge.calibration import SAMPLES_FOR_TEST
from pprofdiff.analysis.judge.samples import constant, shift_bounds
from pprofdiff.analysis.judge.totals import all_paired, ratio_of_medians
from pprofdiff.analysis.outcome.deciding import machine_moved_time
from pprofdiff.analysis.outcome.model import Outcome, Unit
from pprofdiff.analysis.profiles.regexp import Matches, matcher
from pprofdiff.units import Scale, scale_for

# Wall-clock units, which the machine shifts as a whole from run to run.
_TIMES = (tidy(TIME.printed).unit, THROUGHPUT, "req/s")


def _benchmarks(asked: Asked, judged: Judged) -> list[Figure]:
    """Measure each benchmark's median in a unit: ``UNIT`` or ``UNIT:REGEX``."""
    unit, pattern, matches = _subject(asked)
    compared = judged.comparison.benchmarks
    if compared is None:
        raise NoDataError("no benchmark output is compared")
    wanted = tidy(unit).unit
    rows = [row for row in compared.rows if tidy(row.unit).unit == wanted]
    if not rows:
        units = ", ".join(dict.fromkeys(row.unit for row in compared.rows))
        raise NoDataError(f"no benchmark reports {unit}; there are: {units}")
    named = [row for row in rows if matches(row.full_name)]
    machine = wanted in _TIMES and machine_moved_time(judged.comparison)
    figures = [
        _figure_of(row, unit, asked.limit, judged.comparison, machine=machine)
        for row in named
        if row.tidy_base is not None and row.tidy_new is not None
    ]
    if figures:
        return figures
    raise NoDataError(
        "no benchmark that matches is on both sides"
        if named
        else f"no benchmark with {unit} matches {pattern}"
    )


def _subject(asked: Asked) -> tuple[str, str, Matches]:
    unit, _, pattern = asked.subject.partition(":")
    return unit, pattern, matcher(pattern, asked.named)


def _check(asked: Asked) -> None:
    """Reject a limit in another unit, or one that an improvement would trip."""
    unit, _, _ = _subject(asked)
    limit = asked.limit
    if limit.unit not in ("", "%"):
        raise asked.wrong(
            f"the limit must be a percentage, or a number of {unit}; type "
            f"bench:{unit}:+5%"
        )
    known = better(tidy(unit).unit)
    worse = {"lower": 1, "higher": -1, None: limit.sign}[known]
    if limit.sign != worse:
        word = {1: "less", -1: "more"}[worse]
        sign = "+" if worse > 0 else "-"
        raise asked.wrong(
            f"{word} {unit} is better; type bench:{unit}:{sign}{limit.amount:f}"
            f"{limit.unit}"
        )


def _figure_of(
    row: BenchmarkRow,
    unit: str,
    limit: Limit,
    comparison: Comparison,
    *,
    machine: bool,
) -> Figure:
    """Return a row's figures in the rule's unit, and the interval of their change.

    Times have the interval of their ratio over runs, as in the outcome, and none if
    they reflect a busy `machine`. Other units have the interval of the U test, a point
    if all values of each side are equal.
    """
    base, new = row.tidy_base, row.tidy_new
    if base is None or new is None:
        raise ValueError(row.full_name)
    medians, factor = (base.median, new.median), tidy(unit).factor
    bounds, by_ratio, runs = _chance(row, medians, comparison, relative=limit.relative)
    sides = [side / factor for side in medians]
    noise = None if row.change is None else row.change.noise
    unsure = (
        f"{min(base.n, new.n)} samples per side are too few for a test: "
        f"-count={SAMPLES_FOR_TEST} or more"
    )
    if machine:
        bounds = noise = None
        unsure = "the machine was busy, and CPU/op did not change"
    return Figure(
        what=row.full_name,
        base=sides[0],
        new=sides[1],
        unit=unit,
        scale=_scale(min((abs(m) for m in sides if m), default=0.0), unit),
        noise=noise,
        unsure=unsure,
        more=limit.sign > 0,
        bounds=None if bounds is None else (bounds[0] / factor, bounds[1] / factor),
        by_ratio=by_ratio,
        runs=runs,
    )


def _chance(
    row: BenchmarkRow,
    medians: tuple[float, float],
    comparison: Comparison,
    *,
    relative: bool,
) -> tuple[tuple[float, float] | None, bool, int]:
    """Return the interval of a row's change in its tidy unit, if by ratio, its runs.

    A limit may be `relative` to base.
    """
    base, new = ([value for run in side for value in run] for side in row.runs)
    old, now = medians
    turns = row.of_turns
    if turns is not None and turns.bounds is not None:
        return delta_bounds(old, *turns.bounds), True, len(base)
    # Counts over rounds are exact unless they vary from round to round.
    if constant(base, new) or (turns is not None and row.significant):
        return (now - old, now - old), False, 0
    positive = min(*base, *new) > 0
    if positive and tidy(row.unit).unit in _TIMES:
        in_turns = all_paired(*row.runs, comparison.pairs)
        sigma = clock_sigma(comparison)
        ratio = ratio_of_medians(*row.runs, sigma, in_turns=in_turns)
        return delta_bounds(old, *ratio.bounds), True, min(map(len, row.runs))
    relative = relative and positive
    between = shift_bounds(base, new, ratio=relative)
    if between is not None and relative:
        between = delta_bounds(old, *between)
    return between, False, min(len(base), len(new))


def _scale(least: float, unit: str) -> Scale:
    """Return how medians are formatted: in the unit, with the smaller's digits."""
    if unit == _TIMES[0] and 0 < least < 1:
        scale = scale_for([least * 1e9], "ns")
        return scale._replace(size=scale.size / 1e9, unit=f"{scale.unit}/op")
    whole = least.is_integer() or least >= 100
    decimals = 0 if whole else 2 if least >= 1 else 6
    return Scale(1, unit, decimals)


BENCH = Kind(_check, _benchmarks)


def _check_unit(asked: Asked) -> None:
    """Reject an invalid pattern, and a limit that is not a percentage."""
    matcher(asked.subject, asked.named)
    if not asked.limit.relative:
        raise asked.wrong(
            f"the limit must be a percentage; type unit:{asked.subject}:+5%"
        )


def _units(asked: Asked, judged: Judged) -> list[Figure]:
    matches = matcher(asked.subject, asked.named)
    decided = judged.outcome
    by_label = decided.by_label
    units = decided.units or (by_label and by_label.units) or _one(decided)
    if not units:
        raise NoDataError("no benchmark, and no label of samples, is on both sides")
    figures = [
        _figure_of_unit(unit, decided)
        for unit in units
        if matches(unit.name) and unit.cost.base
    ]
    if figures:
        return figures
    noun = "benchmark" if by_label is None else by_label.key
    raise NoDataError(f"no {noun} matches {asked.subject}")


def _one(decided: Outcome) -> tuple[Unit, ...]:
    """Return the only benchmark as a unit, with the outcome's figure."""
    first = decided.headline
    if first is None or first.id != "time" or first.base is None or first.new is None:
        return ()
    by, name = first.judged, first.source.removeprefix("Benchmark")
    cost = Estimate(first.base, first.new, by.ratio, *by.bounds, "noise")
    return (Unit(name, "time", cost, "unknown"),)


def _figure_of_unit(unit: Unit, decided: Outcome) -> Figure:
    cost, noun = unit.cost, COSTS[unit.figure].printed
    base, new, first = 1e9 * cost.base, 1e9 * cost.new, decided.headline
    return Figure(
        what=unit.name,
        base=base,
        new=new,
        unit=noun,
        scale=Scale(1, noun, 0 if min(base, new) >= 100 else 2),
        noise=not unit.moved,
        bounds=delta_bounds(base, cost.low, cost.high),
        by_ratio=True,
        runs=1 if first is None else min(first.runs),
    )


UNIT = Kind(_check_unit, _units)


# Names of load generators' latencies.
_PERCENTILE = re.compile(r"p\d{1,2}(?:\.\d{1,3})?")


def _check_load(asked: Asked) -> None:
    """Reject a figure that no tool prints, and a limit in another unit or direction."""
    name, limit = asked.subject, asked.limit
    times = name in (MEAN, LONGEST) or _PERCENTILE.fullmatch(name)
    if not times and name not in (RATE, FAILED):
        raise asked.wrong(
            f"there is no figure {name}; there are: {RATE}, {FAILED}, {MEAN}, p99 and "
            f"other percentiles, {LONGEST}"
        )
    unit = "ns" if times else "pp" if name == FAILED else "%"
    fits = limit.unit == "pp" if unit == "pp" else limit.relative
    if not fits and not (times and limit.fits("ns")):
        example = {"ns": "p99:+10%", "pp": "failed:+1pp", "%": "rate:-5%"}[unit]
        raise asked.wrong(f"the limit has another unit; type load:{example}")
    if limit.sign != (-1 if name == RATE else 1):
        word = "less" if name == RATE else "more"
        raise asked.wrong(f"{word} is worse: the limit needs the other sign")


def _loads(asked: Asked, judged: Judged) -> list[Figure]:
    loads = judged.comparison.loads
    if loads is None:
        raise NoDataError("no load generators' summaries are compared")
    row = next((row for row in loads.rows if row.name == asked.subject), None)
    if row is None or row.base is None or row.new is None:
        names = [row.name for row in loads.rows if row.change is not None]
        raise NoDataError(f"both sides do not have it; both have: {', '.join(names)}")
    if row.name == RATE and row.better is None:
        raise NoDataError("the load generator sets the rate: this is no closed loop")
    unit = "ns" if row.unit == "sec" else row.unit
    compared = judged.comparison
    figure = _figure_of(row, unit, asked.limit, compared, machine=False)
    if unit == "ns":
        return [figure._replace(scale=scale_for((figure.base, figure.new), "ns"))]
    unit = "pp" if unit == "%" else unit
    return [figure._replace(unit=unit, scale=Scale(1, unit, 2))]


LOAD = Kind(_check_load, _loads)
