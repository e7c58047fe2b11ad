"""The result of matching functions of base to functions of new."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Literal, NamedTuple

from msgspec import Struct, field

from pprofdiff.identity.moves import NO_MOVES, Moves

PairedBy = Literal[
    "name",
    "given",
    "alias",
    "type_arguments",
    "letter_case",
    "number",
    "package",
    "closure",
    "source",
    "evidence",
]
"""Why a function of base and one of new are the same.

``name``: equal names; ``given``: the user said so; ``alias``: the rules for the
runtime; ``package``: the import path differs, possibly among other things;
``type_arguments``: only those differ; ``letter_case``: only case differs; ``number``:
only numbers differ that a compiler of another language gives its symbols; ``closure``:
the numbers of closures differ, or what they were inlined into; ``source``: their source
text in both trees; ``evidence``: what their samples show.
"""


class Paired(NamedTuple):
    """Two names of one function; `probability` is 1 for a rule, lower for evidence."""

    base: str
    new: str
    by: PairedBy
    probability: float = 1.0


class SideKeys(NamedTuple):
    """The keys by which functions and packages of one side are compared.

    Functions of the two sides match if `function` returns the same key; keys of one
    side are distinct. `packages` maps packages that moved to their present path,
    `probable` holds new's names of functions matched with a probability below 1, and
    `choices` maps unmatched functions of base to what they may have become.
    """

    function: Callable[[str], Hashable]
    packages: Mapping[str, str]
    probable: frozenset[str] = frozenset()
    choices: Mapping[str, tuple[str, ...]] = MappingProxyType({})


class Identity(Struct, frozen=True, eq=False, dict=True):
    """Which symbol of base is which symbol of new; other equal names match.

    `pairs` are functions with two names, by their name in new. `renumbered` are names
    of closures that are different functions on each side. `choices` maps unmatched
    symbols of base to symbols of new that they may have become. `moves` are packages.
    `base_names` are the functions of base, None if equal to new's.
    """

    pairs: Mapping[str, Paired] = field(default_factory=dict)
    renumbered: frozenset[str] = frozenset()
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    moves: Moves = NO_MOVES
    base_names: Container[str] | None = None

    @cached_property
    def new_names(self) -> Mapping[str, str]:
        """The names in new of functions that were renamed, by their names in base."""
        return {pair.base: name for name, pair in self.pairs.items()}

    @property
    def sides(self) -> tuple[SideKeys, SideKeys]:
        """The keys of base and of new."""
        # `str` returns a symbol itself, without a call for each of a hundred thousand.
        of_base = self._key_of_base if self.pairs or self.renumbered else str
        return (
            SideKeys(of_base, self.moves.of_base, choices=self.choices),
            SideKeys(str, self.moves.of_new, self._probable),
        )

    def pair(self, base: str, new: str) -> Paired:
        """Return why two symbols are one function."""
        pair = self.pairs.get(new)
        known = pair is not None and pair.base == base
        return pair if pair is not None and known else Paired(base, new, "name")

    @cached_property
    def _probable(self) -> frozenset[str]:
        return frozenset(
            name for name, pair in self.pairs.items() if pair.probability < 1
        )

    def base_of(self, symbol: str) -> str | None:
        """Return a new function's name in base, None if it has none."""
        if symbol in self.pairs:
            return self.pairs[symbol].base
        if symbol in self.renumbered or symbol in self.new_names:
            return None
        known = self.base_names is None or symbol in self.base_names
        return symbol if known else None

    def _key_of_base(self, symbol: str) -> Hashable:
        if symbol in self.new_names:
            return self.new_names[symbol]
        return (symbol,) if symbol in self.renumbered else symbol


SAME_NAMES = Identity()
"""Only equal names match."""
