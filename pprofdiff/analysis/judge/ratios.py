"""Figures known run by run: the ratio of two sides, with its interval.

Runs of one build differ as wholes: a run alongside other processes has longer pauses
from start to finish. So each run's figure is one observation. Logarithms of runs are
compared with a t interval on the runs' own variance; with few runs it is shrunk toward
a `calibration.Spread`, which is all there is with one run per side, as for totals in
`totals`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.calibration import (
    FALSE_DISCOVERIES,
    TOTAL_FREEDOM,
    TOTAL_PRIOR,
    Spread,
)
from pprofdiff.analysis.judge.discoveries import false_discovery_rates, two_sided
from pprofdiff.analysis.judge.judgement import Judgement, Runs
from pprofdiff.analysis.judge.student import normal, reach
from pprofdiff.analysis.judge.turns import squares_of_runs

__all__ = ["LevelModel", "RatioModel"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RatioModel:
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
class LevelModel:
    """How far a figure of new is from a positive limit, in any future run."""

    spread: Spread
    limit: float

    def rows(self, runs: Runs[Floats]) -> Judgement:
        """Judge one figure as `RatioModel` does, against the limit instead of base.

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
