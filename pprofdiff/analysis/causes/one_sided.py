"""Functions that only one side runs, and their work."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.cpu import CPUComparison, cum_of
from pprofdiff.analysis.causes.finding import Claim
from pprofdiff.analysis.causes.inside import Inside, OneSidedWork, Root, inside_others
from pprofdiff.analysis.judge.calibration import SAMPLES_FOR_ROW
from pprofdiff.analysis.policy import MOST, NEARLY_ALL, NOTICED
from pprofdiff.goruntime.names import is_runtime_like, is_standard_library, package_of
from pprofdiff.identity.symbols import Symbols
from pprofdiff.model.csr import (
    distinct,
    first_in_row,
    grouped,
    last_in_row,
    once_per_row,
    row_of_item,
    sums,
)

__all__ = ["OneSided", "mostly", "work_of_one_side"]

Mask = NDArray[np.bool_]
Column = NDArray[np.int64]

# It is gone if less than this part of its share is left, as other callers may remain.
_LEFT = 0.005
# Groups of work that is done for a function, or that it has to do for others.
_NOT_OWN = ("gc", "gc_tax")


Family = tuple[list[Root], list[Root]]
"""Roots that belong together: the vanished ones, and the new ones."""


class OneSided(NamedTuple):
    """What only base does, and what only new does.

    `families` are roots of work that only one side does, or does in other functions;
    `inside` are roots of work that both sides do, in the function that contains them.
    `claim` is all work of `families`.
    """

    gone: OneSidedWork
    added: OneSidedWork
    families: tuple[Family, ...]
    inside: tuple[Inside, ...]
    claim: Claim

    @property
    def hosts(self) -> dict[int, int]:
        """The function that contains each root of `inside`, both as rows."""
        return {root.row: one.host for one in self.inside for root in one.roots}


def work_of_one_side(cpu: CPUComparison) -> OneSided:
    """Return the functions above a share that only one side has, and their work."""
    chosen = _chosen(cpu)
    works = _work(cpu, 0, chosen), _work(cpu, 1, chosen)
    families: list[Family] = []
    inside: list[Inside] = []
    for family in _families(cpu, works[0].roots, works[1].roots):
        found: list[Inside] = []
        if not all(family):
            side = 0 if family[0] else 1
            found = inside_others(cpu, works[side], family[side])
        within = {root.row for one in found for root in one.roots}
        before, after = ([r for r in some if r.row not in within] for some in family)
        if before or after:
            families.append((before, after))
        inside += found
    masks = [work.root_of_sample >= 0 for work in works]
    for one in inside:
        masks[one.side] &= ~np.isin(
            works[one.side].root_of_sample, [root.row for root in one.roots]
        )
    return OneSided(*works, tuple(families), tuple(inside), Claim(*masks))


def _families(
    cpu: CPUComparison, gone: tuple[Root, ...], added: tuple[Root, ...]
) -> list[Family]:
    """Return roots that belong together: of one package, or with one caller.

    Code that vanished and code that replaced it share the caller or, if the innermost
    callers changed too, the package. Roots of one side alone form one family per
    package.
    """
    family: dict[object, int] = {}
    members: dict[int, tuple[list[Root], list[Root]]] = {}
    for side, roots in enumerate((gone, added)):
        for root in roots:
            keys: list[tuple[str, str | int]] = [
                ("package", package_of(cpu.names[root.row]))
            ]
            if root.parent >= 0:
                keys.append(("caller", root.parent))
            known = sorted({family[key] for key in keys if key in family})
            place = known[0] if known else len(members)
            members.setdefault(place, ([], []))[side].append(root)
            for other in known[1:]:
                for i, more in enumerate(members.pop(other)):
                    members[place][i].extend(more)
                family = {k: place if v == other else v for k, v in family.items()}
            family.update(dict.fromkeys(keys, place))
    return sorted(
        members.values(), key=lambda pair: -sum(r.value for rs in pair for r in rs)
    )


def _chosen(cpu: CPUComparison) -> tuple[Mask, Mask]:
    """Return which functions of the union are all but gone, and which are new."""
    table, (base_total, new_total) = cpu.table, cpu.diff.totals
    significant = ~cpu.relative.rows(table.runs("cum")).noise
    for row in np.flatnonzero(significant).tolist():
        significant[row] = _significant(cpu, table.names[row])
    base, new = table.base_cum / base_total, table.new_cum / new_total
    at = cpu.diff.paired_functions.tabled
    gone, added = (np.zeros(len(cpu.names), np.bool_) for _ in range(2))
    gone[at[significant & (base >= NOTICED) & (new <= _LEFT * base)]] = True
    added[at[significant & (new >= NOTICED) & (base <= _LEFT * new)]] = True
    renumbered = _renumbered(cpu)
    gone[renumbered] = added[renumbered] = False
    # The other side does their work in the function that they are part of.
    parts = cpu.whole_of != np.arange(len(cpu.names))
    gone[parts] = added[parts] = False
    for side, some in enumerate((gone, added)):
        if some.any():
            # At least half of what counts must be its own.
            least = _least(cpu, side, NOTICED / 2 * cpu.diff.totals[side])
            some[cpu.cum_of(side, _own(cpu)) < least] = False
    return gone, added


def _renumbered(cpu: CPUComparison) -> list[int]:
    """Return closures of one side that may be renumbered closures of the other.

    They have no pair, and their function has such closures on both sides.
    """
    sides = cpu.diff.paired_functions.union
    there = np.zeros((2, len(cpu.names)), np.bool_)
    for side, rows in enumerate(sides):
        there[side, rows] = True
    closures: dict[tuple[str, str], tuple[set[int], set[int]]] = {}
    symbols = Symbols(cpu.names, {})
    for side in (0, 1):
        for row in np.flatnonzero(there[side] & ~there[1 - side]).tolist():
            if (symbol := symbols[row]).kinds:
                home = symbol.package, symbol.function
                closures.setdefault(home, (set(), set()))[side].add(row)
    return [
        row for some in closures.values() if all(some) for row in set().union(*some)
    ]


def _own(cpu: CPUComparison) -> Claim:
    """Claim what functions do themselves, without GC and without `lent` work.

    A collector that runs more shows up in functions that had no sample before.
    """
    return cpu.all.without(cpu.of_groups(*_NOT_OWN)).without(cpu.lent)


def _least(cpu: CPUComparison, side: int, share: float) -> float:
    """Return a share of a side's CPU, but at least what a row needs to be judged."""
    return max(share, SAMPLES_FOR_ROW * cpu.model.worth[side])


def _significant(cpu: CPUComparison, name: str) -> bool:
    """Return whether it is news that a function is gone or new.

    Functions of the standard library come and go between Go releases.
    """
    if is_runtime_like(name):
        return False
    return not (cpu.other_release and is_standard_library(package_of(name)))


def _work(cpu: CPUComparison, side: int, chosen: tuple[Mask, Mask]) -> OneSidedWork:
    """Find the outermost of the chosen functions in each of a side's stacks.

    A function inserted into a call chain, such as a middleware, has only its own work:
    what it passes on ran without it on the other side.
    """
    root, parent = _outermost(cpu, side, chosen[side])
    passing = np.zeros(len(cpu.names), np.bool_)
    other = 1 - side
    others = cpu.diff.having_on(other, chosen[other])
    below = cache(lambda row: _below(cpu, side, row))
    below_there = cache(lambda row: _below(cpu, other, row, left_out=others))
    for one in _roots(cpu, side, root, parent):
        passed = _passed_on(cpu, side, one, below(one.row), below_there(one.parent))
        total = int(cpu.diff.values[side][passed].sum())
        if total >= MOST * one.value:
            passing[one.row] = True
            root[passed] = -1
    if passing.any():
        inner = _outermost(cpu, side, chosen[side] & ~passing)
        free = root < 0
        root[free], parent[free] = inner[0][free], inner[1][free]
    root[cpu.lent.sides[side]] = -1
    least = _least(cpu, side, NOTICED / 2 * cpu.diff.totals[side])
    roots = [
        one
        for one in _roots(cpu, side, root, parent)
        if one.value >= least and _expected(cpu, side, one, below(one.row))
    ]
    roots.sort(key=lambda one: -one.value)
    # What is not shown to be one side's alone is left to other rules.
    root[~np.isin(root, [one.row for one in roots])] = -1
    return OneSidedWork(
        side, tuple(roots), root, frozenset(np.flatnonzero(passing).tolist())
    )


def _outermost(cpu: CPUComparison, side: int, chosen: Mask) -> tuple[Column, Column]:
    """Return each sample's outermost chosen function and its caller, -1 for none."""
    values = cpu.diff.values[side]
    root = np.full(len(values), -1, np.int64)
    parent = np.full(len(values), -1, np.int64)
    if chosen.any():
        for samples, ids, offsets in cpu.stacks_with(side, chosen):
            last = last_in_row(chosen[ids], offsets)
            root[samples] = ids[last]
            above = np.append(ids, -1)[last + 1]
            parent[samples] = np.where(last + 1 < offsets[1:], above, -1)
    return root, parent


def _roots(cpu: CPUComparison, side: int, root: Column, parent: Column) -> list[Root]:
    """Return each root, with the CPU time under it and its main caller."""
    values = cpu.diff.values[side]
    roots = []
    for row in distinct(root[root >= 0]).tolist():
        under = root == row
        callers, at = grouped(parent[under])
        most = int(callers[np.argmax(np.bincount(at, np.abs(values[under])))])
        by = int(cpu.whole_of[most]) if most >= 0 else -1
        roots.append(Root(row, by, int(values[under].sum())))
    return roots


def _passed_on(
    cpu: CPUComparison, side: int, root: Root, below: Column, there: Column
) -> Mask:
    """Return the samples below a root that go on into code that ran without it.

    Such code is a function that the other side calls under the same parent, with none
    of its own chosen functions in between. It costs so much more there than on this
    side without the root that this is at least half of its cost below the root. `below`
    are the sums below the root, `there` those of the other side below the parent.
    """
    around = _below(cpu, side, root.parent, left_out=_with(cpu, side, root))
    factors = cpu.diff.normalization.factors
    moved = there * factors[1 - side] - around * factors[side]
    least = NOTICED / 2 * cpu.diff.totals[side]
    same = (below >= least) & (moved >= MOST * below * factors[side])
    same &= ~cpu.of_runtime
    passed = np.zeros(len(cpu.diff.values[side]), np.bool_)
    if same.any():
        for samples, ids, offsets in cpu.stacks_with(side, cpu.only(root.row)):
            at = last_in_row(ids == root.row, offsets)
            first = first_in_row(same[ids], offsets)
            passed[samples] = (first >= 0) & (first < at)
    return passed


def _with(cpu: CPUComparison, side: int, root: Root) -> Mask:
    """Return which samples of a side have a root in their stack."""
    return cpu.diff.having_on(side, cpu.only(root.row))


def _below(
    cpu: CPUComparison, side: int, row: int, left_out: Mask | None = None
) -> Column:
    """Return the raw sum of each function below `row`; -1 is the caller of every root.

    A function counts where its outermost frame is below, except in samples that are
    `left_out` (bool, by sample).
    """
    if row < 0:
        every = cpu.cum[side]
        return every if left_out is None else every - cum_of(cpu.diff, side, left_out)
    values = cpu.diff.values[side]
    below = np.zeros(len(cpu.names), np.int64)
    for samples, ids, offsets in cpu.stacks_with(
        side, cpu.only(row), None if left_out is None else ~left_out
    ):
        stack = row_of_item(offsets)
        at = last_in_row(ids == row, offsets)
        counted = once_per_row(offsets, ids, len(below))
        counted &= np.arange(len(ids)) < at[stack]
        counts = values[samples[stack[counted]]]
        below += sums(ids[counted], counts, len(below))
    return below


def mostly(cpu: CPUComparison, side: int, root: Column) -> int | None:
    """Return the innermost function with more than half of what is below `root`.

    `root` has one function for each of the side's samples, -1 for none. Returns None if
    there is no such function outside the runtime.
    """
    values = np.where(root >= 0, cpu.diff.values[side], 0)
    total, depth = (np.zeros(len(cpu.names), np.int64) for _ in range(2))
    roots = np.zeros(len(cpu.names), np.bool_)
    roots[root[root >= 0]] = True
    for samples, ids, offsets in cpu.stacks_with(side, roots, root >= 0):
        stack = row_of_item(offsets)
        sample = samples[stack]
        place = np.arange(len(ids))
        at = last_in_row(ids == root[sample], offsets)
        below = once_per_row(offsets, ids, len(cpu.names))
        below &= (place < at[stack]) & (ids != root[sample])
        np.add.at(total, ids[below], values[sample[below]])
        from_leaf = place - offsets[stack]
        np.add.at(depth, ids[below], from_leaf[below])
    most = total > MOST * values.sum()
    most &= ~cpu.of_runtime
    rows = np.flatnonzero(most)
    if not len(rows):
        return None
    return int(rows[np.lexsort((depth[rows], total[rows]))[0]])


def _expected(cpu: CPUComparison, side: int, root: Root, below: Column) -> bool:
    """Return whether the other side's samples of the caller would show the function.

    If its caller hardly runs there, nothing can be said. `below` are the sums below it.
    """
    here, there = (cpu.cum[side], cpu.cum[1 - side])
    if root.parent >= 0:
        part = here[root.row] / here[root.parent]
        if not cpu.model.absence_significant(
            1 - side, float(part * there[root.parent])
        ):
            return False
    return not _fell_with_others(cpu, side, root, below)


def _fell_with_others(cpu: CPUComparison, side: int, root: Root, below: Column) -> bool:
    """Return whether a root may run on the other side, but too cheaply to be seen.

    Nearly all that it did is below a function that others call on both sides: where it
    costs them so much less on the other side, it may cost the root less too, and only
    chance would sample it.
    """
    around = _below(cpu, side, -1, left_out=_with(cpu, side, root))
    here, there = around, cpu.cum[1 - side]
    shared = (below >= NEARLY_ALL * root.value) & (there > 0) & (here > 0)
    for row in np.flatnonzero(shared).tolist():
        left = float(root.value / here[row] * there[row])
        if (
            not is_runtime_like(cpu.names[row])
            and cpu.model.absence_significant(side, float(here[row]))
            and not cpu.model.absence_significant(1 - side, left)
        ):
            return True
    return False
