"""What a reader sees first: the finding that explains most, or a sentence instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import Reason, Section
from pprofdiff.report.sections.findings import Why

__all__ = ["Answer", "answer"]


class Answer(NamedTuple):
    """The sentence that answers; `reason` is the finding it is of, None without one."""

    title: str
    reason: Reason | None = None


def answer(report: ReportModel, told: Why, sections: Sequence[Section]) -> Answer:
    """Return the first finding that matters, or what stands in for it.

    `told` is what the report says of findings, `sections` are all of its sections.
    """
    matters = any(f.severity != "info" for f in report.findings.found)
    lead = sections[0].lead if sections else ""
    if told.reasons and (matters or not lead):
        return Answer(told.reasons[0].title, told.reasons[0])
    instead = next((section.instead for section in sections if section.instead), "")
    return Answer(lead or instead or "No finding: the figures are in the tables.")
