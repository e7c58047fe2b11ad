"""What rules look at, and what they find: figures that a limit is held against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.findings.model import Findings
from pprofdiff.analysis.gate.limits import Limit
from pprofdiff.errors import UsageError
from pprofdiff.units import Scale

__all__ = ["Asked", "Figure", "Judged", "Kind", "Measured", "Missing"]

# From here on a ratio reads better than percent.
_MANY = 10


class Judged(NamedTuple):
    """What a gate judges: a comparison, and its findings."""

    comparison: Comparison
    findings: Findings


@dataclass(frozen=True, slots=True)
class Asked:
    """One rule, read: ``KIND[@FROM]:SUBJECT:LIMIT``.

    `source` is the profile (or log) after ``@``, "" for none. `text` is the rule as
    typed.
    """

    text: str
    kind: str
    source: str
    subject: str
    limit: Limit

    def wrong(self, why: str) -> UsageError:
        """Return the error that says what is wrong with the rule."""
        return UsageError(f"--fail-on {self.text}: {why}")


class Figure(NamedTuple):
    """One thing that was measured on both sides.

    `base` and `new` are what the limit is held against, in `unit`; `noise` tells
    whether their difference may be chance, None where nothing tells. `unsure` says why
    then. `scale` writes the numbers, if they need no other `words`; `more` is whether
    more of it is worse. `file` and `line` say where a function is, "" and 0 if unknown.
    """

    what: str
    base: float
    new: float
    unit: str
    scale: Scale
    noise: bool | None
    unsure: str = ""
    more: bool = True
    words: str = ""
    file: str = ""
    line: int = 0

    @property
    def change(self) -> float:
        """How much worse new is, in `unit`; negative for better."""
        return self.new - self.base if self.more else self.base - self.new

    @property
    def text(self) -> str:
        """Base, new and their difference, such as ``0.41 → 0.83 cores, +102%``."""
        if self.words:
            return self.words
        sides = f"{self.scale.number(self.base)} → {self.scale.text(self.new)}"
        if self.unit == "pp":
            points = self.scale.number(self.new - self.base, signed=True)
            return f"{sides}, {points} points"
        if self.base == 0:
            return f"{sides}, new" if self.new else sides
        if self.new / self.base >= _MANY:
            return f"{sides}, {self.new / self.base:,.0f}×"
        percent = 100 * (self.new - self.base) / abs(self.base)
        digits = f"{abs(percent):,.1f}%"
        sign = "" if digits == "0.0%" else "−" if percent < 0 else "+"
        return f"{sides}, {sign}{digits}"


class Missing(NamedTuple):
    """Why there is nothing to judge."""

    why: str


Measured = Sequence[Figure] | Missing


class Kind(NamedTuple):
    """One kind of rule: what refuses a subject or limit, and what measures it.

    `check` raises UsageError before anything is read; `measure` may rely on it.
    """

    check: Callable[[Asked], object]
    measure: Callable[[Asked, Judged], Measured]
