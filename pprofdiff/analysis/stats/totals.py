"""The ratio of a whole figure, such as time an operation, and how sure it is.

A total is no sum of independent samples: the clock and the machine's speed move it as a
whole. What tells is how much runs of one build differ. Logarithms of runs are compared
with a t interval whose variance is the runs' own. Of few runs it is drawn towards a
prior, which one run a side has alone (Smyth 2004, Statistical Applications in Genetics
and Molecular Biology 3(1), shows the form); from `calibration.TOTAL_FREEDOM` degrees of
freedom on, runs speak for themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.stats.calibration import (
    SERIAL_SPREAD,
    SERIAL_VALUES,
    TOTAL_FREEDOM,
    TOTAL_LEAST,
    TOTAL_PRIOR,
    TOTAL_SIGMA,
)
from pprofdiff.analysis.stats.turns import squares_of_runs

__all__ = ["Ratio", "mean_of_runs", "ratio_of_runs", "ratio_of_sums"]

# Student's t at 97.5 and 95 % for 1, 2, … degrees of freedom.
_T975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
_T95 = (6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812)
_Z = 1.960, 1.645


class Ratio(NamedTuple):
    """New ÷ base, its 95 and its 90 % interval, and the deviation of its logarithm."""

    ratio: float
    low: float
    high: float
    narrow: tuple[float, float]
    sigma: float


def ratio_of_runs(
    base: Sequence[Sequence[float]],
    new: Sequence[Sequence[float]],
    *,
    in_turns: bool = False,
) -> Ratio:
    """Return the ratio of two sides' runs, each a sequence of positive values.

    The values of one run were measured one after the other by one process. They hang
    together, so that they say less of how runs differ than as many runs would. Runs
    that were taken `in_turns` are compared in pairs.
    """
    sides = [[np.log(run) for run in side] for side in (base, new)]
    means = [np.array([[run.mean()] for run in side]) for side in sides]
    ratio = float(means[1].mean() - means[0].mean())
    told = squares_of_runs(*means, in_turns=in_turns)
    squares, freedom = float(told[0][0]), int(told[1][0])
    runs = [run for side in sides for run in side]
    serial = sum(float(((run - run.mean()) ** 2).sum()) for run in runs)
    serial_freedom = sum(len(run) - 1 for run in runs) / SERIAL_VALUES
    prior = TOTAL_PRIOR if freedom < TOTAL_FREEDOM else 0
    squares += prior * TOTAL_SIGMA**2
    if prior:
        squares += serial * SERIAL_SPREAD / SERIAL_VALUES
        variance = squares / (prior + freedom + serial_freedom)
    else:
        variance = max(squares / freedom, TOTAL_LEAST**2)
    sigma = sqrt(variance * sum(1 / len(side) for side in means))
    return _ratio(ratio, sigma, _quantiles(freedom, prior))


def mean_of_runs(runs: Sequence[Sequence[float]]) -> float:
    """Return the geometric mean of a side's runs, each the mean of its positive values.

    The ratio of two sides' means is that of `ratio_of_runs`.
    """
    return exp(float(np.mean([np.log(run).mean() for run in runs])))


def ratio_of_sums(base: float, new: float, runs: tuple[int, int] = (1, 1)) -> Ratio:
    """Return the ratio of figures of which only the sum over runs is known.

    Nothing shows how the runs differ, so that the prior alone is taken, of as many.
    """
    sigma = TOTAL_SIGMA * sqrt(1 / runs[0] + 1 / runs[1])
    return _ratio(log(new / base), sigma, _Z)


def _ratio(middle: float, sigma: float, reach: tuple[float, float]) -> Ratio:
    """Return the ratio of a logarithm, its deviation, and how far intervals reach."""
    wide, narrow = reach
    return Ratio(
        exp(middle),
        exp(middle - wide * sigma),
        exp(middle + wide * sigma),
        (exp(middle - narrow * sigma), exp(middle + narrow * sigma)),
        sigma,
    )


def _quantiles(freedom: int, prior: int) -> tuple[float, float]:
    """Return how many deviations 95 and 90 % intervals reach on either side.

    The prior alone is taken for known; runs add to its degrees of freedom.
    """
    if freedom == 0:
        return _Z
    at = freedom + prior - 1
    if at < len(_T975):
        return _T975[at], _T95[at]
    wide, narrow = (_student(z, at + 1) for z in _Z)
    return wide, narrow


def _student(z: float, freedom: int) -> float:
    """Return Student's t at a quantile of the normal distribution.

    The first terms of the expansion by degrees of freedom (Abramowitz and Stegun,
    26.7.5): from 11 on it is right to three decimals.
    """
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
