"""The whole report as JSON, schema ``pprofdiff/1``: fields are added, never renamed.

Numbers are raw and unscaled unless their name ends in ``_scaled``. Missing values are
null.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import exp

from pprofdiff._version import __version__
from pprofdiff.analysis.account.gc import GCAccount
from pprofdiff.analysis.account.model import Account, Amount, Part
from pprofdiff.analysis.bisection.result import Bisection, Curve
from pprofdiff.analysis.causes.finding import Finding, Findings
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.gate.model import Ruling, Verdict
from pprofdiff.analysis.ledger.gc_price import FACTORS, Factor
from pprofdiff.analysis.outcome.model import Measure, Outcome, Unit, is_bounded
from pprofdiff.analysis.runs.figures import count_runs, run_figures
from pprofdiff.analysis.runs.groups import GroupDiff, group_diffs, moved_in_any
from pprofdiff.analysis.source.model import ChangedLines, RelatedLines, SourceOfFinding
from pprofdiff.goruntime.rules import rules
from pprofdiff.report.json import Row, scaled_row
from pprofdiff.report.model import Input, ReportModel
from pprofdiff.report.sections import json_rows

SCHEMA = "pprofdiff/1"

# Fields of an input, in schema order; counts that only its kind has follow them.
_INPUT = (
    *("path", "kind", "samples", "go_version", "build_id", "duration_ns", "time_ns"),
    *("period", "saved_to", "cycles", "expected", "results", "events", "per_second"),
)


def render(report: ReportModel) -> str:
    """Return the report as JSON text."""
    base, new = report.inputs
    of_fleets = report.comparison.of_fleets
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "rules": rules().version,
        "labels": {"base": report.labels[0], "new": report.labels[1]},
        "inputs": {"base": [_input(i) for i in base], "new": [_input(i) for i in new]},
        "filters": list(report.filters),
        **({"bisect": _search(report.bisection)} if report.bisection else {}),
        "outcome": outcome_row(report.outcome),
        "units": unit_rows(report.outcome),
        "account": account_row(report.account),
        "gc": gc_row(report.gc),
        **_runs(report.comparison),
        **({"fleet": _fleet(report.comparison)} if of_fleets else {}),
        "comparisons": list(json_rows(report.comparison)),
        "findings": finding_rows(report.findings),
        "unexplained": unexplained_row(report.findings),
        **({"changed_lines": changed_rows(report.changed)} if report.changed else {}),
        **({"unchanged_functions": report.unchanged} if report.unchanged else {}),
        "warnings": [w._asdict() for w in report.warnings],
        "unpaired": [{"kind": k, "side": s} for k, s in report.comparison.unpaired],
        "verdict": verdict_row(report.verdict),
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _runs(comparison: Comparison) -> Row:
    if max(count_runs(comparison)) == 1:
        return {}
    rows = [row._asdict() for row in run_figures(comparison)]
    return {"runs": rows} if rows else {}


def _input(entry: Input) -> Row:
    own = entry._asdict()
    for name in ("amount", "counts", "when", "within"):
        del own[name]
    return dict.fromkeys(_INPUT) | own | dict(entry.counts)


def _search(found: Bisection) -> Row:
    """Return what was searched, each figure's steps, and the measured commits."""
    return {
        "good": found.ends[0],
        "bad": found.ends[1],
        "commits": len(found.commits) - 1,
        "built": found.built,
        "stopped": found.stopped or None,
        "culprits": [
            found.commits[commit]._asdict()
            for step in found.steps
            for commit in step.commits
        ],
        "skipped": [
            {"commit": found.commits[one.commit].id, "reason": one.reason}
            for one in found.skipped
        ],
        "curves": [_curve(found, curve) for curve in found.curves],
    }


def _curve(found: Bisection, curve: Curve) -> Row:
    ids = [commit.id for commit in found.commits]
    over = curve.conclusion
    return {
        "name": curve.name,
        "figure": curve.figure or None,
        "ending": over.ending,
        "probability": over.chance,
        "steps": [
            {
                "commits": [ids[commit] for commit in step.commits],
                "probability": step.chance,
                "ratio": exp(step.size),
                "log_sigma": step.sigma,
            }
            for step in over.steps
        ],
        "measured": [
            {**point._asdict(), "commit": ids[point.commit]} for point in curve.points
        ],
    }


def _fleet(comparison: Comparison) -> Row:
    """Return how many hosts are paired, and the functions that changed in each group.

    The group "" is all CPU. A function that changed significantly in one group has raw
    values in all.
    """
    fleet = comparison.new.fleet
    groups = list(group_diffs(comparison))
    names = moved_in_any(groups)
    return {
        "paired_hosts": comparison.same_hosts,
        "skipped": {
            word: dict(side.fleet.skipped)
            for word, side in (("base", comparison.base), ("new", comparison.new))
            if side.fleet is not None
        },
        "grouped_by": fleet.grouped_by or None if fleet is not None else None,
        "groups": [_group(group, names) for group in groups],
    }


def _group(group: GroupDiff, names: list[str]) -> Row:
    base, new = group.hosts
    row: Row = {
        "group": group.name,
        "hosts": {"base": base, "new": new},
        "total": None,
        "functions": [],
    }
    if group.diff is None:
        return row
    by, totals = group.diff.normalization, group.diff.totals
    row["total"] = {"base": totals[0], "new": totals[1]}
    for name in names:
        value = group.value(name)
        raw = {"name": name, "base": value.base, "new": value.new}
        scaled = scaled_row(by, value.base, value.new)
        row["functions"].append({**raw, **scaled, "noise": value.noise})
    return row


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


# Fields that JSON names as findings do.
_SAME = ("id", "severity", "direction", "title", "text")


def finding_rows(findings: Findings) -> list[Row]:
    """Return the findings as JSON objects, in order."""
    return [
        {
            **{name: getattr(finding, name) for name in _SAME},
            "advice": finding.advice or None,
            "explains_scaled": finding.explains,
            "own_scaled": finding.own,
            "parent": finding.parent,
            "unit": _unit_of(finding),
            "line": finding.line or None,
            "detail": finding.parent is not None,
            "evidence": [fact._asdict() for fact in finding.evidence],
            "spans": [span._asdict() for span in finding.spans],
            **({} if finding.source is None else {"source": _source(finding.source)}),
        }
        for finding in findings.found
    ]


def _unit_of(finding: Finding) -> Row | None:
    """Return the unit of work as in ``units``, None for the whole program."""
    label, value = finding.label
    if not (value or finding.unit):
        return None
    return {"label": label or None, "name": value or finding.unit}


def _source(source: SourceOfFinding) -> Row:
    return {
        "lines": changed_rows(source.lines),
        "near": [_place(lines) for lines in source.near],
        "unchanged": list(source.unchanged),
        "related": [_related(one) for one in source.related],
        "only": [_place(lines) for lines in source.only],
    }


def _related(one: RelatedLines) -> Row:
    how = "calls" if one.calls else "called_by"
    if one.handles:
        how = {"makes": "made_by", "uses": "used_by"}[one.handles]
    return {
        **_place(one.lines),
        how: one.function,
        "through": one.through or None,
        "direct": not (one.through or one.far),
    }


def changed_rows(changed: Iterable[ChangedLines]) -> list[Row]:
    """Return changed lines with the raw values of their samples."""
    return [
        {**_place(lines), "base": lines.base, "new": lines.new} for lines in changed
    ]


def _place(lines: ChangedLines) -> Row:
    return {
        "function": lines.function,
        "file": lines.path,
        "start": lines.start,
        "end": lines.end,
        "side": "base" if lines.gone else "new",
        "commits": [commit._asdict() for commit in lines.commits],
    }


def unexplained_row(findings: Findings) -> Row | None:
    """Return the part of the CPU profiles' delta that no finding explains, scaled."""
    explained = findings.explained
    if explained is None:
        return None
    return {
        "total_scaled": explained.total,
        "explained_scaled": explained.explained,
        "left": [
            {"group": m.id, "base": m.base, "new": m.new, "delta_scaled": m.delta}
            for m in explained.left
        ],
    }
