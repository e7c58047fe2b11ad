"""What the report said of a pair, next to its truth.

``pair.toml`` has, next to how the pair is made:

``class``, ``truth``, ``said_by``
    For people: what kind of change, what it was, and who says so.
``first``
    Patterns that are all found in the first finding's title or text, where the report
    is right.
``half``
    Patterns of what is true and follows from the cause; any found in the first finding
    makes the report half right.
``never``
    Patterns of what is false; any found in the outcome or in a finding above ``info``
    makes it wrong.
``verdict``
    The outcome's verdicts that are true. Another one is wrong, but for ``unknown``:
    what is not reported is not false. How often an outcome is reported is counted next to.
``unchanged``
    Both sides are one build under one load: a finding above ``info`` is wrong.
``options``
    More arguments for the command line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

Judgement = Literal["right", "half", "wrong", "silent"]
JUDGEMENTS: tuple[Judgement, ...] = ("right", "half", "wrong", "silent")

Report = Mapping[str, Any]


class Said(NamedTuple):
    """The judgement, and what it rests on: the outcome and the first finding."""

    judgement: Judgement
    outcome: str
    first: str


def score(pair: Mapping[str, Any], report: Report) -> Said:
    """Judge a report, as read from its JSON, by the truth of the pair."""
    outcome = report.get("outcome") or {}
    verdict = outcome.get("verdict", "")
    first = stood_first(report)
    judgement = _cause(pair, report, first)
    # A report of a version that had no outcome is judged by its findings.
    true = {*pair.get("verdict", [verdict]), "unknown", ""}
    words = f"{verdict} {outcome.get('figure', '')}"
    if verdict not in true or any(_found(p, words) for p in pair.get("never", ())):
        judgement = "wrong"
    return Said(judgement, verdict, first["title"] if first else "")


def _cause(
    pair: Mapping[str, Any], report: Report, first: Mapping[str, Any] | None
) -> Judgement:
    """Judge the findings alone."""
    got = [f for f in report["findings"] if f["severity"] != "info"]
    if any(_found(p, _text(f)) for p in pair.get("never", ()) for f in got):
        return "wrong"
    if pair.get("unchanged"):
        return "wrong" if got else "right"
    if first is None and pair["first"] and _all(pair["first"], _alike(report)):
        return "right"
    if first is None:
        return "silent"
    if _all(pair["first"], first):
        return "right"
    half = any(_found(p, _text(first)) for p in pair.get("half", ()))
    return "half" if half or any(_all(pair["first"], f) for f in got) else "wrong"


def stood_first(report: Report) -> Mapping[str, Any] | None:
    """Return the first finding above ``info``; None where there is none."""
    for finding in report["findings"]:
        if finding["severity"] != "info" and not finding.get("parent"):
            return finding
    return None


def _alike(report: Report) -> Mapping[str, Any]:
    """Return what the outcome says where all groups scaled by one factor."""
    factor = (report.get("outcome") or {}).get("scaled_alike")
    title = "" if factor is None else f"All groups scaled alike ({factor:.2f}×)"
    return {"title": title, "text": ""}


def _text(finding: Mapping[str, Any]) -> str:
    return f"{finding['title']}\n{finding['text']}"


def _all(patterns: Sequence[str], finding: Mapping[str, Any]) -> bool:
    """Return whether a finding, with the full names in its evidence, has all patterns."""
    facts = "\n".join(fact["what"] for fact in finding.get("evidence", ()))
    words = f"{_text(finding)}\n{facts}"
    return all(_found(pattern, words) for pattern in patterns)


def _found(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None
