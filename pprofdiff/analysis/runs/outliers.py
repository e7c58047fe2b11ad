"""Runs that are outliers among their side's runs: named, never dropped.

A run alongside a backup job, or on a throttled CPU, costs more than others of one
build. Run-to-run variation is measured by medians (of logarithms, and of distances from
the side's median: the MAD), which one such run hardly affects. With few runs these
medians may be small by luck, so they are shrunk toward the prior of `totals`.

Measured (``python -m tests.calibration.outliers``) on 23 or 24 runs of one build of
three programs on a quiet machine, in 300 random splits into sides of 3, 5 and 10 runs.
By CPU/op (deviation 2 to 4%) no split names any; a run that costs 1.38× as much is
named in 5 to 12, 62 to 97 and 90 to 100%. By time (14 to 24%, the longest run 1.8× the
median), 12 to 35, 17 to 47 and 1 to 89% name one, so time is used only if CPU is
unknown. For normal logarithms, at most 2% of comparisons name one at a deviation of 6%,
4 to 11% at 15%.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.judge.calibration import (
    OUTLYING,
    OUTLYING_LEAST,
    TOTAL_PRIOR,
    TOTAL_SIGMA,
)
from pprofdiff.analysis.runs.headline import RunValues, headline_runs
from pprofdiff.analysis.runs.naming import run_names
from pprofdiff.analysis.side import numbered
from pprofdiff.model.side import Side
from pprofdiff.units import times

__all__ = ["Outlier", "outliers", "outlying_runs"]

# Of two runs, either may be the outlier.
_FEWEST = 3
# Standard deviation ÷ MAD of a normal distribution.
_OF_MAD = 1.4826
_WORDS = {"cpu": "the CPU/op", "time": "the time/op"}


class Outlier(NamedTuple):
    """A run that is an outlier.

    `side` is 0 for base and 1 for new; `run` is its key on that side. `ratio` is its
    value ÷ the median of the side's `others` other runs.
    """

    side: int
    run: int
    ratio: float
    others: int


def outlying_runs(comparison: Comparison) -> Iterator[Caveat]:
    """Yield the runs whose CPU/op is an outlier, or time/op if CPU is unknown.

    Time depends on the machine at least as much as on the run.
    """
    figures = headline_runs(comparison)[-1:]
    sides = [numbered(side) for side in (comparison.base, comparison.new)]
    for figure in figures:
        for one in outliers(figure.sides):
            yield Caveat("outlying-run", _words(one, figure, sides[one.side]))


def _words(one: Outlier, figure: RunValues, side: Side) -> str:
    cause = "something else ran" if one.ratio > 1 else "it did the same work"
    return (
        f"{side.label}: {run_names(side)[one.run].place} took {times(one.ratio)} "
        f"{_WORDS[figure.id]} of the other {one.others} runs (their median); it "
        f"counts as they do: check whether {cause}"
    )


def outliers(sides: Sequence[Mapping[int, float]]) -> list[Outlier]:
    """Return the outliers among each side's runs, base first.

    Parameters
    ----------
    sides
        Positive values by run, of both sides. A side with fewer than three has none.

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
    """Return the run-to-run deviation of the logarithms."""
    own = _OF_MAD * float(np.median(distances))
    squares = freedom * own**2 + TOTAL_PRIOR * TOTAL_SIGMA**2
    return sqrt(squares / (freedom + TOTAL_PRIOR))
