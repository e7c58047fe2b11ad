"""The types of an account: parts, their sum, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import reduce
from typing import NamedTuple

from msgspec import Struct

Bounds = tuple[float, float]
"""The (low, high) bounds of a delta."""


class Amount(NamedTuple):
    """Exact base and new values, as fractions of the account's unit."""

    base: Fraction
    new: Fraction

    @property
    def delta(self) -> Fraction:
        """New minus base."""
        return self.new - self.base

    @classmethod
    def sum(cls, amounts: Iterable[Amount]) -> Amount:
        """Return the sum of the amounts, zero without any."""
        return reduce(Amount.plus, amounts, cls(Fraction(0), Fraction(0)))

    def plus(self, other: Amount) -> Amount:
        """Return the sum of two amounts."""
        return Amount(self.base + other.base, self.new + other.new)

    def less(self, other: Amount) -> Amount:
        """Return this amount minus `other`."""
        return Amount(self.base - other.base, self.new - other.new)


class Part(NamedTuple):
    """One line of an account: a stable id, a label, an amount and its evidence.

    `bounds` is the interval of the delta over runs, in the account's unit. `paths`
    split time off the CPU by where goroutines waited for others, exactly.
    """

    id: str
    label: str
    amount: Amount
    source: str
    bounds: Bounds | None = None
    paths: tuple[Part, ...] = ()


def in_part(
    parts: Sequence[Part], outside: Sequence[Part], which: str
) -> tuple[Part, ...]:
    """Return parts, labelled where `outside` has more under the same label.

    Tables of the same groups show the whole under the plain label. `which` says which
    part of it this is: ``User code (without workers)``.
    """
    more = {part.label for part in outside if any(part.amount)}
    return tuple(
        part._replace(label=f"{part.label} ({which})") if part.label in more else part
        for part in parts
    )


class Account(Struct, frozen=True, eq=False, dict=True):
    """A change in parts.

    `of` says what adds up: CPU per op, mean time per op. `unit` is ``ns`` per op, or
    ``%`` of each side's CPU. `parts` are a partition of what was measured, `total`
    their exact sum. No sum includes times `within` parts, such as mark assist inside
    running, or what was measured `outside` the path of an operation. `gaps` could not
    be measured. `medians` are the benchmarks', if the total, a mean, visibly differs.
    """

    of: str
    unit: str
    parts: tuple[Part, ...]
    within: tuple[Part, ...] = ()
    outside: tuple[Part, ...] = ()
    gaps: tuple[str, ...] = ()
    medians: tuple[float, float] | None = None

    @property
    def total(self) -> Amount:
        """The sum of all parts."""
        return Amount.sum(part.amount for part in self.parts)
