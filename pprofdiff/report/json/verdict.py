"""The gate's verdict in the JSON report."""

from __future__ import annotations

from typing import Any

from pprofdiff.analysis.gate.model import Ruling, Verdict

_FIELDS = (
    *("rule", "outcome", "what", "figure", "limit", "unit", "noise"),
    *("matched", "tripped"),
)


def verdict_row(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict as JSON; `figure`, `limit` and `needs` are for people.

    `low_scaled` and `high_scaled` bound `delta_scaled`; `limit_scaled` is how much
    worse new may be.
    """
    return {
        "outcome": verdict.outcome,
        "rules": [_rule_row(rule) for rule in verdict.rules],
    }


def _rule_row(ruling: Ruling) -> dict[str, Any]:
    row = {name: getattr(ruling, name) for name in _FIELDS}
    base, new = ruling.base, ruling.new
    row |= {name: row[name] or None for name in ("what", "limit", "unit")}
    delta = None if base is None or new is None else new - base
    return {
        **row,
        "base_scaled": base,
        "new_scaled": new,
        "delta_scaled": delta,
        "low_scaled": ruling.low,
        "high_scaled": ruling.high,
        "limit_scaled": ruling.allowed,
        "needs": ruling.needs or None,
    }
