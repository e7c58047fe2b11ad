"""The figures of GC logs: each is declared here once.

Tables, JSON, DataFrames, intervals and findings read these declarations.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Literal, NamedTuple

from pprofdiff.analysis.gclogs.figures import GCFigures
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

Value = float | None

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


class Figure(NamedTuple):
    """One figure of a GC log.

    `fields` are the fields of a gctrace line that it is made of, `path` is where
    `GCFigures` has it. `spread` says how far runs of one build differ, None if it is
    not judged. `worse` means that more is worse. A figure of level 1 is part of the one
    before. `load` figures are of the cycles under load, others of all lines. `floor` is
    what a figure of 0 may have been, if that is not its form's.
    """

    name: str
    fields: str
    path: str
    form: Form
    spread: Spread | None = None
    worse: bool = False
    level: int = 0
    load: bool = False
    floor: float | None = None

    @property
    def key(self) -> str:
        """The stable name, such as ``assist_cpu_us``."""
        return self.path.rpartition(".")[2]

    @property
    def unit(self) -> str:
        """The unit of the value in `GCFigures`."""
        return _UNITS[self.form]

    @property
    def least(self) -> float:
        """The value that a figure of 0 may have had."""
        return _LEAST.get(self.form, 1.0) if self.floor is None else self.floor

    def of(self, figures: GCFigures) -> Value:
        """Return the value, None if the log does not have it."""
        value: Value = attrgetter(self.path)(figures)
        return value

    def of_run(self, run: LoggedRun | GCSide) -> Value:
        """Return the value in one run, or in a side's mean of runs."""
        return self.of(run.steady if self.load else run.whole)

    def of_runs(self, side: GCSide) -> list[Value]:
        """Return the value in each run of a side."""
        return [self.of_run(run) for run in side.runs]

    def of_sides(self, base: GCSide, new: GCSide) -> tuple[Value, Value]:
        """Return both sides' values: the geometric mean of several runs."""
        return mean_of_runs(self.of_runs(base)), mean_of_runs(self.of_runs(new))


# fmt: off
SUMS = (
    Figure("cycles", "lines", "cycles", "count", GC_RATES),
    Figure("concurrent mark, wall", "m", "times.mark_wall_us", "ms", GC_MARKING, worse=True),
    Figure("stop-the-world, wall", "s+t", "times.stw_wall_us", "ms", GC_STOPS, worse=True),
    Figure("stop-the-world, CPU", "S+T", "times.stw_cpu_us", "ms", GC_STOPS, worse=True),
    Figure("including sweep termination", "S", "times.sweep_termination_cpu_us", "ms", GC_STOPS, level=1),
    Figure("mark assist, CPU", "A", "times.assist_cpu_us", "ms", GC_MARKING, worse=True),
    Figure("background mark, CPU", "D", "times.background_cpu_us", "ms", GC_MARKING, worse=True),
    Figure("idle mark, CPU", "I", "times.idle_cpu_us", "ms", GC_IDLE),
    Figure("longest pause, wall", "max s, t", "worst_pause_us", "ms", GC_PAUSES, worse=True),
    Figure("p99 pause, wall", "s, t", "p99_pause_us", "ms", GC_PAUSES, worse=True),
    Figure("forced cycles", "(forced)", "forced", "count"),
    Figure("two-minute cycles", "GC forced", "timer", "count"),
    Figure("allocated", "H0–H2", "heap.allocated", "bytes", GC_RATES, worse=True),
    Figure("give or take", "rounding", "heap.allocated_error", "bytes", level=1),
    Figure("while marking", "H1−H0", "heap.allocated_during_mark", "bytes", GC_DURING_MARK, level=1),
)
"""Sums over all lines."""

RATES = (
    Figure("cycles per second", "N, T", "cycles_per_second", "rate", GC_RATES, worse=True, load=True),
    Figure("GC CPU per cycle", "S+A+D+T", "gc_cpu_us_per_cycle", "time", GC_MARKING, worse=True, load=True),
    Figure("GC share of capacity, CPU", "S+A+D+T", "gc_cpu_share", "share", GC_SHARES, worse=True, load=True),
    Figure("share of time marking, wall", "m, T", "mark_wall_share", "share", GC_SHARES, worse=True, load=True),
    Figure("heap at start (trigger), mean", "H0", "heap.mean_trigger", "bytes", GC_HEAP, load=True),
    Figure("heap at end (peak), mean", "H1", "heap.mean_peak", "bytes", GC_HEAP, load=True),
    Figure("live heap, mean", "H2", "heap.mean_live", "bytes", GC_HEAP, load=True),
    Figure("goal, mean", "G", "heap.mean_goal", "bytes", GC_HEAP, load=True),
    Figure("effective GOGC, median", "G, H2", "heap.effective_gogc", "percent", load=True),
    Figure("allocated per second", "H0–H2, T", "allocated_mb_per_second", "bytes", GC_RATES, load=True, floor=1e-3),
    Figure("allocated per cycle", "H0–H2", "heap.per_cycle", "bytes", GC_HEAP, load=True),
)
"""Rates and means of the cycles under load."""
# fmt: on

FIGURES = (*SUMS, *RATES)
"""All figures, in the order of reports."""
