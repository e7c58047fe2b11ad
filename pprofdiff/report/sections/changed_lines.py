"""What the source tells of a finding, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.findings.cpu import words
from pprofdiff.analysis.findings.model import Finding
from pprofdiff.analysis.findings.wording import listed_functions, short
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import (
    Cell,
    Column,
    Row,
    Sentence,
    SourceNote,
    Table,
    name_column,
    sides,
)
from pprofdiff.report.sections.named import function_cells
from pprofdiff.report.sections.profiles.cells import delta_cell, value_cells

__all__ = ["changed_parts", "source_notes"]

# Commits of one place; a place that more of them made is told by the newest.
_COMMITS = 3


def changed_parts(report: ReportModel) -> Iterator[Table | Sentence]:
    """Yield the changed lines that moved most, and functions that moved without any.

    What the findings name is not told again: without anything else there is no table.
    """
    sources = [f.source for f in report.findings.found if f.source is not None]
    told = {lines.place for source in sources for lines in source.lines}
    if not all(lines.place in told for lines in report.changed):
        yield _changed_table(report)
    named = {name for source in sources for name in source.unchanged}
    rest = [name for name in report.unchanged if name not in named]
    if rest:
        told_of = listed_functions(rest)
        yield Sentence(f"Cost changed, source did not: {told_of}.")


def _changed_table(report: ReportModel) -> Table:
    """Return the table of changed lines whose samples moved most."""
    diff = report.profiles[0]
    unit = scale_of(diff).unit
    functions = function_cells([lines.function for lines in report.changed])
    rows = tuple(
        Row(
            lines.place,
            "changed_lines",
            (
                *value_cells(diff, lines.base, lines.new),
                delta_cell(diff, lines.base, lines.new, noise=False),
                Cell(f"{'gone: ' if lines.gone else ''}{lines.place}"),
                function,
                Cell(", ".join(c.short for c in lines.commits[:_COMMITS])),
            ),
        )
        for lines, function in zip(report.changed, functions, strict=True)
    )
    columns = (
        *sides(report.labels, unit),
        Column("Δ", "delta", unit=unit),
        name_column("changed lines"),
        Column("function", "text", "<"),
        Column("commit", "text", "<"),
    )
    return Table(
        "changed_lines",
        columns,
        rows,
        title="Changed lines (samples whose changed line nearest the leaf it is)",
        code=True,
        one_unit=True,
    )


def source_notes(report: ReportModel, finding: Finding) -> Iterator[SourceNote]:
    """Yield a sentence for each place that changed, and one on what did not change."""
    source = finding.source
    if source is None:
        return
    for lines in source.lines:
        amount = words(report.profiles[source.diff], lines.base, lines.new)
        yield SourceNote(
            f" in {short(lines.function)}, {amount}",
            "No longer there: " if lines.gone else "Changed: ",
            lines._replace(commits=lines.commits[:_COMMITS]),
        )
    for lines in source.near:
        # Of allocation, no samples say which lines it is on.
        sampled = finding.claim is not None and not finding.id.startswith("allocation")
        where = ", not on the lines whose cost changed" if sampled else ""
        yield SourceNote(
            f" in {short(lines.function)}{where}",
            "No longer there: " if lines.gone else "Changed: ",
            lines._replace(commits=lines.commits[:_COMMITS]),
        )
    for lines in source.around:
        yield SourceNote(
            f" in {short(lines.function)}, near it",
            "No longer there: " if lines.gone else "Changed: ",
            lines._replace(commits=lines.commits[:_COMMITS]),
        )
    for lines, caller, through in source.called:
        by = f" through {short(through)}" if through else ""
        yield SourceNote(
            f" in {short(lines.function)}, which {short(caller)} calls{by}",
            "No longer there: " if lines.gone else "Changed: ",
            lines._replace(commits=lines.commits[:_COMMITS]),
        )
    if source.unchanged and any((source.lines, source.near, source.around)):
        named = listed_functions(source.unchanged)
        yield SourceNote(f"No line of {named} itself changed.")
