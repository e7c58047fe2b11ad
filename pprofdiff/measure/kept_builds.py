"""Build commits, each once, and keep the test binaries in a folder."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from pprofdiff.errors import MeasureError
from pprofdiff.inputs.sources.git import Repository
from pprofdiff.measure.gobuild import Binary, Tree, test_binaries
from pprofdiff.measure.goflags import GoTest
from pprofdiff.measure.sides import Checkout, checked_out

ID_LENGTH = 12
"""Of the names of folders: paths embedded in binaries are equally long."""

_BUILT = "built.json"


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
