"""Runs that stand apart from the others of their side: named, never dropped.

A run beside a backup job, or on a throttled processor, costs more than others of one
build. How far runs differ is told by medians (of logarithms, and of how far they are
from their side's median, the MAD), which one such run hardly moves. Of few runs these
medians are small by luck; they are drawn towards the prior of `totals` for that.

Measured (``python -m tests.calibration.outliers``) on 23 or 24 runs of one build of
three programs on a quiet machine, by 300 random splits into sides of 3, 5 and 10 runs.
By CPU an operation (deviation 2 to 4 %) no split names any; a run that costs 1.38 × as
much is named in 5 to 12, 62 to 97 and 90 to 100 %. By time (14 to 24 %, the longest run
1.8 × the median), 12 to 35, 17 to 47 and 1 to 89 % name one: that is why time counts
only where CPU is not known. Of normal logarithms, at most 2 % of comparisons name one
where the deviation is 6 %, 4 to 11 % where it is 15 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.profiles.caveats import Caveat
from pprofdiff.analysis.runs.headline import RunValues, headline_runs
from pprofdiff.analysis.runs.naming import run_names
from pprofdiff.analysis.side import numbered
from pprofdiff.analysis.stats.calibration import (
    OUTLYING,
    OUTLYING_LEAST,
    TOTAL_PRIOR,
    TOTAL_SIGMA,
)
from pprofdiff.model.side import Side
from pprofdiff.units import times

__all__ = ["Outlier", "outliers", "outlying_runs"]

# Of two runs, nothing tells which one stands apart.
_FEWEST = 3
# Of a normal distribution, its deviation ÷ the median of distances from its median.
_OF_MAD = 1.4826
_WORDS = {"cpu": "the CPU/op", "time": "the time/op"}


class Outlier(NamedTuple):
    """A run that stands apart.

    `side` is 0 for base and 1 for new, `run` the key that it has there. `ratio` is its
    value ÷ the median of the side's `others` other runs.
    """

    side: int
    run: int
    ratio: float
    others: int


def outlying_runs(comparison: Comparison) -> Iterator[Caveat]:
    """Yield the runs whose CPU by operation stands apart; without it, whose time does.

    Time tells of the machine at least as much as of the run.
    """
    figures = headline_runs(comparison)[-1:]
    sides = [numbered(side) for side in (comparison.base, comparison.new)]
    for figure in figures:
        for one in outliers(figure.sides):
            yield Caveat("outlying-run", _told(one, figure, sides[one.side]))


def _told(one: Outlier, figure: RunValues, side: Side) -> str:
    cause = "something else ran" if one.ratio > 1 else "it did the same work"
    return (
        f"{side.label}: {run_names(side)[one.run].place} took {times(one.ratio)} "
        f"{_WORDS[figure.id]} of the other {one.others} runs (their median); it "
        f"counts as they do: check whether {cause}"
    )


def outliers(sides: Sequence[Mapping[int, float]]) -> list[Outlier]:
    """Return the runs that stand apart from their side's others, side by side.

    Parameters
    ----------
    sides
        Positive values by run, of both sides. A side of fewer than three has none.

    """
    logs = [np.log(list(side.values())) for side in sides]
    apart = [np.abs(v - np.median(v)) if len(v) else v for v in logs]
    found = []
    for number, (side, values) in enumerate(zip(sides, logs, strict=True)):
        if len(values) < _FEWEST:
            continue
        elsewhere = [d for i, d in enumerate(apart) if i != number]
        for place, run in enumerate(side):
            others = np.delete(values, place)
            middle = float(np.median(others))
            distances = np.concatenate([np.abs(others - middle), *elsewhere])
            freedom = len(others) - 1 + sum(max(len(d) - 1, 0) for d in elsewhere)
            far = abs(float(values[place]) - middle)
            if far > max(
                OUTLYING * _deviation(distances, freedom), log(OUTLYING_LEAST)
            ):
                ratio = exp(float(values[place]) - middle)
                found.append(Outlier(number, run, ratio, len(others)))
    return found


def _deviation(distances: NDArray[np.float64], freedom: int) -> float:
    """Return how far runs differ, as deviation of their logarithms."""
    own = _OF_MAD * float(np.median(distances))
    squares = freedom * own**2 + TOTAL_PRIOR * TOTAL_SIGMA**2
    return sqrt(squares / (freedom + TOTAL_PRIOR))
