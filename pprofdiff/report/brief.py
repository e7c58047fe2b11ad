"""The answer without its tables in full, for programs that read text: agents.

JSON of schema ``pprofdiff-brief/1``: sentences and table lines of the report, in its
order, numbers formatted with their units.

===========  =========================================================================
labels       {"base", "new"}: how sentences name the two sides
verdict      slower, faster, same or unknown
outcome      the first sentence of the report, and its caveats
bisection    which commit a bisection found, and its curve; empty without one
gate         what the rules of ``--fail-on`` say; empty without rules
causes       most important first: `title`, `direction` (worse, better or neutral),
             `lines` (changed ones, ``file:first-last``), `text`, `source`, `advice`,
             and `follows`, the titles of what follows from it
not_known    what is not explained, not tested or was not read
units        the table of benchmarks, or of the values of a label
account      the parts that add up to the change
changed      the table of groups and functions that changed most
others       a line for each other profile, log and trace
===========  =========================================================================
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import Heading, Part, Reason, Sentence
from pprofdiff.report.sections import sections
from pprofdiff.report.sections.account import account_parts
from pprofdiff.report.sections.bisection import bisection_parts
from pprofdiff.report.sections.changed_lines import changed_parts
from pprofdiff.report.sections.findings import why
from pprofdiff.report.sections.glance import at_a_glance
from pprofdiff.report.sections.inputs import cautions
from pprofdiff.report.sections.outcome import outcome_text
from pprofdiff.report.sections.units import unit_parts
from pprofdiff.report.sections.verdict import rulings
from pprofdiff.report.text.lines import render as plain

SCHEMA = "pprofdiff-brief/1"

_CAUSES, _FUNCTIONS, _CATEGORIES = 10, 10, 4

Row = dict[str, Any]


def render(report: ReportModel) -> str:
    """Return the answer as JSON text."""
    outcome, explained = outcome_text(report.outcome), why(report, _CAUSES)
    shown = list(sections(report, whole=False))
    changed: list[Part] = list(changed_parts(report))
    for first in shown[:1]:
        if rows := list(first.short_parts(_FUNCTIONS, _CATEGORIES)):
            changed += [Heading(first.whole_heading), *rows]
    also = [rest.text for rest in explained.rest if rest.role == "also"]
    left = [rest for rest in explained.rest if rest.role != "also"]
    document = {
        "schema": SCHEMA,
        "labels": {"base": report.labels[0], "new": report.labels[1]},
        "verdict": report.outcome.verdict,
        "outcome": [outcome.headline, *_texts(outcome.below)],
        "bisection": []
        if report.bisection is None
        else _lines(bisection_parts(report.bisection)),
        "gate": _gate(report),
        "causes": _causes(explained.reasons),
        "not_known": _texts((*explained.warnings, *left, *cautions(report))),
        "units": _lines(unit_parts(report, brief=True)),
        "account": _lines(account_parts(report)),
        "changed": _lines(changed),
        "others": [*also, *_lines(at_a_glance(report, shown[1:]))],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _texts(sentences: Iterable[Sentence]) -> list[str]:
    return [sentence.text for sentence in sentences]


def _lines(parts: Iterable[Part]) -> list[str]:
    return [line for line in plain(parts).splitlines() if line]


def _gate(report: ReportModel) -> list[str]:
    judged = rulings(report.verdict)
    if judged is None:
        return []
    return [judged.summary, *(rule.in_words for rule in judged.verdict.rules)]


def _causes(reasons: Sequence[Reason]) -> list[Row]:
    """Return each cause with the titles of what follows from it."""
    rows: list[Row] = []
    for reason in reasons:
        if reason.level and rows:
            rows[-1]["follows"].append(reason.title)
            continue
        notes = [note.lines for note in reason.notes] + [reason.lines]
        rows.append(
            {
                "title": reason.title,
                "direction": reason.finding.direction,
                "lines": list(dict.fromkeys(one.place for one in notes if one)),
                "text": reason.finding.text,
                "source": [note.text for note in reason.sentences],
                "advice": reason.finding.advice,
                "follows": [],
            }
        )
    return rows
