"""The section on GC logs: sums of their fields, rates under load, what restores them.

Each row names the fields of a gctrace line that it is made of, so that wall and CPU
time cannot be mistaken for one another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, NamedTuple

from pprofdiff.analysis.gclogs.compare import GCDiff, GCSide
from pprofdiff.analysis.gclogs.figures import GCFigures
from pprofdiff.report.text.layout import Block, Cell, Grid, Words
from pprofdiff.units import percent, scale_for

__all__ = ["RATES", "SUMS", "Figure", "gc_blocks", "gc_row", "gc_title"]

_MIB = 1 << 20
_LINE = "gc N @T U%: s+m+t ms clock, S+A/D/I+T ms cpu, H0->H1->H2 MB, G MB goal, P P"

Row = dict[str, Any]
Value = float | None


class Figure(NamedTuple):
    """One row: what it is, the fields behind it, its place in `GCFigures`, its words.

    `more` is what more of it is: worse, better, or "" for neither. A name that begins
    with spaces is a part of the one before.
    """

    name: str
    fields: str
    path: str
    words: Callable[[float, float], tuple[str, str]]
    more: str = ""

    @property
    def unit(self) -> str:
        """The unit of the value in `GCFigures`."""
        return _UNITS[self.words]

    def of(self, figures: GCFigures) -> Value:
        """Return the value, None where the log cannot say."""
        value: Value = attrgetter(self.path)(figures)
        return value


def _ms(base: float, new: float) -> tuple[str, str]:
    """Return exact milliseconds of whole microseconds."""
    return _exact(base), f"{_exact(new)} ms"


def _exact(us: float) -> str:
    digits = f"{us / 1000:,.3f}".rstrip("0")
    return digits.removesuffix(".")


def _counted(base: float, new: float) -> tuple[str, str]:
    return f"{base:,.0f}", f"{new:,.0f}"


def _rate(base: float, new: float) -> tuple[str, str]:
    scale = scale_for((base, new), "")
    return scale.number(base), scale.number(new)


def _share(base: float, new: float) -> tuple[str, str]:
    return percent(base, 1), percent(new, 1)


def _percent(base: float, new: float) -> tuple[str, str]:
    return f"{base:.0f}", f"{new:.0f} %"


def _bytes(base: float, new: float) -> tuple[str, str]:
    scale = scale_for((base * _MIB, new * _MIB), "bytes")
    return scale.number(base * _MIB), scale.text(new * _MIB)


def _time(base: float, new: float) -> tuple[str, str]:
    scale = scale_for((base, new), "us")
    return scale.number(base), scale.text(new)


_UNITS: dict[Callable[[float, float], tuple[str, str]], str] = {
    _ms: "us",
    _time: "us",
    _counted: "count",
    _rate: "1/s",
    _share: "share",
    _percent: "percent",
    _bytes: "MiB",
}

# fmt: off
SUMS = (
    Figure("cycles", "lines", "cycles", _counted),
    Figure("concurrent mark, wall", "m", "times.mark_wall_us", _ms, "worse"),
    Figure("stop-the-world, wall", "s+t", "times.stw_wall_us", _ms, "worse"),
    Figure("stop-the-world, CPU", "S+T", "times.stw_cpu_us", _ms, "worse"),
    Figure("    of it sweep termination", "S", "times.sweep_termination_cpu_us", _ms),
    Figure("mark assist, CPU", "A", "times.assist_cpu_us", _ms, "worse"),
    Figure("background mark, CPU", "D", "times.background_cpu_us", _ms, "worse"),
    Figure("idle mark, CPU", "I", "times.idle_cpu_us", _ms),
    Figure("longest pause, wall", "max s, t", "worst_pause_us", _ms, "worse"),
    Figure("99 % of pauses within, wall", "s, t", "p99_pause_us", _ms, "worse"),
    Figure("forced cycles", "(forced)", "forced", _counted),
    Figure("two-minute cycles", "GC forced", "timer", _counted),
    Figure("allocated", "H0–H2", "heap.allocated", _bytes, "worse"),
    Figure("    give or take", "rounding", "heap.allocated_error", _bytes),
    Figure("    while marking", "H1−H0", "heap.allocated_during_mark", _bytes),
)
RATES = (
    Figure("cycles a second", "N, T", "cycles_per_second", _rate, "worse"),
    Figure("GC CPU a cycle", "S+A+D+T", "gc_cpu_us_per_cycle", _time, "worse"),
    Figure("GC share of capacity, CPU", "S+A+D+T", "gc_cpu_share", _share, "worse"),
    Figure("share of time marking, wall", "m, T", "mark_wall_share", _share, "worse"),
    Figure("heap at start (trigger), mean", "H0", "heap.mean_trigger", _bytes),
    Figure("heap at end (peak), mean", "H1", "heap.mean_peak", _bytes),
    Figure("live heap, mean", "H2", "heap.mean_live", _bytes),
    Figure("goal, mean", "G", "heap.mean_goal", _bytes),
    Figure("effective GOGC, median", "G, H2", "heap.effective_gogc", _percent),
    Figure("allocated a second", "H0–H2, T", "allocated_mb_per_second", _bytes),
    Figure("allocated a cycle", "H0–H2", "heap.per_cycle", _bytes),
)
# fmt: on


def gc_blocks(gc: GCDiff) -> Iterator[Block]:
    """Yield the section: sums over the logs, then what holds under load."""
    yield Words(f"fields: {_LINE}", "faint")
    yield _grid(gc, SUMS, gc.base.whole, gc.new.whole)
    yield Words(f"Under load: {_windows(gc)}", "strong")
    yield _grid(gc, RATES, gc.base.steady, gc.new.steady)
    yield from _factors(gc)


def gc_title(gc: GCDiff) -> str:
    """Return the section's title: which lines its sums are of."""
    span = "the windows" if gc.base.asked or gc.new.asked else "all lines"
    return f"{gc.base.label} → {gc.new.label}   gctrace, sums of {span}"


def _windows(gc: GCDiff) -> str:
    """Return which cycles the rates are of; equal reasons are said once."""
    return "; ".join(f"{s.label} {s.window.reason}" for s in (gc.base, gc.new))


def _grid(
    gc: GCDiff, figures: tuple[Figure, ...], base: GCFigures, new: GCFigures
) -> Grid:
    rows = []
    for figure in figures:
        old, fresh = figure.of(base), figure.of(new)
        if not old and not fresh:
            continue
        words = figure.words(old or 0, fresh or 0)
        rows.append(
            [
                Cell(figure.name),
                Cell("–" if old is None else words[0]),
                Cell("–" if fresh is None else words[1]),
                _ratio(old, fresh, figure.more),
                Cell(figure.fields, "faint"),
            ]
        )
    labels = gc.base.label, gc.new.label
    return Grid(("", *labels, "ratio", "fields"), "<>>><", tuple(rows), 0)


def _ratio(base: Value, new: Value, more: str) -> Cell:
    if not base or new is None:
        return Cell("")
    ratio = new / base
    text = f"{ratio:.2f}×"
    if not more or 0.95 < ratio < 1.05:
        return Cell(text)
    return Cell(text, "worse" if ratio > 1 else "better")


def _factors(gc: GCDiff) -> Iterator[Block]:
    """Yield the factors that multiply to the change of GC CPU."""
    factors = gc.factors
    if factors is None:
        return
    per = "by operation" if gc.per_work else "a second"
    yield Words(
        f"GC CPU {per} {factors.gc_cpu:.3g}× = allocation {factors.allocation:.3g}× ÷ "
        f"bytes a cycle {factors.bytes_per_cycle:.3g}× × CPU a cycle "
        f"{factors.cpu_per_cycle:.3g}×; cycles {per} {factors.cycles:.3g}×."
    )
    restored = gc.restored
    if restored is None or factors.bytes_per_cycle > 1:
        return
    text = f"{gc.base.label}'s bytes a cycle come back with GOGC={restored.gogc:.0f}"
    if restored.heap_mb is not None:
        limit = restored.heap_mb + (restored.outside_mb or 0)
        text += f" or a GOMEMLIMIT of {limit:,.0f} MiB and what is outside the heap"
    yield Words(f"{text}.")


def gc_row(gc: GCDiff) -> Row:
    """Return the comparison as JSON has it: sums of all lines, rates of the window."""
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
    }


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
