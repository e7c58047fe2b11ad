"""A series as JSON, schema ``pprofdiff-series/1``, and as tidy CSV.

Fields are added, never renamed. Values are raw sums in the unit of the sample type,
shares are fractions of 1.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from pprofdiff._version import __version__
from pprofdiff.analysis.series.judged import Curve
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.series import Series, Step
from pprofdiff.report.csv import cell
from pprofdiff.report.series.sentences import SeriesReport

SCHEMA = "pprofdiff-series/1"

_CSV = (
    *("kind", "sort", "name", "step", "start", "value", "total", "share"),
    *("deviation", "changed"),
)


def render(report: SeriesReport) -> str:
    """Return a series as JSON text, the same for the same input."""
    series = report.judged.series
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "rules": rules().version,
        "place": series.place,
        "over": series.over,
        "width_seconds": series.width_s or None,
        "hosts": series.hosts,
        "profiles": series.profiles,
        "skipped": dict(series.skipped),
        "steps": [
            {
                "name": step.name,
                "start": _start(step),
                "hosts": step.hosts,
                "profiles": step.profiles,
            }
            for step in series.steps
        ],
        "kinds": [
            {
                "kind": kind.measured.kind,
                "sample_type": kind.measured.sample_type.type,
                "unit": kind.measured.sample_type.unit,
                "totals": kind.measured.totals.sum(axis=0).tolist(),
                "curves": [_curve(series, curve) for curve in kind.curves],
            }
            for kind in report.judged.kinds
        ],
        "warnings": [caveat._asdict() for caveat in report.warnings],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _curve(series: Series, curve: Curve) -> dict[str, Any]:
    return {
        "sort": curve.sort,
        "name": curve.key,
        "label": curve.label,
        "values": curve.raw.tolist(),
        "shares": _numbers(curve.shares.tolist()),
        "deviations": _numbers(curve.deviation.tolist()),
        "changes": [
            {
                "at": series.steps[change.step].name,
                "step": change.step,
                "before": change.before,
                "after": change.after,
                "low": change.low,
                "high": change.high,
                "false_discovery_rate": change.q,
            }
            for change in curve.changes
        ],
    }


def render_csv(report: SeriesReport) -> str:
    """Return one row per curve and step; missing values are empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_CSV)
    series = report.judged.series
    steps = [(cell(step.name), _start(step) or "") for step in series.steps]
    for kind in report.judged.kinds:
        totals = kind.measured.totals.sum(axis=0).tolist()
        for curve in kind.curves:
            head = cell(kind.measured.kind), curve.sort, cell(curve.key)
            changed = {change.step for change in curve.changes}
            columns = (curve.raw, curve.shares, curve.deviation)
            values, shares, spread = (_numbers(c.tolist()) for c in columns)
            for i, step in enumerate(steps):
                figures = values[i], totals[i], shares[i], spread[i]
                written = ("" if one is None else one for one in figures)
                writer.writerow((*head, *step, *written, int(i in changed)))
    return out.getvalue()


def _start(step: Step) -> str | None:
    if step.start_ns is None:
        return None
    start = datetime.fromtimestamp(step.start_ns // 1_000_000_000, UTC)
    return start.isoformat().replace("+00:00", "Z")


def _numbers(values: Sequence[float]) -> list[float | None]:
    return [value if isfinite(value) else None for value in values]
