"""Changed functions that an unchanged one calls, by its source text.

Profiles have few samples of fast functions, and credit inlined ones to others; the text
names all calls. Methods are found by name alone, if only one type in the packages at
hand has such a method: the text does not show the receiver's type.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from posixpath import dirname, join
from typing import NamedTuple

from pprofdiff.analysis.source.code import code_changes
from pprofdiff.analysis.source.declarations import Function, GoFile
from pprofdiff.analysis.source.extents import Extent, hunks_within
from pprofdiff.analysis.source.imports import of_module
from pprofdiff.analysis.source.text import WORD
from pprofdiff.goruntime.names import package_of
from pprofdiff.model.source import Hunk, Origin, SourceFile, Sources, SourceText

_TOKEN = re.compile(r"\w+|[^\w\s]")
_POINTER = re.compile(r"func\s*\([^)]*\*")


class Differing(NamedTuple):
    """A function that differs: its text on both sides, and its hunks.

    `name` includes the package path. `through` is the unchanged function that calls it.
    """

    name: str
    texts: tuple[SourceText, SourceText]
    hunks: tuple[Hunk, ...]
    through: str = ""


class _Declared(NamedTuple):
    """A function of a package, as a part of a file's text."""

    text: SourceText
    file: GoFile
    function: Function

    @property
    def extent(self) -> Extent:
        return Extent(self.function.line, self.function.last)

    @property
    def name(self) -> str:
        """The name as in profiles: ``(*T).M`` with a pointer receiver."""
        receiver, dot, method = self.function.name.partition(".")
        if dot and _POINTER.match(self.body):
            return f"(*{receiver}).{method}"
        return self.function.name

    @property
    def of_tests(self) -> bool:
        """Whether the file is built only for tests."""
        return self.text.path.endswith("_test.go")

    @property
    def body(self) -> str:
        """The text without comments and literals."""
        return self.file.plain[self.function.start : self.function.end]


@dataclass(frozen=True, slots=True, eq=False)
class _Package:
    """The functions of a package by name, as (base, new)."""

    path: str
    sides: tuple[dict[str, list[_Declared]], dict[str, list[_Declared]]]

    def one(self, side: int, name: str) -> _Declared | None:
        """Return a function; None if it is declared several times, by platform."""
        found = self.sides[side].get(name, ())
        return found[0] if len(found) == 1 else None


class _Named(NamedTuple):
    """A function by its package and its name there."""

    package: _Package
    name: str

    @property
    def full(self) -> str:
        """The name as in profiles."""
        declared = self.package.one(1, self.name)
        name = self.name if declared is None else declared.name
        return f"{self.package.path}.{name}"


class Callees:
    """Finds the functions that others call, in the source of both builds."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._package = cache(self._read)

    def changed(self, function: str, text: SourceText, line: int) -> list[Differing]:
        """Return the changed functions that a function calls, in at most two steps.

        If it calls any directly, only those. `text` is the file in new, and `line` is
        where the function begins in it.
        """
        path = package_of(function).removesuffix("_test")
        package = self._package(path, dirname(text.path), text.origin)
        first = next(
            (
                _Named(package, name)
                for name, several in package.sides[1].items()
                for one in several
                if one.text.path == text.path and one.function.line == line
            ),
            None,
        )
        if first is None:
            return []
        direct = list(self._called(first))
        found = [callee for one in direct if (callee := self._changed(one, ""))]
        if found:
            return found
        for between in direct:
            for one in self._called(between):
                callee = None if one == first else self._changed(one, between.full)
                if callee is not None and callee.name not in {c.name for c in found}:
                    found.append(callee)
        return found

    def differing(self, function: str, text: SourceText) -> list[Differing]:
        """Return the differing functions in a function's package, without tests.

        `text` is a file of the package in new. Moving to another file is no difference.
        """
        path = package_of(function).removesuffix("_test")
        package = self._package(path, dirname(text.path), text.origin)
        found: list[Differing] = []
        if not all(package.sides):
            return found
        for name in sorted({*package.sides[0], *package.sides[1]}):
            base, new = (
                [one for one in side.get(name, ()) if not one.of_tests]
                for side in package.sides
            )
            for old in tuple(base):
                same = next((one for one in new if _code(one) == _code(old)), None)
                if same is not None:
                    base.remove(old)
                    new.remove(same)
            for old, now in zip_longest(base, new):
                found.append(self._between(path, old, now))
        return found

    def _between(
        self,
        package: str,
        base: _Declared | None,
        new: _Declared | None,
        through: str = "",
    ) -> Differing:
        if base is None or new is None:
            known = base or new
            if known is None:
                raise ValueError("a function is on one side at least")
            name = f"{package}.{known.name}"
            hunk = Hunk.of_one_side(*known.extent, new=base is None)
            return Differing(name, (known.text, known.text), (hunk,), through)
        hunks = hunks_within(
            self._sources, (base.text, base.extent), (new.text, new.extent)
        )
        texts = base.text, new.text
        name = f"{package}.{new.name}"
        return Differing(name, texts, tuple(code_changes(hunks, *texts)), through)

    def _read(self, path: str, folder: str, origin: Origin) -> _Package:
        if origin == "module":
            # Its folder names its version, so that no function in it differs.
            return _Package(path, ({}, {}))
        sides: list[dict[str, list[_Declared]]] = []
        for side in (0, 1):
            declared: dict[str, list[_Declared]] = defaultdict(list)
            anywhere = SourceFile(join(folder, "_"), origin, "")
            files = [
                file
                for file in self._sources.folder(side, anywhere)
                if file.path.endswith(".go")
            ]
            for text in self._sources.read(files):
                file = GoFile("\n".join(text.lines)) if text is not None else None
                # Tests from outside a package are another package.
                if text is not None and file is not None and not file.in_test_package:
                    for one in file.functions:
                        declared[one.name].append(_Declared(text, file, one))
            sides.append(dict(declared))
        return _Package(path, (sides[0], sides[1]))

    def _called(self, function: _Named) -> Iterator[_Named]:
        """Yield the functions that a function calls by a name that is unambiguous."""
        declared = function.package.one(1, function.name)
        if declared is None:
            return
        imported = dict(self._imported(function.package, declared))
        known = [function.package, *imported.values()]
        seen = {function}
        for qualifier, name in _calls(declared.body):
            found = []
            if qualifier is None:
                found = [_Named(function.package, name)]
            elif qualifier in imported:
                found = [_Named(imported[qualifier], name)]
            else:
                found = [
                    _Named(package, method)
                    for package in known
                    for method in package.sides[1]
                    if method.endswith(f".{name}")
                ]
            if len(found) == 1 and found[0] not in seen:
                seen.add(found[0])
                if found[0].name in found[0].package.sides[1]:
                    yield found[0]

    def _imported(
        self, package: _Package, declared: _Declared
    ) -> Iterator[tuple[str, _Package]]:
        """Yield (name in the file, package) of the imports that are in the tree."""
        for one in of_module(declared.text, package.path):
            yield one.name, self._package(one.path, one.folder, declared.text.origin)

    def _changed(self, function: _Named, through: str) -> Differing | None:
        base, new = (function.package.one(side, function.name) for side in (0, 1))
        if base is None or new is None or _code(base) == _code(new):
            return None
        return self._between(function.package.path, base, new, through)


def _calls(body: str) -> Iterator[tuple[str | None, str]]:
    """Yield (word before the dot, name) of calls; None without a dot, "" after )."""
    tokens = _TOKEN.findall(body)
    for i, name in enumerate(tokens[:-1]):
        if not WORD.fullmatch(name) or tokens[i + 1] not in ("(", "["):
            continue
        if i and tokens[i - 1] == ".":
            before = tokens[i - 2] if i > 1 else ""
            yield (before if WORD.fullmatch(before) else ""), name
        else:
            yield None, name


def _code(declared: _Declared) -> list[str]:
    """Return a function's words, with literals and without comments."""
    file, function = declared.file, declared.function
    return file.code(function.start, function.end).split()
