"""What the Go runtime did: sums by category, and who pays for each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.diff.classes import Attribution
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.csr import distinct, sums

__all__ = ["Blame", "Categories", "blame", "categories", "dearest", "leaf_kinds"]

Column = NDArray[np.int64]
Pair = tuple[Column, Column]


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
    """What call sites pay: one row for each category and function that occur together.

    `category` is a position in ``rules().categories``, `function` one in the union of
    both sides' functions; `base` and `new` are raw int64 sums. `caller` is the function
    of the program itself with the largest part of the row on either side, the same one
    where the call site is the program's own, or -1 for none: what to look at when the
    call site is in the standard library.
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
        caller = np.append(union, -1)[side.owner[paid]]
        parts.append((category << 32 | union[side.payer[paid]], caller, v[paid]))
    keys = distinct(np.concatenate([key for key, _, _ in parts]))
    places = [np.searchsorted(keys, key) for key, _, _ in parts]
    base, new = (
        sums(at, v, len(keys)) for at, (_, _, v) in zip(places, parts, strict=True)
    )
    callers = dearest(
        [(at, caller, v) for at, (_, caller, v) in zip(places, parts, strict=True)],
        len(keys),
    )
    some = (base != 0) | (new != 0)
    keys = keys[some]
    return Blame(keys >> 32, keys & 0xFFFFFFFF, callers[some], base[some], new[some])


def dearest(sides: list[tuple[Column, Column, Column]], size: int) -> Column:
    """Return, for each of `size` rows, the caller that costs most, -1 for none.

    `sides` are (row, caller, value) columns of base and new; a caller costs the larger
    of its sums on the two, so that one that is gone still explains what it cost.
    """
    keys = [rows << 32 | (callers + 1) for rows, callers, _ in sides]
    pairs = distinct(np.concatenate(keys))
    costs = [
        sums(np.searchsorted(pairs, key), values, len(pairs))
        for key, (_, _, values) in zip(keys, sides, strict=True)
    ]
    cost = np.maximum(*costs)
    order = np.argsort(cost, kind="stable")
    order = order[cost[order] != 0]
    found = np.full(size, -1, np.int64)
    # Of several values assigned to one index numpy keeps the last: the largest.
    found[pairs[order] >> 32] = (pairs[order] & 0xFFFFFFFF) - 1
    return found


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
