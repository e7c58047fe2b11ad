"""What traces tell of the garbage collector, stops of the world and processors."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.traces.collector import Collections
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.report.sections.traces.cells import arrow, arrow_of, compared, shares
from pprofdiff.report.text.layout import Block, Cell, Grid, Words
from pprofdiff.units import Scale

__all__ = ["by", "collector_blocks", "processor_grid"]

_Row = list[Cell]
_COUNT = Scale(1.0, "", 0)
_STOPPED = ("the world stopped for", "stops", "p50", "longest", "longest to stop")
_CAPACITY = "GOMAXPROCS × time"


def by(diff: TraceDiff) -> str:
    """Return what times are by."""
    return "per second" if diff.rates is None else "per operation"


def collector_blocks(diff: TraceDiff) -> Iterator[Block]:
    """Yield the tables on GC and on stops of the world."""
    if any(map(_collected, (side.collections for side in diff.sides))):
        yield Words("Garbage collection", "strong")
        headings = (f"times {by(diff)}", diff.base.label, diff.new.label, "Δ", "ratio")
        yield Grid(headings, "<>>>>", tuple(_collector_rows(diff)), 0)
    else:
        yield Words("No garbage collection ran in either trace.")
    stops = tuple(_stop_rows(diff))
    if stops:
        yield Grid(_STOPPED, "<>>>>", stops, 0)


def processor_grid(diff: TraceDiff) -> Grid:
    """Return how far processors are used, and how many goroutines run and wait."""
    headings = ("processors", diff.base.label, diff.new.label, "Δ", "ratio")
    return Grid(headings, "<>>>>", tuple(_processor_rows(diff)), 0)


def _collected(held: Collections) -> bool:
    """Return whether the GC did anything."""
    works = held.begun, held.mark_wall_ns, held.sweep_ns, held.gc_busy_ns
    return any(works) or any(held.worker_ns.values())


def _collector_rows(diff: TraceDiff) -> Iterator[_Row]:
    """Yield cycles, what began them, what they took, and what that left."""
    base, new = (side.collections for side in diff.sides)
    begun = [side.triggers for side in diff.sides]
    yield compared("GC cycles begun in the trace", (base.begun, new.begun), "")
    for cause in dict.fromkeys([*begun[0], *begun[1]]):
        counts = begun[0].get(cause, 0), begun[1].get(cause, 0)
        yield compared(f"  by {cause}", counts, "")
    modes = dict.fromkeys([*base.worker_ns, *new.worker_ns])
    times = [
        ("marking, wall time", base.mark_wall_ns, new.mark_wall_ns),
        *(
            (f"{m} mark workers, running", base.worker_ns[m], new.worker_ns[m])
            for m in modes
        ),
        ("mark assist, goroutines running", base.assist_cpu_ns, new.assist_cpu_ns),
        ("mark assist, goroutines waiting", base.assist_wait_ns, new.assist_wait_ns),
        ("sweeping, all processors", base.sweep_ns, new.sweep_ns),
        ("the world stopped for GC, wall time", base.gc_stw_ns, new.gc_stw_ns),
    ]
    for name, old, fresh in times:
        if old or fresh:
            pair = old * diff.factors[0], fresh * diff.factors[1]
            yield compared(name, pair, "ns", worse="idle" not in name)
    yield shares(f"GC, of {_CAPACITY}", base.gc_fraction, new.gc_fraction)
    for window, (old_share, new_share) in diff.mmu.items():
        name = f"least left to the program in {window // 1_000_000} ms (MMU)"
        yield shares(name, old_share, new_share)
    for window, values in diff.worst_windows.items():
        name = f"left to it in 99 % of all {window // 1_000_000} ms"
        yield shares(name, *values)


def _stop_rows(diff: TraceDiff) -> Iterator[_Row]:
    """Yield stops of the world by kind: how many, how long, how long to stop."""
    held = [{stop.kind: stop for stop in s.collections.stops} for s in diff.sides]
    for kind in dict.fromkeys([*held[0], *held[1]]):
        stops = [stops.get(kind) for stops in held]
        lasted = [stop.duration if stop else None for stop in stops]
        stopping = [stop.stopping if stop else None for stop in stops]
        yield [
            Cell(kind),
            Cell(arrow([stop.count if stop else 0 for stop in stops], _COUNT)),
            Cell(arrow_of([q.p50_ns if q else None for q in lasted], "ns")),
            Cell(arrow_of([q.max_ns if q else None for q in lasted], "ns")),
            Cell(arrow_of([q.max_ns if q else None for q in stopping], "ns")),
        ]


def _processor_rows(diff: TraceDiff) -> Iterator[_Row]:
    """Yield use, goroutines that run and wait, and GOMAXPROCS."""
    used = [side.processors.utilisation for side in diff.sides]
    yield shares(f"goroutines running, of {_CAPACITY}", used[0], used[1])
    ran = [side.processors.goroutine_ns / max(side.wall_ns, 1) for side in diff.sides]
    yield compared("goroutines running at once, mean", (ran[0], ran[1]), "")
    base, new = (side.runnable_at_once for side in diff.sides)
    means, most = (base.mean, new.mean), (base.most, new.most)
    yield compared("goroutines runnable at once, mean", means, "", worse=True)
    yield compared("goroutines runnable at once, most", most, "")
    steals = [int(side.processors.steals.sum()) for side in diff.sides]
    if any(steals):
        name = "taken from system calls in the trace"
        yield compared(name, (steals[0], steals[1]), "")
    limits = [Cell(_limit(side)) for side in diff.sides]
    yield [Cell("GOMAXPROCS"), *limits, Cell(""), Cell("")]


def _limit(side: TraceSide) -> str:
    """Return GOMAXPROCS, as a range where it changed."""
    values = side.processors.gomaxprocs.value
    if not len(values):
        return "–"
    low, high = int(values.min()), int(values.max())
    return str(low) if low == high else f"{low} to {high}"
