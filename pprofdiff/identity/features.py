"""Features of two functions that may be the same: how similar their samples are."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.identity.evidence import BODY, Entries, SideEvidence
from pprofdiff.identity.symbols import Symbol, Symbols, words
from pprofdiff.model.arrays import Column, Mask
from pprofdiff.model.csr import expand, offsets_of, order_of

Matrix = NDArray[np.float64]
Floats = NDArray[np.float64]

_RELATIONS = ("callers", "callees", "above", "below", "body")
_OF_NAMES = ("same name", "words", "same receiver", "closure", "other package")

FEATURES = (
    "bias",
    *(
        f"{kind} {what}"
        for kind in _RELATIONS
        for what in ("known", "alike", "only one")
    ),
    "line expected",
    "line near",
    "line off",
    "between equal shifts, off",
    "same file",
    "other file",
    "share distance",
    *_OF_NAMES,
    "number expected",
    "lines in common",
    "few",
)
"""The features of a candidate pair, each roughly between 0 and 1."""

_KINDS = len(_RELATIONS)
# The number of samples at which a similarity counts half.
_FEW = 2.0
# Only the heaviest relations of a function are used.
_MOST_ENTRIES = 24
# A function that moved by itself is within this many lines of where it was expected.
_NEAR, _FAR = 8.0, 50.0
# From this many samples on, what only one of two functions has is significant.
_SOME = 8.0
# Shares differ by at most this factor (log): a change may be large.
_FARTHEST = 4.0
_TINY = 1e-12
_NONE_GROWN = [(0, 0)]
# Keys combine a row and a number below this.
_SPAN = 1 << 31


Sides = tuple[SideEvidence, SideEvidence]
BothSymbols = tuple[Symbols, Symbols]


def known_relations(entries: Entries, partner: Column, side: int) -> Entries:
    """Return one side's relations to paired functions, and its lines.

    Functions become rows of new; `partner` has new's row for each of base's functions.
    """
    line = entries.kind == BODY
    rows = np.where(line, 0, entries.other)
    if side == 0:
        other = np.where(line, entries.other, partner[rows])
    else:
        known = partner[partner >= 0]
        paired = np.zeros(max(int(a.max(initial=-1)) for a in (known, rows)) + 1, bool)
        paired[known] = True
        other = np.where(line | paired[rows], entries.other, -1)
    keep = other >= 0
    return replace(entries, other=other).take(keep)


def heaviest(entries: Entries, most: int) -> Entries:
    """Return the `most` heaviest relations of each kind for each function, in order."""
    weight = np.minimum(entries.weight, _SPAN - 1)
    top = int(weight.max(initial=0))
    lightness = _slots(entries) * (top + 1) + (top - weight)
    return _first(entries.take(order_of(lightness)), most)


def _first(entries: Entries, most: int) -> Entries:
    slots = _slots(entries)
    first = np.flatnonzero(np.append(True, slots[1:] != slots[:-1])[: len(slots)])
    begins = np.repeat(first, np.diff(np.append(first, len(slots))))
    return entries.take(np.arange(len(slots)) - begins < most)


def _slots(entries: Entries) -> Column:
    return entries.function * _KINDS + entries.kind


class Features:
    """Features of candidate pairs of functions.

    `lone` says which functions of each side may be in a pair (bool); `samples` are the
    number of samples that contain each function (int64).
    """

    def __init__(
        self,
        sides: Sides,
        symbols: BothSymbols,
        lone: tuple[Mask, Mask],
        samples: tuple[Column, Column],
    ) -> None:
        self._sides = sides
        self._symbols = symbols
        self._samples = samples
        self._files = _files(sides, symbols, lone)

    def of(
        self,
        partner: Column,
        relations: tuple[Entries, Entries],
        pairs: tuple[Column, Column],
        *,
        numbers: bool,
    ) -> Matrix:
        """Return the features of pairs, float64 of shape (pairs, `FEATURES`).

        `partner` is the new row of each of base's functions, -1 if unpaired (int64).
        `relations` are between unpaired functions, see `known_relations`. `numbers`
        says whether closures' numbers count: other evidence has then shown which were
        renumbered.
        """
        sides, symbols = self._sides, self._symbols
        x = dict.fromkeys(FEATURES, np.zeros(len(pairs[0])))
        x["bias"] = np.ones(len(pairs[0]))
        x |= _alike(sides, relations, pairs)
        x |= _lines(sides, self._files, partner, pairs)
        x |= _names(symbols, pairs)
        if numbers:
            x["number expected"] = _numbers(symbols, partner, pairs)
        samples = [
            np.maximum(side[rows], 1)
            for side, rows in zip(self._samples, pairs, strict=True)
        ]
        fewer = np.minimum(*samples)
        shares = [
            np.log(own / max(side.total, 1))
            for side, own in zip(sides, samples, strict=True)
        ]
        distance = np.minimum(np.abs(shares[0] - shares[1]), _FARTHEST)
        x["share distance"] = distance * fewer / (fewer + _FEW)
        x["few"] = 1 / np.sqrt(fewer)
        return np.stack([x[name] for name in FEATURES], axis=1)


def _alike(
    sides: Sides, known: tuple[Entries, Entries], pairs: tuple[Column, Column]
) -> dict[str, Floats]:
    """Return how similar callers, callees, bodies and functions farther away are."""
    relations = [
        _Relations(entries, len(side))
        for entries, side in zip(known, sides, strict=True)
    ]
    # The fewer functions of both sides have a relation, the more informative it is.
    counts = np.bincount(np.concatenate([_relation(one.entries) for one in relations]))
    worth = 1 / (1 + np.log2(np.maximum(counts, 1)))
    for one in relations:
        one.weigh(worth)
    base, new = pairs
    x: dict[str, Floats] = {}
    for kind, name in enumerate(_RELATIONS):
        shared, common = relations[0].common(relations[1], kind, base, new)
        totals = relations[0].total[base, kind] + relations[1].total[new, kind]
        seen = relations[0].seen[base, kind], relations[1].seen[new, kind]
        fewer, more = np.minimum(*seen), np.maximum(*seen)
        sure = fewer / (fewer + _FEW)
        x[f"{name} known"] = sure
        x[f"{name} alike"] = sure * common / np.maximum(totals - common, _TINY)
        x[f"{name} only one"] = np.where(fewer > 0, 0.0, more / (more + _SOME))
        if kind == BODY:
            x["lines in common"] = shared
    return x


class _Files(Struct, frozen=True, eq=False):
    """The source files of unpaired functions, numbered by name and package.

    `of_base` and `of_new` (int64) hold the file of each function, 0 if it is unknown or
    no file with that name has an unpaired function. `name` (int64) maps files with the
    same name in any package to the same number.
    """

    of_base: Column
    of_new: Column
    name: Column


def _files(sides: Sides, symbols: BothSymbols, lone: tuple[Mask, Mask]) -> _Files:
    """Return numbers for the source files of unpaired functions."""
    wanted = {
        side.file_names[row]
        for side, own in zip(sides, lone, strict=True)
        for row in np.flatnonzero(own).tolist()
    } - {""}
    ids: dict[tuple[str, str], int] = {("", ""): 0}
    base, new = (
        np.array(
            [
                ids.setdefault((package, file), len(ids)) if file in wanted else 0
                for package, file in zip(of.packages, side.file_names, strict=True)
            ],
            np.int64,
        )
        for of, side in zip(symbols, sides, strict=True)
    )
    names = [ids.setdefault(("", name), len(ids)) for _, name in [*ids]]
    return _Files(base, new, np.array(names, np.int64))


def _lines(
    sides: Sides, files: _Files, partner: Column, pairs: tuple[Column, Column]
) -> dict[str, Floats]:
    """Return whether a function begins where its neighbours in the file suggest."""
    base, new = pairs
    own = files.of_base[base], files.of_new[new]
    named = (own[0] > 0) & (own[1] > 0)
    same = files.name[own[0]] == files.name[own[1]]
    starts = sides[0].start[base], sides[1].start[new]
    # Paired functions show by how many lines the source of their files moved.
    rows = np.flatnonzero(partner >= 0)
    lined = (sides[0].start[rows] > 0) & (sides[1].start[partner[rows]] > 0)
    rows = rows[lined]
    partners = partner[rows]
    size = len(files.name)
    place = files.of_base[rows] * size + files.of_new[partners]
    key = place * _SPAN + sides[0].start[rows]
    order = np.argsort(key, kind="stable")
    moved = (sides[1].start[partners] - sides[0].start[rows])[order]
    place, key = np.append(place[order], -1), key[order]
    moved = np.append(moved, 0)
    wanted = own[0] * size + own[1]
    at = np.searchsorted(key, wanted * _SPAN + starts[0], "right")
    known = named & (starts[0] > 0) & (starts[1] > 0)
    before = known & (at > 0) & (place[at - 1] == wanted)
    after = known & (place[at] == wanted)
    shift = starts[1] - starts[0]
    off = [
        np.where(there, np.abs(shift - moved[rows]), np.inf)
        for there, rows in ((before, at - 1), (after, at))
    ]
    nearest = np.minimum(*off)
    anchored = before | after
    alike = before & after & (moved[at - 1] == moved[at])
    return {
        "same file": 1.0 * (named & same),
        "other file": 1.0 * (named & ~same),
        "line expected": 1.0 * (nearest == 0),
        "line near": np.exp(-nearest / _NEAR),
        "line off": np.where(anchored, np.minimum(nearest / _FAR, 2.0), 0.0),
        "between equal shifts, off": 1.0 * (alike & (nearest > 0)),
    }


def _names(symbols: BothSymbols, pairs: tuple[Column, Column]) -> dict[str, Floats]:
    known: dict[str, frozenset[str]] = {}
    x = {name: np.zeros(len(pairs[0])) for name in _OF_NAMES}
    rows = zip(*(side.tolist() for side in pairs), strict=True)
    for k, (i, j) in enumerate(rows):
        old, now = symbols[0][i], symbols[1][j]
        x["other package"][k] = old.package != now.package
        if old.kinds:
            x["closure"][k] = 1
            continue
        x["same name"][k] = old.last == now.last
        for name in (old.last, now.last):
            if name not in known:
                known[name] = words(name)
        mine, theirs = known[old.last], known[now.last]
        x["words"][k] = len(mine & theirs) / max(len(mine | theirs), 1)
        owner = old.function.rpartition(".")[0]
        same = owner != "" and owner == now.function.rpartition(".")[0]
        x["same receiver"][k] = same
    return x


def _numbers(
    symbols: BothSymbols, partner: Column, pairs: tuple[Column, Column]
) -> Floats:
    """Return which closures have the number that their neighbors' numbers suggest.

    Between two paired closures of a function, numbers grow by as much as one of those
    two did; before the first pair they are unchanged.
    """
    grown: dict[object, list[tuple[int, int]]] = defaultdict(lambda: [(0, 0)])
    for row, old in symbols[0].closures:
        other = int(partner[row])
        if other >= 0 and old.kinds == (now := symbols[1][other]).kinds:
            grown[_home(now)].append((old.numbers[0], now.numbers[0] - old.numbers[0]))
    for steps in grown.values():
        steps.sort()
    expected = np.zeros(len(pairs[0]))
    rows = zip(*(side.tolist() for side in pairs), strict=True)
    for k, (i, j) in enumerate(rows):
        old, now = symbols[0][i], symbols[1][j]
        if old.kinds and old.numbers[1:] == now.numbers[1:]:
            steps = grown.get(_home(now), _NONE_GROWN)
            at = bisect_right(steps, (old.numbers[0], _SPAN))
            near = {growth for _, growth in steps[max(at - 1, 0) : at + 1]}
            expected[k] = now.numbers[0] - old.numbers[0] in near
    return expected


def _home(symbol: Symbol) -> tuple[str, ...]:
    return symbol.package, symbol.function, symbol.kinds[0]


class _Relations:
    """One side's relations, given by function and kind, heaviest first."""

    def __init__(self, entries: Entries, size: int) -> None:
        self.seen = np.bincount(
            _slots(entries),
            entries.weight.astype(np.float64),
            minlength=size * _KINDS,
        ).reshape(-1, _KINDS)
        entries = _first(entries, _MOST_ENTRIES)
        width = int(entries.other.max(initial=0)) + 1
        self.entries = entries.take(order_of(_slots(entries) * width + entries.other))
        self.slot = _slots(self.entries)
        self.offsets = offsets_of(np.bincount(self.slot, minlength=size * _KINDS))
        share = self.seen.ravel()[self.slot]
        self.share = self.entries.weight / np.maximum(share, 1)
        self.total = np.zeros_like(self.seen)

    def weigh(self, worth: Floats) -> None:
        self.share = self.share * worth[_relation(self.entries)]
        size = self.seen.size
        self.total = np.bincount(self.slot, self.share, minlength=size).reshape(
            -1, _KINDS
        )

    def common(
        self, other: _Relations, kind: int, base: Column, new: Column
    ) -> tuple[Floats, Floats]:
        """Return how many relations of a kind both functions of each pair have."""
        slots = base * _KINDS + kind
        counts = (self.offsets[1:] - self.offsets[:-1])[slots]
        at = expand(self.offsets[:-1][slots], counts)
        wanted = np.repeat((new * _KINDS + kind) * _SPAN, counts)
        wanted += self.entries.other[at]
        theirs = np.append(other.slot * _SPAN + other.entries.other, -1)
        place = np.searchsorted(theirs[:-1], wanted)
        both = np.flatnonzero(theirs[place] == wanted)
        # These arrays are the largest of all, so that no more of them exist at once.
        del wanted, theirs
        least = np.minimum(self.share[at[both]], other.share[place[both]])
        pair = np.repeat(np.arange(len(base)), counts)[both]
        worth: Floats = np.bincount(pair, least, minlength=len(base)).astype(float)
        return np.bincount(pair, minlength=len(base)).astype(float), worth


def _relation(entries: Entries) -> Column:
    return entries.other * _KINDS + entries.kind
