"""Functions that only one side runs, and their work."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from posixpath import basename, dirname
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.cpu import CPUComparison, cum_of
from pprofdiff.analysis.causes.finding import Claim
from pprofdiff.analysis.causes.inside import Inside, OneSidedWork, Root, inside_others
from pprofdiff.analysis.judge.calibration import SAMPLES_FOR_ROW
from pprofdiff.analysis.policy import MOST, NEARLY_ALL, NOTICED
from pprofdiff.analysis.profiles.caveats import share_without_names
from pprofdiff.analysis.profiles.own_code import named
from pprofdiff.goruntime.names import is_runtime_like, is_standard_library, package_of
from pprofdiff.identity.symbols import Symbols
from pprofdiff.model.csr import (
    count_in_row,
    distinct,
    expand,
    first_in_row,
    grouped,
    last_in_row,
    offsets_of,
    once_per_row,
    row_of_item,
    sums,
    unique_tuples,
)

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

    `families` are roots of work that only one side does, or does in other functions,
    and `claim` is all of it; `inside` are roots of work that both sides do, in the
    function that contains them.
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
    callers changed too, the package.
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
    if cpu.of_go:
        for row in np.flatnonzero(significant).tolist():
            significant[row] = _significant(cpu, table.names[row])
    else:
        significant &= named(table.names)
        # A function may be among those without a name.
        profiles = cpu.diff.base.profile, cpu.diff.new.profile
        if max(map(share_without_names, profiles)) >= MOST:
            significant[:] = False
    cum = table.raw("cum")
    base, new = cum[0] / base_total, cum[1] / new_total
    at = cpu.diff.paired_functions.tabled
    gone, added = (np.zeros(len(cpu.names), np.bool_) for _ in range(2))
    gone[at[significant & (base >= NOTICED) & (new <= _LEFT * base)]] = True
    added[at[significant & (new >= NOTICED) & (base <= _LEFT * new)]] = True
    # What all stacks of a side begin with, as perf's with the name of the process, may
    # have another name on the other side.
    roots = gone[at] & (base == 1), added[at] & (new == 1)
    if roots[0].any() and roots[1].any():
        gone[at[roots[0]]] = added[at[roots[1]]] = False
    closures = renumbered(cpu)
    gone[closures] = added[closures] = False
    for side, some in enumerate((gone, added)):
        if some.any():
            # At least half of what counts must be its own.
            least = _least(cpu, side, NOTICED / 2 * cpu.diff.totals[side])
            some[cpu.cum_of(side, _own(cpu)) < least] = False
    return gone, added


def renumbered(cpu: CPUComparison) -> list[int]:
    """Return closures of one side that may have another name on the other.

    They have no pair. Their function has such closures on both sides, which may be
    renumbered; or the same file does, whose function one side's compiler inlined into
    another package: ``crc32.init.OnceFunc.func4`` is ``sync.OnceFunc.func1``.
    """
    sides = cpu.diff.paired_functions.union
    there = np.zeros((2, len(cpu.names)), np.bool_)
    for side, rows in enumerate(sides):
        there[side, rows] = True
    closures: dict[object, tuple[set[int], set[int]]] = {}
    elsewhere: set[str] = set()
    symbols = Symbols(cpu.names, {})
    for side in (0, 1):
        alone = np.flatnonzero(there[side] & ~there[1 - side]).tolist()
        alone = [row for row in alone if symbols[row].kinds]
        files = _files(cpu, side, alone) if alone else {}
        for row in alone:
            symbol = symbols[row]
            homes: list[object] = [(symbol.package, symbol.function)]
            if row in files and is_standard_library(symbol.package):
                homes.append(files[row])
                if dirname(files[row]) != basename(symbol.package):
                    elsewhere.add(files[row])
            for home in homes:
                closures.setdefault(home, (set(), set()))[side].add(row)
    both = (
        some
        for home, some in closures.items()
        if all(some) and (not isinstance(home, str) or home in elsewhere)
    )
    return sorted({row for some in both for row in set().union(*some)})


def _files(cpu: CPUComparison, side: int, functions: list[int]) -> dict[int, str]:
    """Return the last two elements of the path of some functions' files, by row."""
    profile = (cpu.diff.base, cpu.diff.new)[side].profile
    asked = np.zeros(len(cpu.names), np.bool_)
    asked[functions] = True
    rows = cpu.diff.paired_functions.of_lines(side)
    lines = np.flatnonzero(asked[rows])
    rows = rows[lines]
    files = profile.functions.filename[profile.locations.line_function[lines]]
    first, _ = unique_tuples((rows, files))
    pairs = zip(rows[first].tolist(), files[first].tolist(), strict=True)
    paths = ((row, profile.strings[file]) for row, file in pairs)
    return {row: "/".join(path.split("/")[-2:]) for row, path in paths if path}


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
    found = _roots(cpu, side, root, parent)
    callers = np.zeros(len(cpu.names), np.bool_)
    callers[[one.parent for one in found if one.parent >= 0]] = True
    here = _Found(cpu, side, chosen[side] | callers)
    there = _Found(cpu, other, callers)
    others = cpu.diff.having_on(other, chosen[other])
    below = cache(here.below)
    below_there = cache(lambda row: there.below(row, left_out=others))
    for one in found:
        passed = _passed_on(here, one, below(one.row), below_there)
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
        if one.value >= least and _expected(here, one, below(one.row))
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
        roots.append(Root(row, most, int(values[under].sum())))
    return roots


class _Found:
    """The stacks of one side with some functions (bool, by row), found in one pass."""

    def __init__(self, cpu: CPUComparison, side: int, rows: Mask) -> None:
        self.cpu, self.side, self.values = cpu, side, cpu.diff.values[side]
        functions = cpu.diff.paired_functions
        profile = (cpu.diff.base, cpu.diff.new)[side].profile
        of_line = functions.union[side][functions.sides[side].ids]
        wanted = rows[of_line]
        counts = count_in_row(wanted, profile.locations.line_offsets)
        at = np.flatnonzero((counts > 0)[profile.stack_locations])
        places = profile.stack_locations[at]
        counted = counts[places]
        found = expand(offsets_of(counts)[places], counted)
        function = of_line[wanted][found]
        samples = np.searchsorted(profile.stack_offsets, at, "right") - 1
        order = np.argsort(function, kind="stable")
        self._samples = np.repeat(samples, counted)[order]
        self._offsets = offsets_of(np.bincount(function, minlength=len(rows)))

    def having(self, row: int) -> Mask:
        """Return which samples have a function in their stack."""
        mask = np.zeros(len(self.values), np.bool_)
        mask[self._samples[self._offsets[row] : self._offsets[row + 1]]] = True
        return mask

    def below(self, row: int, left_out: Mask | None = None) -> Column:
        """Return the raw sum of each function below `row`; -1 calls every root.

        A function counts where its outermost frame is below; `left_out` marks samples.
        """
        cpu, side = self.cpu, self.side
        if row < 0:
            every = cpu.cum[side]
            out = 0 if left_out is None else cum_of(cpu.diff, side, left_out)
            return every - out
        kept = self.having(row) if left_out is None else self.having(row) & ~left_out
        below = np.zeros(len(cpu.names), np.int64)
        for samples, ids, offsets in cpu.stacks_of(side, kept):
            stack = row_of_item(offsets)
            at = last_in_row(ids == row, offsets)
            counted = once_per_row(offsets, ids, len(below))
            counted &= np.arange(len(ids)) < at[stack]
            counts = self.values[samples[stack[counted]]]
            below += sums(ids[counted], counts, len(below))
        return below


def _passed_on(
    here: _Found, root: Root, below: Column, below_there: Callable[[int], Column]
) -> Mask:
    """Return the samples below a root that go on into code that ran without it.

    The other side calls such code under the same parent, with none of its own chosen
    functions in between. It costs so much more there than on this side without the root
    that this is at least half of its cost below the root. `below` are the sums below
    the root, `below_there` returns the other side's.
    """
    cpu, side = here.cpu, here.side
    having = here.having(root.row)
    passed = np.zeros(len(having), np.bool_)
    same = (below >= NOTICED / 2 * cpu.diff.totals[side]) & ~cpu.of_runtime
    if same.any():
        there, around = below_there(root.parent), here.below(root.parent, having)
        factors = cpu.diff.normalization.factors
        moved = there * factors[1 - side] - around * factors[side]
        same &= moved >= MOST * below * factors[side]
    if same.any():
        for samples, ids, offsets in cpu.stacks_of(side, having):
            at = last_in_row(ids == root.row, offsets)
            first = first_in_row(same[ids], offsets)
            passed[samples] = (first >= 0) & (first < at)
    return passed


def mostly(cpu: CPUComparison, side: int, root: Column) -> int | None:
    """Return the innermost function with more than half of what is below `root`.

    `root` has one function for each of the side's samples, -1 for none. None if there
    is no such function outside the runtime.
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


def _expected(found: _Found, root: Root, below: Column) -> bool:
    """Return whether the other side's samples of the caller would show the function.

    If its caller hardly runs there, nothing can be said.
    """
    cpu, side = found.cpu, found.side
    here, there = cpu.cum[side], cpu.cum[1 - side]
    if root.parent >= 0:
        part = here[root.row] / here[root.parent]
        if not cpu.model.absence_significant(
            1 - side, float(part * there[root.parent])
        ):
            return False
    return not _fell_with_others(found, root, below)


def _fell_with_others(found: _Found, root: Root, below: Column) -> bool:
    """Return whether a root may run on the other side, but too cheaply to be seen.

    Nearly all that it did is below a function that others call on both sides: where it
    costs them so much less on the other side, it may cost the root less too.
    """
    cpu, side = found.cpu, found.side
    there = cpu.cum[1 - side]
    shared = (below >= NEARLY_ALL * root.value) & (there > 0) & ~cpu.of_runtime
    if not shared.any():
        return False
    here = found.below(-1, found.having(root.row))
    for row in np.flatnonzero(shared & (here > 0)).tolist():
        left = float(root.value / here[row] * there[row])
        if cpu.model.absence_significant(
            side, float(here[row])
        ) and not cpu.model.absence_significant(1 - side, left):
            return True
    return False
