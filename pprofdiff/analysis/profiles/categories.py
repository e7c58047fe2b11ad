"""What the Go runtime did: sums by category, and who pays for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.attribution import Attribution
from pprofdiff.analysis.profiles.by_run import keyed_by_run, merged, sums_by_run
from pprofdiff.analysis.stats.judgement import Runs
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.csr import sums

__all__ = [
    "BACKGROUND_MARK",
    "Blame",
    "Categories",
    "blame",
    "categories",
    "leaf_kinds",
]

Column = NDArray[np.int64]
Pair = tuple[Column, Column]

BACKGROUND_MARK = (
    "gc.mark.dedicated",
    "gc.mark.fractional",
    "gc.mark.idle",
    "gc.mark.bg",
)
"""The categories of marking by the collector's workers, which no call makes."""

# A category and two functions share one integer: 2**28 functions are more than a
# profile's 2 GB can name.
_BITS = 28
_MASK = (1 << _BITS) - 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Categories:
    """Raw sums by category: int64, one a category of `ids`, 0 where a side has none.

    `ids` are all categories of the rules, in their order. Both columns add up to the
    totals of the comparison exactly, for each sample has one category. `runs` are the
    same sums run by run.
    """

    ids: tuple[str, ...]
    base: Column
    new: Column
    runs: Runs[Column]

    @property
    def group_runs(self) -> Runs[Column]:
        """Both sides' sums of groups run by run, in the order of `groups`."""
        place = {name: i for i, name in enumerate(self.ids)}
        groups = [[place[c] for c in group.categories] for group in rules().groups]
        return self.runs_of(groups)

    def runs_of(self, members: Sequence[Sequence[int]]) -> Runs[Column]:
        """Return sums of some categories each, by their places, run by run."""
        return self.runs.map(
            lambda run: np.array([run[list(at)].sum() for at in members], np.int64)
        )

    def groups(self) -> list[tuple[str, int, int]]:
        """Return (id, base, new) of each group, in the order they are shown."""
        place = {name: i for i, name in enumerate(self.ids)}
        groups = []
        for group in rules().groups:
            rows = [place[c] for c in group.categories]
            base, new = int(self.base[rows].sum()), int(self.new[rows].sum())
            groups.append((group.id, base, new))
        return groups


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Blame:
    """What the runtime costs, by the call site in Go code that makes it necessary.

    All columns are int64, with one row for each (category, function, caller) that has
    a value. `category` is a position in ``rules().categories``. `function` is the call
    site: the frame nearest the leaf that is no runtime function. `caller` is the frame
    nearest the leaf that is not of the standard library either: `function` itself,
    mostly, or -1 where the stack has none. Both are rows of `PairedRows.names`. `base`
    and `new` are sums of raw values, `runs` the same sums run by run.
    """

    category: Column
    function: Column
    caller: Column
    base: Column
    new: Column
    runs: Runs[Column]


def categories(sides: tuple[Attribution, Attribution], values: Pair) -> Categories:
    """Return the sums by category of (base, new) attributions and sample values.

    `values` are int64 of shape (samples, runs).
    """
    ids = tuple(rules().categories)
    runs = sums_by_run(values, (sides[0].category, sides[1].category), len(ids))
    return Categories(ids, *merged(runs), runs)


def blame(sides: tuple[Attribution, Attribution], values: Pair, union: Pair) -> Blame:
    """Return the sums by category and call site, of all categories but ``user``.

    Samples whose stack has only runtime functions have no call site and are left out.

    Parameters
    ----------
    sides
        What (base, new) samples are.
    values
        Their values run by run, int64 of shape (samples, runs).
    union
        The row of `PairedRows.names` of each function of (base, new).

    """
    own = rules().categories.index("user")
    keys_of = []
    for side, places in zip(sides, union, strict=True):
        paid = np.flatnonzero((side.payer >= 0) & (side.category != own))
        category = side.category[paid].astype(np.int64)
        # Of the caller one more: 0 stands for none.
        caller = np.append(places, -1)[side.owner[paid]] + 1
        key = np.full(len(side.payer), -1, np.int64)
        key[paid] = category << 2 * _BITS | places[side.payer[paid]] << _BITS | caller
        keys_of.append(key)
    keys, runs = keyed_by_run(values, (keys_of[0], keys_of[1]))
    base, new = merged(runs)
    return Blame(
        keys >> 2 * _BITS,
        keys >> _BITS & _MASK,
        (keys & _MASK) - 1,
        base,
        new,
        runs,
    )


def leaf_kinds(
    sides: tuple[Attribution, Attribution], values: Pair
) -> list[tuple[int, int, int, int]]:
    """Return (category, leaf kind, base, new) of each pair that has a value.

    The first two are positions in the tables of `rules`, the others raw sums.
    """
    kinds = len(rules().leaf_kinds)
    size = len(rules().categories) * kinds
    base, new = (
        sums(side.category.astype(np.int64) * kinds + side.leaf_kind, v, size)
        for side, v in zip(sides, values, strict=True)
    )
    return [
        (cell // kinds, cell % kinds, int(base[cell]), int(new[cell]))
        for cell in np.flatnonzero((base != 0) | (new != 0)).tolist()
    ]
