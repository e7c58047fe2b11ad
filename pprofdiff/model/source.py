"""Source text of a build, differences between texts, and the commits behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from msgspec import Struct

Origin = Literal["git", "folder", "module", "goroot", "here"]
"""Where a text was found: in git, a given folder, the module cache or GOROOT.

``here`` is the working directory or the path in the profile, with today's text.
"""


_SHORT = 9


class SourceText(Struct, frozen=True):
    """One source file: its path for display, its lines without line endings.

    `path` is relative to the root of the repository, folder or module. Texts with equal
    `key` are equal; for ``git`` it is the object id.
    """

    path: str
    lines: tuple[str, ...]
    origin: Origin
    key: str


class SourceFile(NamedTuple):
    """A source file that may not have been read; see `SourceText`."""

    path: str
    origin: Origin
    key: str


class Hunk(NamedTuple):
    """Lines of base replaced by lines of new, numbered from 1.

    If there are no lines, the start is the line that precedes their position, as in
    ``git diff -U0``.
    """

    base_start: int
    base_count: int
    new_start: int
    new_count: int

    @classmethod
    def of_one_side(cls, start: int, end: int, *, new: bool) -> Hunk:
        """Return the lines from `start` to `end`, which only new has, or only base."""
        whole = start, end - start + 1
        return cls(0, 0, *whole) if new else cls(*whole, 0, 0)

    @property
    def sides(self) -> tuple[range, range]:
        """The numbers of its lines in base, and in new."""
        base = range(self.base_start, self.base_start + self.base_count)
        return base, range(self.new_start, self.new_start + self.new_count)


class Commit(NamedTuple):
    """A commit: its full id, and the first line of its message."""

    id: str
    subject: str

    @property
    def short(self) -> str:
        """The abbreviated id, as in ``git log --oneline``."""
        return self.id[:_SHORT]


class Revision(NamedTuple):
    """A commit in a history: its full id, its parents' ids, and what git log shows.

    `date` is when it was written, in ISO 8601 with the author's time zone.
    """

    id: str
    parents: tuple[str, ...]
    author: str
    date: str
    subject: str

    @property
    def short(self) -> str:
        """The abbreviated id, as in ``git log --oneline``."""
        return self.id[:_SHORT]


class Sources(Protocol):
    """The source of both builds; a side is 0 for base and 1 for new."""

    @property
    def given(self) -> bool:
        """Whether the user said where the sources are."""

    @property
    def as_built(self) -> bool:
        """Whether the builds are known to be made from this source."""

    @property
    def revisions(self) -> tuple[str, str] | None:
        """The commits of base and new (full ids), None without a repository.

        "" is a work tree with uncommitted changes.
        """

    def text(self, side: int, function: str, file: str) -> SourceText | None:
        """Return the text of a function's `file`, its path in the profile, or None."""

    def file(self, side: int, function: str, file: str) -> SourceFile | None:
        """Return a function's file, or None if not found."""

    def folder(self, side: int, file: SourceFile) -> tuple[SourceFile, ...]:
        """Return the sources in a file's folder, sorted by path, () if unknown.

        The file may be of either side.
        """

    def read(self, files: Sequence[SourceFile]) -> list[SourceText | None]:
        """Return the texts of files, None if one is binary or cannot be read."""

    def hunks(self, base: SourceText, new: SourceText) -> tuple[Hunk, ...] | None:
        """Return the hunks between two texts in order, None if unknown."""

    def commits(
        self, base: SourceText, new: SourceText, hunk: Hunk
    ) -> tuple[Commit, ...]:
        """Return the commits between the builds that made a hunk, newest first."""
