"""What samples add up to by their labels: one row a key and value, both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.frames import compared_frame
from pprofdiff.model.csr import sums, unique_tuples
from pprofdiff.model.profiles.profile import Profile

if TYPE_CHECKING:
    import pandas as pd

    from pprofdiff.analysis.profiles.diff import ProfileDiff

__all__ = ["labels_frame"]

Column = NDArray[np.int64]
_Sums = dict[tuple[str, str], int]


def labels_frame(diff: ProfileDiff) -> pd.DataFrame:
    """Return one row a label's key and value, by falling |delta scaled|.

    Columns: key, value, and those of `frames.compared_frame`. The value of a numeric
    label is the number and its unit. Value ``""`` is for samples without such a key, so
    that the rows of a key add up to the totals where no sample has two values of it.
    """
    base, new = (
        _sums(side.profile, values)
        for side, values in zip((diff.base, diff.new), diff.values, strict=True)
    )
    # A key that one side lacks altogether is on none of its samples.
    for own, other, total in (
        (base, new, diff.totals[0]),
        (new, base, diff.totals[1]),
    ):
        for key in {key for key, _ in other} - {key for key, _ in own}:
            own[key, ""] = total
    rows = [row for row in sorted({*base, *new}) if base.get(row) or new.get(row)]
    names = {
        "key": [key for key, _ in rows],
        "value": [value for _, value in rows],
    }
    sides = [np.array([s.get(row, 0) for row in rows], np.int64) for s in (base, new)]
    return compared_frame(names, sides[0], sides[1], diff.normalization, diff.model)


def _sums(profile: Profile, values: Column) -> _Sums:
    """Return what samples with a label add up to, by key and value."""
    strings, labels = profile.strings, profile.labels
    known = np.flatnonzero(
        (labels.text != 0) | (labels.number != 0) | (labels.unit != 0)
    )
    sample = labels.sample[known]
    columns = labels.key[known], labels.text[known], labels.number[known]
    first, group = unique_tuples((*columns, labels.unit[known]))
    by_label: _Sums = {}
    amounts = _once(sample, group, values, len(first))
    for row, amount in zip(known[first].tolist(), amounts.tolist(), strict=True):
        text = strings[labels.text[row]]
        word = text or f"{int(labels.number[row])} {strings[labels.unit[row]]}".rstrip()
        key = strings[labels.key[row]], word
        by_label[key] = by_label.get(key, 0) + amount
    first, group = unique_tuples((labels.key[known],))
    amounts = _once(sample, group, values, len(first))
    total = int(values.sum())
    for row, amount in zip(known[first].tolist(), amounts.tolist(), strict=True):
        by_label[strings[labels.key[row]], ""] = total - amount
    return by_label


def _once(sample: Column, group: Column, values: Column, size: int) -> Column:
    """Return each group's sum of values, a sample that is in it twice counted once."""
    first, _ = unique_tuples((sample, group))
    return sums(group[first], values[sample[first]], size)
