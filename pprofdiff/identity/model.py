"""Which function of base is which of new: one decision that everything follows."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Literal, NamedTuple

from pprofdiff.identity.moves import NO_MOVES, Moves

__all__ = ["SAME_NAMES", "Identity", "Paired", "PairedBy", "SideKeys"]

PairedBy = Literal[
    "name",
    "given",
    "alias",
    "type_arguments",
    "letter_case",
    "package",
    "closure",
    "source",
    "evidence",
]
"""By what a function of base and one of new are the same.

``name``: equal names; ``given``: somebody said so; ``alias``: the runtime's rules;
``package``: the import path differs, whatever else does; ``type_arguments``: only those
differ; ``letter_case``: only the case of letters does; ``closure``: so do the numbers
of closures, or what they were inlined into; ``source``: the text that both builds'
source trees have of it; ``evidence``: what their samples show.
"""


class Paired(NamedTuple):
    """Two names of one function; `probability` is that of evidence, 1 for a rule."""

    base: str
    new: str
    by: PairedBy
    probability: float = 1.0


class SideKeys(NamedTuple):
    """What the functions and packages of one side are compared by.

    Functions of the two sides are one where `function` gives both the same key; keys of
    one side are distinct. `packages` gives the present path of packages that moved,
    `probable` are new's names of functions that have another one in base by evidence
    alone, and `choices` what functions of base may have become that have no partner.
    """

    function: Callable[[str], Hashable]
    packages: Mapping[str, str]
    probable: frozenset[str] = frozenset()
    choices: Mapping[str, tuple[str, ...]] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Identity:
    """Which symbol of base is which symbol of new; equal names are one function else.

    Attributes
    ----------
    pairs
        What is one function under two names, by its name in new.
    apart
        Names that both sides have for two functions: closures that were renumbered.
    choices
        For symbols of base without a partner, those of new that it may have become,
        where the samples do not tell which of them it is.
    moves
        The packages that moved.
    base_names
        The functions of base; None where they are those of new.

    """

    pairs: Mapping[str, Paired] = field(default_factory=dict)
    apart: frozenset[str] = frozenset()
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    moves: Moves = NO_MOVES
    base_names: Container[str] | None = None

    @cached_property
    def _new_of(self) -> Mapping[str, str]:
        """New's names of base's functions that have another one there."""
        return {pair.base: name for name, pair in self.pairs.items()}

    @property
    def sides(self) -> tuple[SideKeys, SideKeys]:
        """The keys of base and of new."""
        return (
            SideKeys(self._key_of_base, self.moves.of_base, choices=self.choices),
            SideKeys(_itself, self.moves.of_new, self._probable),
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
        """Return the name in base of a function of new, None where it has none."""
        if symbol in self.pairs:
            return self.pairs[symbol].base
        if symbol in self.apart or symbol in self._new_of:
            return None
        known = self.base_names is None or symbol in self.base_names
        return symbol if known else None

    def _key_of_base(self, symbol: str) -> Hashable:
        if symbol in self._new_of:
            return self._new_of[symbol]
        return (symbol,) if symbol in self.apart else symbol


def _itself(symbol: str) -> Hashable:
    return symbol


SAME_NAMES = Identity()
"""Equal names are one function, and no other names are."""
