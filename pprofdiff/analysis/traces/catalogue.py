"""Figures of execution traces, declared once for tables, JSON, plots and gate rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Literal

from pprofdiff.analysis.figures.figure import Figure, Worse
from pprofdiff.analysis.judge.calibration import TRACED
from pprofdiff.analysis.judge.durations import RANKS
from pprofdiff.analysis.traces.goroutines import STATE_TIMES
from pprofdiff.analysis.traces.mutators import mmu, share_below
from pprofdiff.analysis.traces.quantiles import QUANTILES
from pprofdiff.analysis.traces.side import TraceSide

By = Literal["work", "wall", "each", "trace", "longest"]
"""How tables show a value: ns per op or per second (``work``), ÷ wall time (``wall``),
as it is (``each``), as it is for a count of the whole trace (``trace``), and as it is
for what is known of the longest trace alone (``longest``)."""


@dataclass(frozen=True, kw_only=True)
class TraceFigure(Figure[TraceSide]):
    """One figure of a trace.

    `table` of the report has it, shown `by` and named `short`. `column` is its name in
    `TraceDiff.figures` and, with the unit, in JSON, if that is not the key. `alone`
    figures compare without knowing the work. A run with fewer `waits` does not show it.
    """

    table: Literal["states", "latency", "causes", "gc", "processors", ""] = ""
    by: By = "work"
    short: str = ""
    column: str = ""
    alone: bool = False
    waits: int = 0

    @property
    def time(self) -> bool:
        """Whether it is a time that is judged with the other rows of its table."""
        return self.unit == "ns" and self.spread is not None

    @property
    def shown(self) -> str:
        """The unit in which its table shows it; see `By`."""
        return "count" if self.by == "wall" else self.unit

    @property
    def title(self) -> str:
        """Its label in its table."""
        return self.short or self.label

    @property
    def name(self) -> str:
        """Its name in `TraceDiff.figures`."""
        return self.column or self.key

    def of_run(self, run: TraceSide) -> float | None:
        """Return the value in one run, None if the run has too few waits for it."""
        if self.waits and run.latency.count < self.waits:
            return None
        return self.of(run)


_SHOWN_NS = 10_000_000
_SHOWN_KEY = f"mmu.{_SHOWN_NS}"
_Read = Callable[[TraceSide], float | None]


_time = partial(TraceFigure, unit="ns", spread=TRACED)


def _state(state: str, short: str, label: str = "") -> TraceFigure:
    def of(side: TraceSide) -> int:
        if state != "blocked":
            return side.of_program(STATE_TIMES[state])
        reasons = range(len(side.groups.reasons))
        return sum(side.of_program("block_ns", reason) for reason in reasons)

    # More blocked and running may also mean more work.
    worse: Worse = "more" if state in ("runnable", "syscall_block") else ""
    label = f"goroutines {label or short}"
    return _time(state, label, of=of, worse=worse, table="states", short=short)


def _latency(name: str, field: str, waits: int = 0) -> TraceFigure:
    return _time(
        key=f"wait.{name}",
        label=f"{name} scheduling latency",
        of=attrgetter(f"latency.{field}"),
        worse="more",
        level=1,
        table="latency",
        by="each",
        short=name,
        alone=waits > 0,
        waits=waits,
    )


def _held_up(field: str, short: str) -> TraceFigure:
    """Return the time that goroutines were runnable while something held them up."""

    def of(side: TraceSide) -> int:
        return side.waits.during_ns[field]

    label = f"runnable {short}"
    return _time(field, label, of=of, worse="more", table="causes", short=short)


def _windows(key: str, label: str, window_ns: int, of: _Read) -> TraceFigure:
    """Return a share of windows of a length, None for shorter traces."""
    key = f"{key}.{window_ns}"

    def kept(side: TraceSide) -> float | None:
        one = side.longest
        known = one.wall_ns >= window_ns
        return one.trace.once(key, lambda _: of(one)) if known else None

    return TraceFigure(
        key=key,
        label=f"{label} ({window_ns // 1_000_000} ms)",
        unit="share",
        of=kept,
        table="gc",
        by="longest",
        worse="less",
        alone=key == _SHOWN_KEY,
    )


def _mmu(window_ns: int) -> TraceFigure:
    return _windows("mmu", "MMU", window_ns, lambda s: mmu(s.utilisation, window_ns))


def _worst(side: TraceSide) -> float | None:
    """Return the program's share in the worst 1% of windows."""
    return share_below(side.utilisation, _SHOWN_NS, 0.01)


MMU = {ns: _mmu(ns) for ns in (1_000_000, _SHOWN_NS, 100_000_000, 1_000_000_000)}
"""Minimum mutator utilization by window in ns."""

_of_trace = partial(TraceFigure, by="trace")
_each = partial(TraceFigure, by="each")
_gc = partial(_time, table="gc", worse="more")
_ps = partial(_time, table="processors", by="wall")

# fmt: off
FIGURES = (
    _each("wall", "length", "ns", attrgetter("wall_ns"), column="wall"),
    _each("events", "events", "count", lambda side: sum(part.trace.events for part in side.parts), column="events"),
    _each("capacity", "GOMAXPROCS × time", "ns", attrgetter("processors.capacity_ns"), column="capacity"),
    _each("allocated", "allocated", "bytes", attrgetter("collections.allocated_bytes"), column="allocated"),
    _each("stw", "stop-the-world", "ns", attrgetter("collections.stw_ns"), column="stw"),
    _state("running", "running"),
    _state("runnable", "runnable"),
    _state("syscall", "system calls, with a P", "in system calls, with a P"),
    _state("syscall_block", "system calls, without a P", "in system calls, without a P"),
    _state("unknown", "while the trace starts"),
    _state("blocked", "blocked"),
    _of_trace("waits", "waits for a P", "count", attrgetter("latency.count"), table="latency", short="waits"),
    # One of a thousand waits is above p99.9.
    *(_latency(name, QUANTILES[name], 1000 // (1000 - rank)) for name, rank in RANKS.items()),
    _latency("longest", "max_ns"),
    _held_up("gc_mark_ns", "while GC was marking"),
    _held_up("stw_ns", "while the world was stopped"),
    _held_up("busy_ns", "while no P was idle"),
    _of_trace("gc.cycles", "GC cycles started", "count", attrgetter("collections.started"), table="gc", column="gc_cycles"),
    _gc("gc.mark.wall", "mark phase, wall time", of=attrgetter("collections.mark_wall_ns"), column="gc_mark_wall"),
    _gc("gc.mark.dedicated", "dedicated mark workers, running", of=lambda side: side.collections.worker_ns["dedicated"], column="gc_worker_dedicated"),
    _gc("gc.mark.fractional", "fractional mark workers, running", of=lambda side: side.collections.worker_ns["fractional"], column="gc_worker_fractional"),
    # More marking on idle Ps takes nothing from the program.
    _gc("gc.mark.idle", "idle mark workers, running", of=lambda side: side.collections.worker_ns["idle"], column="gc_worker_idle", worse=""),
    _gc("gc.mark.assist", "mark assist, running", of=attrgetter("collections.assist_cpu_ns"), column="gc_assist_cpu"),
    _gc("gc.mark.assist.wait", "mark assist, waiting", of=attrgetter("collections.assist_wait_ns"), column="gc_assist_wait"),
    _gc("gc.sweep", "sweeping, all Ps", of=attrgetter("collections.sweep_ns"), column="gc_sweep"),
    _gc("gc.stw", "GC stop-the-world, wall time", of=attrgetter("collections.gc_stw_ns")),
    _each("gc.share", "GC, of GOMAXPROCS", "share", attrgetter("collections.gc_fraction"), table="gc", column="gc_fraction", alone=True, worse="more"),
    *MMU.values(),
    _windows("mmu.p99", "mutator utilization, p1", _SHOWN_NS, _worst),
    _each("utilisation", "goroutines running, of GOMAXPROCS", "share", attrgetter("processors.utilisation"), table="processors", column="utilisation", alone=True),
    _ps("running.mean", "goroutines running at once, mean", of=attrgetter("processors.goroutine_ns"), column="goroutine"),
    _ps("running.runtime", "the runtime's goroutines running at once, mean", of=lambda side: side.of_runtime("exec_ns"), short="of these, the runtime's", level=1),
    _ps("runnable.mean", "goroutines runnable at once, mean", of=lambda side: int(side.waits.duration_ns.sum()), worse="more"),
    _ps("runnable.runtime", "the runtime's goroutines runnable at once, mean", of=lambda side: side.of_runtime("sched_wait_ns"), short="of these, the runtime's", level=1),
    _each("runnable.most", "goroutines runnable at once, maximum", "count", attrgetter("runnable_at_once.most"), table="processors"),
    _of_trace("steals", "Ps retaken from system calls", "count", lambda side: int(side.processors.steals.sum()), table="processors", column="steals"),
)
# fmt: on
"""All figures, in the order of reports."""

ALONE = tuple(figure for figure in FIGURES if figure.alone)
"""Figures that compare without knowing the work."""

BY_KEY = {figure.key: figure for figure in FIGURES}


def figures_of(table: str) -> tuple[TraceFigure, ...]:
    """Return the figures of one table of the report, in its order."""
    return tuple(figure for figure in FIGURES if figure.table == table)
