"""How far runs of one side differ: by counting, row by row, and all rows together.

A run's count of a row is its share of the run's total times that total. Shares vary by
φ μ + c² μ², where μ is the mean count of a run: φ shows in rows of few samples, c²
beyond it in rows of many (Lund et al. 2012, Statistical Applications in Genetics and
Molecular Biology 11(5), has the form). A row's own variance is shrunk toward this
trend, which counts for `calibration.ROW_FREEDOM` degrees of freedom (Smyth 2004, the
same journal 3(1)). The total per op is a factor of all rows of a run: the machine's
speed, the clock. With fewer than three runs per side its variance is shrunk toward the
prior for one run, as in `totals`.

Hosts that ran both builds are paired: what sets a host apart is on both sides, and
cancels in the host's difference. A host on only one side differs by all that hosts
differ by.

One run per side shows none of this, so what unchanged builds were measured to do is
used instead (`one_run`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log, sqrt

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.analysis.judge.calibration import (
    DISPERSION,
    ONE_DISPERSION,
    ONE_FREEDOM,
    ONE_SHARED,
    ROW_FREEDOM,
    TOTAL_FREEDOM,
    TOTAL_PRIOR,
    TOTAL_SIGMA,
)
from pprofdiff.analysis.judge.student import reach
from pprofdiff.analysis.judge.totals import squares_of_runs

Floats = NDArray[np.float64]

# Rows with fewer samples over a side's runs say nothing about spread; those with fewer
# than the second number per run show counting alone.
_LEAST, _COUNTING = 10.0, 5.0
# This many rows show how counts vary, which is at least Poisson.
_ROWS = 10


class Pairs(Struct, frozen=True, eq=False, dict=True):
    """Which runs of both sides are of one host.

    `base` and `new` are the index of each run (int64) among the `hosts` hosts of either
    side; no two runs of a side share one.
    """

    base: NDArray[np.int64]
    new: NDArray[np.int64]
    hosts: int

    @classmethod
    def of(cls, base: Sequence[int], new: Sequence[int]) -> Pairs:
        """Return the pairs of runs with equal numbers."""
        places = {run: place for place, run in enumerate(sorted({*base, *new}))}
        old, now = (
            np.array([places[run] for run in side], np.int64) for side in (base, new)
        )
        return cls(old, now, len(places))


class RunSpread(Struct, frozen=True, eq=False, dict=True):
    """How far sums over runs may differ.

    `dispersion` is the variance of a count ÷ its mean: φ. `shared` is the variance of a
    row's share of a run beyond counting, ÷ its square: c². `common` is the variance of
    the factor that all rows of a run share, 0 if rows are compared as shares; `freedom`
    is its degrees of freedom, with one run per side everything's. `totals` are
    the samples of each run (base, new), float64, infinite if unknown. `factor` is how
    far noise may scale all rows of new, as far as most changed by it; 1 if several runs
    show `common`. `pairs` says which runs are of one host, None if hosts are not
    compared in pairs; with it, `dispersion` and `shared` are of differences. With
    `certain`, a row's counting variance is taken as known, else all of its variance is
    as uncertain as several runs show.
    """

    dispersion: float = DISPERSION
    shared: float = 0.0
    common: float = 0.0
    freedom: float = np.inf
    totals: tuple[Floats, Floats] = (np.full(1, np.inf), np.full(1, np.inf))
    factor: float = 1.0
    pairs: Pairs | None = None
    certain: bool = True

    @property
    def runs(self) -> tuple[int, int]:
        """The number of runs (base, new) that are summed."""
        return len(self.totals[0]), len(self.totals[1])

    @property
    def several(self) -> bool:
        """Whether there are enough runs to show how much they differ."""
        return sum(self.runs) > len(self.runs)

    @property
    def assumed(self) -> bool:
        """Whether run-to-run variation is taken from other programs."""
        return not self.several and (self.shared > 0 or self.factor != 1)

    def of_rows(self, base: Floats, new: Floats) -> tuple[Floats, Floats]:
        """Return each row's variance relative to the trend, and its degrees of freedom.

        `base` and `new` are samples by row and run. The variance is as in Pearson's
        residuals, shrunk toward the trend.
        """
        squares, freedom, mean = _residuals((base, new), self.totals, self.pairs)
        trend = self.dispersion + self.shared * mean
        whole = freedom + ROW_FREEDOM
        return (squares / trend + ROW_FREEDOM) / whole, whole


ONE_RUN = RunSpread()
"""One run per side with counting noise only: nothing shows how runs differ."""


def one_run(totals: tuple[float, float], ratio: float) -> RunSpread:
    """Return how far two runs of one build, one per side, may differ in CPU or time.

    `totals` are the samples of (base, new). Shares of rows differ as
    `calibration.ONE_SHARED` says. The machine scales all rows alike, by up to what
    totals of unchanged builds differ by in 95% of pairs (`calibration.TOTAL_SIGMA`),
    and by no more than most functions changed: `ratio` is the scaled new ÷ base that
    they share, 1 if unknown.
    """
    most = reach(inf).of_95 * TOTAL_SIGMA * sqrt(2)
    factor = exp(min(max(log(ratio), -most), most))
    base, new = (np.full(1, float(total)) for total in totals)
    return RunSpread(
        ONE_DISPERSION,
        ONE_SHARED,
        freedom=ONE_FREEDOM,
        totals=(base, new),
        factor=factor,
    )


class RunCounts(Struct, frozen=True, eq=False, dict=True):
    """One side's samples by row and run, and each run's exposure (float64).

    If nothing changes, a run's total is proportional to its exposure, such as the
    operations done.
    """

    counts: Floats
    exposure: Floats


def spread_of(
    sides: Sequence[RunCounts],
    *,
    totals: bool,
    in_turns: bool = False,
    pairs: Pairs | None = None,
) -> RunSpread:
    """Return how far runs differ, from both sides' rows by run.

    Rows are the leaf functions of each side: their counts add up. With `pairs`, which
    runs are of one host, both sides have the same rows. With `totals`, totals are
    compared by exposure, so that they show what all rows share; not so if rows are
    compared as shares of them. Runs taken `in_turns` make pairs of totals.
    """
    sums = sides[0].counts.sum(axis=0), sides[1].counts.sum(axis=0)
    freedom = sum(map(len, sums)) - len(sums)
    if freedom < 1:
        return replace(ONE_RUN, totals=sums)
    counts = [side.counts for side in sides]
    shown = (
        [_residuals((own,), (total,)) for own, total in zip(counts, sums, strict=True)]
        if pairs is None
        else [_residuals(counts, sums, pairs)]
    )
    ratio, weight, mean = (np.concatenate(part) for part in zip(*shown, strict=True))
    known = weight > 0
    ratio, weight, mean = ratio[known] / weight[known], weight[known], mean[known]
    few, many = mean < _COUNTING, mean >= _COUNTING
    dispersion = DISPERSION
    if few.sum() >= _ROWS:
        average = float(np.average(ratio[few], weights=weight[few]))
        dispersion = max(1.0, average)
    shared = 0.0
    if many.any():
        excess = (ratio[many] / _median(weight[many]) - dispersion) / mean[many]
        shared = max(0.0, float(np.median(excess)))
    common = 0.0
    if totals:
        squares, freedom = _of_totals(sides, in_turns=in_turns)
        if freedom < TOTAL_FREEDOM:
            squares += TOTAL_PRIOR * TOTAL_SIGMA**2
            freedom += TOTAL_PRIOR
        common = squares / freedom
    return RunSpread(dispersion, shared, common, freedom, sums, pairs=pairs)


def _median(freedom: Floats) -> Floats:
    """Return the median of a variance estimate, relative to the variance itself.

    For few runs it is far below 1, the mean: 0.70 with two degrees of freedom (Wilson
    and Hilferty 1931, Proceedings of the National Academy of Sciences 17(12)).
    """
    # The formula does not hold below one degree of freedom.
    return (1 - 2 / (9 * np.maximum(freedom, 1.0))) ** 3


def _residuals(
    sides: Sequence[Floats], totals: Sequence[Floats], pairs: Pairs | None = None
) -> tuple[Floats, Floats, Floats]:
    """Return squared residuals of shares ÷ their means, freedom, and means per run.

    They are Pearson's if runs are equally long. A long run affects the sum over runs
    more than a short one, and is weighted accordingly, as in the variance of a ratio of
    sums (Cochran 1977, Sampling Techniques, 6.3); the freedom is as of as many equal
    runs as have the sum's variance. A side with fewer than `_LEAST` samples of a row
    adds nothing. With `pairs`, the residuals of a row on both sides are those of hosts,
    new's minus base's.
    """
    rows = len(sides[0])
    squares, freedom, count = np.zeros(rows), np.zeros(rows), np.zeros(rows)
    for counts, total in zip(sides, totals, strict=True):
        sums = counts.sum(axis=1)
        counted = sums >= _LEAST
        mean = sums[counted, None] * (total / max(total.sum(), 1.0))
        equal = _equal_runs(total)
        parts = np.square(counts[counted] - mean).sum(axis=1) / sums[counted]
        squares[counted] += equal * parts
        freedom[counted] += equal - 1
        count += sums
    mean = count / sum(map(len, totals))
    if pairs is not None:
        base, new = sides
        both = np.flatnonzero(
            (base.sum(axis=1) >= _LEAST) & (new.sum(axis=1) >= _LEAST)
        )
        counted = _paired((base[both], new[both]), totals, pairs)
        squares[both], freedom[both], mean[both] = counted
    return squares, freedom, mean


def _paired(
    sides: Sequence[Floats], totals: Sequence[Floats], pairs: Pairs
) -> tuple[Floats, float, Floats]:
    """Return what `_residuals` does for rows on both sides, host by host.

    A residual is relative to its side's sum, so a host with more of a function on both
    sides has none. For a host on one side only, it is that side's: for two sides of
    equal sums without a common host, squares are those without pairs.
    """
    residuals = np.zeros((len(sides[0]), pairs.hosts))
    lengths = np.zeros(pairs.hosts)
    inverse = np.zeros(len(sides[0]))
    places = pairs.base, pairs.new
    for sign, counts, total, place in zip(
        (-1.0, 1.0), sides, totals, places, strict=True
    ):
        share = total / max(total.sum(), 1.0)
        sums = counts.sum(axis=1)
        residuals[:, place] += sign * (counts / sums[:, None] - share)
        lengths[place] += share / 2
        inverse += 1 / sums
    equal = _equal_runs(lengths)
    runs = sum(map(len, totals)) / 2
    squares = equal * np.square(residuals).sum(axis=1) / inverse
    return squares, equal - 1, 2 / inverse / runs


def _equal_runs(total: Floats) -> float:
    """Return how many equal runs have a sum that varies as much as this one."""
    squares = float(np.square(total).sum())
    return float(np.square(total.sum())) / squares if squares > 0 else 0.0


def _of_totals(sides: Sequence[RunCounts], *, in_turns: bool) -> tuple[float, int]:
    """Return squares and freedom of the logarithms of total ÷ exposure.

    A side with a run without samples shows nothing.
    """
    logs = []
    for side in sides:
        totals = side.counts.sum(axis=0)
        with np.errstate(divide="ignore"):
            log = np.log(totals / side.exposure)
        logs.append((log if (totals > 0).all() else np.zeros_like(log))[:, None])
    squares, freedom = squares_of_runs(*logs, in_turns=in_turns)
    return float(squares[0]), int(freedom[0])
