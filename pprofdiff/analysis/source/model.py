"""What the source tells of a finding: which changed lines carry it, and whose."""

from __future__ import annotations

from typing import NamedTuple

from pprofdiff.model.source import Commit

__all__ = ["CalledLines", "ChangedLines", "SourceOfFinding"]


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


class CalledLines(NamedTuple):
    """Changed lines of a function that an unchanged one calls.

    `caller` is that one; where it calls the function by another one, that is `through`.
    """

    lines: ChangedLines
    caller: str
    through: str = ""


class SourceOfFinding(NamedTuple):
    """What the source tells of a finding.

    `lines` are the changed lines that carry it, those that carry most first; `diff` is
    the position of the comparison of profiles that they are judged in. `unchanged` are
    functions that the finding is of, and of which no line differs. `near` are the
    changed lines of such functions where none of them carries it: what they compute
    may be what other lines cost more for. Where none of their own differs, `called` are
    changed lines of what they call; else `around` those of other functions of their
    packages.
    """

    lines: tuple[ChangedLines, ...] = ()
    near: tuple[ChangedLines, ...] = ()
    unchanged: tuple[str, ...] = ()
    diff: int = 0
    around: tuple[ChangedLines, ...] = ()
    called: tuple[CalledLines, ...] = ()
