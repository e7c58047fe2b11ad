"""Single inputs as cards: a profile, a trace, a log, benchmarks or several builds."""

from __future__ import annotations

import numpy as np

from pprofdiff.analysis.gclogs.catalogue import FIGURES
from pprofdiff.analysis.gclogs.side import GCSide
from pprofdiff.analysis.profiles.kinds import is_snapshot, kind_name
from pprofdiff.analysis.profiles.single import ProfileSums, profile_sums
from pprofdiff.analysis.traces.catalogue import BY_KEY
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.benchmarks import Benchmarks
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.notebook import ROWS, Card
from pprofdiff.plots.buildbars import Many, scale_of_builds
from pprofdiff.report.rows import Cell, Column, Row, Table, name_column
from pprofdiff.report.sections.gclogs import written
from pprofdiff.report.sections.named import function_cells
from pprofdiff.units import percent, scale_for, scaled


def profile_card(profile: Profile, label: str) -> Card:
    """Return a profile's runtime groups, or its most expensive functions."""
    costs = profile_sums(profile)
    kind = profile.sample_types[profile.sample_index()]
    scale = scale_for((costs.total,), kind.unit)
    rows = [
        Row(key, "figure", cells)
        for key, name, value in _largest(costs)
        if value
        for cells in [
            (
                name,
                Cell(scale.number(value), value),
                Cell(percent(value, costs.total)),
            )
        ]
    ]
    cells = Cell("total"), Cell(scale.number(costs.total), costs.total), Cell("")
    total = Row("total", "total", cells)
    span = profile.duration_ns
    lasted = f", over {scaled(span, 'ns')}" if span and not is_snapshot(kind) else ""
    unit = scale.unit or kind.type
    lead = f"{scale.text(costs.total)} {kind.type} in {len(profile):,} samples{lasted}"
    columns = (
        name_column("group" if costs.categories is not None else "flat"),
        Column(unit, "new"),
        Column("share", "share"),
    )
    code = costs.categories is None
    table = Table("profile", columns, (*rows, total), code=code)
    return Card((label,), f"{kind_name(profile)} profile", lead, table)


def _largest(costs: ProfileSums) -> list[tuple[str, Cell, int]]:
    """Return (key, name, value) of the most expensive groups, or else functions."""
    if costs.categories is None:
        order = np.argsort(-np.abs(costs.flat), kind="stable")[: ROWS - 1].tolist()
        names = [costs.names[i] for i in order]
        flat = [int(costs.flat[i]) for i in order]
        return list(zip(names, function_cells(names), flat, strict=True))
    groups = zip(rules().groups, costs.of_groups().tolist(), strict=True)
    ranked = sorted(groups, key=lambda group: -group[1])[: ROWS - 1]
    return [(group.id, Cell(group.label), value) for group, value in ranked]


# Keys of the figures to show from one log.
_OF_LOG = (
    "assist_cpu_us",
    "background_cpu_us",
    "worst_pause_us",
    "cycles_per_second",
    "gc_cpu_share",
    "mean_live",
    "mean_goal",
    "allocated_mb_per_second",
)


def log_card(side: GCSide, label: str) -> Card:
    """Return a GC log's totals, and its rates under load."""
    rows = []
    for figure in FIGURES:
        value = figure.of(side)
        if figure.key in _OF_LOG and value is not None:
            _, text, unit = written(figure, 0, value)
            cells = (
                Cell(figure.label),
                Cell(text, value, figure.unit, suffix=unit),
                Cell(figure.fields),
            )
            rows.append(Row(figure.key, "figure", cells))
    first, last = side.whole.start_s, side.whole.end_s
    lead = f"{side.whole.cycles:,} GC cycles from {first:.1f} to {last:.1f} s"
    columns = name_column(""), Column("value", "new"), Column("fields", "source", "<")
    table = Table("log", columns, tuple(rows))
    below = f"Rates and means: {side.shown.window.reason}"
    return Card((label,), "GC log", lead, table, below)


# Keys of the figures to show from one trace.
_OF_TRACE = (
    *("running", "runnable", "syscall", "syscall_block", "blocked"),
    *("wait.p50", "wait.p99", "gc.mark.wall", "stw"),
)


def trace_card(side: TraceSide, label: str) -> Card:
    """Return where a trace's goroutines spend time, and their scheduling latency."""
    figures = [(BY_KEY[key], BY_KEY[key].of(side)) for key in _OF_TRACE]
    rows = tuple(
        Row(one.key, "figure", (Cell(one.label), Cell(scaled(ns, "ns"), ns, "ns")))
        for one, ns in figures
        if ns is not None
    )
    lead = (
        f"{scaled(side.wall_ns, 'ns')}, {side.trace.events:,} events, "
        f"{len(side.trace.goroutines):,} goroutines, "
        f"{side.collections.started} GC cycles"
    )
    kind = f"execution trace, go1.{side.trace.version}"
    table = Table("trace", (name_column(""), Column("time", "new")), rows)
    return Card((label,), kind, lead, table)


def benchmarks_card(benchmarks: Benchmarks, label: str) -> Card:
    """Return the medians of the first benchmarks."""
    results = benchmarks.results
    rows = []
    for one in results[:ROWS]:
        name = one.name if one.procs is None else f"{one.name}-{one.procs}"
        median = float(np.median(one.values))
        cells = (
            Cell(name),
            Cell(f"{median:,.4g}", median, one.unit),
            Cell(one.unit),
            Cell(str(len(one.values)), len(one.values)),
        )
        rows.append(Row(name, "benchmark", cells))
    lead = f"{len(results)} figures"
    below = f"{len(results) - ROWS} more" if len(results) > ROWS else ""
    columns = (
        name_column("benchmark"),
        Column("median", "new"),
        Column("unit", "text", "<"),
        Column("runs", "text"),
    )
    table = Table("benchmarks", columns, tuple(rows), code=True)
    return Card((label,), "benchmarks", lead, table, below)


def builds_card(builds: Many) -> Card:
    """Return the first and last builds by group of runtime costs."""
    totals = [c.total * by for c, by in zip(builds.costs, builds.factors, strict=True)]
    scale = scale_of_builds(builds)
    sums = np.array([cost.of_groups() for cost in builds.costs])
    used = np.flatnonzero(sums.any(axis=0)).tolist()
    chosen = list(range(len(builds.names)))
    if len(chosen) > ROWS:
        chosen = [*chosen[: ROWS // 2], *chosen[-ROWS // 2 :]]
    rows = []
    for i in chosen:
        parts = [value * builds.factors[i] for value in sums[i, used].tolist()]
        figures = (Cell(scale.number(value), value) for value in (totals[i], *parts))
        cells = Cell(builds.names[i]), *figures
        rows.append(Row(builds.names[i], "file", cells))
    columns = (
        name_column("build"),
        Column(f"total, {scale.unit}", "new"),
        *(Column(rules().groups[at].label, "new") for at in used),
    )
    table = Table("builds", columns, tuple(rows), code=True)
    left = len(builds.names) - len(chosen)
    below = f"{left} more between them" if left else ""
    ends = (builds.names[0], builds.names[-1])
    kind = f"{builds.kind}, {len(builds.names)} builds"
    return Card(ends, kind, "", table, below)
