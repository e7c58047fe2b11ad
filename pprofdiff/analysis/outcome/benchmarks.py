"""Benchmark tables of interleaved runs, with the figures and marks of the outcome.

Medians with a U test next to a headline from paired turns would give one figure two
values and two marks. Here each benchmark has the mean of its turns, the interval of
their ratio, and a mark only if the outcome calls the change significant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pprofdiff.analysis.benchmarks.compare import (
    BenchmarkRow,
    BenchmarkTable,
    OfTurns,
)
from pprofdiff.analysis.benchmarks.times import BenchmarkKey
from pprofdiff.analysis.benchmarks.turns import Turns
from pprofdiff.analysis.benchmarks.units import ALLOCATED, tidy
from pprofdiff.analysis.judge.judgement import Change
from pprofdiff.analysis.judge.samples import Summary, geomean
from pprofdiff.analysis.outcome.by_unit import Figure, figures_in_turns
from pprofdiff.analysis.outcome.model import ALIKE, Outcome

if TYPE_CHECKING:
    from pprofdiff.analysis.comparison import Comparison

__all__ = ["judged_in_turns"]

_TIME, _CPU, _SPEED = "sec/op", "cpu-sec/op", "B/s"

_Figures = Mapping[str, list[Figure]]


def judged_in_turns(comparison: Comparison, outcome: Outcome) -> Comparison:
    """Return the comparison with tables that agree with `outcome`.

    Turns decide the marks of time, CPU and allocation; B/s follows time. Custom units
    are unchanged. The CPU profile's total is CPU per op and takes its mark.
    """
    diff, turns = comparison.benchmarks, comparison.turns
    if diff is None or turns is None:
        return comparison
    figures = {_TIME: figures_in_turns(turns, turns.seconds)}
    if turns.cpu_seconds is not None:
        figures[_CPU] = figures_in_turns(turns, turns.cpu_seconds)
    moved = _moved(turns, outcome)

    def judged(table: BenchmarkTable, row: BenchmarkRow) -> BenchmarkRow:
        at = _place(turns, table, row)
        if at is None or row.change is None:
            return row
        if table.unit in ALLOCATED.values():
            return _counted(turns, table.unit, row, at)
        return _timed(figures, table.unit, row, at, moved=moved[at])

    mark, cpu = outcome.mark_of("cpu"), comparison.cpu
    noise = None if mark == "unknown" else mark == "noise"
    profiles = tuple(
        one.with_total_in_noise(noise=noise) if one is cpu else one
        for one in comparison.profiles
    )
    results = {
        **comparison.results,
        "benchmark": diff.judged(judged),
        "profile": profiles,
    }
    return replace(comparison, results=results)


def _moved(turns: Turns, outcome: Outcome) -> list[bool]:
    """Return whether each benchmark of `turns` changed, according to the outcome."""
    if outcome.units:
        known = {unit.key: unit.moved for unit in outcome.units}
        return [known.get(name, False) for name in turns.names]
    return [outcome.decided] * len(turns.names)


def _place(turns: Turns, table: BenchmarkTable, row: BenchmarkRow) -> int | None:
    """Return the row's index among the interleaved benchmarks, or None."""
    package = dict(table.config).get("pkg")
    for at, name in enumerate(turns.names):
        if _is(name, row) and package in (None, name[2] or ""):
            return at
    return None


def _is(name: BenchmarkKey, row: BenchmarkRow) -> bool:
    return name[:2] == (row.name, row.procs)


def _timed(
    figures: _Figures, unit: str, row: BenchmarkRow, at: int, *, moved: bool
) -> BenchmarkRow:
    """Return a row of time/op, CPU/op or B/s with the figures of the turns."""
    if unit in figures:
        one = figures[unit][at]
        shown = OfTurns(one.ratio.ratio, one.low, one.high)
        sides = one.base, one.new
    elif unit == _SPEED and (speeds := _means(row)) is not None:
        one = figures[_TIME][at]
        shown = OfTurns(1 / one.ratio.ratio, 1 / one.high, 1 / one.low)
        sides = speeds
    else:
        return row
    sure = not one.low <= 1 <= one.high
    return _with(row, sides, shown, noise=not (moved and sure))


def _means(row: BenchmarkRow) -> tuple[float, float] | None:
    base, new = (geomean([v for run in side for v in run]) for side in row.runs)
    return None if base is None or new is None else (base, new)


def _counted(turns: Turns, unit: str, row: BenchmarkRow, at: int) -> BenchmarkRow:
    """Return a row of B/op or allocs/op: medians, exact unless they vary."""
    kind = next(kind for kind, name in ALLOCATED.items() if name == unit)
    if kind not in turns.allocated:
        return row
    base, new = (float(side[at]) for side in turns.allocated[kind])
    same = abs(new - base) <= ALIKE * base
    noise = same or bool(turns.varies[kind][at])
    return _with(row, (base, new), OfTurns(), noise=noise)


def _with(
    row: BenchmarkRow, sides: tuple[float, float], shown: OfTurns, *, noise: bool
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
