"""The gate's verdict: as a part of the report, and as lines."""

from __future__ import annotations

from pprofdiff.analysis.gate.model import Verdict
from pprofdiff.report.rows import Rulings
from pprofdiff.units import printable

__all__ = [
    "rulings",
    "verdict_comments",
    "verdict_lines",
]


def rulings(verdict: Verdict) -> Rulings | None:
    """Return the verdict, rule by rule; None where there are no rules."""
    rules = verdict.rules
    if not rules:
        return None
    silent = sum(not rule.matched or rule.outcome == "no data" for rule in rules)
    tripped = sum(rule.outcome == "fail" for rule in rules)
    noun = "rule" if len(rules) == 1 else "rules"
    words = f"{tripped} of {len(rules)} {noun} tripped"
    return Rulings(verdict, f"{words}, {silent} without data" if silent else words)


def verdict_lines(verdict: Verdict) -> list[str]:
    """Return one line for each rule that tripped or judged nothing."""
    return [
        f"{rule.outcome}: {rule.text}"
        for rule in verdict.rules
        if rule.outcome != "pass"
    ]


def verdict_comments(verdict: Verdict) -> list[str]:
    """Return one line for the verdict and one for each rule; none without rules."""
    told = rulings(verdict)
    if told is None:
        return []
    rules = [f"{rule.outcome}: {rule.text}" for rule in verdict.rules]
    return [printable(line) for line in (f"Verdict: {told.summary}", *rules)]
