"""The section on execution traces: states, latency, GC, processors, goroutines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pprofdiff.diff.trace.compare import GroupPair, TraceDiff
from pprofdiff.diff.trace.latency import by_cause
from pprofdiff.report.blocks import Block, Cell, Grid, Words
from pprofdiff.report.compared import arrow_of, compared, percents
from pprofdiff.report.tracegc import collector_blocks
from pprofdiff.units import scale_for

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
    yield Grid((*headings, "of life"), "<>>>>>", tuple(_state_rows(diff)), 0)
    yield Words("Scheduling latency: time runnable before running", "strong")
    yield Grid(headings, "<>>>>", tuple(_latency_rows(diff)), 0)
    causes = ("time runnable, by cause", *labels, "Δ", "ratio", "p99")
    yield Grid(causes, "<>>>>>", tuple(_cause_rows(diff)), 0)
    yield from collector_blocks(diff)
    yield from _durations(diff, "tasks")
    yield from _durations(diff, "regions")
    rows = [_group_row(diff, pair) for pair in diff.groups if not _foreign(diff, pair)]
    if rows:
        yield Words("Goroutines by root function", "strong")
        columns = ("running", "runnable", "of life", "p99 wait", "root function")
        yield Grid(columns, ">>>><", tuple(rows[:_ROWS]), 4)


def _state_rows(diff: TraceDiff) -> Iterator[_Cells]:
    """Yield time by state, scaled; blocked by reason."""
    rows = [row for row in diff.states if row.base_ns or row.new_ns]
    scaled = [
        (row.base_ns * diff.factors[0], row.new_ns * diff.factors[1]) for row in rows
    ]
    whole = max((max(pair) for pair in scaled), default=0.0)
    lives = sum(row.base_ns for row in rows), sum(row.new_ns for row in rows)
    for row, pair in zip(rows, scaled, strict=True):
        if row.state == "blocked" and max(pair) < whole / 1000:
            continue
        name = _NAMES.get(row.state, f"blocked: {row.reason or 'no reason given'}")
        raw = zip((row.base_ns, row.new_ns), lives, strict=True)
        of_life = Cell(percents([ns / life if life else None for ns, life in raw]))
        yield [*compared(name, pair, "ns", worse=row.state in _WORSE), of_life]


def _latency_rows(diff: TraceDiff) -> Iterator[_Cells]:
    """Yield the quantiles of latency, with intervals of their deltas."""
    base, new = (side.waits.quantiles() for side in diff.sides)
    yield compared("waits in the trace", (base.count, new.count), "")
    for name, field in (*_QUANTILES.items(), ("longest", "max_ns")):
        old, fresh = getattr(base, field), getattr(new, field)
        if old is None or fresh is None:
            continue
        interval = diff.latency_intervals.get(name)
        if interval is not None:
            name += f"  (Δ {_between(interval)})"  # noqa: PLW2901 - for the eye
        yield compared(name, (old, fresh), "ns", worse=True)


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
        yield [
            *compared(name, pair, "ns", worse=True),
            Cell(arrow_of([old.p99_ns, fresh.p99_ns], "ns")),
        ]
    for name, field in _HELD_UP.items():
        sums = [int(getattr(side.waits, field).sum()) for side in diff.sides]
        pair = sums[0] * diff.factors[0], sums[1] * diff.factors[1]
        if any(sums):
            yield [*compared(name, pair, "ns", worse=True), Cell("")]


def _foreign(diff: TraceDiff, pair: GroupPair) -> bool:
    """Return whether a group is there only because of the trace."""
    return any(
        row >= 0 and bool(side.groups.tracing[row])
        for side, row in zip(diff.sides, (pair.base, pair.new), strict=True)
    )


def _group_row(diff: TraceDiff, pair: GroupPair) -> _Cells:
    rows = (pair.base, pair.new)

    def amounts(column: str) -> list[float | None]:
        return [
            None if row < 0 else float(getattr(side.groups, column)[row])
            for side, row in zip(diff.sides, rows, strict=True)
        ]

    def scaled(column: str) -> str:
        times = zip(amounts(column), diff.factors, strict=True)
        return arrow_of([None if t is None else t * by for t, by in times], "ns")

    waits = zip(amounts("sched_wait_ns"), amounts("total_ns"), strict=True)
    of_life = [
        wait / life if wait is not None and life else None for wait, life in waits
    ]
    worst = [
        None if row < 0 else side.group_waits.row(side.groups.names[row]).p99_ns
        for side, row in zip(diff.sides, rows, strict=True)
    ]
    return [
        Cell(scaled("exec_ns")),
        Cell(scaled("sched_wait_ns")),
        Cell(percents(of_life)),
        Cell(arrow_of(worst, "ns")),
        Cell(f"{_counts(amounts('count'))} × {pair.name}"),
    ]


def _counts(values: Sequence[float | None]) -> str:
    """Return how many goroutines there are: one number where it did not change."""
    words = ["–" if value is None else f"{value:,.0f}" for value in values]
    return words[0] if words[0] == words[1] else " → ".join(words)


def _durations(diff: TraceDiff, what: str) -> Iterator[Block]:
    """Yield the durations of what the program named itself: its tasks or regions."""
    held = [getattr(side, what) for side in diff.sides]
    names = dict.fromkeys([*held[0].name, *held[1].name])
    rows = []
    for name in names:
        times = [one.durations.row(name) for one in held]
        rows.append(
            [
                Cell(_counts([time.count for time in times])),
                Cell(arrow_of([time.p50_ns for time in times], "ns")),
                Cell(arrow_of([time.p99_ns for time in times], "ns")),
                Cell(name or "begun before the trace"),
            ]
        )
    if rows:
        yield Grid(("complete", "p50", "p99", f"user {what}"), ">>><", tuple(rows), 3)
