"""Judges the groups and categories of a comparison for significance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.ledger.views import each_together, merged
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.goruntime.rules import rules

# Before Go 1.22 stacks do not show which kind of mark worker runs. The pacer chooses
# it, not the program, so both kinds share a row.
_SHOWN_AS = {"gc.mark.dedicated": "gc.mark.bg", "gc.mark.fractional": "gc.mark.bg"}


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
