"""The outcome, the account, GC per op and the gate's verdict in the JSON report."""

from __future__ import annotations

from pprofdiff.analysis.account.gc import GCAccount
from pprofdiff.analysis.account.model import Account, Amount, Part
from pprofdiff.analysis.gate.model import Ruling, Verdict
from pprofdiff.analysis.ledger.gc_price import FACTORS, Factor
from pprofdiff.analysis.outcome.model import Measure, Outcome, Unit, is_bounded
from pprofdiff.report.json import Row

# Fields that JSON names as rulings do.
_OF_RULING = (
    *("rule", "outcome", "what", "figure", "limit", "unit", "noise"),
    *("matched", "tripped"),
)


def outcome_row(outcome: Outcome) -> Row:
    """Return the outcome: the metric that decides it, then all others."""
    first, moved = outcome.headline, outcome.together
    return {
        "verdict": outcome.verdict,
        **_measure(first),
        "confidence": None if first is None else first.confidence / 100,
        "same_within": None if first is None else first.same_within,
        "needs": outcome.needs or None,
        "measures": [_measure(measure) for measure in outcome.measures],
        "contrary": list(outcome.contrary),
        "scaled_alike": outcome.alike,
        "cpu_a_second": outcome.cpu_a_second and outcome.cpu_a_second[0],
        "busy": outcome.busy,
        "builds": list(outcome.builds),
        "counted": [one._asdict() for one in outcome.counted],
        "units": unit_rows(outcome),
        "together": None if moved is None else moved._asdict(),
    }


def unit_rows(outcome: Outcome) -> list[Row]:
    """Return the cost per op, in seconds, of each benchmark or value of ``label``."""
    if outcome.by_label is None:
        return [_unit(unit, None) for unit in outcome.units]
    return [_unit(unit, outcome.by_label.key) for unit in outcome.by_label.units]


def _unit(unit: Unit, label: str | None) -> Row:
    cost, about = unit.cost, unit.cpu_seconds or (None, None)
    return {
        "label": label,
        "name": unit.name,
        "ratio": cost.ratio,
        **_bounds(cost.low, cost.high),
        "figure": unit.figure,
        "base": cost.base,
        "new": cost.new,
        "verdict": unit.verdict,
        "mark": cost.mark,
        "counted": [one._asdict() for one in unit.counted],
        "cpu_seconds": {"base": about[0], "new": about[1]},
    }


def _bounds(low: float, high: float) -> Row:
    known = is_bounded(low, high)
    return {"low": low if known else None, "high": high if known else None}


def _measure(measure: Measure | None) -> Row:
    if measure is None:
        names = "id", "figure", "unit", "base", "new", "ratio", "low", "high"
        return {**dict.fromkeys(names), "source": None, "runs": None}
    return {
        "id": measure.id,
        "figure": measure.cost.figure,
        "unit": measure.cost.unit or None,
        "base": measure.base,
        "new": measure.new,
        "ratio": measure.judged.ratio,
        **_bounds(*measure.judged.bounds),
        "source": measure.source,
        "runs": {"base": measure.runs[0], "new": measure.runs[1]},
    }


def account_row(account: Account | None) -> Row | None:
    """Return the account: parts that add up to the total, and amounts in no sum.

    Each number is the float nearest to an exact fraction. ``low`` and ``high`` bound a
    part's delta over runs. ``paths`` add up to time off the CPU.
    """
    if account is None:
        return None
    return {
        "of": account.of,
        "unit": account.unit,
        "total": _amount(account.total),
        "parts": [_part(part) for part in account.parts],
        "within": [_part(part) for part in account.within],
        "beside": [_part(part) for part in account.outside],
        "gaps": list(account.gaps),
    }


def _part(part: Part) -> Row:
    amount: Row = _amount(part.amount)
    if part.bounds is not None:
        amount["low"], amount["high"] = part.bounds
    row: Row = {"id": part.id, "label": part.label, **amount, "source": part.source}
    if part.paths:
        row["paths"] = [_part(path) for path in part.paths]
    return row


def _amount(amount: Amount) -> Row:
    return {
        "base": float(amount.base),
        "new": float(amount.new),
        "delta": float(amount.delta),
    }


def gc_row(account: GCAccount | None) -> Row | None:
    """Return what changed GC CPU per op, None if unknown.

    ``part`` is in ns/op. The parts of ``allocated`` and ``price`` add up to ``delta``,
    ``places`` to ``allocated``'s, ``factors`` to ``price``'s.
    """
    if account is None:
        return None
    split = account.split
    base, new = split.cpu
    return {
        "unit": "ns/op",
        "base": base,
        "new": new,
        "delta": split.delta,
        "sources": {"cpu": account.source[0], "allocated": account.source[1]},
        "allocated": _factor(split.allocated),
        "price": _factor(split.price),
        "factors": [_factor(factor) for factor in split.factors],
        "places": [
            {"function": place.id, **_values(place), "unit": "bytes/op"}
            for place in sorted(split.places, key=lambda one: -abs(one.part))
        ],
    }


def _factor(factor: Factor) -> Row:
    return {"id": factor.id, **_values(factor), "unit": FACTORS[factor.id].unit}


def _values(factor: Factor) -> Row:
    return {"base": factor.base, "new": factor.new, "part": factor.part}


def verdict_row(verdict: Verdict) -> Row:
    """Return the verdict as JSON; `figure`, `limit` and `needs` are for people.

    `limit_scaled` is how much worse new may be.
    """
    return {
        "outcome": verdict.outcome,
        "rules": [_rule_row(rule) for rule in verdict.rules],
    }


def _rule_row(ruling: Ruling) -> Row:
    row = {name: getattr(ruling, name) for name in _OF_RULING}
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
