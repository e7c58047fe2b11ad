"""What a gate says: one ruling a rule, and the verdict that they make."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["Outcome", "Ruling", "Verdict"]

Outcome = Literal["pass", "fail", "cannot tell", "no data"]
"""``cannot tell``: the interval of the figure has the limit in it."""


class Ruling(NamedTuple):
    """One rule as typed, and what came of it.

    `what` was measured (such as a function's name), `figure` is its base, new and
    change in words, `limit` what the rule allows; of a rule without data `figure` says
    why. `base` and `new` are the numbers that were compared, in `unit`, None without
    data. `noise` tells whether their change may be chance, None where that is not
    asked. `low` and `high` bound the change in `unit`, None where nothing does, and
    `allowed` is how far the limit lets it go; `needs` says what would tell where they
    do not. `matched` counts what the rule applies to, `tripped` what broke it. `file`
    is a measured function's source file as its profile has it, `line` where it begins;
    "" and 0 where that is not known.
    """

    rule: str
    outcome: Outcome
    what: str
    figure: str
    limit: str
    base: float | None = None
    new: float | None = None
    unit: str = ""
    noise: bool | None = None
    matched: int = 0
    tripped: int = 0
    file: str = ""
    line: int = 0
    low: float | None = None
    high: float | None = None
    allowed: float | None = None
    needs: str = ""

    @property
    def text(self) -> str:
        """The ruling in one line, without its outcome."""
        limit = f"; limit {self.limit}" if self.limit else ""
        return f"{self.rule}: {self.measured}{limit}"

    @property
    def measured(self) -> str:
        """What was measured, and its figure."""
        return f"{self.what} {self.figure}".lstrip()


class Verdict(NamedTuple):
    """All rulings, in the order of the rules; true unless one tripped.

    `outcome` is ``fail`` where a rule tripped, else ``cannot tell`` where an interval
    has its limit in it, else ``pass`` where a rule had data, and ``none`` where there
    was no rule, or none had data. `unread` has one line for each file of a folder that
    is damaged or cannot be read: then nothing passes, and the verdict is not true.
    """

    outcome: Literal["pass", "fail", "cannot tell", "none"] = "none"
    rules: tuple[Ruling, ...] = ()
    unread: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether no rule tripped, and all evidence could be read."""
        return self.outcome != "fail" and not self.unread

    @property
    def tripped(self) -> tuple[Ruling, ...]:
        """The rulings on rules that tripped."""
        return tuple(rule for rule in self.rules if rule.outcome == "fail")
