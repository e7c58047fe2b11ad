"""Units of work as a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pprofdiff.analysis.outcome.model import Outcome

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["units_frame"]


def units_frame(outcome: Outcome) -> pd.DataFrame:
    """Return one row per unit: benchmarks in the order in which they ran, or labels."""
    import pandas as pd

    units, key = outcome.units, None
    if outcome.by_label is not None:
        key, units = outcome.by_label
    columns: dict[str, object] = {
        "label": pd.Series([key] * len(units), dtype="string"),
        "unit": pd.Series([unit.name for unit in units], dtype="string"),
        "figure": pd.Categorical([u.figure for u in units], ["time", "cpu"]),
    }
    for name in ("base", "new", "ratio", "low", "high"):
        values = [getattr(unit, name) for unit in units]
        columns[name] = pd.Series(values, dtype="float64")
    verdicts = ["slower", "faster", "same", "unknown"]
    columns["verdict"] = pd.Categorical([u.verdict for u in units], verdicts)
    columns["mark"] = pd.Categorical(
        [u.mark for u in units], ["more", "less", "noise", "unknown"]
    )
    return pd.DataFrame(columns)
