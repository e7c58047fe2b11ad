"""Units of work as a DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pprofdiff.analysis.outcome.model import Unit

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["units_frame"]


def units_frame(units: Sequence[Unit]) -> pd.DataFrame:
    """Return one row a unit, in the order in which benchmarks ran."""
    import pandas as pd

    columns: dict[str, object] = {
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
