"""Which GC log figures are judged, and how far runs of one build differ in each."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.gclogs.side import GCSide, LoggedRun
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
from pprofdiff.analysis.judge.judge import Judge
from pprofdiff.analysis.judge.judgement import Change, Runs

__all__ = ["JUDGED", "changes_of", "values_of"]

# Floors: a figure of 0 was below what a log prints (1 us, 1 MiB, 1 us per second).
_US, _MIB, _SHARE = 1.0, 1.0, 1e-6

_OF_WHOLE: dict[str, tuple[Spread, float]] = {
    "cycles": (GC_RATES, 1.0),
    "times.mark_wall_us": (GC_MARKING, _US),
    "times.stw_wall_us": (GC_STOPS, _US),
    "times.stw_cpu_us": (GC_STOPS, _US),
    "times.sweep_termination_cpu_us": (GC_STOPS, _US),
    "times.assist_cpu_us": (GC_MARKING, _US),
    "times.background_cpu_us": (GC_MARKING, _US),
    "times.idle_cpu_us": (GC_IDLE, _US),
    "worst_pause_us": (GC_PAUSES, _US),
    "p99_pause_us": (GC_PAUSES, _US),
    "heap.allocated": (GC_RATES, _MIB),
    "heap.allocated_during_mark": (GC_DURING_MARK, _MIB),
}
_OF_WINDOW: dict[str, tuple[Spread, float]] = {
    "cycles_per_second": (GC_RATES, 1e-3),
    "gc_cpu_us_per_cycle": (GC_MARKING, _US),
    "gc_cpu_share": (GC_SHARES, _SHARE),
    "mark_wall_share": (GC_SHARES, _SHARE),
    "heap.mean_trigger": (GC_HEAP, _MIB),
    "heap.mean_peak": (GC_HEAP, _MIB),
    "heap.mean_live": (GC_HEAP, _MIB),
    "heap.mean_goal": (GC_HEAP, _MIB),
    "allocated_mb_per_second": (GC_RATES, 1e-3),
    "heap.per_cycle": (GC_HEAP, _MIB),
}
_ALL = _OF_WHOLE | _OF_WINDOW

JUDGED = tuple(_ALL)
"""Paths in `GCFigures` of the judged figures, which are judged as one table."""


def values_of(run: LoggedRun) -> NDArray[np.float64]:
    """Return one run's judged figures: float64, NaN where it has none."""
    values = [
        attrgetter(path)(run.whole if path in _OF_WHOLE else run.steady)
        for path in JUDGED
    ]
    column = np.array([np.nan if v is None else v for v in values], np.float64)
    return np.maximum(column, [least for _, least in _ALL.values()])


def changes_of(
    base: GCSide, new: GCSide, *, in_turns: bool = False
) -> Mapping[str, Change]:
    """Return how each figure changed, by its path in `GCFigures`.

    Deltas and their 95% intervals are logarithms of new ÷ base, of geometric means over
    runs; each run is one observation, or each pair of runs taken `in_turns`.
    """
    old, now = (tuple(map(values_of, side.runs)) for side in (base, new))
    judge = Judge.of_ratios([spread for spread, _ in _ALL.values()])
    judgement = judge.rows(Runs(old, now, in_turns))
    return {path: judgement.change(row) for row, path in enumerate(JUDGED)}
