"""The whole report as JSON, schema ``pprofdiff/1``: fields are added, never renamed.

Numbers are raw and unscaled unless their name ends in ``_scaled``. Missing values are
null.
"""

from __future__ import annotations

import json

from pprofdiff._version import __version__
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.runs.figures import count_runs, run_figures
from pprofdiff.goruntime.rules import rules
from pprofdiff.report.json import Row
from pprofdiff.report.json.bisection import search_row
from pprofdiff.report.json.findings import changed_rows, finding_rows, unexplained_row
from pprofdiff.report.json.fleets import fleet_row
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
        **({"bisect": search_row(report.bisection)} if report.bisection else {}),
        "outcome": outcome_row(report.outcome),
        "units": unit_rows(report.outcome),
        "account": account_row(report.account),
        "gc": gc_row(report.gc),
        **_runs(report.comparison),
        **({"fleet": fleet_row(report.comparison)} if of_fleets else {}),
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
