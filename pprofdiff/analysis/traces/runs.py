"""Figures of several traces a side, and the intervals of their ratios.

One trace, however long, does not show how much a figure varies from run to run. Latency
quantiles and shares of Ps are taken from each trace; the runs then give an interval for
their ratio, as they do for totals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pprofdiff.analysis.judge.totals import mean_of_runs
from pprofdiff.analysis.traces.mutators import mmu
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.tables import RowChange, changes_of

__all__ = ["FIGURES", "RunRatio", "TraceFigure", "run_ratios"]

TraceRuns = tuple[Mapping[int, TraceSide], Mapping[int, TraceSide]]

_MMU_NS = 10_000_000


class TraceFigure(NamedTuple):
    """A figure of a trace: its unit, and a function that returns it, or None."""

    unit: str
    of: Callable[[TraceSide], float | None]


class RunRatio(NamedTuple):
    """A figure over all traces: each side's geometric mean, and their ratio."""

    figure: str
    unit: str
    base: float
    new: float
    ratio: RowChange

    @property
    def significant(self) -> bool:
        """Whether the figure changed significantly."""
        return self.ratio.significant


def _wait(field: str, above: float) -> TraceFigure:
    """Return a latency quantile, None for traces with no wait above it."""

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
    """Return the ratio of each figure that is known and above 0 in every trace.

    Figures are judged as one table. `runs` maps run numbers to traces; the result is
    empty unless a side has several.
    """
    if min(map(len, runs)) < 1 or max(map(len, runs)) == 1:
        return ()
    sides = [[_figures(trace) for trace in side.values()] for side in runs]
    names = [name for name in FIGURES if all(name in run for s in sides for run in s)]
    base, new = (
        [{name: run[name] for name in names} for run in side] for side in sides
    )
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
