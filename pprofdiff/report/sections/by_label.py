"""CPU by the label that names units of work, such as endpoints, as a table."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.ledger.views import merged
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
    old, now = (side.tolist() for side in merged(by_label.runs))
    noise = [None] * len(old) if by_label.judged is None else by_label.judged.chance
    if most is not None and not comparison.by and False not in noise:
        return
    deltas = [diff.normalization.delta(*pair) for pair in zip(old, now, strict=True)]
    order = sorted(
        range(len(old)), key=lambda i: (noise[i] is not False, -abs(deltas[i]))
    )
    rows = []
    for i in order[:most]:
        name = printable(by_label.values[i])
        shown = Cell(name) if name else Cell(f"no {by_label.key}", tone="faint")
        cells = (
            shown,
            *compared(diff, old[i], now[i], noise=noise[i]),
            ratio_cell(diff, old[i], now[i]),
            *share_cells(diff, old[i], now[i]),
        )
        rows.append(Row(name, "figure", cells))
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
        total=len(order) if len(order) > len(rows) else 0,
        one_unit=True,
        code=True,
    )
