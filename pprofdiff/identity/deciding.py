"""Match the functions of two builds: by rules first, then by what the samples show."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from pprofdiff.goruntime.names import (
    alias,
    is_standard_library,
    lookup,
    moved_key,
    package_of,
    runtime_like,
    strip_type_arguments,
    versioned_folder,
)
from pprofdiff.goruntime.versions import disjoint, infer_go_version, lacks
from pprofdiff.identity.evidence import SideEvidence, Stacks
from pprofdiff.identity.given import given_pairs
from pprofdiff.identity.matching import match
from pprofdiff.identity.model import SAME_NAMES, Identity, Paired, PairedBy
from pprofdiff.identity.moves import NO_MOVES, Moves, package_moves
from pprofdiff.identity.nesting import implied
from pprofdiff.identity.rows import by_key
from pprofdiff.identity.symbols import Symbols, type_outline
from pprofdiff.model.arrays import Column, Mask
from pprofdiff.model.profiles.profile import Profile

if TYPE_CHECKING:
    from pprofdiff.identity.declared import Tree
    from pprofdiff.identity.trees import Labels

Trees = Callable[[SideEvidence, SideEvidence], "tuple[Tree, Tree]"]
"""Reads the declarations of both sides' functions from their source trees."""
_NONE: Mapping[str, str] = MappingProxyType({})


def identify(
    base: Sequence[Profile | Stacks],
    new: Sequence[Profile | Stacks],
    given: Sequence[tuple[str, str]] = (),
    *,
    pairing: bool = True,
    trees: Trees | None = None,
) -> Identity:
    """Match the functions of two builds, given all captures of each side.

    `given` are (base, new) names of the same function, or patterns, by the user.
    Without `pairing`, no others with different names are matched. `trees` reads the
    declarations in both sides' source trees. Raises UsageError if a given name does not
    name exactly one function.
    """
    sides = SideEvidence(base), SideEvidence(new)
    known = given_pairs(given, sides[0].names, sides[1].names)
    return decide(*sides, known, pairing=pairing, trees=trees)


def decide(
    base: SideEvidence,
    new: SideEvidence,
    given: Mapping[str, str] = _NONE,
    *,
    pairing: bool = True,
    trees: Trees | None = None,
) -> Identity:
    """Match as `identify` does; `given` are new's names of base's functions."""
    if not pairing:
        return _Decision(base, new, given).result()
    if (
        not given
        and (base.names == new.names or base.rows.keys() == new.rows.keys())
        and not _closures_moved(base, new)
    ):
        return SAME_NAMES
    return _Decision(base, new, given, trees).identity()


def _closures_moved(base: SideEvidence, new: SideEvidence) -> bool:
    """Return whether functions whose names end in a digit start on other lines."""
    start = base.start
    if base.names != new.names:
        place = map(base.rows.__getitem__, new.names)
        start = start[np.fromiter(place, np.int64, len(new))]
    other = np.flatnonzero(start != new.start)
    return any(new.names[row][-1:].isdecimal() for row in other.tolist())


# Symbols that compilers number, anew in each build: Nim's ``lookup__shop_5``, OCaml's
# ``Stdlib.List.nth_aux_107``, clones of GCC (``f.constprop.0``).
_NUMBERED = re.compile(
    r"(\w+__\w+|[A-Z]\w*(?:\.\w+)+|\w+\.(?:constprop|isra|part|cold))[_.]\d+"
)


class _Decision:
    """The partners of base's functions, decided step by step."""

    def __init__(
        self,
        base: SideEvidence,
        new: SideEvidence,
        given: Mapping[str, str],
        trees: Trees | None = None,
    ) -> None:
        self.sides = base, new
        self.names = base.names, new.names
        self.partner = np.array([new.rows.get(name, -1) for name in base.names])
        self.partner = self.partner.astype(np.int64)
        self.taken = np.zeros(len(new), np.bool_)
        self.taken[self.partner[self.partner >= 0]] = True
        self.by: dict[int, PairedBy] = {}
        self.probability: dict[int, float] = {}
        self.choices: dict[str, tuple[str, ...]] = {}
        self.parted: list[tuple[int, int]] = []
        for old, now in given.items():
            self._separate(base.rows[old], new.rows[now])
            self._pair(base.rows[old], new.rows[now], "given")
        self.moves = NO_MOVES
        self._read = trees
        # Functions decided by source trees: no other rule applies to them.
        self.settled = np.zeros(len(base), np.bool_), np.zeros(len(new), np.bool_)

    def identity(self) -> Identity:
        self.spans = infer_go_version(self.names[0]), infer_go_version(self.names[1])
        self.runtime = runtime_like(self.names[0]), runtime_like(self.names[1])
        self.one_release = not disjoint(*self.spans)
        self.versions = _versions(self.sides[0].files) & _versions(self.sides[1].files)
        self.moves = package_moves(*(_files(side) for side in self.sides))
        trees = self._read(*self.sides) if self._read else None
        if trees:
            self.moves = _between_folders(self.moves, self.names, trees)
        self.symbols = (
            Symbols(self.names[0], self.moves.of_base),
            Symbols(self.names[1], self.moves.of_new),
        )
        if trees:
            # Import the code for trees only when needed.
            from pprofdiff.identity.trees import compared

            self._by_trees(compared(*trees))
        if self._left():
            self._by_release()
        if self._left():
            self._by_package()
            self._by_rest()
            self._by_symbol()
        self._loosen_closures()
        if self._left():
            self._by_evidence()
            self._drop_unnested()
        return self.result()

    def _drop_unnested(self) -> None:
        """Separate pairs by evidence that contradict the nesting of other pairs.

        A closure that kept its name shows that its enclosing function did.
        """
        doubted = sorted(row for row, by in self.by.items() if by == "evidence")
        if not doubted:
            return
        (base, new), new_of = self.symbols, self.partner.tolist()
        asked = [(base[row], new[new_of[row]]) for row in doubted]
        packages = [{one.package for one in side} for side in zip(*asked, strict=True)]
        others = (
            (base[row], new[other])
            for row, other in enumerate(new_of)
            if other >= 0
            and self.by.get(row) != "evidence"
            and (
                base.packages[row] in packages[0] or new.packages[other] in packages[1]
            )
        )
        nesting = implied(others, *zip(*asked, strict=True))
        for row, (old, now) in zip(doubted, asked, strict=True):
            if nesting.agrees(old, now):
                nesting.take(old, now)
            else:
                self._separate(row, new_of[row])

    def _of_runtime(self, side: int, row: int) -> bool:
        return bool(self.runtime[side][row])

    def _left(self) -> bool:
        return all(lone.any() for lone in self._alone())

    def _alone(self) -> tuple[Mask, Mask]:
        """Return which functions of each side are unpaired and may be paired."""
        return (self.partner < 0) & ~self.settled[0], ~self.taken & ~self.settled[1]

    def _lone(self) -> tuple[list[int], list[int]]:
        base, new = self._alone()
        return np.flatnonzero(base).tolist(), np.flatnonzero(new).tolist()

    def _pair(self, base: int, new: int, by: PairedBy, probability: float = 1) -> None:
        self.partner[base] = new
        self.taken[new] = True
        self.by[base] = by
        self.probability[base] = probability

    def _separate(self, base: int, new: int) -> None:
        for row in {base, *np.flatnonzero(self.partner == new).tolist()}:
            if self.partner[row] >= 0:
                self.taken[self.partner[row]] = False
                self.partner[row] = -1
                self.by.pop(row, None)

    def _alike(
        self,
        by: PairedBy,
        base: Mapping[int, Hashable],
        new: Mapping[int, Hashable],
        most: int = 1,
    ) -> None:
        """Pair functions by key, in order: as many on each side, at most `most`."""
        for old, now in by_key(base.items(), new.items()):
            if len(old) == len(now) <= most:
                for pair in zip(old, now, strict=True):
                    self._pair(*pair, by)

    def _by_trees(self, labels: Labels) -> None:
        """Pair functions as the source trees say, and settle all that they cover."""
        given = {row for row, by in self.by.items() if by == "given"}
        for row, label in enumerate(labels.base):
            other = int(self.partner[row])
            if other >= 0 and row not in given:
                theirs = labels.new[other]
                if label is not None and theirs is not None and label != theirs:
                    self._separate(row, other)
        instances = self._instances(self._lone())
        for outline in (type_outline, lambda _: ""):
            keys = [
                [
                    (row, (label, outline(self.names[side][row])))
                    for row in rows
                    if (label := of_side[row]) is not None
                ]
                for side, (rows, of_side) in enumerate(
                    zip(self._lone(), (labels.base, labels.new), strict=True)
                )
            ]
            for old, now in by_key(*keys):
                if len(old) == len(now) == 1 and not self._is_one_of(
                    instances, old[0], now[0]
                ):
                    chance = labels.chance.get(labels.base[old[0]], 1.0)
                    reason = self._reason(old[0], now[0], "source")
                    self._pair(old[0], now[0], reason, chance)
        for settled, of_side in zip(
            self.settled, (labels.base, labels.new), strict=True
        ):
            settled[:] = [label is not None for label in of_side]

    def _by_release(self) -> None:
        """Pair runtime functions that were renamed between releases."""
        base, new = self.names

        def lone() -> list[list[int]]:
            return [
                [row for row in rows if self._of_runtime(side, row)]
                for side, rows in enumerate(self._lone())
            ]

        for gone in (0, 1):
            old, now = lone()
            if not old or not now:
                return
            first, last = self.spans
            self._alike(
                "alias",
                {r: alias(base[r]) for r in old if gone or lacks(last, base[r])},
                {r: alias(new[r]) for r in now if not gone or lacks(first, new[r])},
            )
        if not self.one_release:
            # Closures and inlined copies of a function get new names.
            old, now = lone()
            self._alike(
                "alias",
                {row: lookup(base[row])[0] for row in old},
                {row: lookup(new[row])[0] for row in now},
                most=len(old),
            )

    def _by_package(self) -> None:
        """Pair functions of moved packages by the part of the name that stays."""
        of_base, of_new = self.moves.of_base, self.moves.of_new
        if not of_base:
            return
        base, new = self.names
        for spelled in (str, strip_type_arguments):
            old, now = self._lone()
            self._alike(
                "package",
                {r: k for r in old if (k := moved_key(spelled(base[r]), of_base))},
                {r: k for r in now if (k := moved_key(spelled(new[r]), of_new))},
            )

    def _by_rest(self) -> None:
        """Pair functions whose names differ only in type arguments or spelling.

        Among several instances, equal generic types are paired.
        """
        for outline in (type_outline, lambda _: ""):
            keys = [
                {
                    row: (
                        s.package,
                        self._inside(self.names[side][row]),
                        s.prefix,
                        outline(self.names[side][row]),
                    )
                    for row in rows
                    if not self._of_runtime(side, row)
                    and not (s := self.symbols[side][row]).kinds
                    # `init` is never `init.0`, whichever of them a package has.
                    and s.function != "init"
                }
                for side, rows in enumerate(self._lone())
            ]
            self._alike("type_arguments", keys[0], keys[1])

    def _by_symbol(self) -> None:
        """Pair functions whose names differ only in numbers of a compiler's symbols."""
        base, new = (
            {
                row: match[1]
                for row in rows
                if (match := _NUMBERED.fullmatch(self.names[side][row]))
            }
            for side, rows in enumerate(self._lone())
        )
        self._alike("number", base, new)

    def _by_case(self, lone: tuple[Mask, Mask]) -> list[tuple[int, int]]:
        """Return unpaired functions of a package whose names differ only in case.

        If either build has both names, such as an exported function and what it wraps,
        they are left out.
        """
        keys = [
            [
                (row, key)
                for row in np.flatnonzero(lone[side]).tolist()
                if (key := self._spelling(side, row)) is not None
            ]
            for side in (0, 1)
        ]
        alike = [(old[0], now[0]) for old, now in by_key(*keys)]
        packages = {self.symbols[0][row].package for row, _ in alike}
        spelled = [Counter(self._plain(side, packages)) for side in (0, 1)]
        return [
            (old, now)
            for old, now in alike
            if max(spelling[self._spelling(0, old)] for spelling in spelled) == 1
        ]

    def _plain(self, side: int, packages: set[str]) -> Iterator[Hashable]:
        """Yield the lower-case name of each function in some packages."""
        for row, package in enumerate(self.symbols[side].packages):
            if package in packages:
                key = self._spelling(side, row)
                if key is not None:
                    yield key

    def _spelling(self, side: int, row: int) -> Hashable | None:
        """Return a function's package and lower-case name; None for a closure."""
        symbol = self.symbols[side][row]
        if symbol.kinds or not symbol.package:
            return None
        name = self.names[side][row]
        return symbol.package, symbol.prefix.lower(), type_outline(name)

    def _inside(self, name: str) -> bool:
        """Return whether a package is internal and no release moved it."""
        return self.one_release and package_of(name).startswith("internal/")

    def _loosen_closures(self) -> None:
        """Separate closures with equal names whose numbers may have changed.

        The compiler numbers closures in source order. Numbers are stable if all
        closures of a function moved by as many lines as the surrounding source.
        """

        def closures(side: int) -> Iterator[tuple[int, Hashable]]:
            for row, symbol in self.symbols[side].closures:
                if self.settled[side][row] or not symbol.package:
                    continue
                if not self._of_runtime(side, row):
                    yield row, (symbol.package, symbol.function)

        homes = list(by_key(closures(0), closures(1)))
        if not homes:
            return
        shifts = _Shifts(self.sides, self.partner, self.symbols[0])
        for old, now in homes:
            equal = [
                (row, int(self.partner[row]))
                for row in old
                if self.partner[row] >= 0
                and self.by.get(row) != "given"
                and not self._unchanged(0, row)
            ]
            lone = len(equal) < len(old) or len(equal) < len(now)
            if equal and shifts.doubtful(equal, lone=lone):
                self.parted += equal
                for row, other in equal:
                    self._separate(row, other)

    def _by_evidence(self) -> None:
        """Pair the remaining functions by what their samples show."""
        lone = self._alone()
        for side in (0, 1):
            for row in np.flatnonzero(lone[side]).tolist():
                symbol = self.symbols[side][row]
                if (
                    self._of_runtime(side, row)
                    or not symbol.package
                    # Package initialisers are not renamed.
                    or (not symbol.kinds and symbol.function == "init")
                    or (not symbol.kinds and self._unchanged(side, row))
                ):
                    lone[side][row] = False
        if not (lone[0].any() and lone[1].any()):
            return
        matched = match(
            self.sides,
            self.symbols,
            self.partner,
            (lone[0], lone[1]),
            self.parted,
            self._by_case((lone[0], lone[1])),
        )
        instances = self._instances([np.flatnonzero(own).tolist() for own in lone])
        for base, new, probability in matched.pairs:
            if not self._is_one_of(instances, base, new):
                self._pair(base, new, self._reason(base, new), probability)
        self._by_number(matched.parted)
        for base, several in matched.choices.items():
            self.choices[self.names[0][base]] = tuple(
                self.names[1][row] for row in several
            )

    def _instances(self, rows: Sequence[Sequence[int]]) -> list[Counter[str]]:
        """Return how many of some rows are instances of each generic function."""
        return [
            Counter(
                strip_type_arguments(names[row]) for row in own if "[" in names[row]
            )
            for names, own in zip(self.names, rows, strict=True)
        ]

    def _is_one_of(
        self, instances: Sequence[Counter[str]], base: int, new: int
    ) -> bool:
        """Return whether a pair has one of several instances and another function.

        All instances together may have become that function, or it them.
        """
        names = self.names[0][base], self.names[1][new]
        generic = [strip_type_arguments(name) for name in names]
        several = any(
            own[name] > 1 for own, name in zip(instances, generic, strict=True)
        )
        return several and generic[0] != generic[1]

    def _by_number(self, likely: Sequence[tuple[int, int]]) -> None:
        """Pair closures with equal names again unless there is contrary evidence."""
        renumbered = {
            (symbol.package, symbol.function)
            for row in self.by
            if (symbol := self.symbols[0][row]).kinds
            and symbol.numbers != self.symbols[1][self.partner[row]].numbers
        }
        for row, other in likely:
            symbol = self.symbols[0][row]
            if (
                self.partner[row] < 0
                and not self.taken[other]
                and (symbol.package, symbol.function) not in renumbered
            ):
                self._pair(row, other, self._reason(row, other))

    def _unchanged(self, side: int, row: int) -> bool:
        """Return whether a function's source is the same in both builds."""
        file = self.sides[side].files[row]
        if folder := versioned_folder(file):
            return folder in self.versions
        package = self.symbols[side][row].package
        return self.one_release and is_standard_library(package)

    def _reason(self, base: int, new: int, else_: PairedBy = "evidence") -> PairedBy:
        """Return how two names differ, or else why they were paired."""
        old, now = self.symbols[0][base], self.symbols[1][new]
        if self.names[0][base] == self.names[1][new]:
            return "name"
        spelled = old.prefix != now.prefix and old.prefix.lower() == now.prefix.lower()
        if spelled and old.package == now.package and not old.kinds:
            return "letter_case"
        if old == now._replace(package=old.package):
            packages = package_of(self.names[0][base]), package_of(self.names[1][new])
            return "type_arguments" if packages[0] == packages[1] else "package"
        if old.kinds and (old.package, old.function) == (now.package, now.function):
            return "closure"
        return else_

    def result(self) -> Identity:
        """Return the identity by what has been decided."""
        base, new = self.names
        pairs = {}
        for row, other in enumerate(self.partner.tolist()):
            if other >= 0 and base[row] != new[other]:
                reason = self.by[row], self.probability[row]
                pairs[new[other]] = Paired(base[row], new[other], *reason)
        apart_names = frozenset(
            name
            for row, name in enumerate(base)
            if (other := self.sides[1].rows.get(name, -1)) >= 0
            and self.partner[row] != other
        )
        return Identity(
            pairs, apart_names, self.choices, self.moves, self.sides[0].rows
        )


def _files(side: SideEvidence) -> dict[str, str]:
    return dict(zip(side.names, side.files, strict=True))


def _between_folders(
    moves: Moves, names: tuple[list[str], list[str]], trees: tuple[Tree, Tree]
) -> Moves:
    """Return the moves without packages that both trees have."""
    folders: list[dict[str, str]] = [
        {
            package_of(name): place.key.folder
            for name, place in zip(own, tree.places, strict=True)
            if place is not None
        }
        for own, tree in zip(names, trees, strict=True)
    ]
    both = trees[0].folders & trees[1].folders
    kept = []
    for move in moves.packages:
        old, now = folders[0].get(move.base), folders[1].get(move.new)
        if old == now or not both & {old, now}:
            kept.append(move)
    return Moves(tuple(kept))


def _versions(files: Iterable[str]) -> set[str]:
    return {versioned_folder(file) for file in set(files)} - {""}


class _Shifts:
    """By how many lines the source of files common to both builds moved.

    `partner` is the new row of each of base's functions, -1 if unpaired (int64). Of
    `symbols`, base's, only those that are not closures are used.
    """

    def __init__(
        self,
        sides: tuple[SideEvidence, SideEvidence],
        partner: Column,
        symbols: Symbols,
    ) -> None:
        self.sides = sides
        self.anchors: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        paired = partner >= 0
        paired[[row for row, _ in symbols.closures]] = False
        rows = np.flatnonzero(paired)
        others = partner[rows]
        lines = sides[0].start[rows], sides[1].start[others]
        known = (lines[0] > 0) & (lines[1] > 0)
        for row, other, old, now in zip(
            *(column[known].tolist() for column in (rows, others, *lines)), strict=True
        ):
            self.anchors[self._files(row, other)].append((old, now))
        for anchors in self.anchors.values():
            anchors.sort()

    def _files(self, base: int, new: int) -> tuple[str, str]:
        return self.sides[0].file_names[base], self.sides[1].file_names[new]

    def doubtful(self, equal: Sequence[tuple[int, int]], *, lone: bool) -> bool:
        """Return whether closures of a function may have been renumbered."""
        starts = [
            (int(self.sides[0].start[row]), int(self.sides[1].start[other]))
            for row, other in equal
        ]
        if not all(old and now for old, now in starts):
            return lone
        shifts = {now - old for old, now in starts}
        if len(shifts) > 1:
            return True
        (shift,) = shifts
        anchors = self.anchors.get(self._files(*equal[0]), [])
        first, last = min(starts)[0], max(starts)[0]
        before = bisect_right(anchors, (first, math.inf))
        after = bisect_right(anchors, (last, math.inf))
        around = anchors[max(before - 1, 0) : before] + anchors[after : after + 1]
        if not around:
            return lone
        return shift not in {now - old for old, now in around}
