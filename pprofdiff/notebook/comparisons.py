"""Comparisons as cards: the answer, the totals and what moved, in a few rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import in_words, scale_of
from pprofdiff.notebook import ROWS, Card, cut
from pprofdiff.report.model import ReportModel
from pprofdiff.report.sections.answer import answer
from pprofdiff.report.sections.findings import finding_blocks
from pprofdiff.report.sections.profiles.cells import delta_cell, ratio_cell, value_cells
from pprofdiff.report.text.layout import Cell, Grid, Stanza
from pprofdiff.report.text.report import Section, sections

__all__ = ["comparison_card"]

# What is shown of logs and traces, where it is there, in this order.
_OF_LOGS = (
    "cycles",
    "mark assist, CPU",
    "background mark, CPU",
    "longest pause, wall",
    "cycles a second",
    "GC share of capacity, CPU",
    "live heap, mean",
    "allocated a second",
)
_OF_TRACES = (
    "running",
    "runnable",
    "blocked",
    "waits in the trace",
    "  p50",
    "  p99",
    "GC, of GOMAXPROCS × time",
    "least left to the program in 10 ms (MMU)",
)
# What stands without its table says too little.
_LONGER = {
    "running": "goroutines running, a second",
    "runnable": "goroutines runnable, a second",
    "blocked": "goroutines blocked, a second",
    "waits in the trace": "waits for a processor",
    "  p50": "  p50 of a wait",
    "  p99": "  p99 of a wait",
}
_MARKS = {"worse": "▲ ", "better": "▼ "}
_KINDS = {"gctrace": "GC logs", "trace": "execution traces", "benchmark": "benchmarks"}


def comparison_card(report: ReportModel) -> Card:
    """Return what is shown of a report of one comparison."""
    held = list(sections(report))
    section = held[0]
    found = [b for b in finding_blocks(report) if isinstance(b, Stanza)]
    first, *_ = answer(report, found, held)
    grids = [block for block in section.body if isinstance(block, Grid)]
    more = len(report.findings.found) - 1
    below = f"{more} more in .findings" if found and more > 0 else ""
    return Card(
        report.labels,
        _kind(section),
        first.text.strip(),
        _grid(section, grids, report),
        below,
        code=section.diff is not None and section.diff.category_sums is None,
    )


def _kind(section: Section) -> str:
    diff = section.diff
    if diff is None:
        return _KINDS[section.kind]
    return f"{diff.title}, {in_words(diff)}"


def _grid(section: Section, grids: list[Grid], report: ReportModel) -> Grid:
    """Return the table of a section's kind."""
    if section.diff is not None:
        if section.diff.category_sums is not None and grids:
            return _groups(grids[0])
        return _functions(section.diff, report.labels)
    if section.kind == "gctrace":
        return _picked(grids, _OF_LOGS, report, ("ratio",))
    if section.kind == "trace":
        return _picked(grids, _OF_TRACES, report, ("Δ", "ratio"))
    first = grids[0] if grids else Grid(("",), "<", (), 0)
    return first._replace(rows=first.rows[:ROWS])


def _functions(diff: ProfileDiff, labels: tuple[str, str]) -> Grid:
    """Return the functions whose flat moved most, and the total."""
    table, scale = diff.table("functions"), scale_of(diff)
    judged = table.judge("flat")
    base, new = (values.tolist() for values in table.raw("flat"))
    marks = ("", "  +new", "  -gone")
    status = table.status().tolist()
    rows: list[list[Cell]] = []
    for i in table.order("flat")[: ROWS - 1].tolist():
        if base[i] == new[i]:
            break
        noise = None if judged is None else bool(judged.noise[i])
        rows.append(
            [
                Cell(cut(table.names[i]) + marks[status[i]]),
                *value_cells(diff, scale, base[i], new[i]),
                delta_cell(diff, scale, base[i], new[i], noise=noise),
                ratio_cell(diff, base[i], new[i]),
            ]
        )
    whole = diff.judge([diff.totals[0]], [diff.totals[1]])
    noise = None if whole is None else bool(whole.noise[0])
    total = [
        Cell("total", "strong"),
        *value_cells(diff, scale, *diff.totals),
        delta_cell(diff, scale, *diff.totals, noise=noise),
        ratio_cell(diff, *diff.totals),
    ]
    headings = ("flat", *labels, "Δ", "own ratio")
    return Grid(headings, "<>>>>", (*rows, total), 0)


def _groups(grid: Grid) -> Grid:
    """Return groups without their parts, and the total; the smallest are left out."""
    whole = [row for row in grid.rows if not row[0].text.startswith(" ")]
    *groups, total = whole
    ranked = sorted(groups, key=_size, reverse=True)[: ROWS - 1]
    kept = [row for row in groups if any(row is other for other in ranked)]
    return grid._replace(rows=(*kept, total))


def _size(row: Sequence[Cell]) -> tuple[bool, float]:
    """Return how large a row's change is; what is noise comes last."""
    delta = row[3]
    return not delta.text.startswith("~"), abs(delta.value or 0.0)


def _picked(
    grids: Iterable[Grid],
    names: Sequence[str],
    report: ReportModel,
    columns: Sequence[str],
) -> Grid:
    """Return the named rows of several tables: name, both sides, the columns."""
    rows: dict[str, Sequence[Cell]] = {}
    for grid in grids:
        places = [grid.headings.index(c) if c in grid.headings else -1 for c in columns]
        for row in grid.rows:
            squares = [row[i] if i >= 0 else Cell("") for i in places]
            name = row[0].text
            if name in names and name not in rows and len(row) > 3:
                first = _marked(squares[0])
                rows[name] = [row[0], row[1], row[2], first, *squares[1:]]
    found = [
        [Cell(_LONGER.get(name, name)), *rows[name][1:]]
        for name in names
        if name in rows
    ]
    headings = ("", *report.labels, *columns)
    return Grid(headings, "<" + ">" * (len(headings) - 1), tuple(found), 0)


def _marked(cell: Cell) -> Cell:
    """Return a number with the sign of which way it moved, where it matters."""
    mark = _MARKS.get(cell.style, "")
    return (
        cell
        if not mark or cell.text[:1] in "▲▼"
        else Cell(mark + cell.text, cell.style)
    )
