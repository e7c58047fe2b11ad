"""Findings in the JSON report, and what they leave unexplained."""

from __future__ import annotations

from collections.abc import Iterable

from pprofdiff.analysis.causes.finding import Finding, Findings
from pprofdiff.analysis.source.model import ChangedLines, RelatedLines, SourceOfFinding
from pprofdiff.report.json import Row

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
            "unit": _unit(finding),
            "line": finding.line or None,
            "detail": finding.parent is not None,
            "evidence": [fact._asdict() for fact in finding.evidence],
            "spans": [span._asdict() for span in finding.spans],
            **({} if finding.source is None else {"source": _source(finding.source)}),
        }
        for finding in findings.found
    ]


def _unit(finding: Finding) -> Row | None:
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
