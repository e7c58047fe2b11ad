"""Findings as DataFrames; imported on demand."""

from __future__ import annotations

import pandas as pd

from pprofdiff.analysis.causes.finding import DIRECTIONS, SEVERITIES, Fact, Findings

__all__ = ["evidence_frame", "findings_frame"]


def findings_frame(findings: Findings) -> pd.DataFrame:
    """Return one row per finding, in order, with the columns of `Reported.findings`."""
    rows = findings.found
    explains = [float("nan") if f.explains is None else f.explains for f in rows]
    return pd.DataFrame(
        {
            "id": [f.id for f in rows],
            "severity": pd.Categorical([f.severity for f in rows], SEVERITIES),
            "direction": pd.Categorical([f.direction for f in rows], DIRECTIONS),
            "title": [f.title for f in rows],
            "text": [f.text for f in rows],
            "advice": [f.advice for f in rows],
            "explains": pd.Series(explains, dtype="float64"),
        }
    )


def evidence_frame(findings: Findings) -> pd.DataFrame:
    """Return one row per fact, in the findings' order."""
    rows = [(f.id, *fact) for f in findings.found for fact in f.evidence]
    frame = pd.DataFrame(rows, columns=["finding", *Fact._fields])
    return frame.astype({"base": "float64", "new": "float64"})
