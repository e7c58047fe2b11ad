"""The figures of GC logs: each is declared here once."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Literal

from pprofdiff.analysis.figures.figure import Figure, Worse
from pprofdiff.analysis.gclogs.side import GCSide, LoggedRun, mean_of_runs
from pprofdiff.analysis.judge.calibration import (
    GC_DURING_MARK,
    GC_HEAP,
    GC_IDLE,
    GC_MARKING,
    GC_PAUSES,
    GC_RATES,
    GC_SHARES,
    GC_STOPS,
    Spread,
)

Form = Literal["ms", "time", "count", "rate", "share", "percent", "bytes"]
"""How a value is printed; ``ms`` is exact, ``time`` is scaled."""

_UNITS: dict[Form, str] = {
    "ms": "us",
    "time": "us",
    "count": "count",
    "rate": "1/s",
    "share": "share",
    "percent": "percent",
    "bytes": "MiB",
}
# A figure of 0 was below what a log prints: 1 us, 1 MiB, 1 us per second.
_LEAST: dict[Form, float] = {"rate": 1e-3, "share": 1e-6}


@dataclass(frozen=True, kw_only=True)
class LogFigure(Figure[LoggedRun | GCSide]):
    """One figure of a GC log.

    `fields` are the fields of a gctrace line that it is made of. `load` figures are of
    the cycles under load, others of all lines. `least` is the value that a figure of 0
    may have had.
    """

    fields: str
    form: Form
    load: bool
    least: float

    def of_runs(self, side: GCSide) -> list[float | None]:
        """Return the value in each run of a side."""
        values = (self.of(run) for run in side.runs)
        return [None if value is None else float(value) for value in values]

    def of_side(self, side: GCSide) -> float | None:
        """Return a side's value: the geometric mean of several runs."""
        return mean_of_runs(self.of_runs(side))


def _log(  # noqa: PLR0913 - what differs between figures
    label: str,
    fields: str,
    path: str,
    form: Form,
    spread: Spread | None = None,
    *,
    worse: Worse = "",
    level: int = 0,
    load: bool = False,
    least: float | None = None,
) -> LogFigure:
    """Return the figure at `path` of `GCFigures`; `least` is its form's if None."""
    cycles = "steady" if load else "whole"
    return LogFigure(
        key=path.rpartition(".")[2],
        label=label,
        unit=_UNITS[form],
        of=attrgetter(f"{cycles}.{path}"),
        worse=worse,
        spread=spread,
        level=level,
        fields=fields,
        form=form,
        load=load,
        least=_LEAST.get(form, 1.0) if least is None else least,
    )


# fmt: off
SUMS = (
    _log("cycles", "lines", "cycles", "count", GC_RATES),
    _log("concurrent mark, wall", "m", "times.mark_wall_us", "ms", GC_MARKING, worse="more"),
    _log("stop-the-world, wall", "s+t", "times.stw_wall_us", "ms", GC_STOPS, worse="more"),
    _log("stop-the-world, CPU", "S+T", "times.stw_cpu_us", "ms", GC_STOPS, worse="more"),
    _log("including sweep termination", "S", "times.sweep_termination_cpu_us", "ms", GC_STOPS, level=1),
    _log("mark assist, CPU", "A", "times.assist_cpu_us", "ms", GC_MARKING, worse="more"),
    _log("background mark, CPU", "D", "times.background_cpu_us", "ms", GC_MARKING, worse="more"),
    _log("idle mark, CPU", "I", "times.idle_cpu_us", "ms", GC_IDLE),
    _log("longest pause, wall", "max s, t", "worst_pause_us", "ms", GC_PAUSES, worse="more"),
    _log("p99 pause, wall", "s, t", "p99_pause_us", "ms", GC_PAUSES, worse="more"),
    _log("forced cycles", "(forced)", "forced", "count"),
    _log("two-minute cycles", "GC forced", "timer", "count"),
    _log("allocated", "H0–H2", "heap.allocated", "bytes", GC_RATES, worse="more"),
    _log("give or take", "rounding", "heap.allocated_error", "bytes", level=1),
    _log("while marking", "H1−H0", "heap.allocated_during_mark", "bytes", GC_DURING_MARK, level=1),
)
"""Sums over all lines."""

RATES = (
    _log("cycles per second", "N, T", "cycles_per_second", "rate", GC_RATES, worse="more", load=True),
    _log("GC CPU per cycle", "S+A+D+T", "gc_cpu_us_per_cycle", "time", GC_MARKING, worse="more", load=True),
    _log("GC share of capacity, CPU", "S+A+D+T", "gc_cpu_share", "share", GC_SHARES, worse="more", load=True),
    _log("share of time marking, wall", "m, T", "mark_wall_share", "share", GC_SHARES, worse="more", load=True),
    _log("heap at start (trigger), mean", "H0", "heap.mean_trigger", "bytes", GC_HEAP, load=True),
    _log("heap at end (peak), mean", "H1", "heap.mean_peak", "bytes", GC_HEAP, load=True),
    _log("live heap, mean", "H2", "heap.mean_live", "bytes", GC_HEAP, load=True),
    _log("goal, mean", "G", "heap.mean_goal", "bytes", GC_HEAP, load=True),
    _log("effective GOGC, median", "G, H2", "heap.effective_gogc", "percent", load=True),
    _log("allocated per second", "H0–H2, T", "allocated_mb_per_second", "bytes", GC_RATES, load=True, least=1e-3),
    _log("allocated per cycle", "H0–H2", "heap.per_cycle", "bytes", GC_HEAP, load=True),
)
"""Rates and means of the cycles under load."""
# fmt: on

FIGURES = (*SUMS, *RATES)
"""All figures, in the order of reports."""

BY_KEY = {figure.key: figure for figure in FIGURES}
