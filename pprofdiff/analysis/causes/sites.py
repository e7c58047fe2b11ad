"""Allocation sites: exact bytes and objects per op, by function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations
from math import inf
from posixpath import basename
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.benchmarks.units import ALLOCATED
from pprofdiff.analysis.causes.place_words import called
from pprofdiff.analysis.causes.places import of_harness
from pprofdiff.analysis.causes.wording import amount, arrow, listed, numeral
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.judge.student import NORMAL
from pprofdiff.analysis.ledger.views import Masks, View
from pprofdiff.analysis.policy import (
    COVERS,
    GOOD_PART,
    LITTLE,
    MINOR,
    MOST,
    MUCH,
    NAMED,
    NEARLY_ALL,
    SEVERAL,
)
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.side import operations_of_both
from pprofdiff.analysis.profiles.tables import Table
from pprofdiff.goruntime.names import package_of, strip_type_arguments
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.arrays import Column


def column_of(diff: ProfileDiff, sample_type: str) -> tuple[Column, Column] | None:
    """Return both sides' values of a sample type by sample; None if a side lacks it.

    The profiles are `diff`'s, which may compare a different sample type.
    """
    columns = []
    for side in (diff.base, diff.new):
        types = [counted.type for counted in side.profile.sample_types]
        if sample_type not in types:
            return None
        columns.append(side.profile.values[:, types.index(sample_type)])
    return columns[0], columns[1]


def by_place(diff: ProfileDiff, columns: tuple[Column, Column] | None = None) -> View:
    """Return the sums by place, without samples that have no stack.

    A sample's place is its innermost frame outside the standard library, else its leaf.
    `columns` replaces the values of the samples, if given.
    """
    ledger = diff.ledger if columns is None else diff.ledger.counting(columns)
    return ledger.by("place").known("place")


def line_of(diff: ProfileDiff, function: str) -> str:
    """Return the line with most of a function's change: ``file.go:12``; "" for none.

    What its callees cost counts on the line of the call. Lines of a recursive function
    share that, so that two have more than all of the change: then none has most.
    """
    table, functions = diff.table("lines"), diff.table("functions")
    whole = _delta(diff, functions, functions.names.index(function))
    line, part = "", 0.0
    for row in table.order("cum").tolist():
        name, file = table.names[row], table.files[row]
        if not name.startswith(place := f"{function} {file}:"):
            continue
        delta = _delta(diff, table, row)
        if line:
            both = part + delta
            return "" if abs(both) > (1 + LITTLE) * abs(whole) else line
        if abs(delta) < MOST * abs(whole):
            return ""
        line, part = f"{basename(file)}:{name.removeprefix(place)}", delta
    return line


def _delta(diff: ProfileDiff, table: Table, row: int) -> float:
    """Return new − base of a row's cum, scaled."""
    base, new = table.raw("cum")
    return diff.normalization.delta(int(base[row]), int(new[row]))


_Pair = tuple[float, float]

BYTE, OBJECT = 0.5, 0.01
"""Fewer bytes or objects per op count as none: they are allocated occasionally."""
_KNOWN = 5
"""Counts from this multiple of the objects that profiles miss are known to 20%."""


class Allocated(NamedTuple):
    """Allocations per op as benchmarks count them: (base, new), or None.

    `varies` says whether both sides' counts of (space, objects) lie within one range,
    `apart` by how many bytes two runs may differ, one of each side (99%): the order of
    a map's keys decides what some processes allocate.
    """

    space: tuple[float, float] | None
    objects: tuple[float, float] | None
    varies: tuple[bool, bool] = (False, False)
    apart: float = 0.0

    @property
    def counted(self) -> list[_Pair]:
        """The pairs that benchmarks count."""
        return [pair for pair in (self.space, self.objects) if pair]

    @property
    def changed(self) -> bool:
        """Whether allocations per op changed, by exact counts.

        Occasional allocations, such as a map's growth, are amortized over iterations:
        changes below 1%, or of less than `BYTE` and `OBJECT` in all, do not count.
        """
        return any(
            pair is not None
            and not varies
            and max(pair) >= least
            and abs(pair[1] - pair[0]) > MINOR * max(pair)
            for pair, least, varies in zip(
                (self.space, self.objects), (BYTE, OBJECT), self.varies, strict=True
            )
        )


# Bytes in profiles and benchmarks agree within this part, except for tiny blocks and
# the profiler's own.
_AGREE = 0.1
# So little of a change may be set-up, spread over different operation counts.
_SET_UP = 0.2
# Benchmarks print whole B/op and allocs/op, without the fraction
# (testing.BenchmarkResult.AllocsPerOp).
_CUT_OFF = 1
# Bytes in a block of tiny objects (maxTinySize in runtime/malloc.go).
_TINY = 16


class Site(NamedTuple):
    """A function of the program and what it allocates per op, as (base, new).

    Allocations of the standard library on its behalf are included. `row` is its row
    among the functions of the byte comparison. `objects` are not `exact` if profiles
    count fewer than benchmarks: tiny objects share a block (runtime/malloc.go),
    credited to whoever allocates first, and whose the `missing` ones are is unknown.
    `agrees` says whether profiles have about the bytes that benchmarks count; else a
    good part of both is start-up, spread over different operation counts. `helpers` are
    functions below it that allocate on one side only, largest first: the figures
    include theirs, or all callees' (`is_cum`). With `gone`, they are what these
    functions allocated in base, and what `came`, this one among them, allocate in new.
    """

    name: str
    row: int
    space: tuple[float, float]
    objects: tuple[float, float]
    exact: bool
    missing: float = 0.0
    came: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    agrees: bool = True
    helpers: tuple[Site, ...] = ()
    held: tuple[float, float] | None = None

    @property
    def everyone(self) -> tuple[str, ...]:
        """Its functions, with those that allocate for it."""
        owners = [*self.came, *self.gone] if self.gone else [self.name]
        return (*owners, *(one.name for one in self.helpers))

    @property
    def is_of_instances(self) -> bool:
        """Whether it has several instances of one generic function."""
        return len({*map(strip_type_arguments, self.everyone)}) < len(self.everyone)

    @property
    def is_one_sided(self) -> bool:
        """Whether one side allocates next to nothing there, as a function's set-up."""
        return min(self.space) <= LITTLE * max(self.space)

    @property
    def is_cum(self) -> bool:
        """Whether helpers of one side replaced others: all callees count then."""
        return {one.space[1] > one.space[0] for one in self.helpers} == {False, True}

    @property
    def goes_both_ways(self) -> bool:
        """Whether the objects are fewer with more bytes, or more with fewer.

        Objects that read the same on both sides are as many.
        """
        sizes, counts = (new - base for base, new in (self.space, self.objects))
        base, new = map(_objects, self.objects)
        return sizes * counts < 0 and base != new

    @property
    def is_all(self) -> bool:
        """Whether the profiles of both sides have nearly nothing else."""
        held = self.held or (inf, inf)
        return all(
            own >= NEARLY_ALL * all_ for own, all_ in zip(self.space, held, strict=True)
        )

    @property
    def shared(self) -> float:
        """The bytes of tiny-object blocks that other functions may share."""
        return _TINY * self.missing


def _added(pairs: Sequence[_Pair]) -> _Pair:
    return sum(base for base, _ in pairs), sum(new for _, new in pairs)


def _take_back(helpers: Sequence[Site], own: float) -> bool:
    """Return whether sites changed by most of a change in bytes, or by more.

    Of what is little next to theirs, no code moved.
    """
    moved = abs(sum(one.space[1] - one.space[0] for one in helpers))
    return moved >= MOST * abs(own) and abs(own) >= LITTLE * moved > 0


def _is_moved(gone: Site, came: Site) -> bool:
    """Return whether new allocates in one function what base did in another."""
    pairs = ((gone.space, came.space), (gone.objects, came.objects))
    return not came.space[0] and all(
        abs(new - base) <= MINOR * base for (base, _), (_, new) in pairs
    )


def replaced(sites: Sequence[Site]) -> list[Site]:
    """Return sites; those of a package that one side has as one, if both sides do.

    Code that was rewritten allocates in other functions: neither what some no longer
    allocate nor what others allocate now is a change of its own. Which of them do the
    same work is unknown.
    """
    left = list(sites)
    for gone, came in _one_sided(sites):
        sizes = [sum(max(one.space) for one in some) for some in (gone, came)]
        if not all(sizes) or min(sizes) < GOOD_PART * max(sizes):
            continue
        whole = came[0]._replace(
            space=_added([one.space for one in (*gone, *came)]),
            objects=_added([one.objects for one in (*gone, *came)]),
            came=tuple(one.name for one in came),
            gone=tuple(one.name for one in gone),
        )
        first = min(left.index(one) for one in (*gone, *came))
        left[first] = whole
        left = [one for one in left if one not in (*gone, *came)]
    return left


def instances_together(sites: Sequence[Site]) -> list[Site]:
    """Return sites; instances of one generic function as one, if they go both ways.

    Code that uses another type calls another instance.
    """
    groups: dict[str, list[Site]] = {}
    for site in sites:
        if not (site.helpers or site.gone):
            groups.setdefault(strip_type_arguments(site.name), []).append(site)
    left = list(sites)
    for some in groups.values():
        gone = [one for one in some if one.space[1] < one.space[0]]
        came = [one for one in some if one not in gone]
        if gone and came:
            whole = max(some, key=lambda one: max(one.space))._replace(
                space=_added([one.space for one in some]),
                objects=_added([one.objects for one in some]),
                exact=all(one.exact for one in some),
                came=tuple(one.name for one in came),
                gone=tuple(one.name for one in gone),
            )
            left[left.index(some[0])] = whole
            left = [one for one in left if one not in some]
    return left


def _one_sided(
    sites: Sequence[Site], *, nearly: bool = False
) -> Iterator[tuple[list[Site], list[Site]]]:
    """Yield each package's sites that base alone has, and those that new alone has.

    Or those of all packages that are `nearly` alone, see `Site.is_one_sided`.
    """
    groups: dict[str, list[Site]] = {}
    for site in sites:
        if not site.helpers:
            groups.setdefault("" if nearly else package_of(site.name), []).append(site)
    for own in groups.values():
        alone = [
            [
                s
                for s in own
                if s.space[side] > s.space[1 - side]
                and (s.is_one_sided if nearly else not s.space[1 - side])
            ]
            for side in (0, 1)
        ]
        gone, came = (
            [s for s in some if s.space[side] >= max(BYTE, LITTLE * _most(some))]
            for side, some in enumerate(alone)
        )
        yield gone, came


def _most(sites: Sequence[Site]) -> float:
    """Return the most bytes per op that a site has on a side."""
    return max((max(site.space) for site in sites), default=0.0)


def without_moved(sites: Sequence[Site]) -> list[Site]:
    """Return sites without pairs in which one gained what the other lost.

    Objects that one function made and another one makes now are no change. Which of
    several such functions makes them is unknown: all are left out.
    """
    left = list(sites)
    for site in sites:
        if site in left and site.space[1] < site.space[0]:
            others = [one for one in left if _gained(site, one)]
            if others:
                left = [one for one in left if one not in (site, *others)]
    for gone in [one for one in left if not one.space[1]]:
        came = next((one for one in left if _is_moved(gone, one)), None)
        if came is not None:
            left = [one for one in left if one not in (gone, came)]
    return left


def _gained(lost: Site, other: Site) -> bool:
    """Return whether another function gained about what one lost, and kept its own."""
    changes = [
        (own[1] - own[0], more[1] - more[0])
        for own, more in ((lost.space, other.space), (lost.objects, other.objects))
    ]
    # One that started from nothing is in its place: see `replaced`.
    return other.space[0] > 0 and all(
        own * more < 0 and abs(own + more) <= MUCH * abs(own) for own, more in changes
    )


def allocated(comparison: Comparison) -> Allocated:
    """Return allocations per op, both None if benchmarks do not count them."""
    work = comparison.work
    if work is None or not comparison.measured:
        return Allocated(None, None)
    turns, kinds = comparison.turns, ("alloc_space", "alloc_objects")
    space, objects = (work.allocated.get(kind) for kind in kinds)
    alike = [turns is not None and turns.alike(kind) for kind in kinds]
    apart = () if turns is None else turns.apart.get("alloc_space", ())
    reach = NORMAL.of_99 * max(apart, default=0.0)
    return Allocated(space, objects, (alike[0], alike[1]), reach)


class Sites:
    """The functions that allocate, from allocs profiles of every object.

    `space` compares bytes per op, `objects` objects per op.
    """

    def __init__(
        self, comparison: Comparison, space: ProfileDiff, objects: ProfileDiff
    ) -> None:
        self._diffs = space, objects
        self._cpu = comparison.cpu
        self._names = space.paired_functions.names
        self._harness = of_harness(space.paired_functions)
        missing = _missing(comparison, objects)
        self._exact = missing is not None and missing < MINOR
        self._missing_objects = missing or 0.0
        counted = _counted(comparison, "alloc_space")
        self._counted = counted
        self._objects = _counted(comparison, "alloc_objects")
        self._held = [d.normalization.scaled(*d.totals) for d in self._diffs]
        held = self._held[0]
        self._untimed = counted is not None and any(
            own > (1 + MINOR) * said + 1
            for own, said in zip(held, counted, strict=True)
        )
        # Next to what the other side allocates, a little set-up does not matter.
        of_change = 0.0 if counted is None else _SET_UP * abs(counted[1] - counted[0])
        self._agree = counted is not None and all(
            abs(own - said)
            <= max(_AGREE * max(own, said), _TINY, MINOR * max(counted), of_change)
            for own, said in zip(held, counted, strict=True)
        )

    @classmethod
    def of(cls, comparison: Comparison) -> Sites | None:
        """Return the sites of a comparison, or None without per-op allocs profiles."""
        diffs = {d.sample_type.type: d for d in comparison.profiles}
        space, objects = diffs.get("alloc_space"), diffs.get("alloc_objects")
        if space is None or objects is None:
            return None
        if {space.normalization.mode, objects.normalization.mode} != {"per_work"}:
            return None
        return cls(comparison, space, objects)

    @property
    def least_objects(self) -> float:
        """The objects per op from which a site's count in profiles is known to 20%.

        Profiles count several tiny objects in a block as one.
        """
        return _KNOWN * self._missing_objects

    @cached_property
    def all(self) -> list[Site]:
        """The changed sites, largest part of all bytes or objects first.

        Benchmarks' own sites are excluded if they allocate while the timer is stopped.
        """
        amounts = self._amounts()
        change = np.abs(amounts[:, 1] - amounts[:, 0])
        wholes = amounts.sum(axis=2).max(axis=1).clip(min=1e-9)
        part = (change / wholes[:, None]).max(axis=0)
        if self._untimed:
            part[self._harness] = 0
        rows = np.flatnonzero(part)
        order = rows[np.argsort(-part[rows], kind="stable")].tolist()
        return [self._site(self._names[row], row, amounts[..., row]) for row in order]

    def together(self, names: Sequence[str]) -> Site | None:
        """Return what functions allocate themselves as one site, None for nothing."""
        parts = [site for site in self.all if site.name in names]
        if not parts:
            return None
        return parts[0]._replace(
            space=_added([one.space for one in parts]),
            objects=_added([one.objects for one in parts]),
        )

    def under(self, *names: str) -> tuple[Site, frozenset[str]]:
        """Return what functions with their callees allocate, and the sites in them.

        The site has the name of the first one.
        """
        first = names[0]
        row = self._names.index(first) if first in self._names else -1
        amounts = self._amounts_under(names)
        site = self._site(first, row, amounts.sum(axis=2), names)
        return site, self._within(amounts)

    def inside(self, names: Sequence[str]) -> frozenset[str]:
        """Return the sites in functions with their callees.

        A site is in them if nearly all its allocations are below one or another.
        """
        return self._within(self._amounts_under(names))

    def _amounts_under(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return `_amounts` of the samples that have one of the functions."""
        named = np.array([name in names for name in self._names], np.bool_)
        return self._amounts(self._diffs[0].having(named))

    def _within(self, amounts: NDArray[np.float64]) -> frozenset[str]:
        """Return the sites with nearly all that they allocate in `_amounts` of some."""
        space = amounts[0].sum(axis=0)
        return frozenset(
            site.name
            for site in self.all
            if space[site.row] >= NEARLY_ALL * sum(site.space)
        )

    def below(self, site: Site) -> tuple[Site, ...]:
        """Return the functions below a site that make up its change, largest first.

        They are of the standard library: what else allocates is a site of its own.
        Empty if each has little of it, they do not add up to most of it, or several
        may have what they have by the tiny blocks that they share.
        """
        change = site.space[1] - site.space[0]
        of_site = self._diffs[0].ledger.by("owner", "leaf")
        of_site = of_site.where(of_site["owner"] == site.row)
        base, new = self._diffs[0].normalization.scaled(of_site.base, of_site.new)
        delta = new - base
        large = np.flatnonzero(np.abs(delta) > MOST * abs(change))
        explained = float(delta[large].sum())
        leaves = large[of_site["leaf"][large] != site.row]
        if abs(delta[leaves].sum()) > (1 + LITTLE) * abs(change):
            # What they made the site makes itself now: that is no part of it.
            return ()
        shared = _TINY * self._missing_objects
        if len(leaves) > 1 and (np.abs(delta[leaves]) <= shared).any():
            return ()
        if len(leaves) > SEVERAL or abs(explained - change) > MOST * abs(change):
            return ()
        order = np.argsort(-np.abs(delta[leaves]), kind="stable")
        return tuple(
            site._replace(
                name=self._names[row],
                row=row,
                space=(float(base[at]), float(new[at])),
            )
            for at in leaves[order].tolist()
            for row in [int(of_site["leaf"][at])]
        )

    def with_helpers(self, sites: Sequence[Site]) -> list[Site]:
        """Return sites; a function together with those that its code moved to or from.

        If what it allocates less is allocated by functions below it that only new has,
        neither is a change: both together are. The same holds the other way around.
        """
        left = list(sites)
        alone = [one for one in left if one.is_one_sided]
        for site in sites:
            # One with helpers may have most of them below it, which are sites too.
            helpers = self._taking_back(site, alone) if site in left else ()
            left = self._joined(left, site, helpers)
        return left

    def _joined(
        self, sites: list[Site], site: Site, helpers: tuple[Site, ...]
    ) -> list[Site]:
        """Return sites, one together with what `helpers` among them allocate."""
        if not helpers:
            return sites
        whole = self.together([one.name for one in (site, *helpers)]) or site
        joined = site._replace(
            space=whole.space, objects=whole.objects, helpers=helpers
        )
        left = [one for one in sites if one not in helpers]
        left[left.index(site)] = joined
        return left

    def _taking_back(self, site: Site, alone: Sequence[Site]) -> tuple[Site, ...]:
        """Return those sites of one side below a site that take back its change."""
        own = site.space[1] - site.space[0]
        may = [one for one in alone if (one.space[1] - one.space[0]) * own < 0]
        if not all(site.space) or not _take_back(may, own):
            return ()
        below = self.under(site.name)[1]
        helpers = tuple(
            one
            for one in may
            if one.name in below and not self._does_for_others(one, [site])
        )
        return helpers if _take_back(helpers, own) else ()

    def _does_for_others(self, inner: Site, known: Sequence[Site]) -> bool:
        """Return whether a site does what others than the `known` ones did themselves.

        It allocates below them too: whose work most of it is, is unknown. Callers of a
        known one have that below them as well.
        """
        rises = inner.space[1] > inner.space[0]
        for one in self.all:
            if one in known or (one.space[1] < one.space[0]) != rises:
                continue
            below = self._amounts_under([one.name])[0].sum(axis=0)
            does, *calls = (
                below[of.row] > LITTLE * sum(of.space) for of in (inner, *known)
            )
            if does and not any(calls):
                return True
        return False

    def together_with_moved(
        self, names: Sequence[str]
    ) -> tuple[Site | None, frozenset[str]]:
        """Return what functions allocate as one site, and the names of the sites in it.

        With functions below the first one that their code moved to, or from.
        """
        site = self.together(names)
        if site is None:
            return None, frozenset(names)
        alone = [s for s in self.all if s.name not in names and s.is_one_sided]
        # The first function calls the others.
        moved = self._taking_back(site._replace(name=names[0]), alone)
        every = frozenset((*names, *(one.name for one in moved)))
        return (self.together([*every]) if moved else site), every

    def with_own_callees(self, sites: Sequence[Site]) -> list[Site]:
        """Return sites; one that one side alone has with those that it calls there.

        They come and go with its calls. One that has nearly all stays the site.
        """
        left = list(sites)
        under = {
            site: self.under(site.name)
            for site in sites
            if site.is_one_sided and not (site.helpers or site.gone)
        }
        for site in sorted(under, key=lambda site: -sum(under[site][0].space)):
            inside = [
                one
                for one in under
                if one in left and one is not site and one.name in under[site][1]
                if (one.space[1] > one.space[0]) == (site.space[1] > site.space[0])
            ]
            sizes = [max(one.space) for one in (site, *inside)]
            helpers = tuple(
                one for one in inside if max(one.space) >= LITTLE * sum(sizes)
            )
            largest = max(sizes[1:], default=0.0)
            if site in left and largest <= (1 - LITTLE) * sum(sizes):
                left = self._joined(left, site, helpers)
        return left

    def with_callee(self, sites: Sequence[Site]) -> list[Site]:
        """Return sites; two that replace one another as the outer one.

        A function that allocates by itself on one side, and on the other through one
        that it calls, allocates on both.
        """
        left = list(sites)
        for gone, came in _one_sided(sites, nearly=True):
            for outer, inner in self._callees(gone, came).items():
                # Which of several do its work is unknown, unless they are all.
                if len(inner) == 1 or len(inner) + 1 == len(gone) + len(came):
                    left = self._joined(left, outer, tuple(inner))
        return left

    def _callees(
        self, gone: Sequence[Site], came: Sequence[Site]
    ) -> dict[Site, list[Site]]:
        """Return sites of one side with those of the other that each is nearest to.

        Of one that calls some and is called itself, the first do its work.
        """
        under = {site: self.under(site.name) for site in (*gone, *came)}
        found: dict[Site, list[Site]] = {}
        for some, others in ((gone, came), (came, gone)):
            for inner in some:
                calling = [
                    one
                    for one in others
                    if inner.name in under[one][1] and not self._harness[one.row]
                ]
                if calling and not self._does_for_others(inner, calling):
                    nearest = min(calling, key=lambda one: sum(under[one][0].space))
                    found.setdefault(nearest, []).append(inner)
        joined: dict[Site, list[Site]] = {}
        for outer in sorted(found, key=lambda one: sum(under[one][0].space)):
            if not any(one in joined for one in found[outer]):
                joined[outer] = found[outer]
        return joined

    def with_common_caller(self, sites: Sequence[Site]) -> list[Site]:
        """Return sites; those of one side each that replaced others as their caller's.

        What counts is the function below which one side allocates in some, and the
        other in others, with a good part of it each.
        """
        gone, came = (
            [one for one in sites if one.space[side] and not one.space[1 - side]]
            for side in (0, 1)
        )
        one_sided = [one for one in (*gone, *came) if not (one.gone or one.helpers)]
        sides = [sum(max(one.space) for one in some) for some in (gone, came)]
        both = min(sides) >= GOOD_PART * max(sides) > 0
        outer = self._calling(one_sided) if both else None
        if outer is None or len(one_sided) < len(gone) + len(came):
            return list(sites)
        whole, inside = self.under(outer)
        left = [one for one in sites if one not in one_sided]
        if any(one.name in inside for one in left):
            return list(sites)
        one_sided.sort(key=lambda one: -max(one.space))
        return [*left, whole._replace(helpers=tuple(one_sided))]

    def _calling(self, sites: Sequence[Site]) -> str | None:
        """Return the nearest function of the program with all sites below it."""
        functions = self._diffs[0].paired_functions
        wanted = {one.name for one in sites}
        cum = functions.raw("cum")
        may = functions.own & ~self._harness & (cum[0] > 0) & (cum[1] > 0)
        rows = np.flatnonzero(may).tolist()
        for row in sorted(rows, key=lambda row: int(cum[0][row] + cum[1][row])):
            name = self._names[row]
            if name not in wanted and wanted <= self.inside([name]):
                return name
        return None

    def _site(
        self,
        name: str,
        row: int,
        amounts: NDArray[np.float64],
        under: Sequence[str] = (),
    ) -> Site:
        """Return a function's site, given its `_amounts` of shape (kind, side).

        They are cum of the functions `under` which they were allocated, if given.
        """
        space, objects = ((base, new) for base, new in amounts.tolist())
        exact, missing = self._exact, self._missing_objects
        others = np.subtract(self._held, amounts)
        nearly_all = bool((others[0] <= MINOR * amounts[0]).all())
        if nearly_all and not self._agree and self._counted and self._objects:
            sizes, counts = (new - base for base, new in (self._counted, self._objects))
            more = bool((amounts[0] >= self._counted).all())
            # Blocks of tiny objects have more bytes than are counted, all of them its.
            # What only grows now and then has more bytes or more objects.
            if more and sizes * counts > 0:
                return Site(*(name, row, self._counted, self._objects, False))
        alone = nearly_all and bool((others[1] < _CUT_OFF / 2).all())
        known = self._objects if alone and self._agree else None
        if known is not None and self._pay_alone(under or [name], cum=bool(under)):
            # The tiny objects that profiles miss are its own too.
            objects, exact, missing = known, True, 0.0
        return Site(
            *(name, row, space, objects, exact, missing),
            agrees=self._agree,
            held=self._held[0],
        )

    def _pay_alone(self, names: Sequence[str], *, cum: bool) -> bool:
        """Return whether no others have more than a few CPU samples of allocation.

        What profiles miss of tiny objects may be theirs. With `cum`, those that `names`
        call are no others.
        """
        cpu = self._cpu
        if cpu is None:
            return True
        ledger = cpu.ledger
        if cum:
            own = np.array(
                [one in names for one in cpu.paired_functions.names], np.bool_
            )
            base, new = cpu.having(own)
            ledger = ledger.among((~base, ~new))
        alloc = rules().members("alloc")
        chosen = np.array([c in alloc for c in rules().categories], np.bool_)
        paid = ledger.by("category", "owner").known("owner")
        paid = paid.where(chosen[paid["category"]]).by("owner")
        worth = (1, 1) if cpu.model is None else cpu.model.worth
        some = (paid.base >= SEVERAL * worth[0]) | (paid.new >= SEVERAL * worth[1])
        payers = paid["owner"][some].tolist()
        return all(cpu.paired_functions.names[row] in names for row in payers)

    def _amounts(self, chosen: Masks | None = None) -> NDArray[np.float64]:
        """Return bytes and objects per op of all or `chosen` samples, by owner.

        Their shape is (kind, side, function).
        """
        found = []
        for diff in self._diffs:
            ledger = self._diffs[0].ledger.counting(diff.values)
            own = (ledger if chosen is None else ledger.among(chosen)).every("owner")
            found.append(diff.normalization.scaled(own.base, own.new))
        return np.array(found)


def _missing(comparison: Comparison, objects: ProfileDiff) -> float | None:
    """Return how many objects per op profiles miss, the larger of both sides."""
    done = operations_of_both(objects.base, objects.new)
    counted = _counted(comparison, "alloc_objects")
    if done is None or counted is None:
        return None
    held = (total / count for total, count in zip(objects.totals, done, strict=True))
    lack = (said - own for own, said in zip(held, counted, strict=True))
    return max(*lack, 0.0)


def _counted(comparison: Comparison, kind: str) -> tuple[float, float] | None:
    """Return the bytes or objects per op that benchmarks count, or None."""
    work = comparison.work
    return None if work is None else work.allocated.get(kind)


# A function is reported if its allocations changed by this part of all allocations or
# of the whole change, and of its own. Counts are exact, but growing maps and slices
# make small differences.
_OF_ALL, _OF_CHANGE, _OF_ITSELF = 0.04, 0.25, 0.1


def is_large(totals: Allocated, site: Site) -> bool:
    """Return whether a function's change is worth reporting, in bytes or objects.

    A change against the total, or beyond it, may come from blocks shared with others,
    and one of a single block where profiles miss objects: whoever opens it has it. Of a
    function that allocates on both sides, a change within what it may share is none.
    """
    for unit, whole, part in _known(totals, site):
        change, of_all = part[1] - part[0], whole[1] - whole[0]
        in_bytes = unit == ALLOCATED["alloc_space"]
        shared = site.shared if all(part) else _TINY * int(site.missing)
        if in_bytes and abs(change) <= min(_TINY, shared) and not site.exact:
            continue
        least = min(_OF_ALL * max(whole), _OF_CHANGE * abs(of_all))
        # What is about all of a change is one, however much else a site allocates.
        is_all = MOST * of_all**2 <= change * of_all <= of_all**2 / MOST
        own = 0.0 if is_all else _OF_ITSELF * max(part)
        least = max(least, own, totals.apart * in_bytes)
        if change * of_all <= 0 or abs(change) > (1 + _OF_ITSELF) * abs(of_all):
            least = max(least, site.shared)
        if abs(change) >= least > 0:
            return True
    return False


def is_part_of_blocks(site: Site) -> bool:
    """Return whether a site changes by a part that may be blocks of tiny objects.

    Whoever opens a block of 16 bytes has all of it, and who does depends on what others
    allocate between (runtime/malloc.go). It is little next to what blocks hide.
    """
    change = site.space[1] - site.space[0]
    blocks = _TINY * (site.objects[1] - site.objects[0])
    alike = abs(change - blocks) <= MUCH * abs(change)
    little = abs(change) < min(MOST * max(site.space), MUCH * site.shared)
    return not site.exact and alike and little


def part_of_all(totals: Allocated, site: Site) -> float:
    """Return a function's change as a part of all bytes or objects, 0 to 1."""
    parts = (
        abs(new - base) / max(whole)
        for _, whole, (base, new) in _known(totals, site)
        if max(whole)
    )
    return min(max(parts, default=0.0), 1.0)


# The largest sites, of which few are tried together: more would add up by chance.
_ADDED = 6


def needed(
    totals: Allocated, sites: Sequence[Site], known: Sequence[Site] = ()
) -> list[Site]:
    """Return the sites, largest first, that explain what larger ones leave of a change.

    Profiles have set-up as well: what would only lead past the benchmarks' change in
    bytes and in objects is part of that, and where little is left, what would explain
    that: how often maps grow is chance. Little that goes against both is how the code
    makes that change. What `known` sites have is explained.
    """
    rest: dict[str, float] = {}
    for site in known:
        for unit, (own, whole) in _changes(totals, site).items():
            rest[unit] = rest.get(unit, whole) - own
    may = [site for site in sites if not _is_lost_in(totals, site)]
    if not known and (every := adding_up(totals, may)):
        return every
    kept = list[Site]()
    for site in may:
        changes = _changes(totals, site)
        left = {unit: rest.get(unit, whole) for unit, (_, whole) in changes.items()}
        nearer = any(
            abs(left[unit]) >= LITTLE * abs(whole)
            and abs(left[unit] - own) < abs(left[unit])
            for unit, (own, whole) in changes.items()
        )
        if nearer or not (kept or known) or not changes:
            kept.append(site)
            rest |= {unit: left[unit] - own for unit, (own, _) in changes.items()}
    return kept


def adding_up(totals: Allocated, sites: Sequence[Site]) -> list[Site]:
    """Return the fewest sites that have the whole change in bytes and in objects.

    Each has a good part of it, so that they are named together; empty if none add up.
    """
    large = list[tuple[Site, list[_Pair]]]()
    for site in sites:
        changes = list(_changes(totals, site).values())
        if any(abs(own) >= GOOD_PART * abs(whole) > 0 for own, whole in changes):
            large.append((site, changes))
    for size in range(1, NAMED + 1):
        for some in combinations(large[:_ADDED], size):
            counts = zip(*(changes for _, changes in some), strict=False)
            if all(
                abs(sum(own for own, _ in count) - count[0][1])
                <= MINOR * abs(count[0][1])
                for count in counts
            ):
                return [site for site, _ in some]
    return []


def _is_lost_in(totals: Allocated, site: Site) -> bool:
    """Return whether a site takes back little of the change in bytes, or in objects."""
    changes = _changes(totals, site).values()
    little = [
        own * whole < 0 and abs(own) < MUCH * abs(whole) for own, whole in changes
    ]
    return any(little) and all(own * whole <= 0 for own, whole in changes)


def amounts(totals: Allocated, site: Site) -> str:
    """Return a function's allocations: ``1.8 → 0 KiB/op, 30 → 0 allocs/op``.

    Objects are omitted if profiles may miss a good part of them.
    """
    site = within(totals, site)
    space = f"{arrow(*site.space, 'B')}/op"
    few = abs(site.objects[1] - site.objects[0]) < _KNOWN * site.missing
    few |= _is_whole_change(totals, site)
    if totals.varies[1] and totals.space is not None:
        return space
    if (few and not site.exact) or max(site.objects) < OBJECT:
        return space
    # Bytes that stay are no part of a change.
    space = "" if site.space[0] == site.space[1] else f"{space}, "
    printed = [_objects(side, about=not site.exact) for side in site.objects]
    if printed[0] == printed[1]:
        return space.removesuffix(", ") or f"{arrow(*site.space, 'B')}/op"
    objects = numeral(" → ".join(printed), "pair", site.objects[1], site.objects[0])
    exact = site.exact and not _changes_more(totals, site)
    counted = f"{'' if exact else 'about '}{objects} allocs/op"
    if site.exact and site.goes_both_ways:
        # "Fewer, larger objects": the number that the verb is of comes first.
        return f"{counted}, {space.removesuffix(', ')}"
    return f"{space}{counted}"


def _is_whole_change(totals: Allocated, site: Site) -> bool:
    """Return whether a site changed by all bytes: benchmarks count its objects then."""
    if totals.space is None:
        return False
    whole, own = (new - base for base, new in (totals.space, site.space))
    return bool(own) and abs(own - whole) <= MINOR * abs(whole)


def resized(totals: Allocated, site: Site) -> str:
    """Return that a site's objects changed in size alone, as a sentence, or ""."""
    site = within(totals, site)
    base, new = site.space
    same = _objects(site.objects[0]) == _objects(site.objects[1])
    if not site.exact or not same or min(site.objects) < OBJECT or base == new:
        return ""
    size = "larger" if new > base else "smaller"
    return f"The number of objects is the same: they are {size}."


def _changes_more(totals: Allocated, site: Site) -> bool:
    """Return whether a site's objects change by more than benchmarks count in all.

    Another site may take some back, or samples are off.
    """
    if totals.objects is None:
        return False
    whole, own = (abs(new - base) for base, new in (totals.objects, site.objects))
    return own > whole * (1 + MINOR) + OBJECT


def within(totals: Allocated, site: Site) -> Site:
    """Return a site with no more than benchmarks count, or just that if it reads so.

    Profiles count what the process allocates at start-up too: no part is more than the
    whole, and less than `BYTE` and `OBJECT` on a side is none.
    """
    both = zip(site.space, site.objects, strict=True)
    none = [size < BYTE and count < OBJECT for size, count in both]
    space, objects = (
        (0.0 if none[0] else base, 0.0 if none[1] else new)
        for base, new in (site.space, site.objects)
    )
    if totals.space is not None:
        cut = 0.0
        over = max(own - all_ for all_, own in zip(totals.space, space, strict=True))
        if 0 < over < _CUT_OFF:
            # The fraction that benchmarks cut off is the same on both sides.
            cut = over
            space = max(space[0] - over, 0.0), max(space[1] - over, 0.0)
        bytes_ = list(zip(totals.space, space, strict=True))
        space = (
            _of_counted(bytes_[0], site.held, 0),
            _of_counted(bytes_[1], site.held, 1),
        )
        space = _no_more(totals.space, space, site.held, totals.apart)
        if all(
            -max(BYTE, cut) <= own - all_ <= max(MINOR * all_, _CUT_OFF)
            or _alike(own, all_)
            for all_, own in bytes_
        ):
            space = totals.space
    if totals.objects is not None:
        counts = list(zip(totals.objects, objects, strict=True))
        base, new = (min(own, all_ + _CUT_OFF) for all_, own in counts)
        # They cut off less than one: no part reads as more than the whole.
        over = max(0.0, base - counts[0][0], new - counts[1][0])
        base, new = max(base - over, 0.0), max(new - over, 0.0)
        objects = base, new
        # As many as before are no change, whatever others make.
        alike = (base == new) == (totals.objects[0] == totals.objects[1])
        # Others make what it does not, but for tiny ones that profiles miss.
        missed = max(_CUT_OFF, site.missing)
        if alike and all(
            -min(MINOR * all_, missed) <= own - all_ <= _CUT_OFF for all_, own in counts
        ):
            objects = totals.objects
    return site._replace(space=space, objects=objects)


def _of_counted(pair: _Pair, held: _Pair | None, side: int) -> float:
    """Return a site's bytes, given what benchmarks count in all and profiles for it.

    If profiles have more for the site alone, its part of all that they have counts.
    """
    counted, own = pair
    if own <= counted or held is None:
        return min(pair)
    return counted * own / max(held[side], own)


def _no_more(counted: _Pair, own: _Pair, held: _Pair | None, apart: float) -> _Pair:
    """Return a site's bytes with no more of a change than benchmarks count in all.

    The short run of an allocs profile holds more per op than they count, as of pools
    that it fills: up to that much may be this site's. What counts differ by from turn
    to turn, `apart`, says nothing of it.
    """
    whole, delta = counted[1] - counted[0], own[1] - own[0]
    over = abs(delta) - abs(whole)
    side = int(delta > 0)
    if held is None or whole * delta <= 0 or over <= apart:
        return own
    if over > held[side] - counted[side] + _CUT_OFF:
        return own
    less = own[side] - over
    return (own[0], less) if side else (less, own[1])


def exceeds(totals: Allocated, site: Site) -> bool:
    """Return whether profiles have more bytes of a site than benchmarks count.

    What a process allocates at its start is a little of few operations.
    """
    if totals.space is None:
        return False
    return any(
        own > all_ * (1 + LITTLE) + _CUT_OFF
        for all_, own in zip(totals.space, site.space, strict=True)
    )


def goes_both_ways(totals: Allocated, sites: Sequence[Site], site: Site) -> bool:
    """Return whether other sites change in bytes both ways, by a good part of all."""
    if totals.space is None:
        return False
    whole = totals.space[1] - totals.space[0]
    others = [
        one.space[1] - one.space[0] for one in sites if one.name not in site.everyone
    ]
    ways = sum(x for x in others if x > 0), -sum(x for x in others if x < 0)
    return min(ways) > GOOD_PART * abs(whole)


def share_of_change(totals: Allocated, site: Site, *, alone: bool) -> str:
    """Return a function's part of the change in allocations per op, as a sentence.

    Only a function named `alone` has the whole change. "" if the function changed the
    other way, or by more than the total.
    """
    known = list(_known(totals, site))
    changes = [(new - base, whole[1] - whole[0]) for _, whole, (base, new) in known]
    if not changes or not site.agrees:
        return ""
    largest = 1 + MINOR
    if any(not 0 <= part / change <= largest for part, change in changes if change):
        return ""
    if all(abs(part - change) <= MINOR * abs(change) for part, change in changes):
        counts = " and ".join(
            count
            for (count, _, _), (_, all_) in zip(known, changes, strict=True)
            if all_
        )
        if alone:
            nearly = "" if all(_alike(*one) for one in changes) else "nearly "
            return f"That is {nearly}the whole change in {counts}."
        return ""
    part, change = changes[0]
    whole = f"{amount(change, 'B', signed=True)}/op"
    clauses = [f"{amount(part, 'B', signed=True)} of {whole}"]
    if site.exact:
        clauses += [
            f"{_signed(a)} of {_signed(b)} allocs/op"
            for a, b in changes[1:]
            if _objects(abs(a)) != "0"
        ]
    return f"That is {', '.join(clauses)}."


def _alike(part: float, change: float) -> bool:
    """Return whether a part reads as the whole change, or is off by what is cut off."""
    return abs(part - change) <= _CUT_OFF or f"{part:.3g}" == f"{change:.3g}"


def of_all_objects(totals: Allocated, site: Site) -> str:
    """Return by how much allocs/op change in all, as a sentence, or "".

    A site with about the whole change in bytes has none of its own where profiles miss
    tiny objects.
    """
    if totals.objects is None or totals.varies[1] or "allocs" in amounts(totals, site):
        return ""
    base, new = totals.objects
    if abs(new - base) <= MINOR * max(base, new) or not _is_covered(totals, site):
        return ""
    objects = numeral(f"{_objects(base)} → {_objects(new)}", "pair", new, base)
    return f"In all: {objects} allocs/op."


def against_all(totals: Allocated, site: Site) -> str:
    """Return that B/op change the other way than a site, as a sentence, or "".

    A table made at once where it grew before is one of these: on its own, it would read
    as a change for the worse.
    """
    if totals.space is None or totals.varies[0]:
        return ""
    whole, own = (new - base for base, new in (totals.space, site.space))
    if whole * own >= 0 or abs(whole) <= MINOR * max(totals.space):
        return ""
    return f"That is against the total: {arrow(*totals.space, 'B')}/op."


def _is_covered(totals: Allocated, site: Site) -> bool:
    if totals.space is None:
        return False
    whole, own = (new - base for base, new in (totals.space, site.space))
    return own * whole >= COVERS * whole**2 > 0


def taken_back(totals: Allocated, sites: Sequence[Site], every: Sequence[Site]) -> str:
    """Return how much others take back, if sites change by more than all, or "".

    The others of `every` site must show it as well: benchmarks' counts may vary.
    """
    if totals.space is None or not all(one.agrees for one in sites):
        return ""
    whole = totals.space[1] - totals.space[0]
    named = sum(one.space[1] - one.space[0] for one in sites)
    rest = whole - named
    if rest * whole >= -MINOR * whole * whole or abs(rest) <= _CUT_OFF:
        return ""
    sampled = sum(one.space[1] - one.space[0] for one in every) - named
    if sampled * rest < MOST * rest * rest:
        return ""
    # The number has to be what the reader gets from the totals and the sites.
    printed = whole - sum(
        one.space[1] - one.space[0] for one in (within(totals, s) for s in sites)
    )
    if not _alike(printed, rest):
        return ""
    way = "less" if rest < 0 else "more"
    left = [one for one in every if one.name not in {named.name for named in sites}]
    whole_of = [one for one in left if _alike(one.space[1] - one.space[0], rest)]
    # It is said of the last site, perhaps without the others next to it.
    others = [called(name) for one in sites[:-1] for name in one.everyone]
    who = "All other functions together allocate"
    if others:
        this = "these" if len(sites[-1].everyone) > 1 else "this one"
        who = f"All functions but {listed([*others, this])} together allocate"
    if len(whole_of) == 1:
        who = f"{called(whole_of[0].name)} allocates"
    return f"{who} {amount(abs(rest), 'B')}/op {way}."


def _changes(totals: Allocated, site: Site) -> dict[str, _Pair]:
    """Return by how much a site and all of them change per op, by unit of `_known`."""
    return {
        unit: (part[1] - part[0], whole[1] - whole[0])
        for unit, whole, part in _known(totals, site)
    }


def _known(totals: Allocated, site: Site) -> Iterator[tuple[str, _Pair, _Pair]]:
    """Yield (unit, total per op, function's per op) of bytes, and of exact objects."""
    if totals.space is not None and max(totals.space) >= BYTE:
        yield ALLOCATED["alloc_space"], totals.space, site.space
    # Where all objects are as many as before, fewer of one site are more of another.
    known = site.exact and not totals.varies[1]
    if (
        (known or totals.space is None)
        and totals.objects is not None
        and max(totals.objects) >= OBJECT
    ):
        yield ALLOCATED["alloc_objects"], totals.objects, site.objects


def _objects(value: float, *, about: bool = False) -> str:
    """Return a number of objects, with two digits if it is known `about`."""
    if about:
        value = float(f"{value:.2g}")
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= OBJECT else "0"


def _signed(value: float) -> str:
    text = f"{'−' if value < 0 else '+'}{_objects(abs(value))}"
    return numeral(text, "amount", value)
