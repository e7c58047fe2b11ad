"""The gate's verdict: as a block of the text report, as lines, as a row of JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pprofdiff.analysis.gate.model import Ruling, Verdict
from pprofdiff.report.text.layout import Block, Stanza, Words
from pprofdiff.units import printable

__all__ = [
    "summary",
    "verdict_blocks",
    "verdict_comments",
    "verdict_lines",
    "verdict_row",
]

_STYLES = {"fail": "worse", "pass": "", "no data": "warn"}
_FIELDS = (
    *("rule", "outcome", "what", "figure", "limit", "unit", "noise"),
    *("matched", "tripped"),
)
_WIDTH = max(map(len, _STYLES)) + 2


def summary(verdict: Verdict) -> str:
    """Return the verdict in a few words, such as ``fail: 1 of 3 rules tripped``."""
    rules = verdict.rules
    silent = sum(not rule.matched or rule.outcome == "no data" for rule in rules)
    tripped = sum(rule.outcome == "fail" for rule in rules)
    noun = "rule" if len(rules) == 1 else "rules"
    words = f"{verdict.outcome}: {tripped} of {len(rules)} {noun} tripped"
    return f"{words}, {silent} without data" if silent else words


def verdict_blocks(verdict: Verdict) -> Iterator[Block]:
    """Yield the verdict and each rule with its figure and limit; nothing without."""
    if not verdict.rules:
        return
    yield Words(f"Verdict   {summary(verdict)}", "strong")
    yield Stanza(
        tuple(
            Words(f"{rule.text}.", _STYLES[rule.outcome], rule.outcome.ljust(_WIDTH))
            for rule in verdict.rules
        )
    )


def verdict_lines(verdict: Verdict) -> list[str]:
    """Return one line for each rule that tripped or judged nothing."""
    return [
        f"{rule.outcome}: {rule.text}"
        for rule in verdict.rules
        if rule.outcome != "pass"
    ]


def verdict_comments(verdict: Verdict) -> list[str]:
    """Return one line for the verdict and one for each rule; none without rules."""
    if not verdict.rules:
        return []
    rules = [f"{rule.outcome}: {rule.text}" for rule in verdict.rules]
    return [printable(line) for line in (f"Verdict: {summary(verdict)}", *rules)]


def verdict_row(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict as JSON has it; `figure` and `limit` are for people."""
    return {
        "outcome": verdict.outcome,
        "rules": [_rule_row(rule) for rule in verdict.rules],
    }


def _rule_row(ruling: Ruling) -> dict[str, Any]:
    row = {name: getattr(ruling, name) for name in _FIELDS}
    base, new = ruling.base, ruling.new
    row |= {name: row[name] or None for name in ("what", "limit", "unit")}
    delta = None if base is None or new is None else new - base
    return {**row, "base_scaled": base, "new_scaled": new, "delta_scaled": delta}
