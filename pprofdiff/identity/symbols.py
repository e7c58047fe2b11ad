"""Parse function symbols, as far as pairing needs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from pprofdiff.goruntime.names import (
    canonical_path,
    package_end,
    package_of,
    strip_type_arguments,
    under_init,
)

_PART = r"[.·]func|[.·]gowrap|[.·]deferwrap|[.·]dwrap[.·]|-range|\."
_CHAIN = re.compile(rf"(?:(?:{_PART})\d+)+$")
_LINK = re.compile(rf"({_PART})(\d+)")
_INNERMOST = re.compile(r"(?:\([^()]*\)\.)?[^.()·]+$")
# A bracket, and the text up to the next one.
_BRACKET = re.compile(r"([\[\]])([^\[\]]*)")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# What a closure's name ends in; type arguments may follow its number.
_DIGITS = tuple("0123456789")
# The bracket comes first: a search for it takes a twentieth of one for any digit.
_NUMBERED_INSTANCE = re.compile(r"\[(?<=\d\[)")
_NAMES_CACHED = 1 << 16


class Symbol(NamedTuple):
    """A function of the program, or one of its closures.

    `package` is the import path, as in new if the package moved. `function` is the name
    in the package, without type arguments and closure numbers; for a closure, the
    function whose source contains it. `last` is its last part, a method's name.
    `kinds` and `numbers` are the links of a closure's name, outermost first, `prefix`
    the name before those.
    """

    package: str
    function: str
    last: str
    kinds: tuple[str, ...]
    numbers: tuple[int, ...]
    prefix: str


class Symbols:
    """The symbols of a side's functions, parsed on demand, with present paths."""

    def __init__(self, names: Sequence[str], packages: Mapping[str, str]) -> None:
        self._names = names
        self._moved = packages
        self._known: dict[int, Symbol] = {}

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, row: int) -> Symbol:
        symbol = self._known.get(row)
        if symbol is None:
            symbol = _taken_apart(self._names[row])
            path = self._moved.get(symbol.package)
            if path is not None:
                symbol = symbol._replace(package=path)
            self._known[row] = symbol
        return symbol

    @cached_property
    def packages(self) -> list[str]:
        """The package of each function, as in `Symbol`."""
        paths = [package_of(name) for name in self._names]
        now = {path: canonical_path(path) for path in set(paths)}
        now = {path: self._moved.get(stays, stays) for path, stays in now.items()}
        return [now[path] for path in paths]

    @cached_property
    def closures(self) -> list[tuple[int, Symbol]]:
        """The (row, symbol) of all closures."""
        return [
            (row, symbol)
            for row, name in enumerate(self._names)
            if _may_be_closure(name) and (symbol := self[row]).kinds
        ]


def _may_be_closure(name: str) -> bool:
    """Return whether a name ends in a number, apart from type arguments.

    Few instances of generic functions do: the others need not be taken apart.
    """
    if name.endswith("]"):
        return _NUMBERED_INSTANCE.search(name) is not None
    return name.endswith(_DIGITS)


# Cached, as most functions are on both sides.
@lru_cache(_NAMES_CACHED)
def _taken_apart(name: str) -> Symbol:
    """Parse a symbol, keeping its package's own path."""
    plain = strip_type_arguments(name)
    end = package_end(plain)
    rest = under_init(plain[end + 1 :] if end else plain)
    chain = _CHAIN.search(rest, 1) if rest[-1:].isdecimal() else None
    links = _LINK.findall(chain.group()) if chain else []
    prefix = rest[: chain.start()] if chain else rest
    function = prefix.removesuffix("-fm")
    if chain:
        innermost = _INNERMOST.search(prefix)
        function = innermost.group() if innermost else prefix
    return Symbol(
        canonical_path(package_of(name)),
        function,
        function.rpartition(".")[2],
        # For nested closures, compilers write .1 or .func1.
        tuple(".func" if kind == "." else kind for kind, _ in links),
        tuple(int(number) for _, number in links),
        prefix,
    )


def words(name: str) -> frozenset[str]:
    """Return the words in a name, in lower case."""
    return frozenset(word.lower() for word in _WORDS.findall(name))


def type_outline(name: str) -> str:
    """Return a symbol's type arguments, without nested ones and shapes."""
    parts: list[str] = []
    depth = 0
    for bracket in _BRACKET.finditer(name):
        depth += 1 if bracket[1] == "[" else -1
        if depth == 1 and bracket.end() < len(name):
            parts.append(bracket[2])
    return ",".join("" if "go.shape." in part else part for part in parts)
