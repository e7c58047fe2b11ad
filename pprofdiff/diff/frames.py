"""Categories and blame as DataFrames; imported only when somebody asks for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pprofdiff.goruntime.rules import rules

if TYPE_CHECKING:
    from pprofdiff.diff.compare import ProfileDiff

__all__ = ["blame_frame", "categories_frame"]


def categories_frame(diff: ProfileDiff) -> pd.DataFrame:
    """Return one row a category that either side has.

    Index: category id. Columns: group, base, new, delta (int64, raw), base_scaled,
    new_scaled, delta_scaled, base_share, new_share (of the total), z and noise. Empty
    where samples are not CPU time.
    """
    sums, model = diff.category_sums, diff.model
    if sums is None or model is None:
        return pd.DataFrame({"group": []}, index=pd.Index([], name="category"))
    group = {c: g.id for g in rules().groups for c in g.categories}
    judged = model.judge(sums.base, sums.new)
    by = diff.normalization
    base, new = sums.base * by.base_factor, sums.new * by.new_factor
    totals = [max(total, 1) for total in diff.totals]
    frame = pd.DataFrame(
        {
            "group": [group[c] for c in sums.ids],
            "base": sums.base,
            "new": sums.new,
            "delta": sums.new - sums.base,
            "base_scaled": base,
            "new_scaled": new,
            "delta_scaled": new - base,
            "base_share": sums.base / totals[0],
            "new_share": sums.new / totals[1],
            "z": judged.z,
            "noise": judged.noise,
        },
        index=pd.Index(list(sums.ids), name="category", dtype=object),
    )
    return frame[(frame["base"] != 0) | (frame["new"] != 0)]


def blame_frame(diff: ProfileDiff) -> pd.DataFrame:
    """Return one row for each category and call site, by falling |delta scaled|.

    Columns: category, function, caller (of the program itself, see `Blame`, or None),
    base, new, delta (int64, raw), delta_scaled.
    """
    sums = diff.blame_sums
    if sums is None:
        return pd.DataFrame({"category": [], "function": [], "delta": []})
    ids = rules().categories
    names = diff.paired_functions.names
    by = diff.normalization
    frame = pd.DataFrame(
        {
            "category": [ids[i] for i in sums.category.tolist()],
            "function": [names[i] for i in sums.function.tolist()],
            "caller": [names[i] if i >= 0 else None for i in sums.caller.tolist()],
            "base": sums.base,
            "new": sums.new,
            "delta": sums.new - sums.base,
            "delta_scaled": sums.new * by.new_factor - sums.base * by.base_factor,
        }
    )
    order = np.argsort(-frame["delta_scaled"].abs().to_numpy(), kind="stable")
    return frame.iloc[order].reset_index(drop=True)
