"""Ratios of runs, means, and figures whose spread between runs is known.

Thresholds are in `calibration`. `judged_ratios` treats each run's figure as one
observation.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from pprofdiff.analysis.judge.judgement import Change, Judgement, Observed, Runs
from pprofdiff.analysis.judge.student import (
    false_discovery_rates,
    normal,
    reach,
    two_sided,
)
from pprofdiff.analysis.judge.totals import mean_of_logs, squares_of_runs

Floats = NDArray[np.float64]


def judged_ratios(spreads: Sequence[Spread], runs: Runs[Floats]) -> Judgement:
    """Judge how far ratios of figures, new ÷ base, are from 1: one row each.

    A run's value is a float64 column of figures, positive, or NaN if the run has none.
    `delta`, `low` and `high` are natural logarithms of the ratio of geometric means and
    of its 95% interval. A row is noise if its false discovery rate is above 5%, and
    unknown if no run of a side has the figure.
    """
    base, new = np.log(np.stack(runs.base)), np.log(np.stack(runs.new))
    base_runs, base_mean = mean_of_logs(base)
    new_runs, new_mean = mean_of_logs(new)
    one, freedom = _deviation(base, new, spreads, in_turns=runs.in_turns)
    with np.errstate(divide="ignore", invalid="ignore"):
        sigma = one * np.sqrt(1 / base_runs + 1 / new_runs)
    known = (base_runs > 0) & (new_runs > 0)
    delta = new_mean - base_mean
    z = normal(delta / sigma, freedom)
    reaches = np.array([reach(of).of_95 for of in freedom.tolist()]) * sigma
    noise = np.ones(len(z), np.bool_)
    noise[known] = ~(false_discovery_rates(two_sided(z[known])) <= FALSE_DISCOVERIES)
    return Judgement(delta, delta - reaches, delta + reaches, z, known, noise, known)


def _deviation(
    base: Floats, new: Floats, spreads: Sequence[Spread], *, in_turns: bool
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


def change_of_means(base: Floats, new: Floats) -> Change:
    """Return the change of the mean of independent draws.

    The interval reaches three standard errors on either side. The change is unknown if
    a side has fewer than 5 draws.
    """
    means = [float(side.mean()) if len(side) else np.nan for side in (base, new)]
    delta = means[1] - means[0]
    if min(len(base), len(new)) < CYCLES_FOR_MEAN:
        return Change(delta, None, None, None, None)
    squares = sum(float(side.var(ddof=1)) / len(side) for side in (base, new))
    reach = LIMIT * sqrt(squares)
    return Change(delta, delta - reach, delta + reach, None, abs(delta) <= reach)


def change_by_prior(prior: Prior, base: Observed, new: Observed) -> Change:
    """Return the change of a figure that differs between runs of one build as known.

    The interval reaches as far as the prior allows on either side. The change is
    unknown if a side has too few events or is too short.
    """
    delta, by_ratio, reach = new.value - base.value, base.value != new.value, 0.0
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
    return Change(delta, delta - reach, delta + reach, None, noise)


def beyond_runs(prior: Prior, base: float, new: float) -> bool:
    """Return whether a figure changed by more than runs of one build do."""
    return change_by_prior(prior, Observed(base), Observed(new)).significant


def enough_events(base: int, new: int) -> bool:
    """Return whether there are enough events, such as GC cycles, to judge a build.

    Three on each side are, and so are fewer if the counts differ by more than chance:
    if the square of their difference, divided by their sum, exceeds chi-square.
    """
    differ = (new - base) ** 2 > EVENTS_CHI_SQUARE * (new + base)
    return differ or min(base, new) >= EVENTS_FEW
