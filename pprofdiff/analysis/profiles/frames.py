"""Sums of two sides as DataFrames: by category, by call site, by any other name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.analysis.ledger.views import View, merged
from pprofdiff.analysis.profiles.tables import STATUSES
from pprofdiff.goruntime.rules import rules

if TYPE_CHECKING:
    import pandas as pd

Column = NDArray[np.int64]

# Columns of `categories_frame` when it is empty.
_COLUMNS = {
    "group": "str",
    **dict.fromkeys(("base", "new", "delta"), "int64"),
    **dict.fromkeys(("base_scaled", "new_scaled", "delta_scaled"), "float64"),
    **dict.fromkeys(("base_share", "new_share", "z"), "float64"),
    "noise": "bool",
}


def categories_frame(
    sums: View | None,
    totals: tuple[int, int],
    normalization: Normalization,
    model: CountModel | None,
) -> pd.DataFrame:
    """Return one row per category that either side has.

    Index: category id. Columns: group, base, new, delta (int64, raw), base_scaled,
    new_scaled, delta_scaled, base_share, new_share (of `totals`), z and noise. Empty if
    samples have no categories or there is no noise model.
    """
    import pandas as pd

    if sums is None or model is None:
        return pd.DataFrame(
            {name: pd.Series(dtype=kind) for name, kind in _COLUMNS.items()},
            index=pd.Index([], name="category", dtype=object),
        )
    groups, ids = rules().groups, rules().categories
    judged = model.rows(sums.runs)
    base, new = normalization.scaled(sums.base, sums.new)
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


def blame_frame(
    sums: View | None, names: list[str], normalization: Normalization
) -> pd.DataFrame:
    """Return one row per category, call site and caller, largest |delta_scaled| first.

    `sums` come from `paid_by_site`; `names` are the names of its functions. Columns:
    category, function, caller (the owner, or None), base, new, delta (int64, raw),
    delta_scaled. Empty if samples have no categories.
    """
    import pandas as pd

    if sums is None:
        return pd.DataFrame({"category": [], "function": [], "delta": []})
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
            "delta_scaled": normalization.delta(sums.base, sums.new),
        }
    )
    order = np.argsort(-frame["delta_scaled"].abs().to_numpy(), kind="stable")
    return frame.iloc[order].reset_index(drop=True)


def compared_frame(
    names: dict[str, list[str]],
    runs: Runs[Column],
    normalization: Normalization,
    model: CountModel | None,
) -> pd.DataFrame:
    """Return one row per group of samples, largest |delta_scaled| first, then by name.

    Parameters
    ----------
    names
        The columns that name a row, by heading.
    runs
        Raw int64 sums per run, one per row, 0 if a side has no such row.
    normalization, model
        How to scale and judge the sums.

    Returns
    -------
    DataFrame
        The columns of `names`, then base, new, delta (int64), status (categorical both,
        new, gone), base_scaled, new_scaled, delta_scaled (float64), plus z and noise if
        there is a noise model.

    """
    import pandas as pd

    base, new = merged(runs)
    status = np.where((base != 0) & (new != 0), 0, np.where(new != 0, 1, 2))
    scaled = normalization.scaled(base, new)
    columns: dict[str, object] = {
        **{name: pd.Series(words, dtype="str") for name, words in names.items()},
        "base": base,
        "new": new,
        "delta": new - base,
        "status": pd.Categorical.from_codes(status.tolist(), pd.Index(STATUSES)),
        "base_scaled": scaled[0],
        "new_scaled": scaled[1],
        "delta_scaled": scaled[1] - scaled[0],
    }
    if model is not None:
        judged = model.rows(runs)
        columns |= {"z": judged.z, "noise": judged.noise}
    frame = pd.DataFrame(columns)
    keys = [np.array(words, object) for words in reversed(names.values())]
    order = np.lexsort((*keys, -np.abs(scaled[1] - scaled[0])))
    return frame.iloc[order].reset_index(drop=True)
