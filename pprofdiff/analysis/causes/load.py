"""How much more work one side did, as far as its own code shows."""

from __future__ import annotations

from typing import NamedTuple

from pprofdiff.analysis.control.estimate import control
from pprofdiff.analysis.judge.calibration import LOAD_SURE
from pprofdiff.analysis.profiles.diff import ProfileDiff

__all__ = ["Load", "inferred_load", "load_of"]


class Load(NamedTuple):
    """New ÷ base of the unchanged code's scaled values, with 95% bounds."""

    ratio: float
    low: float
    high: float

    @property
    def sure(self) -> bool:
        """Whether the ratio differs from 1 significantly, and by more than 15%."""
        return self.low > LOAD_SURE or self.high < 1 / LOAD_SURE

    def times(self, factor: float) -> Load:
        """Return the load multiplied by another known factor."""
        return Load(self.ratio * factor, self.low * factor, self.high * factor)


def load_of(diff: ProfileDiff) -> Load | None:
    """Return new ÷ base of the unchanged code in scaled values.

    None where there is no control, or its rows disagree.
    """
    by = control(diff)
    if by is None or not by.agrees:
        return None
    factors = diff.normalization.factors
    return Load(by.ratio, by.ratio_low, by.ratio_high).times(factors[1] / factors[0])


def inferred_load(diff: ProfileDiff) -> Load | None:
    """Return the ratio of work per second, if sides are scaled to about equal work."""
    by, spans = diff.normalization.inferred, (diff.base, diff.new)
    base_ns, new_ns = (side.profile.duration_ns for side in spans)
    if by is None or not base_ns or not new_ns:
        return None
    return Load(by.ratio, by.low, by.high).times(base_ns / new_ns)
