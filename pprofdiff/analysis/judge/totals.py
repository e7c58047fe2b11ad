"""The new/base ratio of a total such as time/op, with confidence intervals.

A total is not a sum of independent samples: the clock and the machine's speed shift it
as a whole, so what counts is how much runs of one build differ. Logarithms of runs are
compared with a t interval on the runs' own variance. With few runs it is shrunk toward
a prior, which is all there is with one run per side (Smyth 2004, Statistical
Applications in Genetics and Molecular Biology 3(1), shows the form); from
`calibration.TOTAL_FREEDOM` degrees of freedom on, only the runs count.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from itertools import chain
from math import exp, hypot, inf, isfinite, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.calibration import (
    FEW_SIGMA,
    FEW_TURNS,
    LAYOUT_SIGMA,
    SERIAL_SPREAD,
    SERIAL_VALUES,
    TOTAL_FREEDOM,
    TOTAL_LEAST,
    TOTAL_PRIOR,
    TOTAL_SIGMA,
    TURNS_TOGETHER,
)
from pprofdiff.analysis.judge.samples import change_of_medians, median
from pprofdiff.analysis.judge.student import (
    false_discovery_rates,
    normal,
    reach,
    student,
    two_sided,
)

Floats = NDArray[np.float64]


class InTurns(NamedTuple):
    """A figure of (base, new) in each turn; `together` turns make one observation.

    `layouts` means that the function order changes after each of those. `least` is a
    deviation of the ratio's logarithm, and its degrees of freedom: intervals are at
    least as wide as it makes them.
    """

    base: Sequence[float]
    new: Sequence[float]
    together: int = TURNS_TOGETHER
    layouts: bool = False
    least: tuple[float, float] = (0.0, inf)

    @property
    def few(self) -> bool:
        """Whether turns are fewer than one observation: one lost slice shifts all."""
        return len(self.base) < TURNS_TOGETHER

    def ratio(self) -> Ratio:
        """Return the geometric mean over turns of new ÷ base.

        Other load lasts longer than one turn, so ratios of neighboring turns are
        correlated, as are turns of one function layout. Means of the `together` turns
        of one layout, in which each side starts equally often (ABBA BAAB), are nearly
        independent; with fewer than five, each turn counts. Of longer layouts, three
        suffice: their turns are too correlated to count. If `layouts` were varied and
        each turn counts, the deviation between layouts is taken from other programs.

        A few means may agree by luck: they vary at least as much as their turns do.
        """
        base, new = (np.asarray(side, np.float64) for side in (self.base, self.new))
        if len(base) == 1:
            return ratio_of_sums(float(base[0]), float(new[0]))
        pairs, together = np.log(new / base), self.together
        fewest = _BLOCKS if together <= TURNS_TOGETHER else _LAYOUTS
        size = together if len(pairs) >= fewest * together else 1
        whole = len(pairs) // size * size
        blocks = pairs[:whole].reshape(-1, size).mean(axis=1)
        deviation = max(float(blocks.std(ddof=1)), TOTAL_LEAST / sqrt(size))
        sigma = deviation / sqrt(len(blocks))
        if self.layouts and size == 1 < together:
            orders = max(len(pairs) // together, 1)
            sigma = hypot(sigma, LAYOUT_SIGMA * sqrt(2 / orders))
        middle = float(pairs.mean())
        found = [_ratio_of(middle, sigma, len(blocks) - 1)]
        if size > 1:
            found.append(_ratio_of(middle, *_of_turns(pairs[:whole].reshape(-1, size))))
        if self.least[0]:
            found.append(_ratio_of(middle, *self.least))
        return max(found, key=lambda one: one.wide[1])


def _of_turns(blocks: Floats) -> tuple[float, float]:
    """Return the deviation of the mean of turns as such, and its degrees of freedom.

    `blocks` are (blocks, turns of each). What a block shares does not count, nor what
    turns of one position do: which side began.
    """
    rest = blocks - blocks.mean(axis=1, keepdims=True)
    rest -= rest.mean(axis=0)
    freedom = (len(blocks) - 1) * (blocks.shape[1] - 1)
    return sqrt(float(np.square(rest).sum()) / freedom / blocks.size), freedom


def of_independent(ratios: Sequence[Ratio]) -> tuple[float, float]:
    """Return the deviation of the mean of logarithms, and its degrees of freedom.

    It is a lower bound for ratios that share the machine: their noise adds up rather
    than cancels. With few turns, a mean varies less by chance, and by much (for the
    degrees of freedom: Satterthwaite, Biometrics Bulletin 2(6), 1946).
    """
    sigma = hypot(*(one.sigma for one in ratios))
    parts = sum(one.sigma**4 / one.freedom for one in ratios)
    return sigma / len(ratios), sigma**4 / parts if parts else inf


def all_paired(base: Sized, new: Sized, pairs: int) -> bool:
    """Return whether every run has a measure, and runs were taken in turns.

    `base` and `new` are the runs that have it; if a run lacks it, the others are no
    longer adjacent. All runs of both sides make `pairs` pairs, 0 if not taken in turns.
    """
    return len(base) == len(new) == pairs > 0


def squares_of_runs(
    base: Floats, new: Floats, *, in_turns: bool = False
) -> tuple[Floats, Floats]:
    """Return the sum of squares of runs of one build, and its degrees of freedom.

    `base` and `new` are logarithms, float64 of shape (runs, figures), NaN where a run
    lacks the figure. With `in_turns`, figures that every run has are compared in pairs
    of run *i* of base and run *i* of new. Squares ÷ freedom is the variance of one run,
    by figure (float64).
    """
    squares, freedom = np.zeros(base.shape[1]), np.zeros(base.shape[1])
    for side in (base, new):
        runs, mean = mean_of_logs(side)
        squares += np.nansum(np.square(side - mean), axis=0)
        freedom += np.maximum(runs - 1, 0)
    if in_turns and len(base) == len(new):
        pairs = new - base
        whole = ~np.isnan(pairs).any(axis=0)
        # The difference of two runs has twice the variance of one.
        squares[whole] = np.square(pairs - pairs.mean(axis=0)).sum(axis=0)[whole] / 2
        freedom[whole] = len(pairs) - 1
    return squares, freedom


def mean_of_logs(logs: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return how many runs have each figure, and its mean; NaN if none has.

    `logs` is as in `squares_of_runs`.
    """
    runs = (~np.isnan(logs)).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return runs, np.nansum(logs, axis=0) / runs


# With fewer blocks, Student's t is so wide that single turns are more precise.
_BLOCKS, _LAYOUTS = 5, 3
# Bounds for two turns ten orders of magnitude apart exceed 1.8e308, e to the 709.
_LARGEST_LOG = 700.0


class Ratio(NamedTuple):
    """New ÷ base, its 95% interval, and the deviation of its logarithm.

    `narrow` is its 90% interval, `wide` its 99% one; `freedom` is the deviation's
    degrees of freedom, infinite if the deviation is known.
    """

    ratio: float
    low: float
    high: float
    narrow: tuple[float, float]
    wide: tuple[float, float]
    sigma: float
    freedom: float = inf

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval that verdicts and tables use, 95% unless stated."""
        return self.low, self.high

    @property
    def sure(self) -> bool:
        """Whether the 99% interval excludes 1."""
        return self.wide[0] > 1 or self.wide[1] < 1

    @property
    def width(self) -> float:
        """The ratio of the upper to the lower bound."""
        return self.high / self.low if self.low > 0 else inf

    def bounds_at(self, deviate: float) -> tuple[float, float]:
        """Return the interval that reaches as far as a normal deviate on each side."""
        far = float(student(deviate, np.array([self.freedom]))[0]) * self.sigma
        return _exp(log(self.ratio) - far), _exp(log(self.ratio) + far)

    def widened_to(self, ratio: float) -> Ratio:
        """Return another estimate with these intervals, widened to include it."""
        narrow, usual, wide = (
            (min(low, ratio), max(high, ratio))
            for low, high in (self.narrow, self.bounds, self.wide)
        )
        return Ratio(ratio, *usual, narrow, wide, self.sigma, self.freedom)

    def tested(
        self, base: Sequence[Sequence[float]], new: Sequence[Sequence[float]]
    ) -> Ratio:
        """Return the ratio of runs; intervals include 1 if the U test finds no change.

        Tables of the same values mark their rows by that test.
        """
        pooled = (list(chain.from_iterable(side)) for side in (base, new))
        if not change_of_medians(*pooled).noise:
            return self
        return self.widened_to(1.0)._replace(ratio=self.ratio)

    def without_bounds(self) -> Ratio:
        """Return the ratio with intervals that exclude nothing."""
        return _ratio_of(log(self.ratio), inf, self.freedom)

    def of_few(self, turns: int) -> Ratio:
        """Return the ratio of so many turns that are fewer than one observation.

        It has no bounds unless it is larger than the machine makes one.
        """
        sigma = max(self.sigma, FEW_SIGMA / sqrt(turns))
        found = _ratio_of(log(self.ratio), sigma, inf)
        return found if found.sure and turns >= FEW_TURNS else self.without_bounds()


def ratio_of_runs(
    base: Sequence[Sequence[float]],
    new: Sequence[Sequence[float]],
    prior_sigma: float = TOTAL_SIGMA,
    *,
    in_turns: bool = False,
) -> Ratio:
    """Return the ratio of two sides' runs, each a sequence of positive values.

    A run's figure is the median of its values; runs are averaged as logarithms. The
    values of one run come from one process in sequence and are correlated, so they say
    less about run-to-run variation than as many runs would. With few runs,
    `prior_sigma` says how far they may differ. Runs taken `in_turns` are compared in
    pairs.
    """
    sides = [[np.log(run) for run in side] for side in (base, new)]
    figures = [
        np.array([[log(median(run))] for run in side], np.float64)
        for side in (base, new)
    ]
    ratio = float(figures[1].mean() - figures[0].mean())
    by_runs = squares_of_runs(*figures, in_turns=in_turns)
    squares, freedom = float(by_runs[0][0]), int(by_runs[1][0])
    runs = [run for side in sides for run in side]
    serial = sum(float(((run - run.mean()) ** 2).sum()) for run in runs)
    serial_freedom = sum(len(run) - 1 for run in runs) / SERIAL_VALUES
    prior = TOTAL_PRIOR if freedom < TOTAL_FREEDOM else 0
    squares += prior * prior_sigma**2
    if prior:
        squares += serial * SERIAL_SPREAD / SERIAL_VALUES
        variance = squares / (prior + freedom + serial_freedom)
    else:
        variance = max(squares / freedom, TOTAL_LEAST**2)
    sigma = sqrt(variance * sum(1 / len(side) for side in figures))
    # The prior alone counts as known; runs add to its degrees of freedom.
    return _ratio_of(ratio, sigma, freedom + prior if freedom else inf)


def mean_of_runs(runs: Sequence[Sequence[float]]) -> float:
    """Return the geometric mean of runs' medians, as in `ratio_of_runs`."""
    return exp(float(np.mean([log(median(run)) for run in runs])))


def median_of_values(runs: Sequence[Sequence[float]]) -> float:
    """Return the median of the values of all runs, which is what benchstat prints."""
    return median(chain.from_iterable(runs))


def ratio_of_medians(
    base: Sequence[Sequence[float]],
    new: Sequence[Sequence[float]],
    prior_sigma: float = TOTAL_SIGMA,
    *,
    in_turns: bool = False,
) -> Ratio:
    """Return the ratio of the medians of all values, as benchstat does.

    Its intervals are as from `ratio_of_runs`, which has the same ratio with one run
    per side; with several, they are widened to include the ratio of medians, and 1 if
    the U test finds no change. Runs taken `in_turns` are no independent samples.
    """
    by_runs = ratio_of_runs(base, new, prior_sigma, in_turns=in_turns)
    ratio = by_runs.widened_to(median_of_values(new) / median_of_values(base))
    return ratio if in_turns else ratio.tested(base, new)


def ratio_of_sums(
    base: float,
    new: float,
    runs: tuple[int, int] = (1, 1),
    prior_sigma: float = TOTAL_SIGMA,
    scale_sigma: float = 0.0,
) -> Ratio:
    """Return the ratio of figures known only as sums over runs.

    Nothing shows how the runs differ, so only the prior counts, for this many runs.
    `scale_sigma` is the deviation of the logarithm of the factor that scales new to
    base.
    """
    sigma = hypot(prior_sigma * sqrt(1 / runs[0] + 1 / runs[1]), scale_sigma)
    return _ratio_of(log(new / base), sigma, inf)


def _ratio_of(middle: float, sigma: float, freedom: float) -> Ratio:
    wide, usual, narrow = (
        (_exp(middle - far * sigma), _exp(middle + far * sigma))
        for far in reach(freedom)
    )
    return Ratio(exp(middle), *usual, narrow, wide, sigma, freedom)


def _exp(logarithm: float) -> float:
    """Return the exponential, clamped to what a float holds."""
    return exp(max(-_LARGEST_LOG, min(_LARGEST_LOG, logarithm)))


# Degrees of freedom of the median deviation. Deviations of benchmarks run together
# differ by a factor of about two (turns: 6 to 15% in 43 benchmarks on one machine).
_SHARED_FREEDOM = 4
# The fewest units with a meaningful median.
_SEVERAL = 5


def moderated(ratios: Sequence[Ratio]) -> list[Ratio]:
    """Return ratios of units measured in the same turns, each with all units' noise.

    With few turns, the deviation of one unit alone is poorly known. The median of all
    counts as well, for four degrees of freedom (Smyth 2004, Statistical Applications in
    Genetics and Molecular Biology 3(1)).
    """
    known = [one for one in ratios if isfinite(one.freedom)]
    if len(known) < max(_SEVERAL, len(ratios)):
        return list(ratios)
    middle = float(np.median([one.sigma**2 for one in ratios]))
    found = []
    for one in ratios:
        freedom = one.freedom + _SHARED_FREEDOM
        own, shared = one.freedom * one.sigma**2, _SHARED_FREEDOM * middle
        found.append(_ratio_of(log(one.ratio), sqrt((own + shared) / freedom), freedom))
    return found


def judged_together(
    ratios: Sequence[Ratio], rate: float, least_sigma: float = 0.0
) -> list[tuple[float, float]]:
    """Return the (low, high) bounds of each ratio.

    Of the units whose bounds exclude 1, at most `rate` are expected to be wrong. The
    deviation of a ratio's logarithm is taken to be at least `least_sigma`.
    """
    if not ratios:
        return []
    # Few reports judge several units, and this imports a dozen modules.
    from statistics import NormalDist

    middle = np.array([log(ratio.ratio) for ratio in ratios])
    sigma = np.maximum([ratio.sigma for ratio in ratios], least_sigma)
    freedom = np.array([ratio.freedom for ratio in ratios], np.float64)
    p = two_sided(normal(middle / sigma, freedom))
    changed = int((false_discovery_rates(p) <= rate).sum())
    level = rate * max(changed, 1) / len(ratios)
    reaches = student(NormalDist().inv_cdf(1 - level / 2), freedom) * sigma
    return [
        (_exp(one - far), _exp(one + far))
        for one, far in zip(middle.tolist(), reaches.tolist(), strict=True)
    ]
