"""The whole report as JSON, schema ``pprofdiff/1``: fields are added, never renamed.

Numbers are raw and unscaled unless their name ends in ``_scaled``. Missing values are
null.
"""

from __future__ import annotations

import json
from math import exp

from pprofdiff._version import __version__
from pprofdiff.analysis.bisection.result import Bisection, Curve
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.runs.figures import count_runs, run_figures
from pprofdiff.analysis.runs.groups import GroupDiff, group_diffs, moved_in_any
from pprofdiff.goruntime.rules import rules
from pprofdiff.report.json import Row, scaled_row
from pprofdiff.report.json.findings import changed_rows, finding_rows, unexplained_row
from pprofdiff.report.json.outcome import (
    account_row,
    gc_row,
    outcome_row,
    unit_rows,
    verdict_row,
)
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
