"""Find the file of a tree that a profile means, by path, package and module."""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Iterator, Sequence
from functools import cache, cached_property

from pprofdiff.errors import UsageError
from pprofdiff.goruntime.names import is_closure, package_of
from pprofdiff.inputs.sources.git import GitError, Repository

_MODULE = re.compile(r"^module[ \t]+\"?([^\s\"]+)", re.MULTILINE)
_MOST_OF_MODULE = 1 << 16
_DEEPEST = 64
_SEPARATOR = re.compile(r"[/\\]")
# Modules whose packages are named after their folders alone: Go's own.
_UNNAMED = ("std",)
_REGULAR = ("100644", "100755")


class FolderTree:
    """The files below a folder; a path that leads out of it counts as missing."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._root = os.path.realpath(folder)

    def _place(self, path: str) -> str | None:
        if "\0" in path:
            return None
        place = os.path.realpath(os.path.join(self._root, *path.split("/")))
        inside = place == self._root or place.startswith(os.path.join(self._root, ""))
        return place if inside else None

    def has(self, path: str) -> bool:
        """Return whether there is a regular file; pseudo-files have size 0."""
        place = self._place(path)
        try:
            found = None if place is None else os.stat(place)
        except OSError:
            return False
        return found is not None and stat.S_ISREG(found.st_mode) and found.st_size > 0

    @property
    def modules(self) -> tuple[str, ...]:
        """The root, if it has a go.mod; folders below are not searched."""
        return ("",) if self.has("go.mod") else ()

    def siblings(self, path: str) -> tuple[str, ...]:
        """Return the files in the folder of `path`, including `path`."""
        folder = posixpath.dirname(path)
        place = self._place(folder)
        if place is None:
            return ()
        try:
            names = sorted(os.listdir(place))
        except (OSError, ValueError):
            return ()
        return tuple(filter(self.has, (posixpath.join(folder, name) for name in names)))

    def key(self, path: str) -> str:
        """Return the file's real path: if two sides share it, so is the text."""
        return self._place(path) or ""

    def read(self, paths: Sequence[str], most: int) -> list[bytes | None]:
        """Return files' bytes, None if over `most` bytes or gone."""
        return [self._read(path, most) for path in paths]

    def _read(self, path: str, most: int) -> bytes | None:
        place = self._place(path)
        if place is None or not self.has(path):
            return None
        try:
            with open(place, "rb") as file:
                data = file.read(most + 1)
        except OSError:
            return None
        return data if len(data) <= most else None


class GitTree:
    """The regular files of a commit, by their paths from its root."""

    def __init__(self, repository: Repository, commit: str) -> None:
        self.repository = repository
        self.commit = commit

    @cached_property
    def _blobs(self) -> dict[str, str]:
        try:
            listed = self.repository.listing(self.commit)
        except GitError as error:
            raise UsageError(f"--git: {error}") from None
        return {path: blob for mode, blob, path in listed if mode in _REGULAR}

    def has(self, path: str) -> bool:
        """Return whether there is a regular file at a path."""
        return path in self._blobs

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """The folders that have a go.mod, those nearest the root first."""
        folders = [
            path[:-6].rstrip("/")
            for path in self._blobs
            if path == "go.mod" or path.endswith("/go.mod")
        ]
        return tuple(sorted(folders, key=lambda path: (path.count("/"), path)))

    @cached_property
    def _folders(self) -> dict[str, list[str]]:
        folders: dict[str, list[str]] = {}
        for path in self._blobs:
            folders.setdefault(posixpath.dirname(path), []).append(path)
        return folders

    def siblings(self, path: str) -> tuple[str, ...]:
        """Return the files in the folder of `path`, including `path`."""
        return tuple(self._folders.get(posixpath.dirname(path), ()))

    def key(self, path: str) -> str:
        """Return the id of the blob at a path."""
        return self._blobs[path]

    def read(self, paths: Sequence[str], most: int) -> list[bytes | None]:
        """Return files' bytes, None if over `most` bytes or missing."""
        return self.repository.blobs([self._blobs[path] for path in paths], most)


Tree = FolderTree | GitTree
"""Files by their paths, whose parts are separated by ``/``."""


@cache
def place_in(tree: Tree, function: str, file: str) -> str | None:
    """Return the path in a tree of a function's file, or None if not found.

    It is the longest suffix of `file` that exists in the folder of the function's
    package: a project's `server.go` is not net/http's. Programs, whose package is
    named main, have no import path.
    """
    parts = [part for part in _SEPARATOR.split(file) if part][-_DEEPEST:]
    if not parts or {"..", "."} & set(parts):
        return None
    package = package_of(function).removesuffix("_test")
    local = file.startswith(("/", "\\")) or re.match(r"[A-Za-z]:[/\\]", file)
    if package == "main" and len(parts) > 1 and not local:
        package = "/".join(parts[:-1])
    if package == "command-line-arguments":
        package = "main"
    suffixes = ["/".join(parts[start:]) for start in range(len(parts))]
    if is_closure(function):
        for tail in suffixes:
            if _is_near(tree, tail, package):
                return tail
    tails = [*_of_modules(tree, package, parts[-1]), *suffixes]
    tails.append(f"vendor/{package}/{parts[-1]}")
    for tail in tails:
        if tree.has(tail) and _is_of(tree, tail, package):
            return tail
    return None


def _is_near(tree: Tree, path: str, package: str) -> bool:
    """Return whether a file is in a folder of the module that a package is in.

    A closure of a function inlined into another package has that package's name.
    """
    folder = posixpath.dirname(path)
    found = _module_of(tree, folder) if folder and tree.has(path) else None
    return found is not None and f"{package}/".startswith(f"{found[1]}/")


def _of_modules(tree: Tree, package: str, name: str) -> Iterator[str]:
    """Yield where a package's file would be by the paths of the tree's modules."""
    for root in tree.modules:
        found = _module_of(tree, root)
        if found is None:
            continue
        folder = package.removeprefix(found[1])
        if folder != package and folder[:1] in ("", "/"):
            yield posixpath.normpath(f"{root or '.'}/{folder.strip('/')}/{name}")


def _is_of(tree: Tree, path: str, package: str) -> bool:
    folder = posixpath.dirname(path)
    _, vendored, rest = f"/{folder}".rpartition("/vendor/")
    if vendored:
        return rest == package
    found = _module_of(tree, folder)
    if found is None or package in ("", "main"):
        # Without modules a package is its folder below GOPATH, wherever that was.
        return package in ("", "main") or f"{package}/".endswith(f"/{folder}/")
    root, module = found
    inside = posixpath.relpath(folder or ".", root or ".")
    inside = "" if inside == "." else inside
    if module in _UNNAMED:
        return package in (inside, f"vendor/{inside}")
    return package == (f"{module}/{inside}" if inside else module)


@cache
def _module_of(tree: Tree, folder: str) -> tuple[str, str] | None:
    path = f"{folder}/go.mod" if folder else "go.mod"
    if tree.has(path):
        text = (tree.read([path], _MOST_OF_MODULE)[0] or b"").decode("utf-8", "replace")
        named = _MODULE.search(text)
        return (folder, named[1]) if named else None
    return _module_of(tree, posixpath.dirname(folder)) if folder else None
