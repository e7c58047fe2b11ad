"""GC logs in the JSON report: totals of all lines, rates of the window."""

from __future__ import annotations

from math import exp
from typing import Any

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.gclogs.catalogue import FIGURES, Figure
from pprofdiff.analysis.gclogs.compare import GCDiff
from pprofdiff.analysis.gclogs.side import GCSide

__all__ = ["gc_row", "gc_rows"]

Row = dict[str, Any]


def gc_rows(gc: GCDiff, _comparison: Comparison) -> list[Row]:
    """Return the one entry of ``comparisons`` for GC logs."""
    return [gc_row(gc)]


def gc_row(gc: GCDiff) -> Row:
    """Return the comparison as JSON: totals of all lines, rates of the window."""
    factors, restored = gc.factors, gc.restored
    return {
        "kind": "gctrace",
        "base": _side(gc.base),
        "new": _side(gc.new),
        "work_per_second": None
        if gc.rates is None
        else {"base": gc.rates[0], "new": gc.rates[1]},
        "factors": None if factors is None else factors._asdict(),
        "restored": None if restored is None else restored._asdict(),
        "runs": {"base": len(gc.base.runs), "new": len(gc.new.runs)},
        "figures": [_figure(gc, figure) for figure in FIGURES],
    }


def _figure(gc: GCDiff, figure: Figure) -> Row:
    """Return one metric: its value in each run, and the interval of its ratio."""
    base, new = figure.of_sides(gc.base, gc.new)
    change = gc.changes.get(figure.path)
    low, high = (None, None) if change is None else (change.low, change.high)
    return {
        "id": figure.key,
        "unit": figure.unit,
        "base": _number(base),
        "new": _number(new),
        "base_runs": [_number(value) for value in figure.of_runs(gc.base)],
        "new_runs": [_number(value) for value in figure.of_runs(gc.new)],
        "ratio": new / base if base and new is not None else None,
        "low": None if low is None else exp(low),
        "high": None if high is None else exp(high),
        "mark": "unknown" if change is None else change.mark,
    }


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _side(side: GCSide) -> Row:
    whole, steady = side.whole, side.steady
    times, heap = whole.times, whole.heap
    return {
        "path": side.path,
        "cycles": whole.cycles,
        "mark_wall_ms": times.mark_wall_us / 1000,
        "stw_wall_ms": times.stw_wall_us / 1000,
        "stw_cpu_ms": times.stw_cpu_us / 1000,
        "sweep_termination_wall_ms": times.sweep_termination_wall_us / 1000,
        "mark_termination_wall_ms": times.mark_termination_wall_us / 1000,
        "sweep_termination_cpu_ms": times.sweep_termination_cpu_us / 1000,
        "mark_termination_cpu_ms": times.mark_termination_cpu_us / 1000,
        "assist_cpu_ms": times.assist_cpu_us / 1000,
        "background_cpu_ms": times.background_cpu_us / 1000,
        "idle_cpu_ms": times.idle_cpu_us / 1000,
        "worst_pause_ms": whole.worst_pause_us / 1000,
        "p99_pause_ms": whole.p99_pause_us / 1000,
        "forced_cycles": whole.forced,
        "timer_cycles": whole.timer,
        "allocated_mb": heap.allocated,
        "allocated_error_mb": heap.allocated_error,
        "allocated_during_mark_mb": heap.allocated_during_mark,
        "median_live_mb": steady.heap.median_live,
        "median_goal_mb": steady.heap.median_goal,
        "effective_gogc": steady.heap.effective_gogc,
        "gc_cpu_share": steady.gc_cpu_share,
        "cycles_per_second": steady.cycles_per_second,
        "lines_seen": side.run.lines_seen,
        "lines_expected": side.run.lines_expected,
        "lines_torn": side.run.torn,
        "window": {
            "reason": side.window.reason,
            "first_cycle": steady.first_cycle,
            "last_cycle": steady.last_cycle,
            "start_s": steady.start_s,
            "end_s": steady.end_s,
            "gc_cpu_ms_per_cycle": steady.gc_cpu_us_per_cycle / 1000,
            "mark_wall_share": steady.mark_wall_share,
            "mean_trigger_mb": steady.heap.mean_trigger,
            "mean_peak_mb": steady.heap.mean_peak,
            "mean_live_mb": steady.heap.mean_live,
            "mean_goal_mb": steady.heap.mean_goal,
            "allocated_mb_per_second": steady.allocated_mb_per_second,
            "allocated_mb_per_cycle": steady.heap.per_cycle,
            "gomaxprocs": steady.procs,
        },
    }
