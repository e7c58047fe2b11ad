"""Functions that one side alone runs, and the work that is theirs."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.findings.cpu import CPUComparison, cum_of
from pprofdiff.analysis.findings.inside import Inside, inside_others
from pprofdiff.analysis.findings.model import Claim
from pprofdiff.analysis.findings.roots import OneSidedWork, Root
from pprofdiff.analysis.stats.calibration import SAMPLES_FOR_ROW
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

# A function matters from this share of a side's CPU on.
_SHARE = 0.02
# It is gone where less than this share of its share is left (other callers keep some).
_LEFT = 0.005
# A function does nothing of its own where this part of it is in one that it calls.
_NEARLY_ALL = 0.9
# Groups of work that a function has done for it, or is made to do for others.
_NOT_OWN = ("gc", "gc_tax")
# A function passes work on where this part of what it calls ran without it before.
_MOST = 0.5


Family = tuple[list[Root], list[Root]]
"""Roots that belong together: those that are gone, and those that are new."""


class OneSided(NamedTuple):
    """What base alone does, and what new alone does.

    `families` are the roots of work that one side alone does, or does in other
    functions; `inside` are those of work that both sides do, in the function that has
    them. `claim` is all work of `families`.
    """

    gone: OneSidedWork
    added: OneSidedWork
    families: tuple[Family, ...]
    inside: tuple[Inside, ...]
    claim: Claim

    @property
    def hosts(self) -> dict[int, int]:
        """The function that each root is inside of."""
        return {root.row: one.host for one in self.inside for root in one.roots}


def work_of_one_side(cpu: CPUComparison) -> OneSided:
    """Return the functions above a share that one side alone has, and their work."""
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
    """Return roots that belong together: of one package, or called by one function.

    Code that is gone and code that is new in its place share the caller or, where its
    innermost callers changed too, the package that they are of. What is on one side
    alone is a family by package.
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
    """Return, over the union, which functions are as good as gone, and which new."""
    table, (base_total, new_total) = cpu.table, cpu.diff.totals
    told = ~cpu.beside_others.rows(table.runs("cum")).noise
    for row in np.flatnonzero(told).tolist():
        told[row] = _tells(cpu, table.names[row])
    base, new = table.base_cum / base_total, table.new_cum / new_total
    at = cpu.diff.paired_functions.tabled
    gone, added = (np.zeros(len(cpu.names), np.bool_) for _ in range(2))
    gone[at[told & (base >= _SHARE) & (new <= _LEFT * base)]] = True
    added[at[told & (new >= _SHARE) & (base <= _LEFT * new)]] = True
    renumbered = _renumbered(cpu)
    gone[renumbered] = added[renumbered] = False
    # What these do, the other side does in the function that they are parts of.
    parts = cpu.whole_of != np.arange(len(cpu.names))
    gone[parts] = added[parts] = False
    for side, some in enumerate((gone, added)):
        if some.any():
            # At least half of what counts is its own.
            least = _least(cpu, side, _SHARE / 2 * cpu.diff.totals[side])
            some[cpu.cum_of(side, _own(cpu)) < least] = False
    return gone, added


def _renumbered(cpu: CPUComparison) -> list[int]:
    """Return the closures of one side that may be some of the other under a number.

    Those are the ones that no evidence has paired, of functions that have such closures
    on both sides.
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
    """Claim what functions do themselves: no GC, and nothing that is lent to them.

    Where the collector runs more, it shows in functions that no sample met before.
    """
    return cpu.all.without(cpu.of_groups(*_NOT_OWN)).without(cpu.lent)


def _least(cpu: CPUComparison, side: int, share: float) -> float:
    """Return a share of a side's CPU, or what samples enough to be judged are worth."""
    return max(share, SAMPLES_FOR_ROW * cpu.model.worth[side])


def _tells(cpu: CPUComparison, name: str) -> bool:
    """Return whether it is news that a function is gone or new.

    Between Go releases, functions of the standard library come and go.
    """
    if is_runtime_like(name):
        return False
    return not (cpu.other_release and is_standard_library(package_of(name)))


def _work(cpu: CPUComparison, side: int, chosen: tuple[Mask, Mask]) -> OneSidedWork:
    """Find the outermost of the chosen functions in each of a side's stacks.

    A function that is called in between, as a middleware is, has its own work alone:
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
        if total >= _MOST * one.value:
            passing[one.row] = True
            root[passed] = -1
    if passing.any():
        inner = _outermost(cpu, side, chosen[side] & ~passing)
        free = root < 0
        root[free], parent[free] = inner[0][free], inner[1][free]
    root[cpu.lent.sides[side]] = -1
    least = _least(cpu, side, _SHARE / 2 * cpu.diff.totals[side])
    roots = [
        one
        for one in _roots(cpu, side, root, parent)
        if one.value >= least and _expected(cpu, side, one, below(one.row))
    ]
    roots.sort(key=lambda one: -one.value)
    # What is not told to be of one side alone is left to be told otherwise.
    root[~np.isin(root, [one.row for one in roots])] = -1
    return OneSidedWork(
        side, tuple(roots), root, frozenset(np.flatnonzero(passing).tolist())
    )


def _outermost(cpu: CPUComparison, side: int, chosen: Mask) -> tuple[Column, Column]:
    """Return each sample's outermost chosen function, and what called it; -1: none."""
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
    """Return what is under each root, and what called it most."""
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
    """Return the samples below a root that go on into what ran without it.

    That is a function which the other side calls under the same parent, with none of
    its own chosen functions in between, for so much more than this side does without
    the root that this is half of what it does below the root, or more. `below` are the
    sums below the root, `there` those of the other side below the parent.
    """
    beside = _below(cpu, side, root.parent, left_out=_with(cpu, side, root))
    factors = cpu.diff.normalization.factors
    moved = there * factors[1 - side] - beside * factors[side]
    least = _SHARE / 2 * cpu.diff.totals[side]
    same = (below >= least) & (moved >= _MOST * below * factors[side])
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
    """Return the raw sum of each function below `row`; -1 is what calls every root.

    A function counts where its outermost frame is below, in all samples but those that
    are `left_out` (bool, one a sample).
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
    """Return the innermost function with more than half of what is below some others.

    `root` is the function of each of a side's samples below which to look, -1 for none.
    That is no function of the runtime; None where there is no such one.
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
    most = total > _MOST * values.sum()
    most &= ~cpu.of_runtime
    rows = np.flatnonzero(most)
    if not len(rows):
        return None
    return int(rows[np.lexsort((depth[rows], total[rows]))[0]])


def _expected(cpu: CPUComparison, side: int, root: Root, below: Column) -> bool:
    """Return whether the other side's samples of the caller would show the function.

    Where its caller hardly runs on the other side, nothing can be said of it there.
    `below` are the sums below it.
    """
    here, there = (cpu.cum[side], cpu.cum[1 - side])
    if root.parent >= 0:
        part = here[root.row] / here[root.parent]
        if not cpu.model.absence_tells(1 - side, float(part * there[root.parent])):
            return False
    return not _fell_with_others(cpu, side, root, below)


def _fell_with_others(cpu: CPUComparison, side: int, root: Root, below: Column) -> bool:
    """Return whether a root may be there, but for what it calls, too cheap to be seen.

    Nearly all that it did is below a function that others call on both sides: where
    that costs them so much less on the other side, the root may cost less for the same
    reason, and be sampled by chance alone.
    """
    beside = _below(cpu, side, -1, left_out=_with(cpu, side, root))
    here, there = beside, cpu.cum[1 - side]
    shared = (below >= _NEARLY_ALL * root.value) & (there > 0) & (here > 0)
    for row in np.flatnonzero(shared).tolist():
        left = float(root.value / here[row] * there[row])
        if (
            not is_runtime_like(cpu.names[row])
            and cpu.model.absence_tells(side, float(here[row]))
            and not cpu.model.absence_tells(1 - side, left)
        ):
            return True
    return False
