"""What the source tells of a finding: which changed lines carry it, and whose."""

from __future__ import annotations

from typing import NamedTuple

from pprofdiff.model.source import Commit

__all__ = ["ChangedLines", "RelatedLines", "SourceOfFinding"]


class ChangedLines(NamedTuple):
    """Lines that differ between the builds, and the cost below them.

    Attributes
    ----------
    function
        The function that they are in.
    path
        Its file, from the root of the repository or folder.
    start, end
        The lines of `path`, from 1, both inclusive: of new, or of base where `gone`.
    gone
        Whether new has nothing in their place.
    base, new
        Raw values of the finding's samples whose changed line nearest the leaf is one
        of these, in the comparison's unit.
    commits
        What made them, newest first; empty without a repository.
    build
        The full id of the commit that has the lines so, "" without a repository.

    """

    function: str
    path: str
    start: int
    end: int
    gone: bool
    base: int
    new: int
    commits: tuple[Commit, ...] = ()
    build: str = ""

    @property
    def place(self) -> str:
        """The file and its lines: ``cache/lru.go:41-42``."""
        last = f"-{self.end}" if self.end > self.start else ""
        return f"{self.path}:{self.start}{last}"


class RelatedLines(NamedTuple):
    """Changed lines of a function that calls an unchanged one, or that it calls.

    `function` is the unchanged one, and `calls` tells that it is what is called. Where
    one calls the other by a third one, that is `through`; `far` tells that there are
    more in between.
    """

    lines: ChangedLines
    function: str
    calls: bool = False
    through: str = ""
    far: bool = False


class SourceOfFinding(NamedTuple):
    """What the source tells of a finding.

    `lines` are the changed lines that carry it, those that carry most first; `diff` is
    the position of the comparison of profiles that they are judged in. `unchanged` are
    functions that the finding is of, and of which no line differs. `near` are the other
    changed lines of the functions that it is of: what they compute may be what other
    lines cost more for. Where none of their own differs, `related` are changed lines of
    what they call, by their text, else of what stands on stacks with them; and where
    there is none of those either, `only` are all that differs in the functions of their
    package, if that is little.
    """

    lines: tuple[ChangedLines, ...] = ()
    near: tuple[ChangedLines, ...] = ()
    unchanged: tuple[str, ...] = ()
    diff: int = 0
    related: tuple[RelatedLines, ...] = ()
    only: tuple[ChangedLines, ...] = ()

    def without_amounts(self) -> SourceOfFinding:
        """Return the same places, none of which has a cost of its own."""
        lines = (one._replace(base=0, new=0) for one in self.lines)
        return self._replace(lines=(), near=(*lines, *self.near))
