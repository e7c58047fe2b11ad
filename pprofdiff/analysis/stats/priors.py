"""The models of figures that one run a side does not show the spread of."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from pprofdiff.analysis.stats import calibration
from pprofdiff.analysis.stats.calibration import EVENTS_CHI_SQUARE, EVENTS_FEW, Prior
from pprofdiff.analysis.stats.judgement import Judgement, Observed, Runs

__all__ = ["EventModel", "PriorModel"]


@dataclass(frozen=True)
class PriorModel:
    """How far a figure differs between runs of one build, as measured beforehand."""

    prior: Prior

    def rows(self, runs: Runs[Observed]) -> Judgement:
        """Judge the change of one figure; several runs' figures and events are summed.

        One row: its interval reaches as far as the prior allows on either side. It is
        unknown where a side has too few events or is too short.
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
        """Tell whether two figures, of which either may be 0, differ by the ratio."""
        if min(base, new) <= 0:
            return base != new
        return abs(log(new / base)) >= log(self.prior.ratio)

    def _ratio_reach(self, base: Observed, new: Observed) -> float:
        """Return the least difference that is the ratio, given the larger figure."""
        if min(base.value, new.value) <= 0:
            return 0.0
        return max(base.value, new.value) * (1 - 1 / self.prior.ratio)


@dataclass(frozen=True)
class EventModel:
    """Whether there are enough events, such as GC cycles, to speak of a build."""

    def rows(self, runs: Runs[int]) -> Judgement:
        """Judge how many more events new has; those of several runs are summed.

        One row, without an interval. The counts differ where the square of their
        difference, by their sum, exceeds chi square; the change is unknown where they
        do not and a side has fewer than 3.
        """
        base, new = sum(runs.base), sum(runs.new)
        differ = (new - base) ** 2 > EVENTS_CHI_SQUARE * (new + base)
        few = min(base, new) < EVENTS_FEW and not differ
        return Judgement.of_one(new - base, noise=None if few else not differ)


def _summed(runs: tuple[Observed, ...]) -> Observed:
    """Return a figure, its events and wall time, each added up over runs."""
    if len(runs) == 1:
        return runs[0]
    value, events, wall_ns = (sum(column) for column in zip(*runs, strict=True))
    return Observed(value, events, wall_ns)
