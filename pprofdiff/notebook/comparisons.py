"""Comparisons as cards: the answer, the totals and what changed, in a few rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from pprofdiff.analysis.causes.traces import per
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.tables import STATUSES
from pprofdiff.analysis.traces.catalogue import FIGURES
from pprofdiff.kinds import KINDS, resolve
from pprofdiff.notebook import ROWS, Card
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import Cell, Column, Row, Section, Table, name_column, sides
from pprofdiff.report.sections import sections
from pprofdiff.report.sections.answer import answer
from pprofdiff.report.sections.findings import why
from pprofdiff.report.sections.named import row_cells
from pprofdiff.report.sections.profiles.cells import compared, noise_of, ratio_cell

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
