"""Groups of fleets as a DataFrame; imported on demand."""

from __future__ import annotations

from math import nan

import pandas as pd

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.runs.groups import group_diffs, moved_in_any

__all__ = ["groups_frame"]

_COLUMNS = (
    *("function", "group", "base_hosts", "new_hosts"),
    *("base", "new", "delta", "noise"),
)


def groups_frame(comparison: Comparison) -> pd.DataFrame:
    """Return one row per function and group; columns as in `FleetComparison.groups`."""
    rows: list[tuple[object, ...]] = []
    groups = list(group_diffs(comparison))
    for name in moved_in_any(groups):
        for group in groups:
            shares: tuple[object, ...] = (nan, nan, nan, None)
            if group.functions is not None:
                value = group.functions.value(name)
                by = group.functions.diff.normalization
                base, new = by.scaled(value.base, value.new)
                shares = (base, new, new - base, value.noise)
            rows.append((name, group.name, *group.hosts, *shares))
    return pd.DataFrame(rows, columns=list(_COLUMNS))
