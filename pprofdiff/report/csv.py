"""Every function of every comparison as CSV: raw integers, full precision.

A name that a spreadsheet would read as a formula is prefixed with ``'``, and control
characters are escaped as in the text report. All other names are unchanged.
"""

from __future__ import annotations

import csv
import io

from pprofdiff.analysis.profiles.tables import STATUSES
from pprofdiff.errors import UsageError
from pprofdiff.report.model import ReportModel
from pprofdiff.units import printable

_WORDS = (
    *("comparison", "sample_type", "unit"),
    *("name", "base_name", "file", "status"),
)


# Characters that start a formula in a spreadsheet (OWASP, "CSV Injection").
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")


def render(report: ReportModel) -> str:
    """Return CSV with a header line; raises UsageError if no profiles are compared."""
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
        head = [cell(text) for text in (diff.name, diff.sample_type.type, diff.unit)]
        words = zip(
            map(cell, rows.names),
            [cell(name or "") for name in rows.base_names],
            map(cell, rows.files),
            [STATUSES[status] for status in rows.status().tolist()],
            strict=True,
        )
        values = zip(*numbers.values(), strict=True)
        writer.writerows(
            (*head, *word, *row) for word, row in zip(words, values, strict=True)
        )
    return out.getvalue()


def cell(text: str) -> str:
    """Return a name as a cell that a spreadsheet shows and does not evaluate."""
    return f"'{printable(text)}" if text.startswith(_FORMULA) else printable(text)
