"""Series as DataFrames; imported on demand."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pprofdiff.analysis.series.judged import JudgedSeries

__all__ = ["changes_frame", "curves_frame", "steps_frame"]

_SORTS = ("group", "category", "function")


def steps_frame(judged: JudgedSeries) -> pd.DataFrame:
    """Return one row per step; see `FleetSeries.steps` for columns."""
    steps = judged.series.steps
    known = [step.start_ns for step in steps]
    starts = [pd.NaT if ns is None else pd.Timestamp(ns, tz="UTC") for ns in known]
    return pd.DataFrame(
        {
            "step": [step.name for step in steps],
            "start": pd.Series(starts, dtype="datetime64[ns, UTC]"),
            "hosts": [step.hosts for step in steps],
            "profiles": [step.profiles for step in steps],
        }
    )


def curves_frame(judged: JudgedSeries) -> pd.DataFrame:
    """Return one row per curve and step; see `FleetSeries.curves` for columns."""
    every = [(kind, curve) for kind in judged.kinds for curve in kind.curves]
    names = [step.name for step in judged.series.steps]
    count = len(names)

    def joined(columns: list[np.ndarray], dtype: type) -> np.ndarray:
        return np.concatenate([np.zeros(0, dtype), *columns])

    frame = pd.DataFrame(
        {
            "kind": np.repeat([kind.measured.kind for kind, _ in every], count),
            "sort": np.repeat([curve.sort for _, curve in every], count),
            "name": np.repeat([curve.key for _, curve in every], count),
            "step": names * len(every),
            "value": joined([curve.raw for _, curve in every], np.int64),
            "share": joined([curve.shares for _, curve in every], np.float64),
            "deviation": joined([curve.deviation for _, curve in every], np.float64),
        }
    )
    frame["sort"] = pd.Categorical(frame["sort"], _SORTS)
    return frame


def changes_frame(judged: JudgedSeries) -> pd.DataFrame:
    """Return one row per change; see `FleetSeries.changes` for columns."""
    names = [step.name for step in judged.series.steps]
    rows = [
        (
            *(kind.measured.kind, curve.sort, curve.key, names[change.step]),
            *(change.before, change.after, change.delta, change.low, change.high),
            change.q,
        )
        for kind in judged.kinds
        for curve in kind.curves
        for change in curve.changes
    ]
    rows.sort(key=lambda row: (-_SORTS.index(row[1]), -abs(row[6])))
    frame = pd.DataFrame(
        rows,
        columns=[
            *("kind", "sort", "name", "step", "before", "after", "delta"),
            *("low", "high", "false_rate"),
        ],
    )
    frame["sort"] = pd.Categorical(frame["sort"], _SORTS)
    return frame
