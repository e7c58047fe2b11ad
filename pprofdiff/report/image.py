"""The report as one picture, SVG or PNG: ``-o x.svg`` and ``-o x.png``."""

from __future__ import annotations

from typing import Literal

from pprofdiff.plots.pictures import picture
from pprofdiff.report.model import ReportModel
from pprofdiff.report.sections import sections
from pprofdiff.report.sections.answer import answer
from pprofdiff.report.sections.findings import why
from pprofdiff.units import printable

__all__ = ["render"]


def render(report: ReportModel, form: Literal["svg", "png"]) -> bytes:
    """Return the answer and the plots of a report, the same bytes every time.

    Raises UsageError where the inputs have nothing that can be drawn.
    """
    first = answer(report, why(report), list(sections(report)))
    return picture(report, form, answer=printable(first.title).strip())
