"""The section on execution traces: states, latency, GC, processors, goroutines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pprofdiff.analysis.traces.compare import GroupPair, StateTime, TraceDiff
from pprofdiff.report.sections.traces.cells import arrow_of, compared, percents
from pprofdiff.report.sections.traces.collector import (
    by,
    collector_blocks,
    processor_grid,
)
from pprofdiff.report.text.layout import Block, Cell, Grid, Words
from pprofdiff.units import scale_for

__all__ = ["trace_blocks", "trace_title"]

_ROWS = 8
_NAMES = {
    "running": "running",
    "runnable": "runnable",
    "syscall": "system calls, with a processor",
    "syscall_block": "system calls, without",
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
_Times = tuple[float, float]


def trace_title(diff: TraceDiff) -> str:
    """Return the section's title: what its times are by."""
    per = by(diff) + (" of wall time" if diff.rates is None else "")
    return f"{diff.base.label} → {diff.new.label}   trace, times {per}"


def trace_blocks(diff: TraceDiff) -> Iterator[Block]:
    """Yield the section."""
    headings = diff.base.label, diff.new.label, "Δ", "ratio"
    first = f"goroutine time {by(diff)}"
    states = tuple(_state_rows(diff))
    yield Grid((first, *headings, "of life"), "<>>>>>", states, 0)
    yield from _latency_blocks(diff)
    yield from collector_blocks(diff)
    yield processor_grid(diff)
    yield from _durations(diff, "tasks")
    yield from _durations(diff, "regions")
    yield from _goroutines(diff)


def _state_rows(diff: TraceDiff) -> Iterator[_Cells]:
    """Yield time by state, scaled; blocked as a whole, then by reason."""
    held = [row for row in diff.states if row.base_ns or row.new_ns]
    lives = sum(row.base_ns for row in held), sum(row.new_ns for row in held)

    def cells(name: str, rows: Sequence[StateTime], *, worse: bool = False) -> _Cells:
        raw = sum(row.base_ns for row in rows), sum(row.new_ns for row in rows)
        shares = [
            ns / life if life else None for ns, life in zip(raw, lives, strict=True)
        ]
        times = compared(name, _scaled(diff, raw), "ns", worse=worse)
        return [*times, Cell(percents(shares))]

    blocked = [row for row in held if row.state == "blocked"]
    for row in held:
        if row.state in _NAMES:
            worse = row.state in _WORSE
            yield cells(_NAMES[row.state], [row], worse=worse)
    if blocked:
        yield cells("blocked", blocked)
    least = max(lives) / 1000
    for row in blocked:
        if max(row.base_ns, row.new_ns) >= least:
            yield cells(f"  {row.reason or 'no reason given'}", [row])


def _scaled(diff: TraceDiff, raw: _Times) -> _Times:
    """Return raw times of base and new by second or operation."""
    return raw[0] * diff.factors[0], raw[1] * diff.factors[1]


def _latency_blocks(diff: TraceDiff) -> Iterator[Block]:
    """Yield how long a wait is, and why goroutines wait."""
    labels = diff.base.label, diff.new.label
    yield Words("Scheduling latency: from runnable to running", "strong")
    base, new = (side.latency for side in diff.sides)
    rows = [compared("waits in the trace", (base.count, new.count), "")]
    for name, field in (*_QUANTILES.items(), ("longest", "max_ns")):
        pair = getattr(base, field), getattr(new, field)
        if pair != (None, None):
            rows.append(compared(f"  {name}", pair, "ns", worse=True))
            rows[-1].append(Cell(_between(diff.latency_intervals.get(name))))
    rows[0].append(Cell(""))
    headings = ("one wait", *labels, "Δ", "ratio", "Δ, 95 % interval")
    width = 6 if any(row[5].text for row in rows) else 5
    cut = tuple(row[:width] for row in rows)
    yield Grid(headings[:width], "<>>>>>"[:width], cut, 0)
    causes = (f"time runnable {by(diff)}", *labels, "Δ", "p99 of one wait")
    yield Grid(causes, "<>>>>", tuple(_cause_rows(diff)), 0)


def _between(interval: tuple[int, int] | None) -> str:
    if interval is None:
        return ""
    scale = scale_for(interval, "ns")
    low, high = (scale.number(bound, signed=True) for bound in interval)
    return f"{low} to {high} {scale.unit}"


def _cause_rows(diff: TraceDiff) -> Iterator[_Cells]:
    """Yield why goroutines became runnable, and what held them up."""
    base, new = (side.causes for side in diff.sides)
    for name in dict.fromkeys([*new.name[:4], *base.name[:4]]):
        old, fresh = base.row(name), new.row(name)
        pair = _scaled(diff, (old.total_ns, fresh.total_ns))
        cells = compared(name, pair, "ns", worse=True)[:-1]
        yield [*cells, Cell(arrow_of([old.p99_ns, fresh.p99_ns], "ns"))]
    for name, field in _HELD_UP.items():
        sums = [int(getattr(side.waits, field).sum()) for side in diff.sides]
        if any(sums):
            pair = _scaled(diff, (sums[0], sums[1]))
            yield [*compared(name, pair, "ns", worse=True)[:-1], Cell("")]


def _durations(diff: TraceDiff, what: str) -> Iterator[Block]:
    """Yield how long what the program named itself lasts: its tasks or regions.

    Those that took longest in all are shown, most of all first.
    """
    held = [getattr(side, what) for side in diff.sides]
    # Names of the one without any complete come last.
    names = dict.fromkeys(
        [*held[1].durations.name, *held[0].durations.name, *held[1].name, *held[0].name]
    )
    rows = []
    for name in [*names][:_ROWS]:
        times = [one.durations.row(name) for one in held]
        whole = [f"{time.count:,}" for time in times]
        rows.append(
            [
                *compared(
                    name or "begun before the trace",
                    (times[0].p50_ns, times[1].p50_ns),
                    "ns",
                    worse=True,
                ),
                Cell(arrow_of([time.p99_ns for time in times], "ns")),
                Cell(_once(whole)),
            ]
        )
    if rows:
        one = f"user {what}, p50 of one"
        headings = (one, diff.base.label, diff.new.label, "Δ", "ratio")
        yield Grid((*headings, "p99", "complete"), "<>>>>>>", tuple(rows), 0)


def _once(words: Sequence[str]) -> str:
    """Return base and new as one word where they are the same."""
    return words[0] if words[0] == words[1] else " → ".join(words)


def _goroutines(diff: TraceDiff) -> Iterator[Block]:
    """Yield the goroutines whose time running and runnable moved most."""
    pairs = [pair for pair in diff.groups if not _foreign(diff, pair)]
    labels = diff.base.label, diff.new.label
    running = tuple(_moved(diff, pairs, "exec_ns"))
    if running:
        yield Words(f"Goroutines by root function: time running {by(diff)}", "strong")
        headings = (*labels, "Δ", "ratio", "count", "root function")
        yield Grid(headings, ">>>>><", running, 5)
    waiting = tuple(_moved(diff, pairs, "sched_wait_ns"))
    if waiting:
        yield Words(f"Goroutines by root function: time runnable {by(diff)}", "strong")
        headings = (*labels, "Δ", "of life", "p99 of one wait", "root function")
        yield Grid(headings, ">>>>><", waiting, 5)


def _foreign(diff: TraceDiff, pair: GroupPair) -> bool:
    """Return whether a group is there only because of the trace."""
    return any(
        row >= 0 and bool(side.groups.tracing[row])
        for side, row in zip(diff.sides, (pair.base, pair.new), strict=True)
    )


def _moved(
    diff: TraceDiff, pairs: Sequence[GroupPair], column: str
) -> Iterator[_Cells]:
    """Yield the groups whose `column` moved most; those that have none are left out."""
    times = {}
    for pair in pairs:
        raw = [value or 0.0 for value in _amounts(diff, pair, column)]
        if any(raw):
            times[pair] = _scaled(diff, (raw[0], raw[1]))
    order = sorted(times, key=lambda pair: -abs(times[pair][1] - times[pair][0]))
    waiting = column == "sched_wait_ns"
    for pair in order[:_ROWS]:
        name, *cells = compared(pair.name, times[pair], "ns", worse=waiting)
        if waiting:
            yield [*cells[:3], *_waits(diff, pair), name]
        else:
            counts = _amounts(diff, pair, "count")
            words = ["–" if count is None else f"{count:,.0f}" for count in counts]
            yield [*cells, Cell(_once(words)), name]


def _amounts(diff: TraceDiff, pair: GroupPair, column: str) -> list[float | None]:
    """Return a column's value in base and new, None where a side lacks the group."""
    return [
        None if row < 0 else float(getattr(side.groups, column)[row])
        for side, row in zip(diff.sides, (pair.base, pair.new), strict=True)
    ]


def _waits(diff: TraceDiff, pair: GroupPair) -> _Cells:
    """Return the share of life that a group is runnable, and the p99 of its waits."""
    amounts = (_amounts(diff, pair, name) for name in ("sched_wait_ns", "total_ns"))
    of_life = [
        wait / life if wait is not None and life else None
        for wait, life in zip(*amounts, strict=True)
    ]
    worst = [
        None if row < 0 else side.group_waits.row(side.groups.names[row]).p99_ns
        for side, row in zip(diff.sides, (pair.base, pair.new), strict=True)
    ]
    return [Cell(percents(of_life)), Cell(arrow_of(worst, "ns"))]
