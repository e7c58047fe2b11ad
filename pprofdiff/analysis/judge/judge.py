"""Models of ratios of runs, means, events, and figures whose spread is known.

Callers pass both sides' values run by run (`Runs`) to the model of their measure and
get deltas, intervals and marks (`Judgement`, `Change`). Sampled values have
`counts.CountModel`, durations the models of `durations`, benchmarks
`samples.MedianModel`. All thresholds are in `calibration`. With one run per side,
models describe variation within a run; values of several runs are pooled. `RatioModel`
treats each run's figure as one observation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

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
from pprofdiff.analysis.judge.judgement import Judgement, Model, Observed, Runs
from pprofdiff.analysis.judge.student import (
    false_discovery_rates,
    normal,
    reach,
    two_sided,
)
from pprofdiff.analysis.judge.totals import mean_of_logs, squares_of_runs

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RatioModel(Model[Floats]):
    """How far ratios of figures, new ÷ base, are from 1; one spread per figure."""

    spreads: Sequence[Spread]

    def rows(self, runs: Runs[Floats]) -> Judgement:
        """Judge figures, one row each; a run's value is a float64 column of them.

        Figures are positive, or NaN if a run has none. `delta`, `low` and `high` are
        natural logarithms of the ratio of geometric means and of its 95% interval. A
        row is noise if its false discovery rate is above 5%, and unknown if no run of a
        side has the figure.
        """
        base, new = np.log(np.stack(runs.base)), np.log(np.stack(runs.new))
        base_runs, base_mean = mean_of_logs(base)
        new_runs, new_mean = mean_of_logs(new)
        one, freedom = _deviation(base, new, self.spreads, in_turns=runs.in_turns)
        with np.errstate(divide="ignore", invalid="ignore"):
            sigma = one * np.sqrt(1 / base_runs + 1 / new_runs)
        known = (base_runs > 0) & (new_runs > 0)
        return _judged(new_mean - base_mean, sigma, freedom, known)


@dataclass(frozen=True)
class LevelModel(Model[Floats]):
    """How far a figure of new is from a positive limit, in any future run."""

    spread: Spread
    limit: float

    def rows(self, runs: Runs[Floats]) -> Judgement:
        """Judge one figure as `RatioModel` does, against the limit instead of base.

        Base's runs only contribute to the spread.
        """
        base, new = np.log(np.stack(runs.base)), np.log(np.stack(runs.new))
        count, mean = mean_of_logs(new)
        one, freedom = _deviation(base, new, (self.spread,))
        with np.errstate(divide="ignore", invalid="ignore"):
            sigma = one * np.sqrt(1 / count)
        return _judged(mean - log(self.limit), sigma, freedom, count > 0)


def _deviation(
    base: Floats, new: Floats, spreads: Sequence[Spread], *, in_turns: bool = False
) -> tuple[Floats, Floats]:
    """Return the deviation of one run's logarithm, and its degrees of freedom.

    The spread alone counts as known; runs add to its degrees of freedom.
    """
    sigma, least, always = np.array(spreads, np.float64).reshape(-1, 3).T
    squares, freedom = squares_of_runs(base, new, in_turns=in_turns)
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
    noise = ~(q <= FALSE_DISCOVERIES)
    return Judgement(delta, delta - reaches, delta + reaches, z, p, q, noise, known)


@dataclass(frozen=True)
class MeanModel(Model[Floats]):
    """How far means of independent draws differ by chance."""

    def rows(self, runs: Runs[Floats]) -> Judgement:
        """Judge new's mean minus base's; the draws of all runs are pooled.

        Returns one row, whose interval reaches three standard errors on either side. It
        is unknown if a side has fewer than 5 draws.
        """
        sides = np.concatenate(runs.base), np.concatenate(runs.new)
        base, new = (float(side.mean()) if len(side) else np.nan for side in sides)
        delta = new - base
        if min(map(len, sides)) < CYCLES_FOR_MEAN:
            return Judgement.of_one(delta, noise=None)
        reach = LIMIT * sqrt(sum(float(side.var(ddof=1)) / len(side) for side in sides))
        return Judgement.of_one(
            delta, interval=(delta - reach, delta + reach), noise=abs(delta) <= reach
        )


@dataclass(frozen=True)
class PriorModel(Model[Observed]):
    """How far a figure differs between runs of one build, as measured beforehand."""

    prior: Prior

    def rows(self, runs: Runs[Observed]) -> Judgement:
        """Judge the change of one figure; values and events of runs are summed.

        Returns one row, whose interval reaches as far as the prior allows on either
        side. It is unknown if a side has too few events or is too short.
        """
        base, new = _summed(runs.base), _summed(runs.new)
        prior, delta = self.prior, new.value - base.value
        by_ratio, reach = base.value != new.value, 0.0
        if min(base.value, new.value) > 0:
            by_ratio = abs(log(new.value / base.value)) >= log(prior.ratio)
            reach = max(base.value, new.value) * (1 - 1 / prior.ratio)
        reach = min(prior.always, max(prior.points, reach))
        noise: bool | None = abs(delta) < prior.always and not (
            abs(delta) >= prior.points and by_ratio
        )
        short = min(base.wall_ns, new.wall_ns) < calibration.LONG_NS
        if min(base.events, new.events) < prior.events or (prior.long and short):
            noise = None
        return Judgement.of_one(
            delta, interval=(delta - reach, delta + reach), noise=noise
        )


def _summed(runs: tuple[Observed, ...]) -> Observed:
    """Return a figure's value, events and wall time, each summed over runs."""
    value, events, wall_ns = (sum(column) for column in zip(*runs, strict=True))
    return Observed(value, events, wall_ns)


@dataclass(frozen=True)
class EventModel(Model[int]):
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


def beyond_runs(prior: Prior, base: float, new: float) -> bool:
    """Return whether a figure changed by more than runs of one build do."""
    return PriorModel(prior).pair(Observed(base), Observed(new)).significant
