"""The report in the order of a terminal or a text file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pprofdiff.report.model import SCREEN, ReportModel, Scope
from pprofdiff.report.rows import Heading, Part, Sentence
from pprofdiff.report.sections import sections
from pprofdiff.report.sections.account import account_parts
from pprofdiff.report.sections.changed_lines import changed_parts
from pprofdiff.report.sections.findings import why
from pprofdiff.report.sections.inputs import cautions, inputs_table
from pprofdiff.report.sections.next_steps import next_steps
from pprofdiff.report.sections.outcome import outcome_text
from pprofdiff.report.sections.units import unit_parts
from pprofdiff.report.sections.verdict import rulings
from pprofdiff.report.text.layout import Block
from pprofdiff.report.text.lines import Page
from pprofdiff.report.text.short import short_parts


def report_parts(
    report: ReportModel, scope: Scope = SCREEN, page: Page | None = None
) -> Iterable[Part | Block]:
    """Return the report, for a file without a `page`; a short one unless it is full."""
    return _whole(report, scope) if scope.full else short_parts(report, scope, page)


def _whole(report: ReportModel, scope: Scope) -> Iterator[Part]:
    outcome = outcome_text(report.outcome)
    base, new = report.labels
    yield Sentence(f"{base} → {new}   {outcome.headline}", "outcome")
    yield from outcome.below
    if report.filters:
        yield Sentence(f"only: {' '.join(report.filters)}")
    verdict = rulings(report.verdict)
    if verdict is not None:
        yield verdict
    yield from unit_parts(report)
    yield from account_parts(report)
    yield from _why(report)
    yield from changed_parts(report)
    for section in sections(report, scope):
        yield Heading(f"{base} → {new}   {section.whole_heading}")
        if section.lead:
            yield Sentence(section.lead)
        yield from section.parts
    yield from cautions(report)
    yield inputs_table(report, folders=True)
    yield next_steps(report)


def _why(report: ReportModel) -> Iterator[Part]:
    explained = why(report)
    if explained:
        yield Heading(explained.heading)
        yield from explained.warnings
        yield from explained.reasons
        yield from explained.rest
