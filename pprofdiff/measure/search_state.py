"""The folder of a search: what it knows, its builds and its runs, to go on later."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from pprofdiff.errors import FetchError, MeasureError, UsageError
from pprofdiff.inputs.sources.git import Repository
from pprofdiff.measure.gobuild import Binary, Tree, test_binaries
from pprofdiff.measure.goflags import GoTest
from pprofdiff.measure.sides import SIDES, Checkout, checked_out
from pprofdiff.units import printable

ID_LENGTH = 12
"""Of the names of folders: paths embedded in binaries are equally long."""

_BUILT = "built.json"
_SCHEMA = "pprofdiff-bisect/1"
_NAME, _WORK = "bisect.json", "work"


class Built(NamedTuple):
    """A commit's files, and its test binaries by package."""

    tree: Tree
    binaries: Mapping[str, Binary]

    def linked_to(self, folder: str) -> Built:
        """Return the build with its binaries in another folder, to be linked again."""
        os.makedirs(folder)
        moved = {}
        for package, binary in self.binaries.items():
            path = os.path.join(folder, os.path.basename(binary.path))
            try:
                os.link(binary.path, path)
            except OSError:  # a file system without links
                shutil.copy2(binary.path, path)
            moved[package] = binary._replace(path=path)
        return self._replace(binaries=moved)


class KeptBuilds:
    """The builds of a repository's commits in a folder, a subfolder for each."""

    def __init__(
        self,
        repository: Repository,
        asked: GoTest,
        folder: str,
        variables: Mapping[str, str],
        warn: Callable[[str], None],
    ) -> None:
        self._repository = repository
        self._asked = asked
        self._folder = folder
        self._variables = variables
        self._warn = warn

    def has(self, commit: str) -> bool:
        """Return whether a commit was built."""
        return os.path.exists(os.path.join(self._of(commit), _BUILT))

    def built(self, commit: str) -> Built:
        """Return a commit's build, made now if there is none.

        Raises MeasureError if it does not compile, UsageError if it lacks a package.
        """
        own = self._of(commit)
        root = os.path.join(own, "tree")
        checkout = Checkout("new", commit[:ID_LENGTH], commit, alone=True)
        with suppress(FileNotFoundError):
            return self._read(own, root, checkout)
        shutil.rmtree(own, ignore_errors=True)
        os.makedirs(own)
        ours = checked_out(self._repository, checkout, root, self._warn)
        tree = Tree(checkout, root, ours, self._variables)
        binaries = test_binaries(tree, self._asked, os.path.join(own, "bin"))
        if not binaries:
            raise MeasureError(f"{checkout.label}: no package has tests", ())
        noted = {
            "folder": os.path.relpath(ours, own),
            "binaries": [
                [package, os.path.relpath(path, own), os.path.relpath(folder, own)]
                for package, path, folder in binaries.values()
            ],
        }
        # Last, so that a build which was interrupted is made again.
        with open(os.path.join(own, _BUILT), "w", encoding="utf-8") as file:
            json.dump(noted, file)
        return Built(tree, binaries)

    def _of(self, commit: str) -> str:
        return os.path.join(self._folder, commit[:ID_LENGTH])

    def _read(self, own: str, root: str, checkout: Checkout) -> Built:
        with open(os.path.join(own, _BUILT), encoding="utf-8") as file:
            noted = json.load(file)
        ours = os.path.normpath(os.path.join(own, noted["folder"]))
        tree = Tree(checkout, root, ours, self._variables)
        binaries = {
            package: Binary(
                package, os.path.join(own, path), os.path.normpath(f"{own}/{folder}")
            )
            for package, path, folder in noted["binaries"]
        }
        return Built(tree, binaries)


class SearchState:
    """A search's folder: ``bisect.json``, ``commits/ID``, ``runs/ID/SIDE/NUMBER``.

    `work` is a folder for files that no later run needs.
    """

    def __init__(self, folder: str, known: dict[str, Any]) -> None:
        self._folder = folder
        self._known = known
        self.work = os.path.join(folder, _WORK)

    @property
    def builds(self) -> str:
        """The folder of builds."""
        return os.path.join(self._folder, "commits")

    @property
    def chosen(self) -> dict[str, Any] | None:
        """What `Figures.noted` returned once the ends were compared."""
        noted: dict[str, Any] | None = self._known["chosen"]
        return noted

    def choose(self, noted: dict[str, Any]) -> None:
        """Keep what `Figures.noted` returns."""
        self._known["chosen"] = noted
        self._save()

    @property
    def skipped(self) -> Mapping[str, str]:
        """Commits that cannot be measured, by id, and why."""
        reasons: Mapping[str, str] = self._known["skipped"]
        return reasons

    def skip(self, commit: str, reason: str) -> None:
        """Keep that a commit cannot be measured."""
        self._known["skipped"][commit] = reason
        self._save()

    def out(self, commit: str) -> str:
        """Return the folder of a commit's runs: ``base`` is the good end."""
        return os.path.join(self._folder, "runs", commit[:ID_LENGTH])

    def rounds(self, commit: str) -> int:
        """Return how often a commit was measured."""
        folder = os.path.join(self.out(commit), SIDES[1])
        return len(os.listdir(folder)) if os.path.isdir(folder) else 0

    def _save(self) -> None:
        """Write what is known; the earlier file stays until this one is complete."""
        path = os.path.join(self._folder, _NAME)
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            json.dump(self._known, file, indent=1)
        os.replace(f"{path}.new", path)


@contextmanager
def search_state(folder: str, about: Sequence[str]) -> Iterator[SearchState]:
    """Yield the state in a folder, a temporary one for ""; files of work are removed.

    Raises UsageError if the folder holds something else than the search `about`,
    FetchError if it cannot be written to.
    """
    with _folder(folder) as place:
        try:
            state = _opened(place, list(about))
        except OSError as error:
            reason = error.strerror or str(error)
            raise FetchError(f"--state {printable(folder)}: {reason}") from None
        try:
            yield state
        finally:
            shutil.rmtree(state.work, ignore_errors=True)


@contextmanager
def _folder(named: str) -> Iterator[str]:
    if named:
        yield os.path.abspath(named)
        return
    with tempfile.TemporaryDirectory(
        prefix="pprofdiff-", ignore_cleanup_errors=True
    ) as place:
        yield place


def _opened(folder: str, about: list[str]) -> SearchState:
    named = f"--state {printable(folder)}"
    os.makedirs(folder, exist_ok=True)
    others = set(os.listdir(folder)) - {_WORK}
    known: Any = {"schema": _SCHEMA, "about": about, "chosen": None, "skipped": {}}
    if _NAME in others:
        try:
            with open(os.path.join(folder, _NAME), encoding="utf-8") as file:
                known = json.load(file)
        except ValueError:
            known = None
        keys = {"schema", "about", "chosen", "skipped"}
        if not isinstance(known, dict) or not keys <= known.keys():
            raise UsageError(f"{named}: {_NAME} is damaged; name a new folder")
        if (known["schema"], known["about"]) != (_SCHEMA, about):
            raise UsageError(
                f"{named}: holds a search for other commits, benchmarks or flags; name "
                "a new folder"
            )
    elif others:
        raise UsageError(f"{named}: holds other files; name a new folder")
    state = SearchState(folder, known)
    shutil.rmtree(state.work, ignore_errors=True)
    os.makedirs(state.work)
    return state
