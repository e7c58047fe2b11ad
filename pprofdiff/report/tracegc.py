"""What traces tell of the garbage collector, stops of the world and processors."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.diff.trace.compare import TraceDiff
from pprofdiff.diff.trace.processors import load, runnable, running
from pprofdiff.diff.trace.side import TraceSide
from pprofdiff.report.blocks import Block, Cell, Grid, Words
from pprofdiff.report.compared import arrow, arrow_of, compared, shares
from pprofdiff.units import Scale

__all__ = ["collector_blocks"]

_Row = list[Cell]
_COUNT = Scale(1.0, "", 0)
_STOPPED = ("the world stopped for", "times", "p50", "longest", "longest to stop")


def collector_blocks(diff: TraceDiff) -> Iterator[Block]:
    """Yield the tables on GC, on stops of the world and on processors."""
    headings = ("", diff.base.label, diff.new.label, "Δ", "ratio")
    yield Words("Garbage collection", "strong")
    yield Grid(headings, "<>>>>", tuple(_collector_rows(diff)), 0)
    stops = tuple(_stop_rows(diff))
    if stops:
        yield Grid(_STOPPED, "<>>>>", stops, 0)
    yield Words("Processors", "strong")
    yield Grid(headings, "<>>>>", tuple(_processor_rows(diff)), 0)


def _collector_rows(diff: TraceDiff) -> Iterator[_Row]:
    """Yield cycles, what began them, what they took, and what that left."""
    base, new = (side.collections for side in diff.sides)
    begun = [side.triggers for side in diff.sides]
    yield compared("GC cycles in the trace", (base.begun, new.begun), "")
    for cause in dict.fromkeys([*begun[0], *begun[1]]):
        counts = begun[0].get(cause, 0), begun[1].get(cause, 0)
        yield compared(f"  begun by {cause}", counts, "")
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
        ("the world stopped", base.stw_ns, new.stw_ns),
    ]
    for name, old, fresh in times:
        if old or fresh:
            pair = old * diff.factors[0], fresh * diff.factors[1]
            yield compared(name, pair, "ns", worse="idle" not in name)
    yield shares("GC share of capacity", base.gc_fraction, new.gc_fraction)
    for window, (old_share, new_share) in diff.mmu().items():
        name = f"least left to the program in {window // 1_000_000} ms (MMU)"
        yield shares(name, old_share, new_share)
    for window, values in diff.worst_windows().items():
        name = f"left in all but 1 % of {window // 1_000_000} ms"
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
    """Yield how far processors are used, and how many goroutines run and wait."""
    used = [side.processors.utilisation for side in diff.sides]
    yield shares("goroutines' share of capacity", used[0], used[1])
    for name, series in (("running", running), ("runnable", runnable)):
        counts = [load(series(side.trace), side.trace) for side in diff.sides]
        means = counts[0].mean or 0.0, counts[1].mean or 0.0
        yield compared(f"{name} at once, mean", means, "", worse=name == "runnable")
        yield compared(f"{name} at once, most", (counts[0].most, counts[1].most), "")
    steals = [int(side.processors.steals.sum()) for side in diff.sides]
    if any(steals):
        name = "processors taken from system calls"
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
