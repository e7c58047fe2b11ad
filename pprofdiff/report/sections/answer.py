"""What a reader sees first: the outcome, then the cause that explains most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import Reason, Section, Sentence
from pprofdiff.report.sections.findings import Why
from pprofdiff.report.sections.outcome import outcome_text


class Answer(NamedTuple):
    """The outcome in a sentence, its caveats, and why, by which finding."""

    outcome: str
    below: tuple[Sentence, ...]
    title: str
    reason: Reason | None = None


def answer(report: ReportModel, explained: Why, sections: Sequence[Section]) -> Answer:
    """Return the outcome with the first cause that matters, or its stand-in."""
    outcome, below = outcome_text(report.outcome)
    matters = any(f.severity != "info" for f in report.findings.found)
    lead = sections[0].lead if sections else ""
    if explained.reasons and (matters or not lead):
        return Answer(outcome, below, explained.reasons[0].title, explained.reasons[0])
    instead = next((section.instead for section in sections if section.instead), "")
    instead = instead or "No finding: the figures are in the tables."
    return Answer(outcome, below, lead or instead)
