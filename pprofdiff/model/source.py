"""Source text of a build, what differs between two texts, and who changed it.

`Sources` is what gives them: a repository at two refs, folders, or what Go leaves on a
machine. `pprofdiff.inputs.sources` implements it; analysis and reports only ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

__all__ = ["Commit", "Hunk", "Origin", "SourceFile", "SourceText", "Sources"]

Origin = Literal["git", "folder", "module", "goroot", "here"]
"""Where a text was found: a ref, a named folder, the module cache, Go's own tree, or
the working directory and the path in the profile, whose text is that of today."""


_SHORT = 9


class SourceText(NamedTuple):
    """One source file: its path for people, its lines without their ends.

    `path` is from the root of the repository, folder or module. `key` tells texts
    apart: texts of one key are equal. Of ``git`` it is the object's id.
    """

    path: str
    lines: tuple[str, ...]
    origin: Origin
    key: str


class SourceFile(NamedTuple):
    """A source file that need not have been read; see `SourceText`."""

    path: str
    origin: Origin
    key: str


class Hunk(NamedTuple):
    """Lines of base in whose place stand lines of new, numbered from 1.

    Without lines, a start is the line after which they would stand, as
    ``git diff -U0`` numbers them.
    """

    base_start: int
    base_count: int
    new_start: int
    new_count: int


class Commit(NamedTuple):
    """A commit: its full id, and the first line of its message."""

    id: str
    subject: str

    @property
    def short(self) -> str:
        """The beginning of its id, as ``git log --oneline`` has it."""
        return self.id[:_SHORT]


class Sources(Protocol):
    """The source of both builds; a side is 0 for base and 1 for new."""

    @property
    def given(self) -> bool:
        """Whether someone said where the sources are."""

    @property
    def as_built(self) -> bool:
        """Whether the builds are known to be of this source."""

    @property
    def told(self) -> tuple[str, str] | None:
        """The commits of base and new (full ids), None without a repository.

        "" stands for a work tree with changes that are not committed.
        """

    def text(self, side: int, function: str, file: str) -> SourceText | None:
        """Return the text of a function's file, None where it is not to be found.

        `file` is the path in the profile.
        """

    def file(self, side: int, function: str, file: str) -> SourceFile | None:
        """Return a function's file, None where it is not to be found."""

    def folder(self, side: int, file: SourceFile) -> tuple[SourceFile, ...]:
        """Return the sources of the folder that a file is in, by their paths.

        The file is one of either side; empty where this side has no such folder, and
        where it is not known what it has.
        """

    def read(self, files: Sequence[SourceFile]) -> list[SourceText | None]:
        """Return the texts of files, None where one cannot be read or is binary."""

    def hunks(self, base: SourceText, new: SourceText) -> tuple[Hunk, ...] | None:
        """Return what a repository shows as changed between two texts, in their order.

        None where the texts are not of a repository, or it does not tell.
        """

    def commits(
        self, base: SourceText, new: SourceText, hunk: Hunk
    ) -> tuple[Commit, ...]:
        """Return the commits between the builds that made a hunk; newest first.

        Empty without a repository, and where they cannot be told.
        """
