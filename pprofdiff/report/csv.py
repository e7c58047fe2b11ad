"""Every function of every comparison as CSV: raw integers, full precision."""

from __future__ import annotations

import csv
import io

from pprofdiff.analysis.profiles.tables import STATUSES
from pprofdiff.errors import UsageError
from pprofdiff.report.model import ReportModel

__all__ = ["render"]

_WORDS = (
    "comparison",
    "sample_type",
    "unit",
    "name",
    "base_name",
    "file",
    "status",
)


def render(report: ReportModel) -> str:
    """Return CSV text with one header line; raw numbers are in the row's unit."""
    if not report.profiles:
        raise UsageError("a .csv has functions, and there are no profiles: use .json")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for i, diff in enumerate(report.profiles):
        table = diff.table("functions")
        rows = table.take(table.order("flat", "cum"))
        numbers = rows.columns()
        if i == 0:
            writer.writerow((*_WORDS, *numbers))
        head = (diff.name, diff.sample_type.type, diff.unit)
        words = zip(
            rows.names,
            [name or "" for name in rows.base_names],
            rows.files,
            [STATUSES[status] for status in rows.status().tolist()],
            strict=True,
        )
        values = zip(*numbers.values(), strict=True)
        writer.writerows(
            (*head, *word, *row) for word, row in zip(words, values, strict=True)
        )
    return out.getvalue()
