"""The report as one picture, SVG or PNG: ``-o x.svg`` and ``-o x.png``."""

from __future__ import annotations

from typing import Literal

from pprofdiff.plots.summary import picture
from pprofdiff.report.model import ReportModel
from pprofdiff.report.sections.answer import answer
from pprofdiff.report.sections.findings import finding_blocks
from pprofdiff.report.text.layout import Stanza
from pprofdiff.report.text.report import sections

__all__ = ["render"]


def render(report: ReportModel, form: Literal["svg", "png"]) -> bytes:
    """Return the answer and the plots of a report, the same bytes every time.

    Raises UsageError where the inputs have nothing that can be drawn.
    """
    stanzas = [block for block in finding_blocks(report) if isinstance(block, Stanza)]
    first, *_ = answer(report, stanzas, list(sections(report)))
    return picture(report, form, answer=first.text.strip())
