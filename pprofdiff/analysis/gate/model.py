"""The gate's result: one ruling per rule, and the verdict they add up to."""

from __future__ import annotations

from typing import Literal, NamedTuple

Outcome = Literal["pass", "fail", "cannot tell", "no data"]
"""``cannot tell``: the limit lies inside the figure's interval."""


class Ruling(NamedTuple):
    """One rule as typed, and its outcome.

    `what` was measured (such as a function's name), `figure` is its base, new and
    change as text, or why there is no data; `limit` is what the rule allows. `base` and
    `new` are the compared numbers in `unit`. `noise` is whether their change is within
    noise, None if not tested. `low` and `high` bound the change in `unit`; `allowed` is
    the largest change within the limit, and `needs` says what would decide. `matched`
    counts what the rule applies to, `tripped` what broke it. `file` is a measured
    function's source file as its profile has it, `line` its first line.
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
        """The ruling on one line, without its outcome."""
        limit = f"; limit {self.limit}" if self.limit else ""
        return f"{self.rule}: {self.measured}{limit}"

    @property
    def in_words(self) -> str:
        """The ruling on one line, with what would decide it."""
        needs = f"; {self.needs}" if self.needs else ""
        return f"{self.outcome}: {self.text}{needs}"

    @property
    def measured(self) -> str:
        """What was measured, and its figure."""
        return f"{self.what} {self.figure}".lstrip()


class Verdict(NamedTuple):
    """All rulings, in the order of the rules; true unless one failed.

    `outcome` is ``fail`` if a rule failed, else ``cannot tell`` if a limit lies inside
    an interval, else ``pass`` if a rule had data, else ``none``. `unread` has one line
    per file that could not be read: then nothing passes, and the verdict is false.
    """

    outcome: Literal["pass", "fail", "cannot tell", "none"] = "none"
    rules: tuple[Ruling, ...] = ()
    unread: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.outcome != "fail" and not self.unread

    @property
    def tripped(self) -> tuple[Ruling, ...]:
        """The rulings that failed."""
        return tuple(rule for rule in self.rules if rule.outcome == "fail")
