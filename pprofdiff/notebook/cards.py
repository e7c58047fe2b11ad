"""Inputs and comparisons as cards: the answer, totals, what changed, in a few rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from msgspec.structs import replace

from pprofdiff.analysis.causes.traces import per
from pprofdiff.analysis.gclogs.catalogue import FIGURES as LOG_FIGURES
from pprofdiff.analysis.gclogs.side import GCSide
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.kinds import is_snapshot, kind_name
from pprofdiff.analysis.profiles.single import ProfileSums, profile_sums
from pprofdiff.analysis.profiles.tables import STATUSES
from pprofdiff.analysis.traces.catalogue import BY_KEY, FIGURES
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.goruntime.rules import rules
from pprofdiff.kinds import KINDS, resolve
from pprofdiff.model.benchmarks import Benchmarks
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.notebook import ROWS, Card
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import Cell, Column, Row, Section, Table, name_column, sides
from pprofdiff.report.sections import sections
from pprofdiff.report.sections.findings import answer, why
from pprofdiff.report.sections.gclogs import written
from pprofdiff.report.sections.named import function_cells, row_cells
from pprofdiff.report.sections.profiles.cells import compared, noise_of, ratio_cell
from pprofdiff.units import percent, scale_for, scaled

# Keys of the rows to show from logs and traces, if present, in order.
_OF_LOGS = (
    "cycles",
    "assist_cpu_us",
    "background_cpu_us",
    "worst_pause_us",
    "cycles_per_second",
    "gc_cpu_share",
    "mean_live",
    "allocated_mb_per_second",
)
_OF_TRACES = (
    "running",
    "runnable",
    "blocked",
    "waits",
    "wait.p50",
    "wait.p99",
    "gc.share",
    "mmu.10000000",
)
# Maximum number of findings on a card.
_FINDINGS = 5
_REMARKS = {"new": "(new)", "gone": "(gone)"}
_Labels = tuple[str, str]


def comparison_card(report: ReportModel) -> Card:
    """Return the card of a report on one comparison."""
    shown = list(sections(report))
    section, reasons = shown[0], why(report)
    first = answer(report, reasons, shown)
    listed = reasons.reasons[:_FINDINGS] if first.reason is not None else ()
    more = len(report.findings.found) - len(listed)
    below = f"{more} more in .findings" if reasons.reasons and more > 0 else ""
    make = KINDS[section.kind].diff_card
    card: Card = (resolve(make) if make else _first_table)(section, report.labels)
    return card._replace(
        lead=first.outcome if listed else f"{first.outcome} {first.title.strip()}",
        below=below,
        findings=tuple((r.level, f"{r.lead.strip()} {r.title}") for r in listed),
    )


def _first_table(section: Section, labels: _Labels) -> Card:
    first = next(iter(section.tables), None)
    empty = Table("none", (name_column(""),), ())
    table = empty if first is None else first.first(ROWS)
    return Card(labels, section.title, "", table)


def profiles_card(section: Section, labels: _Labels) -> Card:
    """Return a profile's groups, or the functions that changed if it has none."""
    diff: ProfileDiff = section.compared
    groups = next((t for t in section.tables if t.key == "groups"), None)
    table = _functions(diff, labels) if groups is None else _groups(groups)
    return Card(labels, f"{section.heading} ({section.mode})", "", table)


def _functions(diff: ProfileDiff, labels: _Labels) -> Table:
    """Return the functions whose flat changed most, and the total."""
    table = diff.table("functions")
    base, new = (values.tolist() for values in table.raw("flat"))
    judged = table.judge("flat")
    status = table.status().tolist()
    rows = []
    order = table.order("flat")[: ROWS - 1].tolist()
    moved = [i for i in order if base[i] != new[i]]
    for i, named in zip(moved, row_cells(table, moved), strict=True):
        remark = _REMARKS.get(STATUSES[status[i]], "") or named.remark
        name = replace(named, remark=remark)
        noise = None if judged is None else judged.chance[i]
        cells = (
            name,
            *compared(diff, base[i], new[i], noise=noise),
            ratio_cell(diff, base[i], new[i]),
        )
        rows.append(Row(table.names[i], "function", cells))
    (noise,) = noise_of(diff, diff.whole)
    cells = (
        Cell("total"),
        *compared(diff, *diff.totals, noise=noise),
        ratio_cell(diff, *diff.totals),
    )
    columns = (
        name_column("flat"),
        *sides(labels),
        Column("Δ", "delta"),
        Column("ratio", "ratio"),
    )
    total = Row("total", "total", cells)
    return Table("flat", columns, (*rows, total), code=True)


def _groups(table: Table) -> Table:
    """Return the largest groups, without their parts, and the total."""
    groups = [row for row in table.rows if row.role == "group"]
    delta = table.place("delta")

    def size(row: Row) -> tuple[bool, float]:
        """Return the size of a row's change; noise comes last."""
        cell = row.cells[delta]
        return cell.mark != "noise", abs(cell.value or 0.0)

    largest = {row.key for row in sorted(groups, key=size, reverse=True)[: ROWS - 1]}
    kept = [r for r in table.rows if r.role == "total" or r.key in largest]
    return replace(table, rows=tuple(kept))


def logs_card(section: Section, labels: _Labels) -> Card:
    """Return the key figures of GC logs."""
    columns = (Column("ratio", "ratio"),)
    table = _picked(section.tables, _OF_LOGS, labels, columns)
    return Card(labels, "GC logs", "", table)


def traces_card(section: Section, labels: _Labels) -> Card:
    """Return the key figures of traces."""
    columns = Column("Δ", "delta"), Column("ratio", "ratio", signs=False)
    by = per(section.compared)
    # Outside of their tables, rows need the whole label.
    names = {
        one.key: f"{one.label}, {by}" if one.by == "work" else one.label
        for one in FIGURES
        if one.short
    }
    table = _picked(section.tables, _OF_TRACES, labels, columns, names)
    return Card(labels, "execution traces", "", table)


def _picked(
    tables: Iterable[Table],
    keys: Sequence[str],
    labels: _Labels,
    columns: tuple[Column, ...],
    names: Mapping[str, str] = MappingProxyType({}),
) -> Table:
    """Return rows of several tables by key, with name, both sides and `columns`."""
    shown = (name_column(""), *sides(labels), *columns)
    rows: dict[str, Row] = {}
    indent = 0
    for table in tables:
        places = [table.place(column.role) for column in shown]
        for row in table.rows:
            if row.key in keys and row.key not in rows:
                indent = table.indent
                cells = [row.cells[i] if i >= 0 else Cell("") for i in places]
                cells[0] = replace(cells[0], text=names.get(row.key, cells[0].text))
                rows[row.key] = replace(row, cells=tuple(cells))
    chosen = tuple(rows[key] for key in keys if key in rows)
    return Table("picked", shown, chosen, indent=indent)


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
            (name, Cell(scale.number(value), value), Cell(percent(value, costs.total)))
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
    for figure in LOG_FIGURES:
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
