"""The functions of a package that differ, with samples or without."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import zip_longest
from posixpath import dirname, join
from typing import NamedTuple

from pprofdiff.analysis.source.code import code_changes
from pprofdiff.analysis.source.declarations import Function, GoFile
from pprofdiff.analysis.source.extents import Extent, hunks_within
from pprofdiff.goruntime.names import package_of
from pprofdiff.model.source import Hunk, SourceFile, Sources, SourceText

_POINTER = re.compile(r"func\s*\([^)]*\*")


class Differing(NamedTuple):
    """A function that differs: its text on both sides, and its hunks.

    `name` includes the package path.
    """

    name: str
    texts: tuple[SourceText, SourceText]
    hunks: tuple[Hunk, ...]


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
        body = self.file.plain[self.function.start : self.function.end]
        if dot and _POINTER.match(body):
            return f"(*{receiver}).{method}"
        return self.function.name

    @property
    def code(self) -> list[str]:
        """The words, with literals and without comments."""
        return self.file.code(self.function.start, self.function.end).split()


def differing(sources: Sources, function: str, text: SourceText) -> list[Differing]:
    """Return the differing functions in a function's package, without tests.

    `text` is a file of the package in new. Moving to another file is no difference.
    Empty for another module's package: its folder names its version.
    """
    if text.origin == "module":
        return []
    path = package_of(function).removesuffix("_test")
    sides = [_functions(sources, text, side) for side in (0, 1)]
    found: list[Differing] = []
    for name in sorted({*sides[0], *sides[1]}) if all(sides) else ():
        base, new = (list(side.get(name, ())) for side in sides)
        for old in tuple(base):
            same = next((one for one in new if one.code == old.code), None)
            if same is not None:
                base.remove(old)
                new.remove(same)
        for before, now in zip_longest(base, new):
            found.append(_between(sources, path, before, now))
    return found


def _functions(
    sources: Sources, text: SourceText, side: int
) -> dict[str, list[_Declared]]:
    """Return the functions of a side's package by name, without those of tests."""
    declared: dict[str, list[_Declared]] = defaultdict(list)
    anywhere = SourceFile(join(dirname(text.path), "_"), text.origin, "")
    files = [
        file
        for file in sources.folder(side, anywhere)
        if file.path.endswith(".go") and not file.path.endswith("_test.go")
    ]
    for read in sources.read(files):
        if read is not None:
            file = GoFile("\n".join(read.lines))
            for one in file.functions:
                declared[one.name].append(_Declared(read, file, one))
    return dict(declared)


def _between(
    sources: Sources, package: str, base: _Declared | None, new: _Declared | None
) -> Differing:
    if base is None or new is None:
        known = base or new
        if known is None:
            raise ValueError("a function is on one side at least")
        hunk = Hunk.of_one_side(*known.extent, new=base is None)
        return Differing(f"{package}.{known.name}", (known.text, known.text), (hunk,))
    texts = base.text, new.text
    hunks = hunks_within(sources, (base.text, base.extent), (new.text, new.extent))
    name = f"{package}.{new.name}"
    return Differing(name, texts, tuple(code_changes(hunks, *texts)))
