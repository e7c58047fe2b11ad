"""Which closure of base is which closure of new, whatever their numbers are.

The compiler numbers the closures of a function in the order of its source
(cmd/compile/internal/ir, closureName): a closure that is inserted renumbers all that
follow. It prefixes the names of functions that the enclosing one was inlined into
(`Caller.Outer.func3`), and then counts in the caller. What stays is the function in
whose source the closure stands, the order there, what the closure calls from which of
its lines, and the distance to its neighbours as long as nothing came between them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import basename
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pprofdiff.goruntime.names import (
    canonical_parts,
    is_runtime_like,
    package_end,
    strip_type_arguments,
)

__all__ = [
    "NO_CLOSURES",
    "Body",
    "Closures",
    "Place",
    "Symbols",
    "closure_pairs",
    "defined_in",
]


class Place(NamedTuple):
    """Where a function's source begins: file, and line or 0 where it is unknown."""

    file: str
    line: int


class Body(NamedTuple):
    """What the samples of a closure show of it, in samples.

    `calls` are by (line after the first, name of the callee, `""` for none), `callers`
    by name. Names are those that stay from build to build.
    """

    calls: Counter[tuple[int, str]]
    callers: Counter[str]


class Symbols(Protocol):
    """The functions of one side."""

    @property
    def places(self) -> Mapping[str, Place]:
        """Where each function begins, by its symbol."""

    def bodies(self, names: Collection[str]) -> Mapping[str, Body]:
        """Return what is known of the chosen functions, by symbol."""


@dataclass(frozen=True, eq=False)
class Closures:
    """The closures that evidence, not their name, pairs or keeps apart.

    `of_base` and `of_new` give such symbols of each side a key. Keys of one side are
    distinct; two symbols with equal keys are one function, and one whose key the other
    side does not have has no partner there.
    """

    of_base: Mapping[str, Hashable] = field(default_factory=dict)
    of_new: Mapping[str, Hashable] = field(default_factory=dict)


NO_CLOSURES = Closures()
"""Names tell all closures."""

_PART = r"[.·]func|[.·]gowrap|[.·]deferwrap|[.·]dwrap[.·]|-range|\."
_CHAIN = re.compile(rf"(?:(?:{_PART})\d+)+$")
_LINK = re.compile(rf"({_PART})(\d+)")
_PACKAGE_INIT = re.compile(r"^(?:glob\.|init(?:\.\d+)?)(?=[.·-]|$)")
_DIGITS = tuple("0123456789")
_INNERMOST = re.compile(r"(?:\([^()]*\)\.)?[^.()·]+$")

# A function with more closures than this on a side is a generated one.
_MOST = 32

# Scores, in units of the evidence of one line distance that stays; see `_Aligner`.
# Measured by tests.identity.closure_oracle.
# A pair by itself; one of a function whose length changed.
_PAIRED, _EDITED = 0.3, -1.0
# Bodies: the weight of what is common to both, what unlike ones have in common, and the
# samples that count half. Equal names need `_LEFT` where lines do not tell.
_CONTENT, _ALIKE, _FEW, _LEFT = 4.0, 0.35, 2.0, 0.3
_SAME_LINES, _OTHER_LINES = 1.0, -0.8
_SAME_SHIFT, _OTHER_SHIFT, _CONTRADICTION = 0.4, -0.4, -1.5
# How much better than without it an alignment is with a pair.
_MARGIN = 0.5

_Key = TypeVar("_Key", bound=Hashable)
Matrix = NDArray[np.float64]


class _Symbol(NamedTuple):
    """A closure's name taken apart: its prefix, kinds and numbers of the chain."""

    name: str
    prefix: str
    kinds: tuple[str, ...]
    numbers: tuple[int, ...]
    place: Place


class _Home(NamedTuple):
    """The function in whose source closures stand: import path, name and file."""

    package: str
    function: str
    file: str


class _Literal(NamedTuple):
    """One function literal of a source, with the symbols compiled from it."""

    line: int
    kinds: tuple[str, ...]
    symbols: tuple[_Symbol, ...]


def closure_pairs(
    base: Symbols, new: Symbols, packages: tuple[Mapping[str, str], Mapping[str, str]]
) -> Closures:
    """Pair the closures of two builds within the functions whose source has them.

    Closures of one function are aligned in the order of their lines. An alignment is
    the better, the more alike its closures' calls, lines of calls and callers are, the
    fewer times the distance of lines between neighbours changes, and the fewer times
    that of their numbers does; a pair stays only where all alignments without it are
    clearly worse. Closures of the runtime are left to its aliases.

    Parameters
    ----------
    base, new
        The functions of each side.
    packages
        (of base, of new): the import paths under which moved packages are paired.

    """
    if _agree(base.places, new.places):
        return NO_CLOSURES
    homes = [
        _homes(side, moved) for side, moved in zip((base, new), packages, strict=True)
    ]
    asked = [
        home
        for home, symbols in homes[0].items()
        if home in homes[1] and max(len(symbols), len(homes[1][home])) <= _MOST
    ]
    if not asked:
        return NO_CLOSURES
    files = {
        home: (homes[0][home][0].place.file, homes[1][home][0].place.file)
        for home in asked
    }
    anchors = _anchors(base.places, new.places, {*files.values()})
    asked = [
        home
        for home in asked
        if _doubtful(homes[0][home], homes[1][home], anchors.get(files[home], ()))
    ]
    if not asked:
        return NO_CLOSURES
    bodies = [
        side.bodies({s.name for home in asked for s in own[home]})
        for side, own in zip((base, new), homes, strict=True)
    ]
    of_base: dict[str, Hashable] = {}
    of_new: dict[str, Hashable] = {}
    for home in asked:
        sides = homes[0][home], homes[1][home]
        pairs = _paired(sides, (bodies[0], bodies[1]), anchors.get(files[home], ()))
        decided = dict(pairs)
        taken = set(decided.values())
        of_base |= {s.name: decided.get(s.name, (s.name, 0)) for s in sides[0]}
        of_new |= {s.name: s.name if s.name in taken else (s.name, 1) for s in sides[1]}
    return Closures(of_base, of_new)


def _agree(base: Mapping[str, Place], new: Mapping[str, Place]) -> bool:
    """Return whether both sides have the same closures on the same lines."""
    closures = [
        {(name, place.line) for name, place in side.items() if name.endswith(_DIGITS)}
        for side in (base, new)
    ]
    return closures[0] == closures[1]


def _homes(side: Symbols, packages: Mapping[str, str]) -> dict[_Home, list[_Symbol]]:
    """Return the closures of each function that defines some."""
    parsed = [
        symbol
        for name, place in side.places.items()
        if name.endswith(_DIGITS) and (symbol := _parse(name, place)) is not None
    ]
    if not parsed:
        return {}
    files = {symbol.place.file for symbol in parsed}
    owners: dict[str, str] = {}
    for name, place in side.places.items():
        if place.file in files and not name.endswith(_DIGITS):
            owners.setdefault(place.file, canonical_parts(name)[0])
    homes: dict[_Home, list[_Symbol]] = defaultdict(list)
    for symbol in parsed:
        file = symbol.place.file
        path = (owners.get(file) if file else None) or canonical_parts(symbol.name)[0]
        innermost = _INNERMOST.search(symbol.prefix)
        function = innermost.group() if innermost else symbol.prefix
        home = _Home(packages.get(path, path), function, basename(file))
        homes[home].append(symbol)
    return homes


def _parse(name: str, place: Place) -> _Symbol | None:
    """Return a closure's name taken apart, None where it is none of the program's."""
    if is_runtime_like(name):
        return None
    plain = strip_type_arguments(name)
    end = package_end(plain)
    rest = _PACKAGE_INIT.sub("init", plain[end + 1 :]) if end else ""
    chain = _CHAIN.search(rest, 1)
    if chain is None:
        return None
    links = _LINK.findall(chain.group())
    # Of nested closures, compilers write .1 or .func1.
    kinds = tuple(".func" if kind == "." else kind for kind, _ in links)
    numbers = tuple(int(number) for _, number in links)
    return _Symbol(name, rest[: chain.start()], kinds, numbers, place)


def defined_in(name: str) -> str | None:
    """Return a word for all closures of one function, None for other functions.

    It is the same wherever the function was inlined.
    """
    symbol = _parse(name, Place("", 0)) if name.endswith(_DIGITS) else None
    if symbol is None:
        return None
    innermost = _INNERMOST.search(symbol.prefix)
    return f"{innermost.group() if innermost else symbol.prefix}{symbol.kinds[-1]}"


def _doubtful(
    base: Sequence[_Symbol], new: Sequence[_Symbol], anchors: _Anchors
) -> bool:
    """Return whether names alone may mislead.

    They do not where they are equal and the closures moved as a whole; nor where the
    source around them did, and one side has no name that the other lacks.
    """
    names = {s.name for s in base}, {s.name for s in new}
    before, after = _around(
        anchors, *(sorted(s.place.line for s in side) for side in (base, new))
    )
    lines = {s.name: s.place.line for s in base}
    if names[0] == names[1] and len({s.place.line - lines[s.name] for s in new}) == 1:
        return False
    contained = names[0] <= names[1] or names[0] >= names[1]
    return not (contained and before is not None and before == after)


def _literals(symbols: Iterable[_Symbol]) -> list[_Literal]:
    """Return function literals in the order of the source.

    Symbols of one line are copies of one literal: of generic functions and of ones that
    were inlined. Two literals of one line are told apart where both belong to the same
    function as it stands.
    """
    groups: dict[Hashable, list[_Symbol]] = defaultdict(list)
    for symbol in symbols:
        plain = _INNERMOST.fullmatch(symbol.prefix) is not None
        own = symbol.numbers if plain or not symbol.place.line else ()
        line = symbol.place.line
        groups[line, symbol.kinds, own, "" if line else symbol.prefix].append(symbol)
    _merge_copies(groups)
    literals = [
        _Literal(own[0].place.line, own[0].kinds, tuple(own)) for own in groups.values()
    ]
    return sorted(
        literals,
        key=lambda one: (
            one.line,
            one.symbols[0].prefix,
            min(symbol.numbers for symbol in one.symbols),
        ),
    )


def _merge_copies(groups: dict[Hashable, list[_Symbol]]) -> None:
    """Add inlined copies to the literal of their line where there is one alone."""
    lines: dict[Hashable, list[Hashable]] = defaultdict(list)
    for key, own in groups.items():
        if own[0].place.line:
            lines[own[0].place.line, own[0].kinds].append(key)
    for keys in lines.values():
        plain = [
            key for key in keys if len(groups[key][0].prefix) and _own(groups[key])
        ]
        copies = [key for key in keys if key not in plain]
        if len(plain) == 1:
            for key in copies:
                groups[plain[0]] += groups.pop(key)


def _own(symbols: Sequence[_Symbol]) -> bool:
    """Return whether symbols are of the function as it stands, not of a copy."""
    return _INNERMOST.fullmatch(symbols[0].prefix) is not None


_Anchors = Sequence[tuple[int, int]]


def _anchors(
    base: Mapping[str, Place], new: Mapping[str, Place], files: set[tuple[str, str]]
) -> Mapping[tuple[str, str], _Anchors]:
    """Return (base, new) lines of functions of equal names, rising, by both files."""
    anchors: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for name, place in base.items():
        now = new.get(name)
        if (
            now is not None
            and (place.file, now.file) in files
            and min(place.line, now.line) > 0
            and not _CHAIN.search(name)
        ):
            anchors[place.file, now.file].append((place.line, now.line))
    for pairs in anchors.values():
        pairs.sort()
    return anchors


def _around(
    anchors: _Anchors, base: Sequence[int], new: Sequence[int]
) -> tuple[int | None, int | None]:
    """Return by how many lines the source moved before and after closures.

    `base` and `new` are the closures' lines, rising. None where nothing tells.
    """
    if not (base[0] and new[0]):
        return None, None
    at = bisect_right(anchors, (base[0], 1 << 62))
    before = anchors[at - 1] if at else None
    at = bisect_right(anchors, (base[-1], 1 << 62))
    after = anchors[at] if at < len(anchors) else None
    return (
        before[1] - before[0] if before and before[1] <= new[0] else None,
        after[1] - after[0] if after and after[1] > new[-1] else None,
    )


def _paired(
    sides: tuple[Sequence[_Symbol], Sequence[_Symbol]],
    bodies: tuple[Mapping[str, Body], Mapping[str, Body]],
    anchors: _Anchors,
) -> list[tuple[str, str]]:
    """Return (base, new) symbols of one function's closures that are the same."""
    base, new = _literals(sides[0]), _literals(sides[1])
    alike, named = _likenesses(base, new, bodies), _named_alike(base, new)
    around = _around(anchors, *([one.line for one in side] for side in (base, new)))
    # A function whose length changed may have another closure in the same place.
    edited = None not in around and around[0] != around[1]
    scores = alike + (_EDITED if edited else _PAIRED)
    aligner = _Aligner(base, new, scores, around)
    certain = aligner.certain()
    if not edited:
        # Names that are equal say so as long as nothing speaks against them.
        certain += aligner.unmoved(certain, named & (alike >= _LEFT))
    pairs: list[tuple[str, str]] = []
    for i, j in certain:
        pairs += _same_copies(base[i].symbols, new[j].symbols)
    return pairs


def _same_copies(
    base: Sequence[_Symbol], new: Sequence[_Symbol]
) -> list[tuple[str, str]]:
    """Return the pairs of symbols of one literal: alike in name, prefix, or alone."""
    pairs: list[tuple[str, str]] = []
    rest = list(base), list(new)
    for key in (
        lambda symbol: symbol.name,
        lambda symbol: symbol.prefix + symbol.name.partition("[")[2],
        lambda symbol: symbol.prefix,
        lambda _: "",
    ):
        groups: dict[str, tuple[list[_Symbol], list[_Symbol]]]
        groups = defaultdict(lambda: ([], []))
        for side in (0, 1):
            for symbol in rest[side]:
                groups[key(symbol)][side].append(symbol)
        for old, now in groups.values():
            if len(old) == len(now) == 1:
                pairs.append((old[0].name, now[0].name))
                rest[0].remove(old[0])
                rest[1].remove(now[0])
    return pairs


def _likenesses(
    base: Sequence[_Literal],
    new: Sequence[_Literal],
    bodies: tuple[Mapping[str, Body], Mapping[str, Body]],
) -> Matrix:
    """Return how alike the samples of each two literals are, −∞ for unlike kinds."""
    shown = [
        [_joined(literal, own) for literal in side]
        for side, own in zip((base, new), bodies, strict=True)
    ]
    alike = np.full((len(base), len(new)), -np.inf)
    for i, old in enumerate(base):
        for j, now in enumerate(new):
            if old.kinds == now.kinds:
                alike[i, j] = _likeness(shown[0][i], shown[1][j])
    return alike


def _named_alike(
    base: Sequence[_Literal], new: Sequence[_Literal]
) -> NDArray[np.bool_]:
    """Return which two literals have a symbol in common."""
    names = [[{s.name for s in one.symbols} for one in side] for side in (base, new)]
    equal = [[bool(old & now) for now in names[1]] for old in names[0]]
    return np.array(equal, np.bool_)


def _joined(literal: _Literal, bodies: Mapping[str, Body]) -> Body:
    """Return what the samples of all copies of a literal show."""
    calls: Counter[tuple[int, str]] = Counter()
    callers: Counter[str] = Counter()
    for symbol in literal.symbols:
        if symbol.name in bodies:
            calls.update(bodies[symbol.name].calls)
            callers.update(bodies[symbol.name].callers)
    return Body(calls, callers)


def _likeness(base: Body, new: Body) -> float:
    """Return how much two bodies' samples say that they are one; below 0, they differ.

    Few samples say little.
    """
    fewer = min(base.calls.total(), new.calls.total())
    if fewer <= 0:
        return 0.0
    callees = _by_callee(base.calls), _by_callee(new.calls)
    alike = (
        0.5 * _overlap(base.calls, new.calls)
        + 0.35 * _overlap(*callees)
        + 0.15 * _overlap(base.callers, new.callers)
    )
    return _CONTENT * (alike - _ALIKE) * fewer / (fewer + _FEW)


def _by_callee(calls: Counter[tuple[int, str]]) -> Counter[str]:
    callees: Counter[str] = Counter()
    for (_, callee), count in calls.items():
        callees[callee] += count
    return callees


def _overlap(base: Counter[_Key], new: Counter[_Key]) -> float:
    """Return which share of both distributions is common to them."""
    totals = base.total(), new.total()
    if not all(totals):
        return 0.0
    return sum(
        min(base[key] / totals[0], new[key] / totals[1]) for key in base if key in new
    )


class _Aligner:
    """The alignments of two sequences of literals, and which pairs they need."""

    def __init__(
        self,
        base: Sequence[_Literal],
        new: Sequence[_Literal],
        scores: Matrix,
        around: tuple[int | None, int | None],
    ) -> None:
        self.scores = scores
        self.around = [np.nan if one is None else float(one) for one in around]
        shape = scores.shape
        self.lines, self.shifts = np.full(shape, np.nan), np.full(shape, np.nan)
        for i, old in enumerate(base):
            for j, now in enumerate(new):
                if old.line and now.line:
                    self.lines[i, j] = now.line - old.line
                self.shifts[i, j] = _shift(old, now)

    def certain(self) -> list[tuple[int, int]]:
        """Return the pairs of the best alignment without which all are worse."""
        best, pairs = self._best(self.scores)
        kept: list[tuple[int, int]] = []
        for pair in pairs:
            without = self.scores.copy()
            without[pair] = -np.inf
            if best - self._best(without)[0] >= _MARGIN:
                kept.append(pair)
        return kept

    def unmoved(
        self, certain: Sequence[tuple[int, int]], named: NDArray[np.bool_]
    ) -> list[tuple[int, int]]:
        """Return more pairs of equal names, around which nothing was renumbered."""
        more: list[tuple[int, int]] = []
        for i, j in zip(*(at.tolist() for at in np.nonzero(named)), strict=True):
            before = [pair for pair in certain if pair[0] <= i or pair[1] <= j]
            after = [pair for pair in certain if pair[0] >= i or pair[1] >= j]
            if {*before} & {*after}:
                continue
            around = before[-1:] + after[:1]
            lines = [
                self.lines[before[-1]] if before else self.around[0],
                self.lines[after[0]] if after else self.around[1],
            ]
            known = [line for line in lines if not np.isnan(line)]
            moved = self.lines[i, j]
            if all(self.shifts[pair] == 0 for pair in around) and (
                not known or np.isnan(moved) or moved in known
            ):
                more.append((i, j))
        return more

    def _best(self, scores: Matrix) -> tuple[float, list[tuple[int, int]]]:
        """Return the best alignment's score and pairs."""
        start, end = self.around
        before = _step(start, 0.0, self.lines, self.shifts)
        after = _step(self.lines, self.shifts, end, np.nan)
        total = np.full(scores.shape, -np.inf)
        origin: dict[tuple[int, int], tuple[int, int] | None] = {}
        for i, j in zip(
            *(at.tolist() for at in np.nonzero(scores > -np.inf)), strict=True
        ):
            reached, origin[i, j] = before[i, j], None
            if i and j:
                steps = total[:i, :j] + _step(
                    self.lines[:i, :j],
                    self.shifts[:i, :j],
                    self.lines[i, j],
                    self.shifts[i, j],
                )
                place = divmod(int(steps.argmax()), j)
                if steps[place] > reached:
                    reached, origin[i, j] = steps[place], place
            total[i, j] = scores[i, j] + reached
        ended = total + after
        none = float(_step(start, np.nan, end, np.nan))
        last = np.unravel_index(int(ended.argmax()), ended.shape)
        at: tuple[int, int] | None = (int(last[0]), int(last[1]))
        if ended[at] <= none:
            return none, []
        pairs: list[tuple[int, int]] = []
        while at is not None:
            pairs.append(at)
            at = origin[at]
        return float(ended[last]), pairs[::-1]


def _shift(base: _Literal, new: _Literal) -> float:
    """Return by how much the outermost number grew, NaN where none is comparable."""
    before = {symbol.prefix: symbol.numbers[0] for symbol in base.symbols}
    grown = [
        symbol.numbers[0] - before[symbol.prefix]
        for symbol in new.symbols
        if symbol.prefix in before
    ]
    return float(min(grown, key=abs)) if grown else np.nan


def _step(
    lines: Matrix | float,
    shifts: Matrix | float,
    next_lines: Matrix | float,
    next_shifts: Matrix | float,
) -> Matrix:
    """Return how likely source changed between two neighbours as their places say.

    A closure that came between them moves what follows, and renumbers it.
    """
    moved = np.asarray(next_lines - lines, float)
    grown = np.asarray(next_shifts - shifts, float)
    step = np.where(moved == 0, _SAME_LINES, _OTHER_LINES) * ~np.isnan(moved)
    step = step + np.where(grown == 0, _SAME_SHIFT, _OTHER_SHIFT) * ~np.isnan(grown)
    contrary = (grown != 0) & (moved * grown <= 0)
    known = ~np.isnan(moved) & ~np.isnan(grown)
    scored: Matrix = step + _CONTRADICTION * (contrary & known)
    return scored
