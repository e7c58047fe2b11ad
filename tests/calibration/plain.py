"""Textbook tests of rows, to compare with: each row by itself, on shares of runs.

What a row has of each run's samples is one value. A table's rows are those with at
least `SAMPLES` samples over both sides; of them, a false discovery rate of 5 %.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

SAMPLES = 10
LEVEL = 0.05

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def welch(base: Floats, new: Floats) -> Floats:
    """Return p of Welch's t test of each row; 1 where a side has one run."""
    if min(base.shape[1], new.shape[1]) < 2:
        return np.ones(len(base))
    means = new.mean(axis=1) - base.mean(axis=1)
    parts = [side.var(axis=1, ddof=1) / side.shape[1] for side in (base, new)]
    variance = parts[0] + parts[1]
    freedoms = [side.shape[1] - 1 for side in (base, new)]
    below = sum(
        part**2 / freedom for part, freedom in zip(parts, freedoms, strict=True)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        t, freedom = means / np.sqrt(variance), variance**2 / below
        p = 2 * stats.t.sf(np.abs(t), freedom)
    return np.where(variance > 0, p, np.where(means == 0, 1.0, 0.0))


def mann_whitney(base: Floats, new: Floats) -> Floats:
    """Return p of the Mann-Whitney U test of each row: exact, but for ties."""
    p = stats.mannwhitneyu(base, new, axis=1, method="auto").pvalue
    return np.nan_to_num(np.asarray(p, np.float64), nan=1.0)


TESTS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "Welch": welch,
    "Mann-Whitney": mann_whitney,
}


def discoveries(
    base: Counts,
    new: Counts,
    totals: tuple[Counts, Counts],
    test: Callable[[Floats, Floats], Floats],
) -> NDArray[np.bool_]:
    """Return which rows a test calls changed, of samples by row and run."""
    judged = base.sum(axis=1) + new.sum(axis=1) >= SAMPLES
    marked = np.zeros(len(base), np.bool_)
    if judged.any():
        p = test(base[judged] / totals[0], new[judged] / totals[1])
        marked[judged] = stats.false_discovery_control(p) <= LEVEL
    return marked
