"""What an account is: parts, their sum, and what it does not have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import NamedTuple

__all__ = ["Account", "Amount", "Bounds", "Part", "in_part"]

Bounds = tuple[float, float]
"""The lower and the upper bound of a delta."""


class Amount(NamedTuple):
    """Base and new of a part, exact: fractions of the account's unit."""

    base: Fraction
    new: Fraction

    @property
    def delta(self) -> Fraction:
        """New less base."""
        return self.new - self.base

    @classmethod
    def sum(cls, amounts: Iterable[Amount]) -> Amount:
        """Return the sums of any number of amounts, 0 of none."""
        return reduce(Amount.plus, amounts, cls(Fraction(0), Fraction(0)))

    def plus(self, other: Amount) -> Amount:
        """Return the sums of both."""
        return Amount(self.base + other.base, self.new + other.new)

    def less(self, other: Amount) -> Amount:
        """Return what is left without the other."""
        return Amount(self.base - other.base, self.new - other.new)


class Part(NamedTuple):
    """One line of an account: a stable id, a label, and the evidence it is from.

    `bounds` is the interval of its delta over runs, in the account's unit; None where
    the part is not known run by run.
    """

    id: str
    label: str
    amount: Amount
    source: str
    bounds: Bounds | None = None


def in_part(parts: Sequence[Part], beside: Sequence[Part]) -> tuple[Part, ...]:
    """Return parts, those labelled so of which there is more beside the account.

    Tables of the same groups have all of it under the plain label.
    """
    more = {part.label for part in beside if any(part.amount)}
    return tuple(
        part._replace(label=f"{part.label} (in part)") if part.label in more else part
        for part in parts
    )


@dataclass(frozen=True, eq=False)
class Account:
    """A change in parts.

    Attributes
    ----------
    of
        What adds up, in words: CPU per operation, time per operation.
    unit
        The unit of amounts: ``ns`` (an operation), or ``%`` (of each side's CPU).
    parts
        They partition what was measured; `total` is their exact sum.
    within
        What lies inside parts, such as mark assist inside running: in no sum.
    beside
        What was measured and is not on the path of an operation: in no sum.
    gaps
        What could not be measured, in words.
    medians
        The medians that benchmarks are told by, in its unit, where the total is a mean
        that visibly differs from them.

    """

    of: str
    unit: str
    parts: tuple[Part, ...]
    within: tuple[Part, ...] = ()
    beside: tuple[Part, ...] = ()
    gaps: tuple[str, ...] = ()
    medians: tuple[float, float] | None = None

    @property
    def total(self) -> Amount:
        """The sum of all parts."""
        return Amount.sum(part.amount for part in self.parts)
