"""The packages of the same module that a file imports, and where they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from posixpath import basename, dirname, join, normpath
from typing import NamedTuple

from pprofdiff.model.source import SourceFile, Sources, SourceText

_IMPORT = re.compile(r"^(?:import)?[ \t]*(\w+|\.)?[ \t]*\"([^\"\n]+)\"", re.MULTILINE)
_FIRST_FUNCTION = re.compile(r"^func\b", re.MULTILINE)
_MAJOR = re.compile(r"/v\d+\Z")


class Imported(NamedTuple):
    """An imported package: its name in the file, its path, and its folder."""

    name: str
    path: str
    folder: str


def imports_of(text: SourceText, package: str) -> Iterator[Imported]:
    """Yield the packages of a file's module that it imports.

    `package` is the path of its own. The folder tells where the module begins:
    ``example.com/shop/store`` in ``go/store`` is of ``example.com/shop`` in ``go``.
    """
    lines = "\n".join(text.lines)
    first = _FIRST_FUNCTION.search(lines)
    folder = dirname(text.path)
    names, folders = package.split("/"), folder.split("/") if folder else []
    while len(names) > 1 and folders and names[-1] == folders[-1]:
        names.pop()
        folders.pop()
    module = "/".join(names)
    for alias, path in _IMPORT.findall(lines[: first.start()] if first else lines):
        inside = path.removeprefix(f"{module}/")
        if inside != path:
            where = normpath(join("/".join(folders) or ".", inside))
            yield Imported(alias or basename(_MAJOR.sub("", path)), path, where)


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
            for one in imports_of(text, path):
                if one.folder not in found and one.folder not in given:
                    anywhere = join(one.folder, "_")
                    found[one.folder] = SourceFile(anywhere, here.origin, "")
                    todo.append((one.path, found[one.folder]))
    return list(found.values())
