"""The ledger of one sample type: each sample in one cell, and sums as views of it.

A dimension gives each sample a code: its category, owning function or call site. A view
sums samples by one or more dimensions. Every view sums exactly to the totals of the
comparison, since a sample without a value in a dimension has the code -1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import distinct, grouped, sums

Ids = NDArray[np.integer]


def sums_by_run(values: Pair, rows: tuple[Ids, Ids], size: int) -> Runs[Column]:
    """Return the raw sum of each row by run, exact in int64.

    `values` are int64 of shape (samples, runs) for (base, new); `rows` is the row of
    each sample, in [0, size), or -1 for none.
    """
    base, new = (
        _of_side(side, of_sample, size)
        for side, of_sample in zip(values, rows, strict=True)
    )
    return Runs(base, new)


def keyed_by_run(values: Pair, keys: Pair) -> tuple[Column, Runs[Column]]:
    """Return the distinct keys of samples with a nonzero sum, ascending, and the sums.

    `values` are as in `sums_by_run`; `keys` (int64) group the samples, -1 for none.
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
    return each_together(runs, [rows])


def each_together(runs: Runs[Column], members: Sequence[Sequence[int]]) -> Runs[Column]:
    """Return one row for each list of rows: their sum."""
    return runs.map(
        lambda run: np.array([run[list(rows)].sum() for rows in members], np.int64)
    )


Pair = tuple[Column, Column]
Masks = tuple[NDArray[np.bool_], NDArray[np.bool_]]


class Dimension(NamedTuple):
    """A code in [0, `size`) for each sample of (base, new), or -1 for none."""

    size: int
    sides: tuple[Ids, Ids]


class View(Struct, frozen=True, eq=False):
    """Raw sums (int64) by dimension: a row per combination of codes, ascending."""

    codes: Mapping[str, Column]
    base: Column
    new: Column
    runs: Runs[Column]

    def __getitem__(self, dimension: str) -> Column:
        """Return the codes of a dimension, one per row."""
        return self.codes[dimension]

    def where(self, rows: NDArray[np.bool_] | Column) -> View:
        """Return the rows given by a mask or by their indices."""
        codes = {name: column[rows] for name, column in self.codes.items()}
        runs = self.runs.map(lambda run: run[rows])
        return View(codes, self.base[rows], self.new[rows], runs)

    def known(self, *dimensions: str) -> View:
        """Return the rows that have a code in each of these dimensions."""
        columns = [self.codes[name] for name in dimensions]
        return self.where(np.logical_and.reduce([column >= 0 for column in columns]))

    def by(self, *dimensions: str) -> View:
        """Return the sums by some of the view's dimensions."""
        columns = [self.codes[name] for name in dimensions]
        sizes = [int(column.max(initial=-1)) + 1 for column in columns]
        keys, at = grouped(_keys(columns, sizes))
        runs = self.runs.map(lambda run: sums(at, run, len(keys)))
        return _view(dimensions, sizes, keys, runs)

    def at(self, dimension: str, codes: Column) -> Pair:
        """Return (base, new) sums at codes of the only dimension, 0 without a row."""
        own = self.codes[dimension]
        if not len(own):
            return np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
        places = np.minimum(np.searchsorted(own, codes), len(own) - 1)
        met = own[places] == codes
        return np.where(met, self.base[places], 0), np.where(met, self.new[places], 0)


class Ledger:
    """The samples of both sides: their values, and their code in each dimension.

    `values` are int64 of shape (samples, runs) for (base, new).
    """

    def __init__(self, values: Pair, dimensions: Mapping[str, Dimension]) -> None:
        self._values = values
        self._dimensions = dimensions
        self._views: dict[tuple[str, ...], View] = {}
        self._every: dict[str, View] = {}

    def sides(self, dimension: str) -> tuple[Ids, Ids]:
        """Return the code of each sample of (base, new), -1 for none."""
        return self._dimensions[dimension].sides

    def by(self, *dimensions: str) -> View:
        """Return the sums by these dimensions, without rows that are zero."""
        if dimensions not in self._views:
            chosen = [self._dimensions[name] for name in dimensions]
            sizes = [one.size for one in chosen]
            base, new = (
                _keys([one.sides[side] for one in chosen], sizes) for side in (0, 1)
            )
            keys, runs = keyed_by_run(self._values, (base, new))
            self._views[dimensions] = _view(dimensions, sizes, keys, runs)
        return self._views[dimensions]

    def every(self, dimension: str) -> View:
        """Return a row for each code of a dimension, 0 if neither side has it."""
        if dimension not in self._every:
            size, sides = self._dimensions[dimension]
            runs = sums_by_run(self._values, sides, size)
            codes = {dimension: np.arange(size)}
            self._every[dimension] = View(codes, *merged(runs), runs)
        return self._every[dimension]

    def among(self, kept: Masks) -> Ledger:
        """Return the ledger of the samples marked in `kept`."""
        base, new = (
            np.where(mask[:, None], values, 0)
            for mask, values in zip(kept, self._values, strict=True)
        )
        return Ledger((base, new), self._dimensions)

    def counting(self, columns: Sequence[Column]) -> Ledger:
        """Return the ledger of other values for the same samples, one per sample."""
        base, new = (column[:, None] for column in columns)
        return Ledger((base, new), self._dimensions)


def _keys(columns: Sequence[Ids], sizes: Sequence[int]) -> Column:
    """Return a key per row that orders like its codes; it must be below 2**63."""
    keys = np.zeros(len(columns[0]), np.int64)
    for column, size in zip(columns, sizes, strict=True):
        # Plus one: 0 stands for no code.
        keys = keys * (size + 1) + column + 1
    return keys


def _view(
    names: Sequence[str], sizes: Sequence[int], keys: Column, runs: Runs[Column]
) -> View:
    codes = dict.fromkeys(names, keys)
    for name, size in reversed(list(zip(names, sizes, strict=True))):
        keys, code = np.divmod(keys, size + 1)
        codes[name] = code - 1
    return View(codes, *merged(runs), runs)
