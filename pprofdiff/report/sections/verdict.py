"""The gate's verdict: as a part of the report, and as lines."""

from __future__ import annotations

from pprofdiff.analysis.gate.model import Verdict
from pprofdiff.report.rows import Rulings, Sentence
from pprofdiff.units import printable


def rulings(verdict: Verdict) -> Rulings | None:
    """Return the verdict, rule by rule; None without rules."""
    rules = verdict.rules
    if not rules:
        return None
    unsure = sum(rule.outcome == "cannot tell" for rule in rules)
    silent = sum(not rule.matched or rule.outcome == "no data" for rule in rules)
    tripped = sum(rule.outcome == "fail" for rule in rules)
    noun = "rule" if len(rules) == 1 else "rules"
    words = f"{tripped} of {len(rules)} {noun} tripped"
    if unsure:
        words += f", {unsure} cannot tell"
    if silent:
        words += f", {silent} without data"
    if verdict.unread:
        words += "; not all evidence could be read"
    return Rulings(verdict, words)


def unread_warnings(verdict: Verdict) -> list[Sentence]:
    """Return a warning for each input that could not be read."""
    return [Sentence(line, "warning") for line in verdict.unread]


def verdict_lines(verdict: Verdict) -> list[str]:
    """Return one line for each rule that did not pass."""
    return [rule.in_words for rule in verdict.rules if rule.outcome != "pass"]


def verdict_comments(verdict: Verdict) -> list[str]:
    """Return one line for the verdict, for each rule, and for what was not read."""
    lines = [f"Not read: {line}" for line in verdict.unread]
    judged = rulings(verdict)
    if judged is not None:
        lines.append(f"Verdict: {judged.summary}")
        lines += [f"{rule.outcome}: {rule.text}" for rule in verdict.rules]
    return [printable(line) for line in lines]
