"""The figures behind the outcome, run by run: time/op and CPU/op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from pprofdiff.analysis.benchmarks.times import source_of, times_by_run, written
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.judge.totals import mean_of_runs
from pprofdiff.analysis.profiles.costs import costs_by_run
from pprofdiff.analysis.side import numbered

__all__ = ["RunValues", "headline_runs"]


class RunValues(NamedTuple):
    """One figure of all runs.

    `id` is that of the outcome's `Measure`. `base` and `new` are seconds per op, by
    `Capture.run`; `source` says what was measured.
    """

    id: Literal["time", "cpu"]
    figure: str
    source: str
    base: Mapping[int, float]
    new: Mapping[int, float]

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
    """Return the geometric mean of each round's turns, for the outcome's figures.

    Empty if sides were not measured in turns, or rounds differ in turns.
    """
    turns = comparison.turns if comparison.measured else None
    rounds = sorted({capture.run for capture in comparison.base.of("benchmark")})
    if turns is None or len(turns.seconds[0]) % len(rounds):
        return ()
    base, new = (_by_round(side, rounds) for side in turns.geomeans(turns.seconds)[:2])
    source = source_of(turns.names)
    found = [RunValues("time", "time per op", source, base, new)]
    if turns.cpu_seconds is not None:
        cpu = turns.geomeans(turns.cpu_seconds)
        base, new = (_by_round(side, rounds) for side in cpu[:2])
        source = "the CPU time that the kernel counted"
        found.append(RunValues("cpu", "CPU per op", source, base, new))
    return tuple(found)


def _by_round(values: Sequence[float], rounds: Sequence[int]) -> dict[int, float]:
    """Return the geometric mean of each round's turns."""
    each = len(values) // len(rounds)
    return {
        run: mean_of_runs([[one] for one in values[i * each : (i + 1) * each]])
        for i, run in enumerate(rounds)
    }


def _times(comparison: Comparison) -> RunValues | None:
    """Return the geometric mean of the benchmarks that both sides have, by run.

    A run that lacks one of them has no value.
    """
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
    source = f"Benchmark{written(names[0])}"
    if len(names) > 1:
        source = f"the geometric mean of {len(names)} benchmarks"
    return RunValues("time", "time per op", source, base, new)


def _cpu(comparison: Comparison) -> RunValues | None:
    for diff in comparison.profiles:
        if diff.is_cpu:
            base, new = (
                {run: cost / 1e9 for run, cost in costs_by_run(diff, number).items()}
                for number in (0, 1)
            )
            if base and new:
                figure, source = "CPU per op", "the CPU profiles"
                return RunValues("cpu", figure, source, base, new)
    return None
