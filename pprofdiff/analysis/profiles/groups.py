"""The groups, categories and call sites of a comparison, judged and as DataFrames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.ledger.views import each_together, merged
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.dimensions import paid_by_site
from pprofdiff.goruntime.rules import rules

if TYPE_CHECKING:
    import pandas as pd

# Before Go 1.22 stacks do not show which kind of mark worker runs. The pacer chooses
# it, not the program, so both kinds share a row.
_SHOWN_AS = {"gc.mark.dedicated": "gc.mark.bg", "gc.mark.fractional": "gc.mark.bg"}
# Columns of `categories_frame` when it is empty.
_COLUMNS = {
    "group": "str",
    **dict.fromkeys(("base", "new", "delta"), "int64"),
    **dict.fromkeys(("base_scaled", "new_scaled", "delta_scaled"), "float64"),
    **dict.fromkeys(("base_share", "new_share", "z"), "float64"),
    "noise": "bool",
}


class JudgedSum(NamedTuple):
    """One sum of both sides: a group, a category or any other row.

    `base` and `new` are raw; `delta` is scaled; `noise` is None if not tested.
    """

    id: str
    label: str
    base: int
    new: int
    delta: float
    noise: bool | None


def judged_groups(
    diff: ProfileDiff, model: CountModel | None = None
) -> list[JudgedSum]:
    """Return every group of categories, in table order, judged by `model` if given."""
    if not diff.classified:
        return []
    names = [(group.id, group.label) for group in rules().groups]
    return judged_sums(diff, names, diff.ledger.every("group").runs, model)


def groups_moved(diff: ProfileDiff) -> bool:
    """Return whether a group, or a category in one, changed significantly."""
    groups = judged_groups(diff)
    parts = (part for group in groups for part in judged_categories(diff, group.id))
    return any(part.noise is False for part in (*groups, *parts))


def judged_categories(
    diff: ProfileDiff, group: str, model: CountModel | None = None
) -> list[JudgedSum]:
    """Return a group's categories that either side has, in the rules' order.

    Dedicated and fractional mark workers count as background mark.
    """
    if not diff.classified:
        return []
    sums = diff.ledger.every("category")
    own = rules().members(group)
    labels = rules().category_labels
    some = (sums.base != 0) | (sums.new != 0)
    members: dict[str, list[int]] = {}
    for place, name in enumerate(rules().categories):
        if name in own and some[place]:
            members.setdefault(_SHOWN_AS.get(name, name), []).append(place)
    names = [(name, labels[name]) for name in members]
    runs = each_together(sums.runs, list(members.values()))
    return judged_sums(diff, names, runs, model)


def judged_sums(
    diff: ProfileDiff,
    names: Sequence[tuple[str, str]],
    runs: Runs[NDArray[np.int64]],
    model: CountModel | None = None,
) -> list[JudgedSum]:
    """Judge rows of (id, label) by raw sums, corrected for multiple comparisons."""
    model = model or diff.model
    judged = None if model is None else model.rows(runs)
    noise = [None] * len(names) if judged is None else judged.chance
    by = diff.normalization
    sides = zip(*(side.tolist() for side in merged(runs)), strict=True)
    return [
        JudgedSum(name, label, base, new, by.delta(base, new), chance)
        for (name, label), (base, new), chance in zip(names, sides, noise, strict=True)
    ]


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
