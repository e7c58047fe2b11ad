"""The figures behind the outcome, run by run, and the runs that stand out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import exp, log, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.benchmarks.times import source_of, times_by_run
from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.control.totals import costs_by_run
from pprofdiff.analysis.figures.costs import COSTS
from pprofdiff.analysis.judge.calibration import (
    OUTLYING,
    OUTLYING_LEAST,
    TOTAL_PRIOR,
    TOTAL_SIGMA,
)
from pprofdiff.analysis.judge.samples import MEDIAN_DEVIATE
from pprofdiff.analysis.judge.totals import mean_of_runs
from pprofdiff.analysis.profiles.kinds import is_cpu
from pprofdiff.analysis.side import number_in, numbered
from pprofdiff.model.side import Capture, Side
from pprofdiff.units import times

_SEPARATOR = r"[/\\]"


class _RunName(NamedTuple):
    """How people know a run.

    `number` is its folder's or files' if the side's runs have different ones, else
    its position, from 1. `place` is its folder, or its first file.
    """

    number: int
    place: str


def run_names(side: Side) -> dict[int, _RunName]:
    """Return the names of a side's runs by `Capture.run`, in run order."""
    captures: dict[int, list[Capture[Any]]] = {}
    for capture in sorted(side.captures, key=lambda one: one.run):
        captures.setdefault(capture.run, []).append(capture)
    places = {run: _place(of_run) for run, of_run in captures.items()}
    numbers = [number_in(re.split(_SEPARATOR, places[run])[-1]) for run in captures]
    stated = [number for number in numbers if number is not None]
    if len(set(stated)) < len(captures):
        stated = list(range(1, len(captures) + 1))
    return {
        run: _RunName(number, places[run])
        for run, number in zip(captures, stated, strict=True)
    }


def _place(captures: Sequence[Capture[Any]]) -> str:
    """Return the folder of captures known to be of one run, else a file."""
    profiles = (c for c in captures if c.kind == "profile" and is_cpu(c.content))
    first = next(profiles, captures[0])
    parts = re.split(_SEPARATOR, first.path)
    if not first.run_known or len(parts) == 1:
        return first.path
    return first.path[: -len(parts[-1]) - 1]


class RunValues(NamedTuple):
    """One figure of all runs: seconds per op by `Capture.run`, and its source."""

    id: Literal["time", "cpu"]
    source: str
    base: Mapping[int, float]
    new: Mapping[int, float]

    @property
    def figure(self) -> str:
        """What is measured."""
        return COSTS[self.id].figure

    @property
    def sides(self) -> tuple[Mapping[int, float], Mapping[int, float]]:
        """Both sides' values by run."""
        return self.base, self.new


def headline_runs(comparison: Comparison) -> list[RunValues]:
    """Return time/op, then CPU/op, of those for which a side has several runs."""
    figures: tuple[RunValues | None, ...] = _of_turns(comparison)
    if not figures:
        figures = _times(comparison), _cpu(comparison)
    return [one for one in figures if one is not None and max(map(len, one.sides)) > 1]


def _of_turns(comparison: Comparison) -> tuple[RunValues, ...]:
    """Return the geometric mean of each round's turns, for the outcome's figures."""
    turns = comparison.turns if comparison.measured else None
    rounds = sorted({capture.run for capture in comparison.base.of("benchmark")})
    if turns is None or len(turns.seconds[0]) % len(rounds):
        return ()
    base, new = (_by_round(side, rounds) for side in turns.geomeans(turns.seconds)[:2])
    source = source_of(turns.names)
    found = [RunValues("time", source, base, new)]
    if turns.cpu_of_all is not None:
        cpu = turns.geomeans(turns.cpu_of_all)
        base, new = (_by_round(side, rounds) for side in cpu[:2])
        source = "the CPU time that the kernel counted"
        found.append(RunValues("cpu", source, base, new))
    return tuple(found)


def _by_round(values: Sequence[float], rounds: Sequence[int]) -> dict[int, float]:
    each = len(values) // len(rounds)
    return {
        run: mean_of_runs([[one] for one in values[i * each : (i + 1) * each]])
        for i, run in enumerate(rounds)
    }


def _times(comparison: Comparison) -> RunValues | None:
    """Return the geometric mean of the benchmarks that both sides have, by run."""
    sides = [times_by_run(numbered(side)) for side in (comparison.base, comparison.new)]
    names = [name for name in sides[0] if name in sides[1]]
    if not names:
        return None
    base, new = (
        {
            run: mean_of_runs([side[n][run] for n in names])
            for run in sorted(set.intersection(*(set(side[n]) for n in names)))
        }
        for side in sides
    )
    if not base or not new:
        return None
    return RunValues("time", source_of(names), base, new)


def _cpu(comparison: Comparison) -> RunValues | None:
    for diff in comparison.profiles:
        if diff.is_cpu:
            base, new = (
                {run: cost / 1e9 for run, cost in costs_by_run(diff, number).items()}
                for number in (0, 1)
            )
            if base and new:
                return RunValues("cpu", "the CPU profiles", base, new)
    return None


# Of two runs, either may be the outlier.
_FEWEST = 3


class _Outlier(NamedTuple):
    """An outlier among a side's runs: its value ÷ the median of the `others`."""

    side: int
    run: int
    ratio: float
    others: int


def outlying_runs(comparison: Comparison) -> Iterator[Caveat]:
    """Yield the runs whose CPU/op is an outlier, or time/op if CPU is unknown."""
    figures = headline_runs(comparison)[-1:]
    sides = [numbered(side) for side in (comparison.base, comparison.new)]
    for figure in figures:
        for one in outliers(figure.sides):
            yield Caveat("outlying-run", _words(one, figure, sides[one.side]))


def _words(one: _Outlier, figure: RunValues, side: Side) -> str:
    cause = "something else ran" if one.ratio > 1 else "it did the same work"
    return (
        f"{side.label}: {run_names(side)[one.run].place} took {times(one.ratio)} "
        f"the {COSTS[figure.id].noun} of the other {one.others} runs (their median); "
        f"it counts as they do: check whether {cause}"
    )


def outliers(sides: Sequence[Mapping[int, float]]) -> list[_Outlier]:
    """Return the outliers among each side's positive values by run, base first."""
    logs = [np.log(list(side.values())) for side in sides]
    distances_of = [np.abs(v - np.median(v)) if len(v) else v for v in logs]
    found = []
    for number, (side, values) in enumerate(zip(sides, logs, strict=True)):
        if len(values) < _FEWEST:
            continue
        elsewhere = [d for i, d in enumerate(distances_of) if i != number]
        for place, run in enumerate(side):
            others = np.delete(values, place)
            middle = float(np.median(others))
            distances = np.concatenate([np.abs(others - middle), *elsewhere])
            freedom = len(others) - 1 + sum(max(len(d) - 1, 0) for d in elsewhere)
            far = abs(float(values[place]) - middle)
            if far > max(
                OUTLYING * _deviation(distances, freedom), log(OUTLYING_LEAST)
            ):
                ratio = exp(float(values[place]) - middle)
                found.append(_Outlier(number, run, ratio, len(others)))
    return found


def _deviation(distances: NDArray[np.float64], freedom: int) -> float:
    """Return the run-to-run deviation of the logarithms."""
    own = float(np.median(distances)) / MEDIAN_DEVIATE
    squares = freedom * own**2 + TOTAL_PRIOR * TOTAL_SIGMA**2
    return sqrt(squares / (freedom + TOTAL_PRIOR))
