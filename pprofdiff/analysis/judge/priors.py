"""Models of figures whose run-to-run spread one run per side does not show."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from pprofdiff.analysis.judge import calibration
from pprofdiff.analysis.judge.calibration import EVENTS_CHI_SQUARE, EVENTS_FEW, Prior
from pprofdiff.analysis.judge.judgement import Judgement, Observed, Runs

__all__ = ["EventModel", "PriorModel"]


@dataclass(frozen=True)
class PriorModel:
    """How far a figure differs between runs of one build, as measured beforehand."""

    prior: Prior

    def rows(self, runs: Runs[Observed]) -> Judgement:
        """Judge the change of one figure; values and events of runs are summed.

        Returns one row, whose interval reaches as far as the prior allows on either
        side. It is unknown if a side has too few events or is too short.
        """
        base, new = _summed(runs.base), _summed(runs.new)
        prior, delta = self.prior, new.value - base.value
        reach = min(prior.always, max(prior.points, self._ratio_reach(base, new)))
        noise: bool | None = not (
            abs(delta) >= prior.always
            or (abs(delta) >= prior.points and self._apart(base.value, new.value))
        )
        short = min(base.wall_ns, new.wall_ns) < calibration.LONG_NS
        if min(base.events, new.events) < prior.events or (prior.long and short):
            noise = None
        return Judgement.of_one(
            delta, interval=(delta - reach, delta + reach), noise=noise
        )

    def _apart(self, base: float, new: float) -> bool:
        """Return whether two figures, one or both possibly 0, differ by the ratio."""
        if min(base, new) <= 0:
            return base != new
        return abs(log(new / base)) >= log(self.prior.ratio)

    def _ratio_reach(self, base: Observed, new: Observed) -> float:
        """Return the smallest difference that is the ratio, given the larger figure."""
        if min(base.value, new.value) <= 0:
            return 0.0
        return max(base.value, new.value) * (1 - 1 / self.prior.ratio)


@dataclass(frozen=True)
class EventModel:
    """Whether there are enough events, such as GC cycles, to judge a build."""

    def rows(self, runs: Runs[int]) -> Judgement:
        """Judge how many more events new has; those of several runs are summed.

        Returns one row without an interval. Counts differ if the square of their
        difference, divided by their sum, exceeds chi-square. If they do not, the change
        is unknown when a side has fewer than 3.
        """
        base, new = sum(runs.base), sum(runs.new)
        differ = (new - base) ** 2 > EVENTS_CHI_SQUARE * (new + base)
        few = min(base, new) < EVENTS_FEW and not differ
        return Judgement.of_one(new - base, noise=None if few else not differ)


def _summed(runs: tuple[Observed, ...]) -> Observed:
    """Return a figure's value, events and wall time, each summed over runs."""
    if len(runs) == 1:
        return runs[0]
    value, events, wall_ns = (sum(column) for column in zip(*runs, strict=True))
    return Observed(value, events, wall_ns)
