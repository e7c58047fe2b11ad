"""Single inputs as cards: what a profile, trace, log or several builds hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.gclogs.compare import GCSide
from pprofdiff.analysis.profiles.kinds import is_snapshot, kind_name
from pprofdiff.analysis.profiles.single import ProfileSums, profile_sums
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.benchmarks import Benchmarks
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.notebook import ROWS, Card
from pprofdiff.plots.stacked import Many, scale_of_builds
from pprofdiff.report.text.layout import Cell, Grid
from pprofdiff.units import percent, scale_for, scaled

__all__ = [
    "benchmarks_card",
    "builds_card",
    "log_card",
    "profile_card",
    "trace_card",
]


def profile_card(profile: Profile, label: str) -> Card:
    """Return a profile's runtime groups, or its dearest functions."""
    costs = profile_sums(profile)
    kind = profile.sample_types[profile.sample_index()]
    scale = scale_for((costs.total,), kind.unit)
    if costs.categories is not None:
        known = rules()
        ids = list(known.categories)
        rows = [
            (
                group.label,
                int(costs.categories[[ids.index(c) for c in group.categories]].sum()),
            )
            for group in known.groups
        ]
        rows = sorted(rows, key=lambda row: -row[1])[: ROWS - 1]
    else:
        order = np.argsort(-np.abs(costs.flat), kind="stable")[: ROWS - 1].tolist()
        rows = [(costs.names[i], int(costs.flat[i])) for i in order]
    cells = [
        [Cell(name), Cell(scale.number(value)), Cell(percent(value, costs.total))]
        for name, value in rows
        if value
    ]
    total = [Cell("total", "strong"), Cell(scale.number(costs.total)), Cell("")]
    span = profile.duration_ns
    lasted = f", over {scaled(span, 'ns')}" if span and not is_snapshot(kind) else ""
    unit = scale.unit or kind.type
    lead = f"{scale.text(costs.total)} {kind.type} in {len(profile):,} samples{lasted}"
    heading = "group" if costs.categories is not None else "flat"
    return Card(
        (label,),
        f"{kind_name(profile)} profile",
        lead,
        Grid((heading, unit, "share"), "<>>", (*cells, total), 0),
        code=costs.categories is None,
    )


def log_card(log: HasSide) -> Card:
    """Return what a GC log adds up to, and its rates under load."""
    from pprofdiff.report.sections.gclogs import RATES, SUMS

    side = log.side
    chosen = (
        "mark assist, CPU",
        "background mark, CPU",
        "longest pause, wall",
        "cycles a second",
        "GC share of capacity, CPU",
        "live heap, mean",
        "goal, mean",
        "allocated a second",
    )
    rows = []
    for table, held in ((SUMS, side.whole), (RATES, side.steady)):
        for figure in table:
            value = figure.of(held)
            if figure.name in chosen and value is not None:
                text = figure.words(0, value)[1]
                rows.append([Cell(figure.name), Cell(text), Cell(figure.fields)])
    first, last = side.whole.start_s, side.whole.end_s
    lead = f"{side.whole.cycles:,} GC cycles from {first:.1f} to {last:.1f} s"
    grid = Grid(("", "value", "fields"), "<><", tuple(rows), 0)
    return Card((side.label,), "GC log", lead, grid, _of_load(side))


class HasSide(Protocol):
    """A log that can be compared."""

    @property
    def side(self) -> GCSide:
        """What is compared of it."""


def _of_load(side: GCSide) -> str:
    return f"Rates and means: {side.window.reason}"


def trace_card(side: TraceSide) -> Card:
    """Return where a trace's goroutines spend time, and how long they wait."""
    columns = {
        "running": "exec_ns",
        "runnable": "sched_wait_ns",
        "in system calls": "syscall_ns",
    }
    times = {name: side.of_program(column) for name, column in columns.items()}
    blocked = [side.of_program("block_ns", i) for i in range(len(side.groups.reasons))]
    times["blocked"] = sum(blocked)
    rows = [
        [Cell(f"goroutines {n}"), Cell(scaled(ns, "ns"))] for n, ns in times.items()
    ]
    quantiles = {"p50": side.latency.p50_ns, "p99": side.latency.p99_ns}
    rows += [
        [Cell(f"{name} of a wait for a processor"), Cell(scaled(ns, "ns"))]
        for name, ns in quantiles.items()
        if ns is not None
    ]
    gc = side.collections
    rows.append([Cell("GC marking, wall time"), Cell(scaled(gc.mark_wall_ns, "ns"))])
    rows.append([Cell("the world stopped"), Cell(scaled(gc.stw_ns, "ns"))])
    lead = (
        f"{scaled(side.wall_ns, 'ns')}, {side.trace.events:,} events, "
        f"{len(side.trace.goroutines):,} goroutines, {gc.begun} GC cycles"
    )
    kind = f"execution trace, go1.{side.trace.version}"
    return Card((side.label,), kind, lead, Grid(("", "time"), "<>", tuple(rows), 0))


def benchmarks_card(held: Benchmarks, label: str) -> Card:
    """Return the medians of the first benchmarks."""
    rows = [
        [
            Cell(one.name if one.procs is None else f"{one.name}-{one.procs}"),
            Cell(f"{float(np.median(one.values)):,.4g}"),
            Cell(one.unit),
            Cell(str(len(one.values))),
        ]
        for one in held.results[:ROWS]
    ]
    lead = f"{len(held.results)} figures"
    below = f"{len(held.results) - ROWS} more" if len(held.results) > ROWS else ""
    grid = Grid(("benchmark", "median", "unit", "runs"), "<><>", tuple(rows), 0)
    return Card((label,), "benchmarks", lead, grid, below, code=True)


def builds_card(held: Many) -> Card:
    """Return the first and last builds by the groups of runtime costs."""
    known = rules()
    ids = list(known.categories)
    totals = [c.total * by for c, by in zip(held.costs, held.factors, strict=True)]
    scale = scale_of_builds(held)
    groups = [
        (group.label, [ids.index(c) for c in group.categories])
        for group in known.groups
    ]
    groups = [g for g in groups if any(_sum(c, g[1]) for c in held.costs)]
    chosen = list(range(len(held.names)))
    if len(chosen) > ROWS:
        chosen = [*chosen[: ROWS // 2], *chosen[-ROWS // 2 :]]
    rows = [
        [
            Cell(held.names[i]),
            Cell(scale.number(totals[i])),
            *(
                Cell(scale.number(_sum(held.costs[i], where) * held.factors[i]))
                for _, where in groups
            ),
        ]
        for i in chosen
    ]
    headings = ("build", f"total, {scale.unit}", *(name for name, _ in groups))
    grid = Grid(headings, "<" + ">" * (len(headings) - 1), tuple(rows), 0)
    left = len(held.names) - len(chosen)
    below = f"{left} more between them" if left else ""
    ends = (held.names[0], held.names[-1])
    return Card(
        ends, f"{held.kind}, {len(held.names)} builds", "", grid, below, code=True
    )


def _sum(costs: ProfileSums, places: Sequence[int]) -> int:
    held: NDArray[np.int64] | None = costs.categories
    return 0 if held is None else int(held[list(places)].sum())
