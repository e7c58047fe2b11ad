"""What the report said of a pair, beside its truth.

``pair.toml`` has, beside how the pair is made:

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
    The outcome's verdicts that are true.
``unchanged``
    Both sides are one build under one load: a finding above ``info`` is wrong.
``options``
    More arguments for the command line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

__all__ = ["JUDGEMENTS", "Judgement", "Said", "score", "stood_first"]

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
    told = [f for f in report["findings"] if f["severity"] != "info"]
    first = stood_first(report)
    title = first["title"] if first else ""
    words = f"{verdict} {outcome.get('figure', '')}"

    def said(judgement: Judgement) -> Said:
        return Said(judgement, verdict, title)

    false = pair.get("never", ())
    if any(_found(p, _text(f)) for p in false for f in told):
        return said("wrong")
    if any(_found(p, words) for p in false):
        return said("wrong")
    if verdict and "verdict" in pair and verdict not in pair["verdict"]:
        return said("wrong")
    if pair.get("unchanged"):
        return said("wrong" if told else "right")
    if first is None:
        return said("silent")
    if _all(pair["first"], first):
        return said("right")
    if any(_found(p, _text(first)) for p in pair.get("half", ())):
        return said("half")
    return said("half" if any(_all(pair["first"], f) for f in told) else "wrong")


def stood_first(report: Report) -> Mapping[str, Any] | None:
    """Return the first finding above ``info``; None where there is none."""
    for finding in report["findings"]:
        if finding["severity"] != "info" and not finding.get("parent"):
            return finding
    return None


def _text(finding: Mapping[str, Any]) -> str:
    return f"{finding['title']}\n{finding['text']}"


def _all(patterns: Sequence[str], finding: Mapping[str, Any]) -> bool:
    return all(_found(pattern, _text(finding)) for pattern in patterns)


def _found(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None
