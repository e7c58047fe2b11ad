"""What a file imports, and where packages of its module are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from posixpath import dirname, join, normpath
from typing import NamedTuple

from pprofdiff.analysis.source.text import FILES, code_of, without_comments
from pprofdiff.model.source import SourceFile, Sources, SourceText

# A line of an import declaration, without space.
_IMPORT = re.compile(r'(?:import)?([\w.]*)"([^"]+)"|import\(|\)')
_VERSION = re.compile(r"v\d+")
# What follows the imports.
_DECLARED = re.compile(r"(?:func|type|var|const)\b")


class Imported(NamedTuple):
    """An imported package: its name in the file, its path, and its folder."""

    name: str
    path: str
    folder: str


def is_import(code: str) -> bool:
    """Return whether the code of a line is of an import declaration."""
    return _IMPORT.fullmatch(code) is not None


def imports_in(code: Iterable[str]) -> frozenset[tuple[str, str]]:
    """Return what lines of an import declaration name: (name in the file, path)."""
    found = (one for one in map(_IMPORT.fullmatch, code) if one and one[2])
    return frozenset((one[1] or _package(one[2]), one[2]) for one in found)


def imports_of(text: SourceText) -> frozenset[tuple[str, str]]:
    """Return what a file imports: (name in the file, path)."""
    return _imports(text.lines)


@lru_cache(FILES)
def _imports(lines: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    first = next((i for i, line in enumerate(lines) if _DECLARED.match(line)), None)
    return imports_in(code_of([line]) for line in without_comments(lines)[:first])


def _package(path: str) -> str:
    """Return the name that a package most likely has: ``rand`` of math/rand/v2."""
    *parents, last = path.split("/")
    return parents[-1] if parents and _VERSION.fullmatch(last) else last


def of_module(text: SourceText, package: str) -> Iterator[Imported]:
    """Yield the packages of a file's module that it imports, by name.

    `package` is the path of its own. The folder shows where the module begins:
    ``example.com/shop/store`` in ``go/store`` is of ``example.com/shop`` in ``go``.
    """
    folder = dirname(text.path)
    names, folders = package.split("/"), folder.split("/") if folder else []
    while len(names) > 1 and folders and names[-1] == folders[-1]:
        names.pop()
        folders.pop()
    module = "/".join(names)
    for name, path in sorted(imports_of(text)):
        inside = path.removeprefix(f"{module}/")
        if inside != path:
            where = normpath(join("/".join(folders) or ".", inside))
            yield Imported(name, path, where)


def imported_by(
    sources: Sources, side: int, packages: Iterable[tuple[str, SourceFile]]
) -> list[SourceFile]:
    """Return a file in the folder of each package that others import, directly or not.

    Those are (path, one of its files). Their tests count, those of imported ones do
    not. Packages of other modules are left out.
    """
    found: dict[str, SourceFile] = {}
    todo = list(packages)
    given = {dirname(file.path) for _, file in todo}
    for path, here in todo:
        tested = dirname(here.path) in given
        files = [
            file
            for file in sources.folder(side, here)
            if file.path.endswith(".go")
            and (tested or not file.path.endswith("_test.go"))
        ]
        for text in filter(None, sources.read(files)):
            for one in of_module(text, path):
                if one.folder not in found and one.folder not in given:
                    anywhere = join(one.folder, "_")
                    found[one.folder] = SourceFile(anywhere, here.origin, "")
                    todo.append((one.path, found[one.folder]))
    return list(found.values())
