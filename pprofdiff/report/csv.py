"""Every function of every comparison as CSV: raw integers, full precision."""

from __future__ import annotations

import csv
import io

from pprofdiff.diff.tables import STATUSES
from pprofdiff.report.model import ReportModel

__all__ = ["render"]

_COLUMNS = (
    "comparison",
    "sample_type",
    "unit",
    "name",
    "base_name",
    "file",
    "status",
    "base_flat",
    "new_flat",
    "delta_flat",
    "base_cum",
    "new_cum",
    "delta_cum",
    "delta_flat_scaled",
    "delta_cum_scaled",
)


def render(report: ReportModel) -> str:
    """Return CSV text with one header line; raw numbers are in the row's unit."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for diff in report.profiles:
        table = diff.table("functions")
        rows = table.take(table.order("flat", "cum"))
        head = (diff.name, diff.sample_type.type, diff.unit)
        numbers = (
            rows.base_flat,
            rows.new_flat,
            rows.delta("flat"),
            rows.base_cum,
            rows.new_cum,
            rows.delta("cum"),
            rows.scaled_delta("flat"),
            rows.scaled_delta("cum"),
        )
        words = zip(
            rows.names,
            [name or "" for name in rows.base_names],
            rows.files,
            [STATUSES[i] for i in rows.status().tolist()],
            strict=True,
        )
        values = zip(*(column.tolist() for column in numbers), strict=True)
        writer.writerows(
            (*head, *word, *row) for word, row in zip(words, values, strict=True)
        )
    return out.getvalue()
