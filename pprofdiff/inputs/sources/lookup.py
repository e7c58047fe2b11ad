"""Find the source of both builds.

Refs of a repository or folders given by the user come first. The module cache and
GOROOT provide other modules and the standard library. Without such arguments, the
working directory and the paths in the profile have today's text.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from collections import defaultdict
from collections.abc import Sequence
from functools import cache, cached_property

from pprofdiff.errors import UsageError
from pprofdiff.goruntime.names import is_standard_library
from pprofdiff.inputs.sources.git import GitError, Repository
from pprofdiff.inputs.sources.trees import FolderTree, GitTree, Tree, place_in
from pprofdiff.model.source import Commit, Hunk, Origin, SourceFile, SourceText
from pprofdiff.units import printable

# Larger source files are generated and not meant to be read.
_LARGEST = 4 << 20
_SOURCES = (".go", ".s")
_IN_CACHE = re.compile(r"[/\\]pkg[/\\]mod[/\\]")
_VERSIONED = re.compile(r"[^/\\]@v\d")


def sources_at(repository: Repository, base: str, new: str) -> FoundSources:
    """Return the sources of two commits, given by id, which are those of the builds."""
    trees = GitTree(repository, base), GitTree(repository, new)
    return FoundSources(trees, repository, (base, new), as_built=True)


def sources_of(git: str, repository: str, folders: str) -> FoundSources:
    """Return the sources that ``--git BASE..NEW`` or ``--source BASE:NEW`` names.

    If all are empty, they are those of the working directory. Raises UsageError if a
    ref, repository or folder does not exist.
    """
    if git and folders:
        raise UsageError("--git and --source exclude each other: give one")
    if repository and not git:
        raise UsageError("--repo goes with --git BASE..NEW: add it")
    if git:
        base, dots, new = git.partition("..")
        if not dots or new.startswith("."):
            raise UsageError(
                f"--git {printable(git)}: must be BASE..NEW, the commits of both "
                "builds, such as v1.4.0..HEAD"
            )
        found = Repository(repository)
        commits = found.commit(base or "HEAD"), found.commit(new or "HEAD")
        trees = GitTree(found, commits[0]), GitTree(found, commits[1])
        return FoundSources(trees, found, commits)
    if folders:
        named = folders.split(os.pathsep)
        if len(named) == 1:
            named *= 2
        if len(named) != 2 or not all(named):
            raise UsageError(
                f"--source {printable(folders)}: must be BASEDIR{os.pathsep}NEWDIR, "
                "the folders with the source of both builds"
            )
        for folder in named:
            if not os.path.isdir(folder):
                raise UsageError(f"--source: {printable(folder)} is not a folder")
        return FoundSources((FolderTree(named[0]), FolderTree(named[1])))
    return FoundSources(None)


class FoundSources:
    """The source of both builds; see `pprofdiff.model.source.Sources`."""

    def __init__(
        self,
        trees: tuple[Tree, Tree] | None,
        repository: Repository | None = None,
        commits: tuple[str, str] | None = None,
        *,
        as_built: bool = False,
    ) -> None:
        self.given = trees is not None
        self.as_built = as_built
        self._commits = commits
        here = FolderTree(os.getcwd())
        self._trees: tuple[Tree, Tree] = trees or (here, here)
        self._repository = repository
        self._origin: Origin = "here"
        if self.given:
            self._origin = "git" if repository else "folder"
        self._hunks: dict[tuple[str, str], tuple[Hunk, ...] | None] = {}
        self._places: dict[SourceFile, tuple[Tree, str]] = {}
        self._texts: dict[SourceFile, SourceText | None] = {}

    @property
    def revisions(self) -> tuple[str, str] | None:
        """Return the commits of both builds, "" for uncommitted work."""
        if self._repository is None or self._commits is None:
            return None
        left = self._repository.not_committed
        base, new = ("" if one == left else one for one in self._commits)
        return base, new

    def text(self, side: int, function: str, file: str) -> SourceText | None:
        """Return the text of a function's file, or None if not found."""
        found = self.file(side, function, file)
        return None if found is None else self.read([found])[0]

    def file(self, side: int, function: str, file: str) -> SourceFile | None:
        """Return a function's file, or None if not found."""
        if not file or file.startswith("<"):
            return None
        tree = self._trees[side]
        place = place_in(tree, function, file)
        if place is not None:
            return self._file(self._origin, tree, place)
        for origin, folder, path in self._kept(file):
            kept = FolderTree(folder)
            if kept.has(path):
                return self._file(origin, kept, path)
        if not self.given and os.path.isabs(file):
            root, path = os.path.split(file)
            kept = FolderTree(root)
            if kept.has(path):
                return self._file("here", kept, path, file)
        return None

    def folder(self, side: int, file: SourceFile) -> tuple[SourceFile, ...]:
        """Return the sources in a file's folder, sorted by path."""
        if file.origin == self._origin:
            tree = self._trees[side]
        elif file.origin == "module":
            tree = self._places[file][0]
        else:
            return ()
        paths = sorted(
            path for path in tree.siblings(file.path) if path.endswith(_SOURCES)
        )
        return tuple(self._file(file.origin, tree, path) for path in paths)

    def _file(
        self, origin: Origin, tree: Tree, path: str, shown: str = ""
    ) -> SourceFile:
        file = SourceFile(shown or path, origin, tree.key(path))
        self._places[file] = tree, path
        return file

    def read(self, files: Sequence[SourceFile]) -> list[SourceText | None]:
        """Return the texts of files, None if binary, too large or gone."""
        asked: dict[Tree, list[SourceFile]] = defaultdict(list)
        for file in dict.fromkeys(files):
            if file not in self._texts:
                asked[self._places[file][0]].append(file)
        for tree, wanted in asked.items():
            paths = [self._places[file][1] for file in wanted]
            for file, data in zip(wanted, tree.read(paths, _LARGEST), strict=True):
                self._texts[file] = _text(file, data)
        return [self._texts[file] for file in files]

    def _kept(self, file: str) -> list[tuple[Origin, str, str]]:
        """Return (origin, folder, path in it) for each place Go may keep a file."""
        found: list[tuple[Origin, str, str]] = []
        plain = file.replace("\\", "/")
        if "../" in plain:
            return []
        if _IN_CACHE.search(file):
            rest = re.split(r"/pkg/mod/", plain)[-1]
            found += [("module", root, rest) for root in self._modules]
        elif _VERSIONED.search(file) and not plain.startswith("/"):
            rest = _escaped(plain)
            found += [("module", root, rest) for root in self._modules]
        else:
            own, rest = _in_goroot(plain)
            if self.given:  # a profile adds no folder to those the user gave
                own = ""
            if rest:
                roots = dict.fromkeys((own, *(f"{root}/src" for root in _goroots())))
                found += [("goroot", root, rest) for root in roots if root]
        return found

    @cached_property
    def _modules(self) -> list[str]:
        named = [os.environ.get("GOMODCACHE", "")]
        gopath = os.environ.get("GOPATH") or os.path.expanduser("~/go")
        named += [os.path.join(p, "pkg", "mod") for p in gopath.split(os.pathsep) if p]
        return [path for path in dict.fromkeys(named) if path]

    def hunks(self, base: SourceText, new: SourceText) -> tuple[Hunk, ...] | None:
        """Return the hunks between two texts in the repository, or None."""
        if self._repository is None or (base.origin, new.origin) != ("git", "git"):
            return None
        if base.key == new.key:
            return ()
        pair = base.key, new.key
        if pair not in self._hunks:
            try:
                self._hunks[pair] = self._repository.hunks(*pair)
            except GitError:
                self._hunks[pair] = None
        return self._hunks[pair]

    def commits(
        self, base: SourceText, new: SourceText, hunk: Hunk
    ) -> tuple[Commit, ...]:
        """Return the commits between the builds that made a hunk; newest first.

        If new is base plus one commit, it is that commit. Otherwise deleted lines are
        searched by their text, which may occur elsewhere too; failing that, the result
        is the only commit that touched the file, if there is just one.
        """
        repository, span = self._repository, self._commits
        if repository is None or span is None:
            return ()
        if (base.origin, new.origin) != ("git", "git"):
            return ()
        if self._only is not None:
            return (self._only,)
        paths = tuple(dict.fromkeys((base.path, new.path)))
        try:
            if hunk.new_count:
                found = repository.commits_of(
                    span, new.path, hunk.new_start, hunk.new_count
                )
            else:
                found = repository.commits_without(span, paths, _pattern_of(base, hunk))
            if not found and self._onward:
                touching = repository.commits(span, 2, paths)
                found = touching if len(touching) == 1 else ()
        except GitError:
            return ()
        return found

    @cached_property
    def _onward(self) -> bool:
        """Whether new descends from base: its other commits then made all changes."""
        if self._repository is None or self._commits is None:
            return False
        try:
            return self._repository.merge_base(*self._commits) == self._commits[0]
        except UsageError:
            return False

    @cached_property
    def _only(self) -> Commit | None:
        """The single commit that new has beyond base; None if there are several."""
        if self._repository is None or self._commits is None or not self._onward:
            return None
        try:
            found = self._repository.commits(self._commits, 2)
        except GitError:
            return None
        return found[0] if len(found) == 1 else None


def _pattern_of(base: SourceText, hunk: Hunk) -> str:
    """Return a line of a hunk's base by which to search for its deletion."""
    start = hunk.base_start - 1
    gone = [line.strip() for line in base.lines[start : start + hunk.base_count]]
    if gone[0].startswith("func "):
        return gone[0]
    return max(gone, key=len)


def _text(file: SourceFile, data: bytes | None) -> SourceText | None:
    if data is None or b"\0" in data:
        return None
    lines = data.decode("utf-8", "replace").split("\n")
    lines = [line.removesuffix("\r") for line in lines]
    if lines and not lines[-1]:
        lines.pop()
    return SourceText(file.path, tuple(lines), file.origin, file.key)


def _in_goroot(path: str) -> tuple[str, str]:
    """Return (folder, path in it) of a file in GOROOT, the path "" for other files.

    The folder is GOROOT on the build machine, "" with ``-trimpath``.
    """
    own, source, rest = path.rpartition("/src/")
    if not source and path.startswith("/"):
        return "", ""
    package = posixpath.dirname(rest)
    if not is_standard_library(package):
        return "", ""
    return own + source.rstrip("/"), rest


@cache
def _goroots() -> tuple[str, ...]:
    named = [os.environ.get("GOROOT", "")]
    program = shutil.which("go")
    if program:
        named.append(os.path.dirname(os.path.dirname(os.path.realpath(program))))
    return tuple(path for path in dict.fromkeys(named) if path)


def _escaped(path: str) -> str:
    """Return a module path as the module cache spells it: ``!`` before capitals."""
    module, at, rest = path.partition("@")
    return re.sub(r"[A-Z]", lambda c: f"!{c[0].lower()}", module) + at + rest
