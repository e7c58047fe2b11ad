"""Several traces a side: figures of each, and how sure their ratios are.

How far a figure moves from run to run is not to be seen in one trace, however long it
is. Quantiles of waits and shares of the processors are taken of every trace; the runs
tell the interval of their ratio, as they do for totals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pprofdiff.analysis.stats.totals import mean_of_runs
from pprofdiff.analysis.traces.mutators import mmu
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.tables import RowChange, changes_of

__all__ = ["FIGURES", "RunRatio", "TraceFigure", "run_ratios"]

TraceRuns = tuple[Mapping[int, TraceSide], Mapping[int, TraceSide]]

_MMU_NS = 10_000_000


class TraceFigure(NamedTuple):
    """A figure of a trace: its unit, and what returns it, None where it is unknown."""

    unit: str
    of: Callable[[TraceSide], float | None]


class RunRatio(NamedTuple):
    """A figure of all traces: its geometric mean on both sides, and their ratio."""

    figure: str
    unit: str
    base: float
    new: float
    ratio: RowChange

    @property
    def told(self) -> bool:
        """Whether new is more or less than base beyond what runs differ by."""
        return self.ratio.told


def _wait(field: str, above: float) -> TraceFigure:
    """Return a quantile of waits, of traces with a wait above it."""

    def of(side: TraceSide) -> float | None:
        waits = side.latency
        return getattr(waits, field) if waits.count * above >= 1 else None

    return TraceFigure("ns", of)


def _least_left(side: TraceSide) -> float | None:
    return mmu(side.utilisation, _MMU_NS) if side.wall_ns >= _MMU_NS else None


FIGURES = {
    "wait.p50": _wait("p50_ns", 0.5),
    "wait.p90": _wait("p90_ns", 0.1),
    "wait.p99": _wait("p99_ns", 0.01),
    "wait.p99.9": _wait("p999_ns", 0.001),
    "gc.share": TraceFigure("ratio", lambda side: side.collections.gc_fraction),
    f"mmu.{_MMU_NS}": TraceFigure("ratio", _least_left),
    "utilisation": TraceFigure("ratio", lambda side: side.processors.utilisation),
}
"""Figures that compare without knowing the work, by the keys of the report's rows."""


def run_ratios(runs: TraceRuns, *, in_turns: bool = False) -> tuple[RunRatio, ...]:
    """Return the ratio of each figure, of those that every trace has, above 0.

    They are judged as one table. `runs` are traces by the number of the run; nothing is
    returned unless a side has several.
    """
    if min(map(len, runs)) < 1 or max(map(len, runs)) == 1:
        return ()
    sides = [[_figures(trace) for trace in side.values()] for side in runs]
    told = [name for name in FIGURES if all(name in run for s in sides for run in s)]
    base, new = ([{name: run[name] for name in told} for run in side] for side in sides)
    changes = changes_of(base, new, in_turns=in_turns)
    return tuple(
        RunRatio(name, FIGURES[name].unit, _mean(base, name), _mean(new, name), change)
        for name, change in changes.items()
    )


def _figures(trace: TraceSide) -> dict[str, float]:
    """Return the figures of a trace that are known and above 0, by name."""
    values = ((name, figure.of(trace)) for name, figure in FIGURES.items())
    return {name: value for name, value in values if value is not None and value > 0}


def _mean(runs: Sequence[Mapping[str, float]], figure: str) -> float:
    """Return the geometric mean of a figure over runs that all have it."""
    return mean_of_runs([[run[figure]] for run in runs])
