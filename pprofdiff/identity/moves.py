"""Find packages that moved to another import path.

No single function proves it; the names of a package's functions do. Two samplings of
one package each miss some, so common names are compared with the smaller side.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from posixpath import basename
from typing import NamedTuple

from msgspec import Struct

from pprofdiff.goruntime.names import (
    canonical_parts,
    canonical_path,
    is_runtime_like,
    is_standard_library,
    package_of,
)

# Of 432 packages with three or more sampled functions on both sides of one program's
# captures, 425 share more than half of the smaller side's names. Two different packages
# outside the standard library shared at most 3 in 8 (Update, View and get of two
# key-value stores).
_LEAST, _SHARE = 3, 0.5
# The best candidate shares at least this many times the names of the next one.
_AHEAD = 2

_MAJOR = r"[/.]v\d+(?=/|$)"
_WORD = r"\w+"
# Names that the linker and compiler give to functions without one.
_NAMELESS = frozenset(("func", "gowrap", "deferwrap", "dwrap", "init", "fm", "range"))

_Packages = Mapping[str, Mapping[str, str]]


class Move(NamedTuple):
    """Base's import path, new's, and how many of its functions both sides show."""

    base: str
    new: str
    functions: int


class Moves(Struct, frozen=True, eq=False, dict=True):
    """The packages that moved between two builds, those with most functions first."""

    packages: tuple[Move, ...] = ()

    @cached_property
    def of_base(self) -> Mapping[str, str]:
        """New's import path for each of base's packages that moved."""
        return {move.base: move.new for move in self.packages}

    @cached_property
    def of_new(self) -> Mapping[str, str]:
        """New's packages that moved, each mapped to itself."""
        return {move.new: move.new for move in self.packages}


NO_MOVES = Moves()
"""No package moved."""


def package_moves(base: Mapping[str, str], new: Mapping[str, str]) -> Moves:
    """Infer which packages moved, from the names of all functions of both builds.

    A package moves as a whole, to one other package. It shares at least twice as much
    with that one as with any other, including what stayed in place, and vice versa. It
    moved

    - if the paths differ only in the major version, and a name is shared;
    - if at least three names and more than half of the smaller side's are shared, one
    of them not exported, and at least half of them are in files with the same name: a
    replacement has the same public functions on purpose, or the methods of an
    interface, but other functions and files. With the same owner (`github.com/acme`)
    the last element of the path stays too: whoever writes two alternatives writes them
    alike;
    - if its path changed as a moved package's did, and a name is shared.

    The standard library's packages copy functions from each other, and the runtime is
    paired by aliases: nothing moves within it. `base` and `new` are the source file of
    each symbol, `""` if unknown.
    """
    both = base.keys() & new.keys()
    if len(both) == len(base) or len(both) == len(new):
        return NO_MOVES
    standard: set[str] = set()
    old = _by_package({name: base[name] for name in base.keys() - both}, standard)
    now = _by_package({name: new[name] for name in new.keys() - both}, standard)
    shared = _shared(old, now)
    asked = {path for pair in shared if pair[0] != pair[1] for path in pair}
    if not asked:
        return NO_MOVES
    # Of thousands of equal names, only names in the packages in question matter.
    named: dict[str, list[str]] = defaultdict(list)
    for name in both:
        named[package_of(name)].append(name)
    stay: dict[str, list[str]] = defaultdict(list)
    for package, names in named.items():
        if (path := canonical_path(package)) in asked:
            stay[path] += names
            if is_standard_library(package) and not all(map(is_runtime_like, names)):
                standard.add(path)
    evidence = _Evidence(old, now, stay, shared, standard)
    decided: dict[str, Move] = {}
    for rule in (_major_versions, _copies, _alike):
        for move in rule(evidence, decided):
            taken = {m.new for m in decided.values()}
            if move.base not in decided and move.new not in taken:
                decided[move.base] = move
    moves = sorted(decided.values(), key=lambda move: (-move.functions, move.base))
    return Moves(tuple(moves)) if moves else NO_MOVES


def _by_package(files: Mapping[str, str], standard: set[str]) -> _Packages:
    """Return the functions' names in each import path, and their files.

    Adds the packages of the standard library to `standard`.
    """
    packages: dict[str, dict[str, str]] = defaultdict(dict)
    for name, file in files.items():
        if not is_runtime_like(name):
            path, rest = canonical_parts(name)
            if path:
                packages[path][rest] = file
                if is_standard_library(package_of(name)):
                    standard.add(path)
    return dict(packages)


def _shared(base: _Packages, new: _Packages) -> Counter[tuple[str, str]]:
    """Return how many names each package of base and of new have in common."""
    places: dict[str, list[str]] = defaultdict(list)
    for path, rests in base.items():
        for rest in rests:
            places[rest].append(path)
    shared: Counter[tuple[str, str]] = Counter()
    for path, rests in new.items():
        for rest in rests:
            shared.update((old, path) for old in places.get(rest, ()))
    return shared


class _Evidence:
    """Names of both sides by package, and how many each two packages share.

    `base` and `new` have the functions on one side only, `both` the names on both.
    """

    def __init__(
        self,
        base: _Packages,
        new: _Packages,
        both: Mapping[str, Sequence[str]],
        shared: Counter[tuple[str, str]],
        standard: set[str],
    ) -> None:
        self.base, self.new, self.both = base, new, both
        self.shared, self.standard = shared, standard
        self._kept: dict[str, int] = {}
        self.best_of_base, self.best_of_new = _rivals(self.shared)

    def candidates(self) -> Iterator[tuple[str, str, int]]:
        """Yield (base, new, names shared) for different paths, most shared first."""
        for (old, now), count in sorted(
            self.shared.items(), key=lambda item: (-item[1], item[0])
        ):
            if old != now and not self.standard >= {old, now}:
                yield old, now, count

    def stays(self, path: str) -> int:
        """Return how many names both sides have under this path."""
        return self.shared[path, path] + self.kept(path)

    def kept(self, path: str) -> int:
        """Return how many functions have this path and one name on both sides."""
        if path not in self._kept:
            names = dict.fromkeys(self.both.get(path, ()), "")
            self._kept[path] = len(_by_package(names, set()).get(path, ()))
        return self._kept[path]

    def smaller(self, old: str, now: str) -> int:
        """Return the number of functions of the smaller package."""
        return min(
            len(side.get(path, ())) + self.kept(path)
            for side, path in ((self.base, old), (self.new, now))
        )

    def leads(self, old: str, now: str) -> bool:
        """Return whether each package shares far less with any other one.

        A package that stays in place is a candidate like any other.
        """
        count = self.shared[old, now]
        return all(
            count >= _AHEAD * next((n for n, other in best if other != partner), 0)
            and count >= _AHEAD * self.stays(path)
            for best, path, partner in (
                (self.best_of_base[old], old, now),
                (self.best_of_new[now], now, old),
            )
        )


_Best = dict[str, list[tuple[int, str]]]


def _rivals(shared: Mapping[tuple[str, str], int]) -> tuple[_Best, _Best]:
    """Return, for each package of base and of new, two others that share most."""
    best: tuple[_Best, _Best] = defaultdict(list), defaultdict(list)
    for (old, now), count in shared.items():
        if old != now:
            best[0][old].append((count, now))
            best[1][now].append((count, old))
    for side in best:
        for path, rivals in side.items():
            side[path] = sorted(rivals, reverse=True)[:2]
    return best


def _major_versions(evidence: _Evidence, _: Mapping[str, Move]) -> Iterator[Move]:
    """Yield packages whose path differs only in the major version."""
    pairs = [
        Move(*pair)
        for pair in evidence.candidates()
        if re.sub(_MAJOR, "", pair[0]) == re.sub(_MAJOR, "", pair[1])
        and pair[0] not in evidence.standard
    ]
    for move in pairs:
        rivals = [evidence.stays(move.base), evidence.stays(move.new)]
        rivals += [
            other.functions
            for other in pairs
            if other != move and (other.base == move.base or other.new == move.new)
        ]
        if move.functions >= _AHEAD * max(rivals):
            yield move


def _copies(evidence: _Evidence, _: Mapping[str, Move]) -> Iterator[Move]:
    """Yield packages in which most functions have the same names."""
    for old, now, count in evidence.candidates():
        if (
            count >= _LEAST
            and (_owner(old) != _owner(now) or _last(old) == _last(now))
            and count > _SHARE * evidence.smaller(old, now)
            and evidence.leads(old, now)
            and _copied(evidence.base[old], evidence.new[now])
        ):
            yield Move(old, now, count)


def _owner(path: str) -> str:
    """Return the common prefix of an owner's import paths: host and name, or name."""
    host, _, rest = path.partition("/")
    return f"{host}/{rest.partition('/')[0]}" if "." in host else host


def _last(path: str) -> str:
    """Return the last element of an import path, without the major version."""
    return re.sub(_MAJOR, "", path).rpartition("/")[2]


def _copied(base: Mapping[str, str], new: Mapping[str, str]) -> bool:
    """Return whether two packages' common functions come from the same source."""
    shared = [rest for rest in base if rest in new]
    files = [
        basename(base[rest]) == basename(new[rest])
        for rest in shared
        if base[rest] and new[rest]
    ]
    return any(map(_is_internal, shared)) and sum(files) * 2 >= len(files)


def _alike(evidence: _Evidence, decided: Mapping[str, Move]) -> Iterator[Move]:
    """Yield packages whose path changed as a moved package's did."""
    changed = {_without_common_end(move.base, move.new) for move in decided.values()}
    for old, now, count in evidence.candidates():
        if _without_common_end(old, now) in changed or any(
            old.startswith(f"{before}/") and now == after + old[len(before) :]
            for before, after in changed
        ):
            rivals = evidence.stays(old), evidence.stays(now)
            if count >= _AHEAD * max(rivals):
                yield Move(old, now, count)


def _without_common_end(old: str, now: str) -> tuple[str, str]:
    """Return two paths without the trailing elements they share."""
    before, after = old.split("/"), now.split("/")
    while len(before) > 1 and len(after) > 1 and before[-1] == after[-1]:
        before.pop()
        after.pop()
    return "/".join(before), "/".join(after)


def _is_internal(rest: str) -> bool:
    """Return whether a function, or the type that it is a method of, is unexported."""
    return any(
        word[0].islower() and word not in _NAMELESS for word in re.findall(_WORD, rest)
    )
