"""What each run measured, in the JSON report."""

from __future__ import annotations

from typing import Any

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.runs.figures import count_runs, run_figures

__all__ = ["run_rows"]


def run_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the metrics of each run if a side has several, else nothing."""
    if max(count_runs(comparison)) == 1:
        return []
    return [row._asdict() for row in run_figures(comparison)]
