"""What the Go runtime did: sums by category, and who pays for each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.attribution import Attribution
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.csr import distinct, sums

__all__ = ["Blame", "Categories", "blame", "categories", "leaf_kinds"]

Column = NDArray[np.int64]
Pair = tuple[Column, Column]

# A category and two functions share one integer: 2**28 functions are more than a
# profile's 2 GB can name.
_BITS = 28
_MASK = (1 << _BITS) - 1


class Categories(NamedTuple):
    """Raw int64 sums by category, base and new; they add up to the totals exactly."""

    ids: tuple[str, ...]
    base: Column
    new: Column

    def groups(self) -> list[tuple[str, int, int]]:
        """Return (id, base, new) of each group, in the order they are shown."""
        place = {name: i for i, name in enumerate(self.ids)}
        out = []
        for group in rules().groups:
            rows = [place[c] for c in group.categories]
            out.append(
                (group.id, int(self.base[rows].sum()), int(self.new[rows].sum()))
            )
        return out


class Blame(NamedTuple):
    """What call sites pay: a row for each category, function and caller that occur.

    `category` is a position in ``rules().categories``, `function` and `caller` ones in
    the union of both sides' functions; `base` and `new` are raw int64 sums. `caller` is
    the program's own function nearest the call site, the same one where that is the
    program's own, or -1 for none: what to look at when the call site is in the standard
    library.
    """

    category: Column
    function: Column
    caller: Column
    base: Column
    new: Column


def categories(sides: tuple[Attribution, Attribution], values: Pair) -> Categories:
    """Return both sides' sums by category."""
    ids = tuple(rules().categories)
    base, new = (
        sums(side.category, v, len(ids)) for side, v in zip(sides, values, strict=True)
    )
    return Categories(ids, base, new)


def blame(sides: tuple[Attribution, Attribution], values: Pair, rows: Pair) -> Blame:
    """Charge every category but the user's own code to the call sites below it.

    `rows` give each side's functions their place in the union.
    """
    own = rules().categories.index("user")
    parts = []
    for side, v, union in zip(sides, values, rows, strict=True):
        paid = np.flatnonzero((side.payer >= 0) & (side.category != own))
        category = side.category[paid].astype(np.int64)
        # Of the caller one more: 0 stands for none.
        caller = np.append(union, -1)[side.owner[paid]] + 1
        key = category << 2 * _BITS | union[side.payer[paid]] << _BITS | caller
        parts.append((key, v[paid]))
    keys = distinct(np.concatenate([key for key, _ in parts]))
    base, new = (sums(np.searchsorted(keys, key), v, len(keys)) for key, v in parts)
    some = (base != 0) | (new != 0)
    keys = keys[some]
    return Blame(
        keys >> 2 * _BITS,
        keys >> _BITS & _MASK,
        (keys & _MASK) - 1,
        base[some],
        new[some],
    )


def leaf_kinds(
    sides: tuple[Attribution, Attribution], values: Pair
) -> list[tuple[int, int, int, int]]:
    """Return (category, leaf kind, base, new) of each pair that either side has."""
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
