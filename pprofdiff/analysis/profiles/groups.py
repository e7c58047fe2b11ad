"""Groups and categories of a comparison, each judged: what changed beyond chance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.stats.judgement import Runs
from pprofdiff.goruntime.rules import rules

__all__ = ["JudgedSum", "judged_categories", "judged_groups", "judged_sums"]

# Before Go 1.22 a stack does not tell which kind of worker marks, and which kind does
# is the pacer's choice, not the program's: one line for both.
_SHOWN_AS = {"gc.mark.dedicated": "gc.mark.bg", "gc.mark.fractional": "gc.mark.bg"}


class JudgedSum(NamedTuple):
    """One sum of both sides: a group, a category or any other row.

    `base` and `new` are raw; `delta` is new − base after scaling; `noise` tells whether
    chance explains it, None where chance has no model.
    """

    id: str
    label: str
    base: int
    new: int
    delta: float
    noise: bool | None


def judged_groups(diff: ProfileDiff) -> list[JudgedSum]:
    """Return every group of categories, in the order of the table."""
    sums = diff.category_sums
    if sums is None:
        return []
    labels = {group.id: group.label for group in rules().groups}
    rows = [(g, labels[g], base, new) for g, base, new in sums.groups()]
    return judged_sums(diff, rows, sums.group_runs)


def judged_categories(diff: ProfileDiff, group: str) -> list[JudgedSum]:
    """Return a group's categories that either side has, in the rules' order.

    Dedicated and fractional mark workers count as background mark.
    """
    sums = diff.category_sums
    if sums is None:
        return []
    own = next(g.categories for g in rules().groups if g.id == group)
    labels = rules().category_labels
    some = (sums.base != 0) | (sums.new != 0)
    members: dict[str, list[int]] = {}
    for place, name in enumerate(sums.ids):
        if name in own and some[place]:
            members.setdefault(_SHOWN_AS.get(name, name), []).append(place)
    rows = [
        (name, labels[name], int(sums.base[at].sum()), int(sums.new[at].sum()))
        for name, at in members.items()
    ]
    return judged_sums(diff, rows, sums.runs_of(list(members.values())))


def judged_sums(
    diff: ProfileDiff,
    rows: list[tuple[str, str, int, int]],
    runs: Runs[NDArray[np.int64]] | None = None,
) -> list[JudgedSum]:
    """Judge rows of (id, label, raw base, raw new), corrected for their number.

    `runs` are the same sums run by run, None where they are not known so.
    """
    if runs is None:
        judged = diff.judge([row[2] for row in rows], [row[3] for row in rows])
    else:
        judged = diff.judge_runs(runs)
    noise = [None] * len(rows) if judged is None else judged.noise.tolist()
    by = diff.normalization
    return [
        JudgedSum(name, label, base, new, by.delta(base, new), chance)
        for (name, label, base, new), chance in zip(rows, noise, strict=True)
    ]
