"""The report as one image, SVG or PNG: ``-o x.svg`` and ``-o x.png``."""

from __future__ import annotations

from typing import Literal

from pprofdiff.analysis.causes.frames import numbered, of_unit
from pprofdiff.plots.commitplot import commits_picture
from pprofdiff.plots.pictures import picture
from pprofdiff.report.model import ReportModel
from pprofdiff.report.sections import sections
from pprofdiff.report.sections.findings import answer, why
from pprofdiff.units import printable


def render(report: ReportModel, form: Literal["svg", "png"]) -> bytes:
    """Return a report's answer and plots, or a search's curve, as an image.

    Raises UsageError if the inputs have nothing to plot.
    """
    if report.bisection is not None and report.bisection.curves:
        return commits_picture(report.bisection, form)
    explained = why(report)
    first = answer(report, explained, list(sections(report)))
    title = printable(first.title).strip()
    compared, causes = report.comparison, explained.causes
    if causes and (unit := causes[0].unit):
        # The first cause is the title: its benchmark is drawn.
        compared = report.comparison_of(causes[0])
        own = of_unit(compared.profiles[0], numbered(causes), unit)
        causes = list(own.values())
    return picture(compared, form, answer=title, causes=causes)
