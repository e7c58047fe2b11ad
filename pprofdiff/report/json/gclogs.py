"""GC logs in the JSON report: totals of all lines, rates of the window."""

from __future__ import annotations

from pprofdiff.analysis.gclogs.catalogue import FIGURES, LogFigure
from pprofdiff.analysis.gclogs.compare import GCDiff
from pprofdiff.analysis.gclogs.side import GCSide
from pprofdiff.report.json import Row

# Sums of times over all lines.
_TIMES = (
    *("mark_wall", "stw_wall", "stw_cpu"),
    *("sweep_termination_wall", "mark_termination_wall"),
    *("sweep_termination_cpu", "mark_termination_cpu"),
    *("assist_cpu", "background_cpu", "idle_cpu"),
)
_SPAN = ("first_cycle", "last_cycle", "start_s", "end_s")
_HEAPS = ("mean_trigger", "mean_peak", "mean_live", "mean_goal")


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


def _figure(gc: GCDiff, figure: LogFigure) -> Row:
    return {
        **figure.declaration,
        "base_runs": figure.of_runs(gc.base),
        "new_runs": figure.of_runs(gc.new),
        **gc.estimates[figure.key]._asdict(),
    }


def _side(side: GCSide) -> Row:
    whole, steady = side.whole, side.steady
    times, heap = whole.times, whole.heap
    return {
        "path": side.shown.path,
        "cycles": whole.cycles,
        **{f"{name}_ms": getattr(times, f"{name}_us") / 1000 for name in _TIMES},
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
        "lines_seen": side.shown.run.lines_seen,
        "lines_expected": side.shown.run.lines_expected,
        "lines_torn": side.shown.run.torn,
        "window": {
            "reason": side.shown.window.reason,
            **{name: getattr(steady, name) for name in _SPAN},
            "gc_cpu_ms_per_cycle": steady.gc_cpu_us_per_cycle / 1000,
            "mark_wall_share": steady.mark_wall_share,
            **{f"{name}_mb": getattr(steady.heap, name) for name in _HEAPS},
            "allocated_mb_per_second": steady.allocated_mb_per_second,
            "allocated_mb_per_cycle": steady.heap.per_cycle,
            "gomaxprocs": steady.procs,
        },
    }
