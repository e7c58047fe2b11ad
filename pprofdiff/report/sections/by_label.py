"""CPU by the label that names units of work, such as endpoints, as a table."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.profiles.groups import judged_sums
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import Cell, Column, Row, Table, name_column
from pprofdiff.report.sections.profiles.cells import (
    compared,
    compared_columns,
    ratio_cell,
    share_cells,
    share_columns,
)
from pprofdiff.units import printable


def label_parts(report: ReportModel, most: int | None = None) -> Iterator[Table]:
    """Yield the table of a label's values, significant changes first.

    With `most`, at most that many rows are shown, and none if no value changed
    significantly and the user did not ask.
    """
    comparison = report.comparison
    diff, by_label = comparison.cpu, comparison.by_label
    if diff is None or by_label is None:
        return
    names = [(printable(value), "") for value in by_label.values]
    sums = judged_sums(diff, names, by_label.runs)
    moved = any(one.noise is False for one in sums)
    if most is not None and not comparison.by and not moved:
        return
    sums.sort(key=lambda one: (one.noise is not False, -abs(one.delta)))
    rows = []
    for one in sums[:most]:
        shown = Cell(one.id) if one.id else Cell(f"no {by_label.key}", tone="faint")
        cells = (
            shown,
            *compared(diff, one.base, one.new, noise=one.noise),
            ratio_cell(diff, one.base, one.new),
            *share_cells(diff, one.base, one.new),
        )
        rows.append(Row(one.id, "figure", cells))
    columns = (
        name_column(printable(by_label.key)),
        *compared_columns(diff, report.labels),
        Column("ratio", "ratio"),
        *share_columns(diff),
    )
    yield Table(
        "labels",
        columns,
        tuple(rows),
        title=f"{diff.title} by {printable(by_label.key)}, in {scale_of(diff).unit}",
        total=len(sums) if len(sums) > len(rows) else 0,
        one_unit=True,
        code=True,
    )
