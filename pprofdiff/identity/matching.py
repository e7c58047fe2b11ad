"""Match unpaired functions of base and new: candidates, features, a score.

Each candidate pair gets the probability that it is one function (`FEATURES`, weights
fitted by ``tests/identity/fit.py``). A pair is made if both functions are each other's
best candidate by far. Pairs are evidence for their neighbours, so this is repeated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.identity.evidence import BODY, Entries, Shown, SideEvidence
from pprofdiff.identity.features import FEATURES, Features, heaviest, known_relations
from pprofdiff.identity.nesting import Nesting, implied
from pprofdiff.identity.rows import by_key
from pprofdiff.identity.symbols import Symbol, Symbols
from pprofdiff.model.arrays import Column, Mask
from pprofdiff.model.csr import grouped
from pprofdiff.parallel import both

Floats = NDArray[np.float64]

# All pairs of a package's functions are tried, up to this many.
_MOST_PAIRS = 40_000
# A property shared by more pairs than this does not distinguish functions.
_MOST_SHOWN = 64
# How many relations of each kind are kept per function; some are unpaired.
_MOST_ENTRIES = 64
_ROUNDS = 8
# Up to these log odds there is evidence against a pair.
_CONTRARY = -2.0
# Names that differ only in case are evidence by themselves, but `Parse` may have
# wrapped `parse`: from −2 on the oracle has 17 more wrong pairs.
_SPELLED = 0.0
# With more candidates than this, listing them does not help.
_CHOICES = 3

# A pair is made from these log odds on, if it leads every other pair of its functions
# by this much; with fewer than five samples, more is needed.
_ENOUGH, _LEAD, _MORE, _FEW = 1.0, 1.5, 2.0, 5
# Without lines a body cannot be compared (`sort.pdqsort` is not `sort.quickSort`), and
# packages that replace each other have functions with the same names.
_STRICT = 3.0
# Distinct body lines in common that make one function a copy of the other.
_LINES = 3
# Features of the function itself, and the value from which they count.
_OWN = "body alike", "callees alike", "below alike", "line expected"
_OWN_ALIKE = 0.25
# Log odds of each feature, for functions and for closures.
_WEIGHTS: dict[str, tuple[float, float]] = {
    "bias": (-0.29, 0.18),
    "callers known": (-3.94, -0.32),
    "callers alike": (6.51, 1.04),
    "callers only one": (-5.45, -1.44),
    "callees known": (-4.08, -2.13),
    "callees alike": (7.53, 3.94),
    "callees only one": (-3.09, -0.78),
    "above known": (-2.81, -0.91),
    "above alike": (4.49, 0.59),
    "above only one": (-4.43, -2.25),
    "below known": (-1.02, -1.86),
    "below alike": (2.32, 2.24),
    "below only one": (-1.67, -2.25),
    "body known": (-1.59, 1.52),
    "body alike": (5.87, 3.48),
    "body only one": (0.64, 0.00),
    "line expected": (2.28, 0.43),
    "line near": (2.98, 2.26),
    "line off": (-1.49, -2.69),
    "between equal shifts, off": (-2.26, 0.49),
    "same file": (0.65, 0.76),
    "other file": (-0.93, -0.58),
    "share distance": (-1.01, -2.95),
    "same name": (1.50, 0.00),
    "words": (1.50, 0.00),
    "same receiver": (1.96, 0.00),
    "closure": (0.00, 0.00),
    "other package": (0.00, 0.00),
    "number expected": (0.00, 2.02),
    "lines in common": (0.00, 0.00),
    "few": (-1.79, 0.34),
}
_OF_FUNCTIONS, _OF_CLOSURES = np.array([_WEIGHTS[name] for name in FEATURES]).T


class Candidates(Struct, frozen=True, eq=False, dict=True):
    """Pairs of functions that may be the same: rows of each side, and `FEATURES`."""

    base: Column
    new: Column
    features: Floats

    @property
    def rows(self) -> tuple[Column, Column]:
        """The rows of base and of new."""
        return self.base, self.new

    def take(self, chosen: Mask) -> Candidates:
        """Return the chosen pairs."""
        return Candidates(self.base[chosen], self.new[chosen], self.features[chosen])

    def of(self, name: str) -> Floats:
        """Return one of `FEATURES`."""
        column: Floats = self.features[:, FEATURES.index(name)]
        return column


class Matched(NamedTuple):
    """The result of `match`: (base row, new row, probability) of matched functions.

    `choices`: for unmatched rows of base, the several rows of new that they may be.
    `parted`: functions with equal names without evidence against them.
    """

    pairs: list[tuple[int, int, float]]
    choices: dict[int, tuple[int, ...]]
    parted: list[tuple[int, int]]


class Matcher:
    """Pairs the functions that two sides have left.

    `partner` is the new row of each of base's functions, -1 if unpaired (int64). `lone`
    says which functions of each side may be paired (bool).
    """

    def __init__(
        self,
        sides: tuple[SideEvidence, SideEvidence],
        symbols: tuple[Symbols, Symbols],
        partner: Column,
        lone: tuple[Mask, Mask],
    ) -> None:
        self.sides = sides
        self.symbols = symbols
        self.partner = partner.copy()
        self.lone = lone[0].copy(), lone[1].copy()
        base, new = both(self._shown, 0, 1, size=sides[0].frames)
        self._entries = base.entries, new.entries
        self.samples = base.samples, new.samples
        self._features = Features(sides, symbols, lone, self.samples)
        self._nesting = self._nested()

    def _shown(self, side: int) -> Shown:
        entries, samples = self.sides[side].shown(self.lone[side])
        return Shown(heaviest(entries, _MOST_ENTRIES), samples)

    def candidates(self, *, numbers: bool) -> Candidates:
        """Return candidate pairs of unpaired functions, with features."""
        return self.of(*self._pairs(), numbers=numbers)

    def of(self, base: Column, new: Column, *, numbers: bool) -> Candidates:
        """Return the features of the given pairs; see `Features.of` for `numbers`."""
        relations = self._known(0), self._known(1)
        known = self._features.of(self.partner, relations, (base, new), numbers=numbers)
        return Candidates(base, new, known)

    def _known(self, side: int) -> Entries:
        return known_relations(self._entries[side], self.partner, side)

    def accept(self, base: int, new: int) -> bool:
        """Accept a pair; returns False if it contradicts the nesting of closures."""
        pair = self.symbols[0][base], self.symbols[1][new]
        if not self._nesting.agrees(*pair):
            return False
        self._nesting.take(*pair)
        self.partner[base] = new
        self.lone[0][base] = False
        self.lone[1][new] = False
        return True

    def nested(self, candidates: Candidates) -> Candidates:
        """Return the pairs that agree with the pairs of their enclosing functions."""
        kept = np.ones(len(candidates.base), np.bool_)
        for side, rows in enumerate(candidates.rows):
            some, place = grouped(rows)
            symbols = (self.symbols[side][row] for row in some.tolist())
            known = [self._nesting.knows(side, symbol) for symbol in symbols]
            kept &= ~np.array(known, np.bool_)[place]
        # Pairs of functions that nothing is known about agree: they are equally nested.
        for i in np.flatnonzero(~kept).tolist():
            base, new = (int(rows[i]) for rows in candidates.rows)
            kept[i] = self._nesting.agrees(self.symbols[0][base], self.symbols[1][new])
        return candidates.take(kept)

    def _nested(self) -> Nesting:
        """Return the nesting implied by pairs in packages with unpaired closures."""
        new_of = self.partner.tolist()
        pairs = (
            (symbol, self.symbols[1][new_of[row]])
            for row, symbol in self._near(0)
            if new_of[row] >= 0
        )
        return implied(pairs, self._lone_symbols(0), self._lone_symbols(1))

    def _lone_symbols(self, side: int) -> Iterator[Symbol]:
        rows = np.flatnonzero(self.lone[side]).tolist()
        return (self.symbols[side][row] for row in rows)

    def _pairs(self) -> tuple[Column, Column]:
        """Return the pairs of functions that belong to the same place."""
        parts = [np.zeros((2, 0), np.int64)]
        for old, now in by_key(self._places(0), self._places(1)):
            rows = np.array(old, np.int64), np.array(now, np.int64)
            if len(old) * len(now) <= _MOST_PAIRS:
                every = np.repeat(rows[0], len(now)), np.tile(rows[1], len(old))
                parts.append(np.stack(every))
            else:
                parts.append(self._related(*rows))
        base, new = np.concatenate(parts, axis=1)
        return base, new

    def _places(self, side: int) -> Iterator[tuple[int, Hashable]]:
        """Yield each unpaired function, and the place in which to look for its partner.

        That is its package. A closure belongs to its enclosing function or, if that is
        unpaired, to the closures of such functions in its package. Functions in a
        package that the other side lacks may have moved with it.
        """
        homes, packages = self._homes, self._known_packages
        paired = self.partner >= 0
        new_of = self.partner
        if side == 1:
            new_of = np.full(len(self.sides[1]), -1, np.int64)
            new_of[self.partner[paired]] = self.partner[paired]
        for row in np.flatnonzero(self.lone[side]).tolist():
            symbol = self.symbols[side][row]
            key = symbol.package, symbol.function
            if not all(symbol.package in known for known in packages):
                yield row, ("elsewhere", symbol.kinds, symbol.function)
            elif not symbol.kinds:
                yield row, symbol.package
            elif (home := homes[side].get(key, -1)) >= 0 and new_of[home] >= 0:
                yield row, (symbol.package, symbol.kinds, int(new_of[home]))
            else:
                stays = all(key in known for known in homes)
                yield row, (symbol.package, symbol.kinds, key if stays else "")

    @cached_property
    def _homes(self) -> list[dict[tuple[str, str], int]]:
        """The row of each side's functions that enclose unpaired closures, or -1."""
        asked = {
            (symbol.package, symbol.function)
            for side in (0, 1)
            for symbol in self._lone_symbols(side)
            if symbol.kinds
        }
        homes: list[dict[tuple[str, str], int]] = [{}, {}]
        for side, found in enumerate(homes):
            for row, symbol in self._near(side):
                key = symbol.package, symbol.function
                if key in asked and not symbol.kinds:
                    found[key] = row
                elif key in asked:
                    found.setdefault(key, -1)
        return homes

    def _near(self, side: int) -> Iterator[tuple[int, Symbol]]:
        """Yield the functions of packages with unpaired closures."""
        symbols = self.symbols[side]
        for row, package in enumerate(symbols.packages):
            if package in self._of_closures:
                yield row, symbols[row]

    @cached_property
    def _of_closures(self) -> set[str]:
        return {
            symbol.package
            for side in (0, 1)
            for symbol in self._lone_symbols(side)
            if symbol.kinds
        }

    @cached_property
    def _known_packages(self) -> list[set[str]]:
        return [set(symbols.packages) for symbols in self.symbols]

    def _related(self, base: Column, new: Column) -> NDArray[np.int64]:
        """Return the pairs of two long lists that share a relation or name."""
        pairs = {
            (i, j)
            for old, now in by_key(self._shows(0, base), self._shows(1, new))
            if len(old) * len(now) <= _MOST_SHOWN
            for i in old
            for j in now
        }
        return np.array(sorted(pairs), np.int64).reshape(-1, 2).T

    def _shows(self, side: int, rows: Column) -> Iterator[tuple[int, Hashable]]:
        """Yield functions with each of their relations, and with their names."""
        chosen = np.zeros(len(self.sides[side]), np.bool_)
        chosen[rows] = True
        entries = self._known(side)
        shown = entries.take(chosen[entries.function] & (entries.kind != BODY))
        relations = zip(shown.kind.tolist(), shown.other.tolist(), strict=True)
        yield from zip(shown.function.tolist(), relations, strict=True)
        for row in rows.tolist():
            yield row, self.symbols[side][row].last


def match(
    sides: tuple[SideEvidence, SideEvidence],
    symbols: tuple[Symbols, Symbols],
    partner: Column,
    lone: tuple[Mask, Mask],
    parted: Sequence[tuple[int, int]],
    spelled: Sequence[tuple[int, int]] = (),
) -> Matched:
    """Pair the functions that two sides have left, as `Matcher`.

    `parted` are (base row, new row) of unpaired functions with equal names, to be
    judged too. `spelled` share a name with no others, apart from case: paired unless
    samples contradict it.
    """
    matcher = Matcher(sides, symbols, partner, lone)
    pairs: list[tuple[int, int, float]] = []
    choices: dict[int, tuple[int, ...]] = {}
    numbers = False
    for _ in range(_ROUNDS):
        candidates = matcher.nested(matcher.candidates(numbers=numbers))
        if not len(candidates.base):
            break
        scores = _scores(candidates)
        likely = _likely(candidates, scores, matcher.samples)
        ahead = _lead(candidates, scores, (len(sides[0]), len(sides[1]))) >= _LEAD
        choices = _several(candidates, likely & ~ahead)
        decided = _accepted(matcher, candidates, scores, likely & ahead)
        if decided:
            pairs += decided
        elif numbers:
            break
        else:
            numbers = True
    pairs += _from(_SPELLED, matcher, spelled)
    kept = [(base, new) for base, new, _ in _from(_CONTRARY, matcher, parted)]
    return Matched(pairs, choices, kept)


def _from(
    least: float, matcher: Matcher, given: Sequence[tuple[int, int]]
) -> list[tuple[int, int, float]]:
    """Accept the given pairs whose log odds are at least `least`."""
    left = [
        (old, now) for old, now in given if matcher.lone[0][old] & matcher.lone[1][now]
    ]
    if not left:
        return []
    candidates = matcher.of(*np.array(left, np.int64).T, numbers=True)
    scores = _scores(candidates)
    return _accepted(matcher, candidates, scores, scores >= least)


def _accepted(
    matcher: Matcher, candidates: Candidates, scores: Floats, chosen: Mask
) -> list[tuple[int, int, float]]:
    """Accept the chosen pairs, enclosing functions first; return probabilities too."""
    depths = [len(matcher.symbols[0][row].kinds) for row in candidates.base.tolist()]
    order = np.lexsort((-scores, np.array(depths, np.int64)))
    chances = 1 / (1 + np.exp(-scores))
    return [
        (base, new, chance)
        for base, new, chance in zip(
            *(column[order[chosen[order]]].tolist() for column in candidates.rows),
            chances[order[chosen[order]]].tolist(),
            strict=True,
        )
        if matcher.accept(base, new)
    ]


def _scores(candidates: Candidates) -> Floats:
    scores: Floats = np.where(
        candidates.of("closure") > 0,
        candidates.features @ _OF_CLOSURES,
        candidates.features @ _OF_FUNCTIONS,
    )
    return scores


def _likely(
    candidates: Candidates, scores: Floats, samples: tuple[Column, Column]
) -> Mask:
    """Return which pairs are one function unless others are likelier.

    A function's replacement has the same callers, file and receiver, so something of
    the functions themselves must be similar, too.
    """
    counts = [side[rows] for side, rows in zip(samples, candidates.rows, strict=True)]
    elsewhere = candidates.of("other package") > 0
    strict = elsewhere | (candidates.of("body known") == 0)
    least = np.where(strict, _STRICT, _ENOUGH) + _MORE * (np.minimum(*counts) < _FEW)
    own = np.maximum.reduce([candidates.of(name) for name in _OWN]) >= _OWN_ALIKE
    own |= candidates.of("same name") > 0
    copied = (candidates.of("same file") > 0) & (candidates.of("body alike") >= 0.5)
    own &= ~elsewhere | (copied & (candidates.of("lines in common") >= _LINES))
    likely: Mask = (scores >= least) & (own | (candidates.of("closure") > 0))
    return likely


def _several(candidates: Candidates, chosen: Mask) -> dict[int, tuple[int, ...]]:
    """Return base's functions that may be one of a few functions of new."""
    rows: dict[int, list[int]] = defaultdict(list)
    for base, new in zip(
        candidates.base[chosen].tolist(), candidates.new[chosen].tolist(), strict=True
    ):
        rows[base].append(new)
    return {base: tuple(new) for base, new in rows.items() if 1 < len(new) <= _CHOICES}


def _lead(candidates: Candidates, scores: Floats, sizes: tuple[int, int]) -> Floats:
    """Return how far each pair leads all others of both its functions."""
    lead = np.full(len(scores), np.inf)
    for rows, size in zip(candidates.rows, sizes, strict=True):
        best = np.full(size, -np.inf)
        np.maximum.at(best, rows, scores)
        first = scores >= best[rows]
        second = np.full(size, -np.inf)
        np.maximum.at(second, rows, np.where(first, -np.inf, scores))
        shared = np.bincount(rows[first], minlength=size) > 1
        second = np.where(shared, best, second)
        lead = np.minimum(lead, np.where(first, scores - second[rows], -np.inf))
    return lead
