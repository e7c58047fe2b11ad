"""The source behind a finding: which changed lines carry it, and whose they are."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from pprofdiff.model.source import Commit


def numbers_of(start: int, end: int) -> str:
    """Return the numbers of lines for display: ``41-42``, or ``41`` for one."""
    return f"{start}-{end}" if end > start else f"{start}"


class ChangedLines(NamedTuple):
    """Lines of a function that differ between the builds, and the cost below them.

    `path` is from the root of the repository or folder. `start` and `end` are lines of
    it in new, or in base if `gone` (new has nothing in their place), from 1, inclusive.
    `base` and `new` are raw cum: the values of all samples with one of the lines on the
    stack, in the comparison's unit; 0 for lines without an amount. `commits` made them,
    newest first; `build` is the full id of the commit with the lines in this form. Both
    are empty without a repository. `moved_from` is the first line in base if the lines
    only moved within the function, else 0; `was` numbers the lines in base that others
    replaced, "" if they have no samples. `added` is set if the function is new, and
    `caller` is a changed function that calls it; `dropped` if it is gone. The cost is
    that of all changed lines of the function, or with `alone` of these, where the
    others change next to nothing. `idle` is set if their function has many CPU samples,
    none of them on its changed lines. `most` numbers the few of many lines that have
    most of their cost, "" for none.
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
    moved_from: int = 0
    was: str = ""
    added: bool = False
    dropped: bool = False
    alone: bool = False
    idle: bool = False
    caller: str = ""
    most: str = ""

    @property
    def verb(self) -> str:
        """What happened to them: ``removed``, ``moved``, ``added`` or ``changed``."""
        if self.gone:
            return "removed"
        if self.added:
            return "added"
        return "moved" if self.moved_from else "changed"

    @property
    def place(self) -> str:
        """The file and its lines: ``cache/lru.go:41-42``."""
        return f"{self.path}:{self.numbers}"

    @property
    def numbers(self) -> str:
        """The lines without their file: ``41-42``."""
        return numbers_of(self.start, self.end)


class RelatedLines(Struct, frozen=True):
    """Changed lines of a function that calls an unchanged one, or is called by it.

    `function` is the unchanged one; `calls` is set if the changed one calls it, and
    `before` if it does so after the lines, not on them. `through` is the function
    between the two; `far` is set if there are more. If the lines are those of a type,
    `handles` is what the function does with its values: it ``makes`` or ``uses`` them.
    `ended` is set if it is not called any more.
    """

    lines: ChangedLines
    function: str
    calls: bool = False
    through: str = ""
    far: bool = False
    before: bool = False
    handles: str = ""
    ended: bool = False


class SourceOfFinding(NamedTuple):
    """What the source shows about a finding.

    `lines` are the changed lines that carry it, largest first, judged in the comparison
    of profiles at position `diff`. `unchanged` are its functions without a differing
    line. `near` are the other changed lines of its functions: what they compute may
    make other lines cost more. If its functions have none, `related` are changed lines
    of functions on stacks with them. Without those, `only` is all that differs in the
    functions of their package, if that is little. `holding` are the places of those
    `lines` that hold most of the change of the finding, less what lines that moved cost
    already.
    """

    lines: tuple[ChangedLines, ...] = ()
    near: tuple[ChangedLines, ...] = ()
    unchanged: tuple[str, ...] = ()
    diff: int = 0
    related: tuple[RelatedLines, ...] = ()
    only: tuple[ChangedLines, ...] = ()
    holding: frozenset[str] = frozenset()

    @property
    def own(self) -> tuple[ChangedLines, ...]:
        """The changed lines of its functions, those that carry it first."""
        return (*self.lines, *self.near)
