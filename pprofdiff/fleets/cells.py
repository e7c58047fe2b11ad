"""Sums of samples per step, host and function: compact columns instead of stacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.ledger.codes import Attribution
from pprofdiff.analysis.profiles.filters import pruned_frames
from pprofdiff.analysis.profiles.kinds import is_cpu, is_state
from pprofdiff.analysis.profiles.rows import SampleValues, summed_rows
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import grouped, sums
from pprofdiff.model.profiles.merge import merge_apart
from pprofdiff.model.profiles.profile import Profile, ValueType


class Cell(NamedTuple):
    """What samples are grouped by, apart from their function.

    `unit` is a host or several hosts; `step` is a build, or the start of a window of
    time in Unix seconds.
    """

    kind: str
    sample_type: ValueType
    unit: str
    step: str | int


@dataclass(frozen=True, slots=True, eq=False)
class CellSums:
    """Sums of profiles per cell and function, exact in int64.

    `cells` may have duplicates, whose sums are to be added. `totals` are the sums of
    each one's samples, `categories` by category of ``rules().categories``, of shape
    (cells, categories). `names` are distinct functions, including one for samples
    without a stack. `entries` are positions in `cells` and `names`, as ``cell *
    len(names) + name``, ascending; `flat` and `cum` are their sums, not both 0.
    """

    cells: tuple[Cell, ...]
    totals: Column
    categories: Column
    names: tuple[str, ...]
    entries: Column
    flat: Column
    cum: Column


def summed(several: Sequence[tuple[Cell, Profile]]) -> CellSums:
    """Return the sums of profiles (at least one) with identical sample types."""
    order = sorted(several, key=lambda one: repr(one[0]))
    cells = tuple(dict.fromkeys(cell for cell, _ in order))
    of_profile = [cells.index(cell) for cell, _ in order]
    first = order[0][1]
    column, types = first.sample_index(), len(first.sample_types)
    # The first columns that `merge_apart` returns are the sum.
    merged = merge_apart([profile for _, profile in order])
    units = merged.values.reshape(len(merged), 1 + len(order), types)[:, 1:, column]
    starts = np.searchsorted(of_profile, np.arange(len(cells)))
    by_cell = np.add.reduceat(units, starts, axis=1)
    plain = pruned_frames(merged) if merged.drop_frames else merged
    classified = is_cpu(first) or is_state(first)
    side = SampleValues(plain, by_cell)
    rows = summed_rows(side, "functions", classified=classified)
    known = len(rules().categories)
    categories = np.zeros((len(cells), known), np.int64)
    if isinstance(rows.ends, Attribution):
        for number, values in enumerate(by_cell.T):
            categories[number] = sums(rows.ends.category, values, known)
    flat, cum = rows.flat, rows.cum
    # Two functions may have the same name.
    place = {name: i for i, name in enumerate(dict.fromkeys(rows.rows.names))}
    name = np.array([place[one] for one in rows.rows.names], np.int64)
    own, cell = np.nonzero((flat != 0) | (cum != 0))
    return CellSums(
        cells,
        by_cell.sum(axis=0),
        categories,
        tuple(place),
        *_entries(cell * len(place) + name[own], flat[own, cell], cum[own, cell]),
    )


def joined(several: Sequence[CellSums]) -> CellSums:
    """Return the sum of sums, in which each cell is there once."""
    cells: dict[Cell, int] = {}
    names: dict[str, int] = {}
    of_cells, of_names = [], []
    for one in several:
        new = (cells.setdefault(cell, len(cells)) for cell in one.cells)
        of_cells.append(np.fromiter(new, np.int64, len(one.cells)))
        known = (names.setdefault(name, len(names)) for name in one.names)
        of_names.append(np.fromiter(known, np.int64, len(one.names)))
    totals = np.zeros(len(cells), np.int64)
    categories = np.zeros((len(cells), len(rules().categories)), np.int64)
    keys = [np.zeros(0, np.int64)]
    for one, cell, name in zip(several, of_cells, of_names, strict=True):
        np.add.at(totals, cell, one.totals)
        np.add.at(categories, cell, one.categories)
        own, called = np.divmod(one.entries, max(len(one.names), 1))
        keys.append(cell[own] * len(names) + name[called])
    none = np.zeros(0, np.int64)
    flat = np.concatenate([none, *(one.flat for one in several)])
    cum = np.concatenate([none, *(one.cum for one in several)])
    entries = _entries(np.concatenate(keys), flat, cum)
    return CellSums(tuple(cells), totals, categories, tuple(names), *entries)


def _entries(keys: Column, flat: Column, cum: Column) -> tuple[Column, Column, Column]:
    """Return distinct keys, ascending, and the sums for each."""
    distinct, place = grouped(keys)
    count = len(distinct)
    return distinct, sums(place, flat, count), sums(place, cum, count)
