"""What a comparison knows of one figure."""

from __future__ import annotations

from math import exp
from typing import Generic, NamedTuple, TypeVar

from pprofdiff.analysis.judge.judgement import Change, Mark

Known_co = TypeVar("Known_co", bound=float | None, covariant=True)


class Estimate(NamedTuple, Generic[Known_co]):
    """A figure in base and new, their ratio, and whether it changed.

    `base` and `new` are None if unknown, and so is `ratio` (new ÷ base), also if base
    is 0. `low` and `high` are the interval of the ratio over runs, 95% unless another
    confidence is stated, None if runs do not show it. In an `Estimate[float]` all are
    known.
    """

    base: Known_co
    new: Known_co
    ratio: Known_co
    low: Known_co
    high: Known_co
    mark: Mark = "unknown"

    @property
    def significant(self) -> bool:
        """Whether new differs significantly from base."""
        return self.mark in ("more", "less")

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The interval of the ratio, None if there is none."""
        if self.low is None or self.high is None:
            return None
        return self.low, self.high

    @property
    def grew(self) -> bool:
        """Whether new is known to be more than base."""
        return self.base is not None and self.new is not None and self.new > self.base


def of_ratio(
    base: float | None, new: float | None, change: Change | None = None
) -> Estimate[float | None]:
    """Return a figure whose change, if judged, is the logarithm of new ÷ base."""
    ratio = ratio_of(base, new)
    if change is None:
        return Estimate(base, new, ratio, None, None)
    if change.low is None or change.high is None:
        return Estimate(base, new, ratio, None, None, change.mark)
    return Estimate(base, new, ratio, exp(change.low), exp(change.high), change.mark)


def ratio_of(base: float | None, new: float | None) -> float | None:
    """Return new ÷ base, None if one is unknown or base is 0."""
    return new / base if base and new is not None else None
