"""Match functions by two source trees, which take precedence over samples.

What is in the same place in both trees is one function, however its text changed. A
function in only one tree was renamed or moved if only the other tree has one with
nearly the same text, or became a method of the same name; else it is gone, or new.
Closures follow their function.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from pprofdiff.identity.declared import Declared, Key, Literal, Place, Tree
from pprofdiff.identity.rows import by_key

# Words, or comments, which are dropped.
_WORD = re.compile(
    r"//[^\n]*|/\*.*?\*/|`[^`]*`|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|\w+|[^\w\s]",
    re.DOTALL,
)
_COMMENT = "//", "/*"
# Of 775 functions changed by 300 commits of five repositories, 91% have at least this
# similarity to their old text. Among functions in one tree only, no two that readers of
# the commits called different have it, unless a third one is more similar.
_ALIKE, _AHEAD = 0.7, 0.1
# For a function of the same name with another receiver or package; 96% reach this. Of
# 16 such pairs below 0.8 in 1,250 commits of five other repositories, not used before,
# two were of other types (`Pin`, `isLink`).
_ALIKE_NAMED = 0.5
# Of 41 pairs in those commits with similar but unequal texts, 39 are one function.
_CHANCE = 0.95
# `func (s byID) Len() int { return len(s) }` resembles many: it has 16 words.
_WORDS = 20
# More pairs than this are compared only within a folder or with equal names.
_MOST = 50_000
_TEXTS = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Matches by trees of the functions in both sides' profiles.

    `base` and `new` have a label for each function: those with equal labels are one, or
    instances of one; None if the trees do not decide. `chance` has the probability of
    labels that rest on nearly equal texts.
    """

    base: Sequence[Hashable | None]
    new: Sequence[Hashable | None]
    chance: Mapping[Hashable, float]


def compared(base: Tree, new: Tree) -> Labels:
    """Return how two trees match the functions of their sides' profiles."""
    sampled = [
        {place.key for place in tree.places if place is not None}
        for tree in (base, new)
    ]
    pairs = renamed(
        {k: _one(v) for k, v in base.declared.items() if k not in new.declared},
        {k: _one(v) for k, v in new.declared.items() if k not in base.declared},
        (sampled[0], sampled[1]),
    )
    old_of = {now: old for old, (now, _) in pairs.items()}
    closures = _Closures(base, new, old_of)
    known = {place for place in base.places if place is not None}

    def of_base(place: Place | None) -> Hashable | None:
        if place is None or (
            place.key.folder not in new.folders and place.key not in pairs
        ):
            return None
        return place

    def of_new(place: Place | None) -> Hashable | None:
        if place is None or (
            place.key.folder not in base.folders and place.key not in old_of
        ):
            return None
        key = old_of.get(place.key, place.key)
        if place.kind and (place.key in new.declared or key in base.declared):
            old = closures.of(place)
            return ("new", place) if old is None else old
        return place._replace(key=key)

    return Labels(
        [of_base(place) for place in base.places],
        [of_new(place) for place in new.places],
        {
            place: _CHANCE
            for place in known
            if place.key in pairs and pairs[place.key][1] < 1
        },
    )


def _one(declared: Sequence[Declared]) -> Declared:
    return declared[0]


def renamed(
    gone: Mapping[Key, Declared],
    added: Mapping[Key, Declared],
    sampled: tuple[set[Key], set[Key]],
) -> dict[Key, tuple[Key, float]]:
    """Return what functions of base's tree became in new's, and their similarity.

    `gone` and `added` are those that only base's tree has, and only new's; `sampled`
    are those in each side's profiles.
    """
    found = dict(_moved(gone, added)) | dict(_made_methods(gone, added))
    taken = {now for now, _ in found.values()}
    left = [key for key in gone if key not in found]
    free = [key for key in added if key not in taken]
    wanted = [key for key in left if key in sampled[0]]
    others = [key for key in free if key in sampled[1]]
    if not wanted or not others:
        return found
    asked = {(old, now) for old in wanted for now in free}
    asked |= {(old, now) for now in others for old in left}
    if len(asked) > _MOST:
        asked = {p for p in asked if p[0].folder == p[1].folder or _named_alike(*p)}
    scores = {(old, now): alike(gone[old], added[now]) for old, now in asked}
    best = _Best(scores)
    for old in wanted:
        now = best.of(old)
        if now is None or now not in sampled[1]:
            continue
        score = scores[old, now]
        same = _named_alike(old, now)
        few = min(_size(gone[old]), _size(added[now])) < _WORDS
        if (same or not few) and score >= (_ALIKE_NAMED if same > few else _ALIKE):
            found[old] = now, score
    return found


_Only = Mapping[Key, Declared]
"""Functions that one of the trees has."""


def _moved(gone: _Only, added: _Only) -> Iterator[tuple[Key, tuple[Key, float]]]:
    """Yield functions with the same unique name and similar text in another folder."""
    for before, after in _unique(gone, added, lambda key: key.name):
        score = alike(gone[before], added[after])
        if score >= _ALIKE:
            yield before, (after, score)


def _made_methods(gone: _Only, added: _Only) -> Iterator[tuple[Key, tuple[Key, float]]]:
    """Yield functions that became the only method with their name, or the reverse.

    Their texts differ in all uses of what is now the receiver.
    """
    for before, after in _unique(gone, added, lambda key: (key.folder, _last(key))):
        if ("." in before.name) != ("." in after.name):
            yield before, (after, alike(gone[before], added[after]))


def _unique(
    gone: _Only, added: _Only, by: Callable[[Key], Hashable]
) -> Iterator[tuple[Key, Key]]:
    """Yield (gone, added) functions that are each alone with what `by` returns."""
    keys = list(gone), list(added)
    for old, now in by_key(*(enumerate(map(by, side)) for side in keys)):
        if len(old) == len(now) == 1:
            yield keys[0][old[0]], keys[1][now[0]]


class _Best:
    """Which pairs are far more similar than any other of both their functions."""

    def __init__(self, scores: Mapping[tuple[Key, Key], float]) -> None:
        self._of: tuple[dict[Key, list[tuple[float, Key]]], ...] = {}, {}
        for (old, now), score in scores.items():
            # Equal names break ties.
            worth = score + (_AHEAD if _named_alike(old, now) else 0)
            for side, (one, other) in enumerate(((old, now), (now, old))):
                top = self._of[side].setdefault(one, [])
                top.append((worth, other))
                top.sort(key=lambda pair: -pair[0])
                del top[2:]

    def of(self, old: Key) -> Key | None:
        """Return the function of new that one of base became, None for none."""
        now = self._ahead(0, old)
        return now if now is not None and self._ahead(1, now) == old else None

    def _ahead(self, side: int, key: Key) -> Key | None:
        top = self._of[side].get(key, [])
        if not top:
            return None
        lead = top[0][0] - top[1][0] if len(top) > 1 else 1.0
        # Equal texts lead all unequal ones.
        exact = top[0][0] >= 1 and lead > 0
        return top[0][1] if exact or lead >= _AHEAD else None


def _named_alike(one: Key, other: Key) -> bool:
    return _last(one) == _last(other)


def _last(key: Key) -> str:
    return key.name.rpartition(".")[2]


def alike(base: Declared, new: Declared) -> float:
    """Return the similarity of two texts, 0 to 1, regardless of the functions' names.

    It is the fraction of pairs of adjacent words that both have.
    """
    old, now = (_pairs(one.text, _last(one.key)) for one in (base, new))
    whole = old.total() + now.total()
    fewer = min(old.total(), now.total())
    # An upper bound: most need not be compared.
    if not whole or 2 * fewer / whole < _ALIKE_NAMED:
        return 0.0
    return 2 * (old & now).total() / whole


@lru_cache(_TEXTS)
def _pairs(text: str, own: str) -> Counter[tuple[str, str]]:
    words = ["" if word == own else word for word in _words(text)]
    return Counter(pairwise(words))


def _size(declared: Declared) -> int:
    return len(_words(declared.text))


@lru_cache(_TEXTS)
def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in _WORD.findall(text) if not word.startswith(_COMMENT))


class _Closures:
    """Matches closures of base and new, function by function."""

    def __init__(self, base: Tree, new: Tree, old_of: Mapping[Key, Key]) -> None:
        self._trees = base, new
        self._old_of = old_of
        self._known: dict[Key, dict[Place, Place]] = {}

    def of(self, place: Place) -> Place | None:
        """Return the place in base of a closure of new, None if it has none."""
        if place.key not in self._known:
            old = self._old_of.get(place.key, place.key)
            self._known[place.key] = dict(self._pairs(old, place.key))
        return self._known[place.key].get(place)

    def _pairs(self, old: Key, now: Key) -> Iterator[tuple[Place, Place]]:
        base = _with_literals(self._trees[0].declared.get(old, ()))
        new = _with_literals(self._trees[1].declared.get(now, ()))
        if base is None or new is None:
            return
        for one, other in aligned(base.literals, new.literals):
            yield (
                Place(now, other.line, other.kind),
                Place(old, one.line, one.kind),
            )


def _with_literals(declared: Sequence[Declared]) -> Declared | None:
    return next((one for one in declared if one.literals), None)


def aligned(
    base: Sequence[Literal], new: Sequence[Literal]
) -> Iterator[tuple[Literal, Literal]]:
    """Yield matching literals of a function: equal texts first, in order.

    Between two such matches they are paired in order if their kinds agree on both
    sides, else by similarity.
    """
    texts = [[(one.kind, _words(one.text)) for one in side] for side in (base, new)]
    matcher = SequenceMatcher(None, texts[0], texts[1], autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            yield from zip(base[i:j], new[k:m], strict=True)
        elif tag == "replace":
            yield from _replaced(base[i:j], new[k:m])


def _replaced(
    base: Sequence[Literal], new: Sequence[Literal]
) -> Iterator[tuple[Literal, Literal]]:
    if [one.kind for one in base] == [one.kind for one in new]:
        yield from zip(base, new, strict=True)
        return
    left = list(new)
    for one in base:
        scores = [
            (_shared(one.text, other.text), -place)
            for place, other in enumerate(left)
            if other.kind == one.kind
        ]
        score, place = max(scores, default=(0.0, 0))
        if score >= _ALIKE_NAMED:
            yield one, left[-place]
            # Order is kept, so those before the match are skipped.
            left = left[1 - place :]


def _shared(base: str, new: str) -> float:
    old, now = _pairs(base, ""), _pairs(new, "")
    return 2 * (old & now).total() / max(old.total() + now.total(), 1)
