"""Declarations in both builds' source trees, as plain data; others read the trees.

The same place in both trees has equal keys. Folders whose files are identical in both
trees need no declarations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple


class Key(NamedTuple):
    """A package's folder, and a function's name in the package: `F` or `T.M`."""

    folder: str
    name: str


class Literal(NamedTuple):
    """What may compile to a closure: a literal, go, defer or for statement.

    `line` is relative to the enclosing function's first line; `kind` is its first word.
    """

    line: int
    kind: str
    text: str


class Declared(NamedTuple):
    """A function in the source of a tree.

    `start` is its line in `file`. `literals` are in source order; empty if no profile
    has a closure of the function.
    """

    key: Key
    file: str
    start: int
    text: str
    literals: tuple[Literal, ...] = ()


class Place(NamedTuple):
    """Where a function in a profile is declared.

    For a closure, `line` and `kind` come from its `Literal`, which no other one
    shares; otherwise `kind` is "". Closures in unchanged folders are keyed by file, and
    their lines count from the start of the file.
    """

    key: Key
    line: int = 0
    kind: str = ""


_NONE: Mapping[Key, Sequence[Declared]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The declarations in one side's tree.

    `places`: where each function of the side's profiles is declared, None if the tree
    does not show it. `folders`: which package folders of both sides' profiles exist on
    this side. `declared`: the functions in folders that differ. Files for several
    systems may declare a function more than once.
    """

    places: Sequence[Place | None]
    folders: frozenset[str] = frozenset()
    declared: Mapping[Key, Sequence[Declared]] = field(default_factory=lambda: _NONE)
