"""What the source trees of both builds declare, as plain data: who has trees reads it.

A folder has one name on both sides, so that what stands in the same place in both trees
has equal keys. Folders whose files are the same in both trees need no declarations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["Declared", "Key", "Literal", "Place", "Tree"]


class Key(NamedTuple):
    """A package's folder, and what the package calls a function: `F` or `T.M`."""

    folder: str
    name: str


class Literal(NamedTuple):
    """What the compiler may make a closure of: a literal, go, defer or for statement.

    `line` counts from that of the function around it, which is 0; `kind` is the word
    that it begins with.
    """

    line: int
    kind: str
    text: str


class Declared(NamedTuple):
    """A function in the text of a tree.

    `start` is its line in `file`, whose path is that in the tree. `literals` are in the
    order of the text; empty where no profile has a closure of the function.
    """

    key: Key
    file: str
    start: int
    text: str
    literals: tuple[Literal, ...] = ()


class Place(NamedTuple):
    """Where a function of a profile is declared.

    Of a closure, `line` and `kind` are those of its `Literal`, which no other one has;
    `kind` is "" for others. Closures in folders that do not differ are keyed by their
    file, and lines count from its first.
    """

    key: Key
    line: int = 0
    kind: str = ""


_NONE: Mapping[Key, Sequence[Declared]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """What the tree of one side declares.

    Attributes
    ----------
    places
        Where each function of the side's profiles is, None where the tree does not
        show it: it is of another module, generated, or not in the text as it was built.
    folders
        The folders of the profiles' packages, of both sides, that this side has.
    declared
        The functions of the folders that differ. Files for several systems declare
        some of them more than once.

    """

    places: Sequence[Place | None]
    folders: frozenset[str] = frozenset()
    declared: Mapping[Key, Sequence[Declared]] = field(default_factory=lambda: _NONE)
