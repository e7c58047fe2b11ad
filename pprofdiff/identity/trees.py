"""Which functions of two source trees are one: trees decide before samples do.

What stands in the same place in both trees is one function, however its text changed. A
function that only one tree has was renamed or moved where the other tree alone has one
of the same or nearly the same text; else it is gone, or new. Closures go with the
function that they stand in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from pprofdiff.identity.declared import Declared, Key, Literal, Place, Tree
from pprofdiff.identity.rows import by_key

__all__ = ["Labels", "alike", "compared", "renamed"]

# Words, and comments, which are none.
_WORD = re.compile(
    r"//[^\n]*|/\*.*?\*/|`[^`]*`|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|\w+|[^\w\s]",
    re.DOTALL,
)
_COMMENT = "//", "/*"
# Of 775 functions that 300 commits of five repositories changed, 91 % were this much
# alike before and after. Of functions that one tree alone has, no two that people who
# read the commits call different were, unless a third was more alike.
_ALIKE, _AHEAD = 0.7, 0.1
# A function of the same name that has another receiver or package; 96 % are. Of 16
# such pairs in 1,250 commits of five other repositories, none of them looked at
# before, that were less than 0.8 alike, two were of other types (`Pin`, `isLink`).
_ALIKE_NAMED = 0.5
# Of 41 pairs of those commits that are less alike than equal, 39 are one function.
_CHANCE = 0.95
# `func (s byID) Len() int { return len(s) }` is like any other: it has 16 words.
_WORDS = 20
# More pairs than these are compared only where they stay in a folder or keep a name.
_MOST = 50_000
_TEXTS = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """What trees say of the functions of both sides' profiles.

    `base` and `new` have a label for each: functions of unequal labels are two, those
    of one label are one, or instances of it. None: the trees say nothing. `chance` has
    the probability of those labels that rest on texts which are nearly the same.
    """

    base: Sequence[Hashable | None]
    new: Sequence[Hashable | None]
    chance: Mapping[Hashable, float]


def compared(base: Tree, new: Tree) -> Labels:
    """Return what two trees say of the functions of their sides' profiles."""
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
    """Return what functions that one tree has became in the other, and how alike.

    Parameters
    ----------
    gone, added
        The functions that only base's tree has, and only new's.
    sampled
        Those of each side's profiles: of others none asks.

    """
    found = dict(_moved(gone, added))
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


def _moved(
    gone: Mapping[Key, Declared], added: Mapping[Key, Declared]
) -> Iterator[tuple[Key, tuple[Key, float]]]:
    """Yield what kept its name and text in another folder, where none else has it."""
    rows = [enumerate(key.name for key in side) for side in (gone, added)]
    keys = list(gone), list(added)
    for old, now in by_key(*rows):
        if len(old) == len(now) == 1:
            before, after = keys[0][old[0]], keys[1][now[0]]
            score = alike(gone[before], added[after])
            if score >= _ALIKE:
                yield before, (after, score)


class _Best:
    """Which pairs are far more alike than any other of both their functions."""

    def __init__(self, scores: Mapping[tuple[Key, Key], float]) -> None:
        self._of: tuple[dict[Key, list[tuple[float, Key]]], ...] = {}, {}
        for (old, now), score in scores.items():
            # Names that stay break ties.
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
        # Equal texts are ahead of all that are not.
        exact = top[0][0] >= 1 and lead > 0
        return top[0][1] if exact or lead >= _AHEAD else None


def _named_alike(one: Key, other: Key) -> bool:
    return _last(one) == _last(other)


def _last(key: Key) -> str:
    return key.name.rpartition(".")[2]


def alike(base: Declared, new: Declared) -> float:
    """Return how alike two texts are, 0 to 1, whatever the functions are called.

    It is the part of pairs of neighbouring words that both have.
    """
    old, now = (_pairs(one.text, _last(one.key)) for one in (base, new))
    whole = old.total() + now.total()
    fewer = min(old.total(), now.total())
    # So much at best: most need not be compared.
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
    """Which closure of base is which of new, function by function."""

    def __init__(self, base: Tree, new: Tree, old_of: Mapping[Key, Key]) -> None:
        self._trees = base, new
        self._old_of = old_of
        self._known: dict[Key, dict[Place, Place]] = {}

    def of(self, place: Place) -> Place | None:
        """Return the place in base of a closure of new, None where it is not there."""
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
    """Yield which literals of a function are one: equal texts first, in their order.

    What stands between two of them is one where both sides have as many of a kind, or
    where no others there are more alike.
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
            # Those before it stay behind: their order does.
            left = left[1 - place :]


def _shared(base: str, new: str) -> float:
    old, now = _pairs(base, ""), _pairs(new, "")
    return 2 * (old & now).total() / max(old.total() + now.total(), 1)
