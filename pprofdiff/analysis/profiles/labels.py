"""What samples add up to by their labels: one row a key and value, both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.frames import compared_frame
from pprofdiff.analysis.stats.judgement import Runs
from pprofdiff.model.csr import sums, unique_tuples
from pprofdiff.model.profiles.profile import Profile

if TYPE_CHECKING:
    import pandas as pd

    from pprofdiff.analysis.profiles.diff import ProfileDiff

__all__ = ["labels_frame"]

Column = NDArray[np.int64]
_Sums = dict[tuple[str, str], Column]


def labels_frame(diff: ProfileDiff) -> pd.DataFrame:
    """Return one row a label's key and value, by falling |delta scaled|.

    Columns: key, value, and those of `frames.compared_frame`. The value of a numeric
    label is the number and its unit. Value ``""`` is for samples without such a key, so
    that the rows of a key add up to the totals where no sample has two values of it.
    """
    base, new = (
        _sums(side.profile, values)
        for side, values in zip((diff.base, diff.new), diff.run_values, strict=True)
    )
    totals = [values.sum(axis=0) for values in diff.run_values]
    # A key that one side lacks altogether is on none of its samples.
    for own, other, total in (
        (base, new, totals[0]),
        (new, base, totals[1]),
    ):
        for key in {key for key, _ in other} - {key for key, _ in own}:
            own[key, ""] = total
    rows = [
        row
        for row in sorted({*base, *new})
        if any(row in side and side[row].sum() for side in (base, new))
    ]
    names = {
        "key": [key for key, _ in rows],
        "value": [value for _, value in rows],
    }
    base_runs, new_runs = (
        _by_run([side.get(row, np.zeros_like(total)) for row in rows], len(total))
        for side, total in zip((base, new), totals, strict=True)
    )
    runs = Runs(base_runs, new_runs)
    return compared_frame(names, runs, diff.normalization, diff.model)


def _by_run(rows: list[Column], runs: int) -> tuple[Column, ...]:
    """Return rows, each of one value a run, as one column a run."""
    return tuple(np.array([row[run] for row in rows], np.int64) for run in range(runs))


def _sums(profile: Profile, values: Column) -> _Sums:
    """Return what samples with a label add up to in each run, by key and value.

    `values` are int64 of shape (samples, runs).
    """
    strings, labels = profile.strings, profile.labels
    known = np.flatnonzero(
        (labels.text != 0) | (labels.number != 0) | (labels.unit != 0)
    )
    sample = labels.sample[known]
    columns = labels.key[known], labels.text[known], labels.number[known]
    first, group = unique_tuples((*columns, labels.unit[known]))
    by_label: _Sums = {}
    amounts = _once(sample, group, values, len(first))
    for row, amount in zip(known[first].tolist(), amounts, strict=True):
        text = strings[labels.text[row]]
        word = text or f"{int(labels.number[row])} {strings[labels.unit[row]]}".rstrip()
        key = strings[labels.key[row]], word
        by_label[key] = by_label.get(key, 0) + amount
    first, group = unique_tuples((labels.key[known],))
    amounts = _once(sample, group, values, len(first))
    total = values.sum(axis=0)
    for row, amount in zip(known[first].tolist(), amounts, strict=True):
        by_label[strings[labels.key[row]], ""] = total - amount
    return by_label


def _once(sample: Column, group: Column, values: Column, size: int) -> Column:
    """Return each group's sums of values, of shape (size, runs).

    A sample that is in a group twice counts once.
    """
    first, _ = unique_tuples((sample, group))
    chosen, rows = sample[first], group[first]
    return np.stack([sums(rows, run[chosen], size) for run in values.T], axis=1)
