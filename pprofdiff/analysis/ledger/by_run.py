"""Raw sums of samples by row and run: the input of significance tests.

A row is whatever samples are grouped by: a call site, a category, a source line, the
samples of a finding. Values by run show how much runs of a row differ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.model.csr import distinct, sums

__all__ = ["each_together", "keyed_by_run", "merged", "sums_by_run", "together"]

Column = NDArray[np.int64]
Ids = NDArray[np.integer]
Pair = tuple[Column, Column]


def sums_by_run(values: Pair, rows: tuple[Ids, Ids], size: int) -> Runs[Column]:
    """Return the raw sum of each row by run, exact in int64.

    Parameters
    ----------
    values
        The values of (base, new) samples: int64 of shape (samples, runs).
    rows
        The row of each sample, in [0, size), or -1 for none.
    size
        The number of rows.

    """
    base, new = (
        _of_side(side, of_sample, size)
        for side, of_sample in zip(values, rows, strict=True)
    )
    return Runs(base, new)


def keyed_by_run(values: Pair, keys: Pair) -> tuple[Column, Runs[Column]]:
    """Return the distinct keys of samples with a nonzero sum, ascending, and the sums.

    Parameters
    ----------
    values
        The values of (base, new) samples: int64 of shape (samples, runs).
    keys
        The key to group each sample by (int64), or -1 for none.

    """
    known = distinct(np.concatenate(keys))
    known = known[known >= 0]
    places = tuple(np.where(key >= 0, np.searchsorted(known, key), -1) for key in keys)
    runs = sums_by_run(values, (places[0], places[1]), len(known))
    base, new = merged(runs)
    valued = (base != 0) | (new != 0)
    return known[valued], runs.map(lambda run: run[valued])


def _of_side(values: Column, rows: Ids, size: int) -> tuple[Column, ...]:
    kept = np.flatnonzero(rows >= 0)
    chosen = rows[kept]
    return tuple(sums(chosen, run[kept], size) for run in values.T)


def merged(runs: Runs[Column]) -> Pair:
    """Return the (base, new) sums over all runs, exact in int64."""
    base, new = (np.add.reduce(side, dtype=np.int64) for side in (runs.base, runs.new))
    return base, new


def together(runs: Runs[Column], rows: Sequence[int]) -> Runs[Column]:
    """Return the sum of the given rows as one row."""
    chosen = list(rows)
    return runs.map(lambda run: run[chosen].sum(keepdims=True))


def each_together(runs: Runs[Column], members: Sequence[Sequence[int]]) -> Runs[Column]:
    """Return one row for each list of rows: their sum."""
    return runs.map(
        lambda run: np.array([run[list(rows)].sum() for rows in members], np.int64)
    )
