"""The judge: the single entry point for everything about significance.

Callers pass both sides' values run by run (`Runs`) and get deltas, intervals and marks
(`Judgement`, `Change`). The model behind it depends on the measure:

=====================  ==========================  =====================================
measure                one run's value             model
=====================  ==========================  =====================================
sampled values         int64 column, raw           `counts.CountModel`
a quantile             `durations.Durations`       `durations.ExceedanceModel`
a quantile's ceiling   `durations.Durations`       `durations.CeilingModel`
quantiles' intervals   `durations.Durations`       `durations.BootstrapModel`
mean over GC cycles    float64 draws               `_MeanModel`
figures run by run     float64 column, above 0     `_RatioModel`
a figure's ceiling     float64 column of one       `_LevelModel`
a benchmark            its values                  `samples.MedianModel`
a figure of a trace    `judgement.Observed`        `_PriorModel`
a number of events     int                         `_EventModel`
=====================  ==========================  =====================================

All thresholds are in `calibration`. With one run per side, models describe variation
within a run; values of several runs are pooled. Those of ratios treat each run's
figure as one observation. Models of other modules are imported on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge import calibration
from pprofdiff.analysis.judge.calibration import (
    CYCLES_FOR_MEAN,
    EVENTS_CHI_SQUARE,
    EVENTS_FEW,
    FALSE_DISCOVERIES,
    LIMIT,
    TOTAL_FREEDOM,
    TOTAL_PRIOR,
    Prior,
    Spread,
)
from pprofdiff.analysis.judge.judgement import Change, Judgement, Observed, Runs
from pprofdiff.analysis.judge.student import (
    false_discovery_rates,
    normal,
    reach,
    two_sided,
)
from pprofdiff.analysis.judge.totals import squares_of_runs

if TYPE_CHECKING:
    from pprofdiff.analysis.judge.durations import Durations

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _RatioModel:
    """How far ratios of figures, new ÷ base, are from 1; one spread per figure."""

    spreads: tuple[Spread, ...]

    def rows(self, runs: Runs[Floats]) -> Judgement:
        """Judge figures, one row each; a run's value is a float64 column of them.

        Figures are positive, or NaN if a run has none. `delta`, `low` and `high` are
        natural logarithms of the ratio of geometric means and of its 95% interval. A
        row is noise if its false discovery rate is above 5%, and unknown if no run of a
        side has the figure.
        """
        base, new = _side(runs.base), _side(runs.new)
        known = (base.runs > 0) & (new.runs > 0)
        delta = new.mean - base.mean
        one, freedom = _deviation(base, new, self.spreads, in_turns=runs.in_turns)
        with np.errstate(divide="ignore", invalid="ignore"):
            sigma = one * np.sqrt(1 / base.runs + 1 / new.runs)
        return _judged(delta, sigma, freedom, known)


@dataclass(frozen=True)
class _LevelModel:
    """How far a figure of new is from a positive limit, in any future run."""

    spread: Spread
    limit: float

    def rows(self, runs: Runs[Floats]) -> Judgement:
        """Judge one figure as `_RatioModel` does, against the limit instead of base.

        Base's runs only contribute to the spread.
        """
        base, new = _side(runs.base), _side(runs.new)
        one, freedom = _deviation(base, new, (self.spread,))
        with np.errstate(divide="ignore", invalid="ignore"):
            sigma = one * np.sqrt(1 / new.runs)
        return _judged(new.mean - log(self.limit), sigma, freedom, new.runs > 0)


@dataclass(frozen=True, eq=False)
class _Side:
    """Per figure: logarithms by run, how many runs have it, and their mean."""

    logs: Floats
    runs: NDArray[np.int64]
    mean: Floats


def _side(runs: Sequence[Floats]) -> _Side:
    logs = np.log(np.stack(runs))
    there = ~np.isnan(logs)
    count = there.sum(axis=0)
    with np.errstate(invalid="ignore"):
        mean = np.where(there, logs, 0.0).sum(axis=0) / count
    return _Side(logs, count, mean)


def _deviation(
    base: _Side, new: _Side, spreads: Sequence[Spread], *, in_turns: bool = False
) -> tuple[Floats, Floats]:
    """Return the deviation of one run's logarithm, and its degrees of freedom.

    The spread alone counts as known; runs add to its degrees of freedom.
    """
    sigma, least, always = np.array(spreads, np.float64).reshape(-1, 3).T
    squares, freedom = squares_of_runs(base.logs, new.logs, in_turns=in_turns)
    few = np.where(freedom < TOTAL_FREEDOM, TOTAL_PRIOR, 0)
    prior = np.maximum(few, always)
    squares += prior * np.square(sigma)
    variance = np.maximum(squares / (freedom + prior), np.square(least))
    return np.sqrt(variance), np.where(freedom == 0, np.inf, freedom + prior)


def _judged(
    delta: Floats, sigma: Floats, freedom: Floats, known: NDArray[np.bool_]
) -> Judgement:
    """Return the judgement of changes with these deviations."""
    z = normal(delta / sigma, freedom)
    reaches = np.array([reach(of).of_95 for of in freedom.tolist()]) * sigma
    p = two_sided(z)
    q = np.full(len(p), np.nan)
    q[known] = false_discovery_rates(p[known])
    return Judgement(
        delta=delta,
        low=delta - reaches,
        high=delta + reaches,
        z=z,
        p=p,
        q=q,
        noise=~(q <= FALSE_DISCOVERIES),
        known=known,
    )


@dataclass(frozen=True)
class _MeanModel:
    """How far means of independent draws differ by chance."""

    def rows(self, runs: Runs[NDArray[np.float64]]) -> Judgement:
        """Judge new's mean minus base's; the draws of all runs are pooled.

        Returns one row, whose interval reaches three standard errors on either side. It
        is unknown if a side has fewer than 5 draws.
        """
        base, new = np.concatenate(runs.base), np.concatenate(runs.new)
        if min(len(base), len(new)) < CYCLES_FOR_MEAN:
            means = [
                float(side.mean()) if len(side) else np.nan for side in (base, new)
            ]
            return Judgement.of_one(means[1] - means[0], noise=None)
        delta = float(new.mean()) - float(base.mean())
        variances = (float(side.var(ddof=1)) / len(side) for side in (base, new))
        reach = LIMIT * sqrt(sum(variances))
        return Judgement.of_one(
            delta, interval=(delta - reach, delta + reach), noise=abs(delta) <= reach
        )


@dataclass(frozen=True)
class _PriorModel:
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
class _EventModel:
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


V = TypeVar("V")


class _Model(Protocol[V]):
    """How a measure's change is judged."""

    def rows(self, runs: Runs[V]) -> Judgement:
        """Judge the rows of both sides' runs."""


@dataclass(frozen=True, eq=False)
class Judge(Generic[V]):
    """Judges one measure of one pair of sides; `V` is the type of one run's value.

    Created by the method named after the measure, such as `Judge.of_mean`, or
    of a `CountModel`.
    """

    model: _Model[V]

    def rows(self, runs: Runs[V]) -> Judgement:
        """Return the judgement of all rows, judged together."""
        return self.model.rows(runs)

    def one(self, runs: Runs[V]) -> Change:
        """Return the change of the first row, judged together with all others."""
        return self.rows(runs).change()

    def pair(self, base: V, new: V) -> Change:
        """Return the change between one run of base and one of new."""
        return self.one(Runs.single(base, new))

    @staticmethod
    def of_quantile(rank: int) -> Judge[Durations]:
        """Judge a quantile, in thousandths, of independent durations."""
        from pprofdiff.analysis.judge.durations import ExceedanceModel

        return Judge(ExceedanceModel(rank))

    @staticmethod
    def of_ceiling(rank: int, limit_ns: float) -> Judge[Durations]:
        """Judge whether new's quantile, in thousandths, exceeds a limit."""
        from pprofdiff.analysis.judge.durations import CeilingModel

        return Judge(CeilingModel(rank, limit_ns))

    @staticmethod
    def of_quantiles(ranks: Sequence[int]) -> Judge[Durations]:
        """Judge quantiles of durations correlated within blocks, one row each."""
        from pprofdiff.analysis.judge.durations import BootstrapModel

        return Judge(BootstrapModel(tuple(ranks)))

    @staticmethod
    def of_mean() -> Judge[NDArray[np.float64]]:
        """Judge a mean of independent draws."""
        return Judge(_MeanModel())

    @staticmethod
    def of_ratios(spreads: Sequence[Spread]) -> Judge[NDArray[np.float64]]:
        """Judge ratios of figures known run by run, with one spread per figure."""
        return Judge(_RatioModel(tuple(spreads)))

    @staticmethod
    def of_level(spread: Spread, limit: float) -> Judge[NDArray[np.float64]]:
        """Judge whether a figure of new, known run by run, exceeds a limit."""
        return Judge(_LevelModel(spread, limit))

    @staticmethod
    def of_benchmark() -> Judge[Sequence[float]]:
        """Judge the median of a benchmark's values."""
        from pprofdiff.analysis.judge.samples import MedianModel

        return Judge(MedianModel())

    @staticmethod
    def of_figure(prior: Prior) -> Judge[Observed]:
        """Judge a figure whose run-to-run variation is known from a prior."""
        return Judge(_PriorModel(prior))

    @staticmethod
    def of_events() -> Judge[int]:
        """Judge the change in the number of events, such as GC cycles."""
        return Judge(_EventModel())


def beyond_runs(prior: Prior, base: float, new: float) -> bool:
    """Return whether a figure changed by more than runs of one build do."""
    return Judge.of_figure(prior).pair(Observed(base), Observed(new)).significant
