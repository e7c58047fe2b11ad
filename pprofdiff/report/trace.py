"""The section on execution traces: states, latency, GC, processors, goroutines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pprofdiff.diff.trace.compare import GroupPair, TraceDiff, TraceSide
from pprofdiff.diff.trace.latency import by_cause
from pprofdiff.diff.trace.quantiles import Quantiles
from pprofdiff.report.blocks import Block, Cell, Grid, Words
from pprofdiff.units import Scale, percent, scale_for

__all__ = ["trace_blocks", "trace_title"]

_ROWS = 8
_NAMES = {
    "running": "running",
    "runnable": "runnable, waiting for a processor",
    "syscall": "in system calls, with a processor",
    "syscall_block": "in system calls, without",
    "unknown": "unknown",
}
# More time in these is worse; blocked and running may mean more work as well.
_WORSE = ("runnable", "syscall_block")
_QUANTILES = {"p50": "p50_ns", "p90": "p90_ns", "p99": "p99_ns", "p99.9": "p999_ns"}
_HELD_UP = {
    "while GC was marking": "gc_mark_ns",
    "while the world was stopped": "stw_ns",
    "while no processor was idle": "busy_ns",
}

_Cells = list[Cell]


def trace_title(diff: TraceDiff) -> str:
    """Return the section's title: what its times are by."""
    by = "a second of wall time" if diff.rates is None else "by operation"
    return f"{diff.base.label} → {diff.new.label}   trace, goroutine time {by}"


def trace_blocks(diff: TraceDiff) -> Iterator[Block]:
    """Yield the section."""
    labels = diff.base.label, diff.new.label
    headings = ("", *labels, "Δ", "ratio")
    yield Grid(headings, "<>>>>", tuple(_state_rows(diff)), 0)
    yield Words("Scheduling latency: time runnable before running", "strong")
    yield Grid(headings, "<>>>>", tuple(_latency_rows(diff)), 0)
    causes = ("time runnable, by cause", *labels, "Δ", "ratio", "p99")
    yield Grid(causes, "<>>>>>", tuple(_cause_rows(diff)), 0)
    yield Words("Garbage collection and processors", "strong")
    yield Grid(headings, "<>>>>", tuple(_collector_rows(diff)), 0)
    rows = [_group_row(diff, pair) for pair in diff.groups if not _foreign(diff, pair)]
    if rows:
        yield Words("Goroutines by root function", "strong")
        columns = ("count", "running", "runnable", "blocked", "root function")
        yield Grid(columns, ">>>><", tuple(rows[:_ROWS]), 4)


def _state_rows(diff: TraceDiff) -> Iterator[_Cells]:
    """Yield time by state, scaled; blocked by reason."""
    rows = [row for row in diff.states if row.base_ns or row.new_ns]
    scaled = [
        (row.base_ns * diff.factors[0], row.new_ns * diff.factors[1]) for row in rows
    ]
    whole = max((max(pair) for pair in scaled), default=0.0)
    for row, pair in zip(rows, scaled, strict=True):
        if row.state == "blocked" and max(pair) < whole / 1000:
            continue
        name = _NAMES.get(row.state, f"blocked: {row.reason or 'no reason given'}")
        yield _compared(name, pair, "ns", worse=row.state in _WORSE)


def _compared(
    name: str, pair: tuple[float, float], unit: str, *, worse: bool = False
) -> _Cells:
    """Return one row: both values, their delta and ratio."""
    scale = scale_for(pair, unit)
    delta = pair[1] - pair[0]
    style = ""
    if worse and pair[0] and not 0.95 < pair[1] / pair[0] < 1.05:
        style = "worse" if delta > 0 else "better"
    ratio = f"{pair[1] / pair[0]:.2f}×" if pair[0] else ""
    return [
        Cell(name),
        Cell(scale.number(pair[0])),
        Cell(scale.text(pair[1])),
        Cell(scale.number(delta, signed=True), style),
        Cell(ratio, style),
    ]


def _latency_rows(diff: TraceDiff) -> Iterator[_Cells]:
    """Yield the quantiles of latency, with intervals of their deltas."""
    base, new = (side.waits.quantiles() for side in diff.sides)
    yield _compared("waits in the trace", (base.count, new.count), "")
    for name, field in (*_QUANTILES.items(), ("longest", "max_ns")):
        old, fresh = getattr(base, field), getattr(new, field)
        if old is None or fresh is None:
            continue
        interval = diff.latency_intervals.get(name)
        if interval is not None:
            name += f"  (Δ {_between(interval)})"  # noqa: PLW2901 - for the eye
        yield _compared(name, (old, fresh), "ns", worse=True)


def _between(interval: tuple[int, int]) -> str:
    scale = scale_for(interval, "ns")
    low, high = (scale.number(bound, signed=True) for bound in interval)
    return f"{low} to {high} {scale.unit}"


def _cause_rows(diff: TraceDiff) -> Iterator[_Cells]:
    """Yield why goroutines became runnable, and what held them up."""
    base, new = (by_cause(side.waits) for side in diff.sides)
    for name in dict.fromkeys([*new.name[:4], *base.name[:4]]):
        old, fresh = base.row(name), new.row(name)
        pair = old.total_ns * diff.factors[0], fresh.total_ns * diff.factors[1]
        yield [*_compared(name, pair, "ns", worse=True), Cell(_p99(old, fresh))]
    for name, field in _HELD_UP.items():
        sums = [int(getattr(side.waits, field).sum()) for side in diff.sides]
        pair = sums[0] * diff.factors[0], sums[1] * diff.factors[1]
        if any(sums):
            yield [*_compared(name, pair, "ns", worse=True), Cell("")]


def _p99(base: Quantiles, new: Quantiles) -> str:
    values = [q.p99_ns for q in (base, new)]
    return _arrow(values, scale_for([v for v in values if v is not None], "ns"))


def _collector_rows(diff: TraceDiff) -> Iterator[_Cells]:
    """Yield what the collector and processors did."""
    base, new = (side.collections for side in diff.sides)
    stops = [{stop.kind: stop.total_ns for stop in held.stops} for held in (base, new)]
    modes = dict.fromkeys([*base.worker_ns, *new.worker_ns])
    times = [
        ("marking, wall", base.mark_wall_ns, new.mark_wall_ns),
        *(
            (f"mark workers, {m}", base.worker_ns.get(m, 0), new.worker_ns.get(m, 0))
            for m in modes
        ),
        ("mark assist, running", base.assist_cpu_ns, new.assist_cpu_ns),
        ("mark assist, waiting", base.assist_wait_ns, new.assist_wait_ns),
        ("sweeping", base.sweep_ns, new.sweep_ns),
        *(
            (f"stopped: {kind}", stops[0].get(kind, 0), stops[1].get(kind, 0))
            for kind in dict.fromkeys([*stops[0], *stops[1]])
        ),
    ]
    yield _compared("GC cycles in the trace", (base.begun, new.begun), "")
    for name, old, fresh in times:
        if old or fresh:
            pair = old * diff.factors[0], fresh * diff.factors[1]
            yield _compared(name, pair, "ns", worse="idle" not in name)
    yield _shares("GC share of capacity", base.gc_fraction, new.gc_fraction)
    for window, (old_share, new_share) in diff.mmu().items():
        name = f"least left to the program in {window // 1_000_000} ms (MMU)"
        yield _shares(name, old_share, new_share)
    used = [side.processors.utilisation for side in diff.sides]
    yield _shares("goroutines' share of capacity", used[0], used[1])
    limits = [Cell(_limit(side)) for side in diff.sides]
    yield [Cell("GOMAXPROCS"), *limits, Cell(""), Cell("")]


def _shares(name: str, base: float | None, new: float | None) -> _Cells:
    words = ["–" if value is None else percent(value, 1) for value in (base, new)]
    delta = ""
    if base is not None and new is not None:
        points = Scale(0.01, "points", 1)
        delta = points.text(new - base, signed=True)
    return [Cell(name), Cell(words[0]), Cell(words[1]), Cell(delta), Cell("")]


def _limit(side: TraceSide) -> str:
    """Return GOMAXPROCS, as a range where it changed."""
    values = side.processors.gomaxprocs.value
    if not len(values):
        return "–"
    low, high = int(values.min()), int(values.max())
    return str(low) if low == high else f"{low} to {high}"


def _foreign(diff: TraceDiff, pair: GroupPair) -> bool:
    """Return whether a group is there only because of the trace."""
    return any(
        row >= 0 and bool(side.groups.tracing[row])
        for side, row in zip(diff.sides, (pair.base, pair.new), strict=True)
    )


def _group_row(diff: TraceDiff, pair: GroupPair) -> _Cells:
    rows = (pair.base, pair.new)

    def amounts(column: str) -> list[float | None]:
        scaled: list[float | None] = []
        for side, row, factor in zip(diff.sides, rows, diff.factors, strict=True):
            value = getattr(side.groups, column)[row].sum() if row >= 0 else None
            by = 1.0 if column == "count" else factor
            scaled.append(None if value is None else float(value) * by)
        return scaled

    times = [amounts(column) for column in ("exec_ns", "sched_wait_ns", "block_ns")]
    return [
        Cell(_arrow(amounts("count"), Scale(1.0, "", 0))),
        *(Cell(_arrow(t, scale_for([v or 0 for v in t], "ns"))) for t in times),
        Cell(pair.name),
    ]


def _arrow(values: Sequence[float | None], scale: Scale) -> str:
    words = ["–" if value is None else scale.number(value) for value in values]
    return f"{words[0]} → {words[1]} {scale.unit}".rstrip()
