"""What rules examine, and the figures they hold against a limit."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import isinf
from typing import NamedTuple

from pprofdiff.analysis.causes.finding import Findings
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.outcome.deciding import outcome
from pprofdiff.analysis.outcome.model import Outcome
from pprofdiff.errors import UsageError
from pprofdiff.units import Scale, comparable, scale, times

_FORM = re.compile(r"([+\-−]?)(\d{1,15}(?:\.\d{1,9})?) ?(%|pp|[A-Za-zµμ]+)?")


# pprof's names for powers of 1024, by their IEC names.
_STEPS = {"KiB": "kB", "MiB": "MB", "GiB": "GB", "TiB": "TB", "PiB": "PB"}


class Limit(NamedTuple):
    """How far new may go: `sign` is +1 or -1 for a change from base, 0 for a ceiling.

    `unit` is ``%`` of base, ``pp`` (points of the total), a unit of time or size, or ""
    for a bare number.
    """

    sign: int
    amount: Decimal
    unit: str

    def __str__(self) -> str:
        """Return the limit as typed."""
        return f"{'-+'[self.sign > 0] if self.sign else ''}{self.amount:f}{self.unit}"

    @property
    def relative(self) -> bool:
        """Whether the limit is a percentage of base."""
        return self.unit == "%"

    def fits(self, unit: str) -> bool:
        """Whether an absolute limit converts to this unit."""
        if self.unit:
            return comparable(_known(self.unit), unit)
        return not (comparable(unit, "ns") or comparable(unit, "B"))

    def within(self, unit: str) -> float:
        """Return an absolute amount in a unit that it `fits`."""
        size = scale(1, _known(self.unit), unit)[0] if self.unit else 1.0
        return float(self.amount) * size

    def allowed(self, base: float, unit: str) -> float:
        """Return how much new may differ from base, at least 0, in `unit`."""
        if self.relative:
            return abs(base) * float(self.amount / 100)
        return float(self.amount) if self.unit == "pp" else self.within(unit)


def _known(unit: str) -> str:
    return _STEPS.get(unit, unit)


def parse_limit(text: str) -> Limit:
    """Return the parsed limit; raises ValueError saying what is wrong."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"{text or 'nothing'} is no limit")
    sign = {"": 0, "+": 1}.get(match[1], -1)
    unit = (match[3] or "").replace("µ", "u").replace("μ", "u")
    if unit not in ("", "%", "pp") and not any(
        comparable(_known(unit), known) for known in ("ns", "B")
    ):
        raise ValueError(f"{unit} is not a unit of time or size")
    if not sign and unit in ("%", "pp"):
        raise ValueError(f"{text} has no sign; type +{text} for at most so much more")
    return Limit(sign, Decimal(match[2]), unit)


def delta_bounds(base: float, low: float, high: float) -> tuple[float, float]:
    """Return the interval of new − base for that of new ÷ base."""
    return base * (low - 1), base * (high - 1)


# An interval whose ends are two orders of magnitude apart around 1 does not show the
# size or direction of a change. A ratio of a tenth is as good as zero.
_VAGUE, _GONE = 100, 0.1
# From this ratio on, a factor reads better than a percentage.
_MANY = 10


@dataclass(frozen=True)
class Judged:
    """What a gate judges: a comparison, and its findings."""

    comparison: Comparison
    findings: Findings

    @cached_property
    def outcome(self) -> Outcome:
        """The outcome, decided once for all rules that need it."""
        return outcome(self.comparison)


@dataclass(frozen=True, slots=True)
class Asked:
    """A parsed rule: ``KIND[@FROM]:SUBJECT:LIMIT``.

    `text` is the rule as typed and `typed` where: the flag, or a file and its setting.
    """

    text: str
    kind: str
    source: str
    subject: str
    limit: Limit
    typed: str = "--fail-on"

    @property
    def named(self) -> str:
        """The rule as errors name it."""
        return f"{self.typed} {self.text}"

    def wrong(self, why: str) -> UsageError:
        """Return the error that says what is wrong with the rule."""
        return UsageError(f"{self.named}: {why}")


class Figure(NamedTuple):
    """One quantity measured on both sides.

    `what` was measured, such as a function or a benchmark; "" if `words` say it. `base`
    and `new` are compared with the limit, in `unit`; `scale` formats them. `noise` says
    whether the difference is within noise, None if unknown, and `unsure` why it is.
    `more` says whether more is worse. `words` are the whole `text`, "" if it is built
    from the numbers. `file` and `line` locate a function.

    `bounds` are the interval of new − base, in `unit`, None without a model: then
    `noise` decides. They come `by_ratio` of whole runs, whose variation one run a side
    does not show, or is `assumed` to be other programs'. `runs` is how many runs a side
    they rest on, 0 if more would not narrow them.
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
    bounds: tuple[float, float] | None = None
    by_ratio: bool = False
    runs: int = 0
    assumed: bool = False

    @property
    def delta(self) -> float:
        """New − base, in `unit`."""
        return self.new - self.base

    @property
    def change(self) -> float:
        """How much worse new is, in `unit`; negative for better."""
        return self.delta if self.more else -self.delta

    @property
    def worse(self) -> tuple[float, float] | None:
        """The interval of `change`, None if there is none."""
        if self.bounds is None or self.more:
            return self.bounds
        low, high = self.bounds
        return -high, -low

    @property
    def text(self) -> str:
        """As ``0.41 → 0.83 cores, +102% (+80% to +124%)``, with the interval."""
        if self.words:
            return self.words
        base, new = (self.scale.with_two_digits(side) for side in (self.base, self.new))
        sides = f"{base.number(self.base)} → {new.text(self.new)}"
        if self.unit == "pp":
            points = self.scale.number(self.delta, signed=True)
            return f"{sides}, {points} pp{self._span(self._amount)}"
        if self.base == 0:
            head = f"{sides}, new" if self.new else sides
            return f"{head}{self._span(self._amount)}"
        if self._vague:
            return f"{sides}, can't tell by how much"
        if 1 + self.delta / self.base >= _MANY:
            return f"{sides}, {self._factor(self.delta)}{self._span(self._factor)}"
        return f"{sides}, {self._percent(self.delta)}{self._span(self._percent)}"

    @property
    def _vague(self) -> bool:
        """Whether the interval, of a nonzero base, is too wide to be useful."""
        if self.bounds is None:
            return False
        low, high = (1 + bound / abs(self.base) for bound in self.bounds)
        return low < 1 < high and high >= _VAGUE * max(low, _GONE)

    def _span(self, write: Callable[[float], str]) -> str:
        """Return the interval as text; empty if it is a point or unknown."""
        if self.bounds is None or self.bounds[0] == self.bounds[1]:
            return ""
        low, high = self.bounds
        if isinf(high):
            return f" ({write(low)} or more)"
        return f" ({write(low)} to {write(high)})"

    def _amount(self, delta: float) -> str:
        return self.scale.number(delta, signed=True)

    def _factor(self, delta: float) -> str:
        return times(1 + delta / self.base)

    def _percent(self, delta: float) -> str:
        percent = 100 * delta / abs(self.base)
        digits = f"{abs(percent):,.1f}%"
        sign = "" if digits == "0.0%" else "−" if percent < 0 else "+"
        return f"{sign}{digits}"


class NoDataError(Exception):
    """There is nothing to judge; the message says why."""


class Kind(NamedTuple):
    """One kind of rule: `check` raises UsageError before anything is read.

    `measure` raises NoDataError if there is nothing to judge.
    """

    check: Callable[[Asked], object]
    measure: Callable[[Asked, Judged], list[Figure]]
