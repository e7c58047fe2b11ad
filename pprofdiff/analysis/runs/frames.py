"""Figures of runs as a DataFrame; imported only on request."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from pprofdiff.analysis.runs.figures import SIDES, RunFigure

__all__ = ["runs_frame"]


def runs_frame(rows: Sequence[RunFigure]) -> pd.DataFrame:
    """Return one row per figure of a run; `Reported.runs` documents the columns."""
    columns = {name: [getattr(row, name) for row in rows] for name in RunFigure._fields}
    starts = pd.Series(columns["start_ns"], dtype="Int64")
    return pd.DataFrame(
        {
            "side": pd.Categorical(columns["side"], SIDES),
            "run": pd.Series(columns["run"], dtype="int64"),
            "start": pd.to_datetime(starts, unit="ns", utc=True),
            "figure": columns["figure"],
            "unit": columns["unit"],
            "value": pd.Series(columns["value"], dtype="float64"),
        }
    )
