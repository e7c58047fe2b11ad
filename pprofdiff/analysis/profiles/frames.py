"""Sums of two sides as DataFrames: by category, by call site."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.dimensions import paid_by_site
from pprofdiff.goruntime.rules import rules

if TYPE_CHECKING:
    import pandas as pd

# Columns of `categories_frame` when it is empty.
_COLUMNS = {
    "group": "str",
    **dict.fromkeys(("base", "new", "delta"), "int64"),
    **dict.fromkeys(("base_scaled", "new_scaled", "delta_scaled"), "float64"),
    **dict.fromkeys(("base_share", "new_share", "z"), "float64"),
    "noise": "bool",
}


def categories_frame(diff: ProfileDiff) -> pd.DataFrame:
    """Return one row per category that either side has.

    Index: category id. Columns: group, base, new, delta (int64, raw), base_scaled,
    new_scaled, delta_scaled, base_share, new_share (of the totals), z and noise. Empty
    if samples have no categories or there is no noise model.
    """
    import pandas as pd

    if not diff.classified or diff.model is None:
        return pd.DataFrame(
            {name: pd.Series(dtype=kind) for name, kind in _COLUMNS.items()},
            index=pd.Index([], name="category", dtype=object),
        )
    groups, ids = rules().groups, rules().categories
    sums, totals = diff.ledger.every("category"), diff.totals
    judged = diff.model.rows(sums.runs)
    base, new = diff.normalization.scaled(sums.base, sums.new)
    frame = pd.DataFrame(
        {
            "group": [groups[row].id for row in rules().group_rows],
            "base": sums.base,
            "new": sums.new,
            "delta": sums.new - sums.base,
            "base_scaled": base,
            "new_scaled": new,
            "delta_scaled": new - base,
            "base_share": sums.base / max(totals[0], 1),
            "new_share": sums.new / max(totals[1], 1),
            "z": judged.z,
            "noise": judged.noise,
        },
        index=pd.Index(list(ids), name="category", dtype=object),
    )
    return frame[(frame["base"] != 0) | (frame["new"] != 0)]


def blame_frame(diff: ProfileDiff) -> pd.DataFrame:
    """Return one row per category, call site and caller, largest |delta_scaled| first.

    Columns: category, function, caller (the owner, or None), base, new, delta (int64,
    raw), delta_scaled. Empty if samples have no categories.
    """
    import pandas as pd

    if not diff.classified:
        return pd.DataFrame({"category": [], "function": [], "delta": []})
    sums, names = paid_by_site(diff.ledger), diff.paired_functions.names
    ids = rules().categories
    frame = pd.DataFrame(
        {
            "category": [ids[i] for i in sums["category"].tolist()],
            "function": [names[i] for i in sums["site"].tolist()],
            "caller": np.array(
                [names[i] if i >= 0 else None for i in sums["owner"].tolist()], object
            ),
            "base": sums.base,
            "new": sums.new,
            "delta": sums.new - sums.base,
            "delta_scaled": diff.normalization.delta(sums.base, sums.new),
        }
    )
    order = np.argsort(-frame["delta_scaled"].abs().to_numpy(), kind="stable")
    return frame.iloc[order].reset_index(drop=True)
