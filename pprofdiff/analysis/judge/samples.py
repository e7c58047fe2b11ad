"""Medians, confidence intervals and the U test, as benchstat computes them.

Results match golang.org/x/perf/benchmath (AssumeNothing, 95% confidence, alpha 0.05),
which uses github.com/aclements/go-moremath/stats: the same quantile, the same cutoffs
between exact distributions and the normal approximation, and the same order of
operations wherever it decides the last digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import ceil, comb, erfc, exp, floor, log, modf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.calibration import (
    ALPHA,
    CONFIDENCE,
    SAMPLES_FOR_TEST,
)
from pprofdiff.analysis.judge.judgement import Change

Floats = NDArray[np.float64]

# Largest samples with an exact distribution of U: MannWhitneyExactLimit and
# MannWhitneyTiesExactLimit of go-moremath.
_EXACT, _EXACT_TIED = 50, 25
# Largest sample whose binomial is summed: quantileCIApproxThreshold.
_BINOMIAL = 30
# For n = 24, orders 7 to 17 and 8 to 18 are equally good. go-moremath takes the upper
# one: its log-based binomial coefficients are not symmetric in the last bit.
_UPPER = 24
# The normal distribution's quantile at (1 + CONFIDENCE) / 2.
_NORMAL_QUANTILE = 1.959963984540054
MEDIAN_DEVIATE = 0.6744897501960817
"""The median absolute value of a standard normal deviate."""


class Summary(NamedTuple):
    """A sample's median, its 95% confidence interval, and its size `n`.

    A bound is None if there are too few values for one.
    """

    median: float
    low: float | None
    high: float | None
    n: int

    @property
    def spread(self) -> float | None:
        """The distance from the median to the farther bound, relative to the median.

        None if a bound is missing or differs in sign from the median, where benchstat
        prints ``∞`` or ``?``; 0 if all three are 0.
        """
        if self.low is None or self.high is None:
            return None
        if not _sign(self.median) == _sign(self.low) == _sign(self.high):
            return None
        if self.median == 0:
            return 0.0
        # benchstat takes the larger signed value, which is right only above 0.
        return max(abs(self.high / self.median - 1), abs(1 - self.low / self.median))


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def change_of_medians(base: Sequence[float], new: Sequence[float]) -> Change:
    """Return the change of a benchmark's median, tested by the Mann-Whitney U test.

    It is unknown if p is too large and neither side has the four values that a
    significant difference takes.
    """
    p = mann_whitney(base, new)
    # p is None if all values are equal.
    p = 1.0 if p is None else p
    few = p > ALPHA and max(len(base), len(new)) < SAMPLES_FOR_TEST
    noise = None if few else p > ALPHA
    return Change(median(new) - median(base), None, None, p, noise)


def summarize(values: Sequence[float]) -> Summary:
    """Return the summary of one or more finite values, in any order."""
    ordered = sorted(values)
    low, high = median_orders(len(ordered))
    return Summary(
        _median(ordered),
        ordered[low - 1] if low >= 1 else None,
        ordered[high - 1] if high <= len(ordered) else None,
        len(ordered),
    )


def median(values: Iterable[float]) -> float:
    """Return the median of one or more values."""
    return _median(sorted(values))


def _median(ordered: Sequence[float]) -> float:
    """Return the median as go-moremath rounds it: Hyndman and Fan's quantile R8."""
    fraction, whole = modf(1 / 3 + 0.5 * (len(ordered) + 1 / 3))
    k = int(whole)
    if k >= len(ordered):
        return ordered[-1]
    return ordered[k - 1] + fraction * (ordered[k] - ordered[k - 1])


@lru_cache(maxsize=1024)
def median_orders(n: int) -> tuple[int, int]:
    """Return the order statistics, from 1, that bound the median of `n` values.

    They bound it with at least 95% confidence. A low of 0 or a high of n + 1 means no
    bound on that side. Of two equally good intervals, the lower one is returned.
    """
    if n == _UPPER:
        low, high = 8, 18
    elif n <= _BINOMIAL:
        low, high = _binomial_orders(n)
    else:
        low, high = _normal_orders(n)
    return max(low, 0), min(high, n + 1)


def _binomial_orders(n: int) -> tuple[int, int]:
    """Widen [low, high) from the middle, likelier side first, to the confidence."""

    def ways(k: int) -> int:
        return comb(n, k) if 0 <= k <= n else 0

    low = ceil((n + 1) / 2) - 1
    high, covered = low + 1, ways(low)
    while covered < CONFIDENCE * 2**n:
        if ways(low - 1) >= ways(high):
            low -= 1
            covered += ways(low)
        else:
            covered += ways(high)
            high += 1
    return low, high


def _normal_orders(n: int) -> tuple[int, int]:
    """Round the normal approximation outward, then drop an order it can spare."""
    mean, deviation = n / 2, sqrt(n / 4)
    left = mean - _NORMAL_QUANTILE * deviation
    right = 2 * mean - left
    low = floor(floor(left - 0.5) + 0.5) + 1
    high = floor(ceil(right - 0.5) + 0.5) + 1

    def below(k: int) -> float:
        return _normal_below((k - 0.5 - mean) / deviation)

    if below(high - 1) - below(low) >= CONFIDENCE:
        high -= 1
    return low, high


def _normal_below(z: float) -> float:
    return erfc(-z / sqrt(2)) / 2


def geomean(values: Iterable[float]) -> float | None:
    """Return the geometric mean; None for no values or a value that is not positive."""
    mean = 0.0
    count = 0
    for value in values:
        if value <= 0:
            return None
        count += 1
        mean += (log(value) - mean) / count
    return exp(mean) if count else None


def mann_whitney(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return the two-sided p of the U test, None if all values of both are equal.

    Each sample has one or more values; swapping the samples does not change p.
    go-moremath differs here: with ties and samples of unequal size, U's distribution is
    skewed, and it looks up the wrong tail, which can even exceed 1.
    """
    x, y = np.sort(np.asarray(first, float)), np.sort(np.asarray(second, float))
    n, m = len(x), len(y)
    _, ties = np.unique(np.concatenate((x, y)), return_counts=True)
    if len(ties) == 1:
        return None
    # Pairs in which x is larger count 2, ties 1.
    twice_u = int(np.searchsorted(y, x, "left").sum())
    twice_u += int(np.searchsorted(y, x, "right").sum())
    tied = len(ties) < n + m
    if max(n, m) > (_EXACT_TIED if tied else _EXACT):
        return _normal_p(twice_u, n, m, ties)
    if tied:
        return _tied_p(twice_u, n, tuple(ties.tolist()))
    smaller = min(twice_u, 2 * n * m - twice_u)
    if smaller == n * m:
        return 1.0
    return min(2 * float(_untied_sums(*sorted((n, m)))[smaller // 2]), 1.0)


def _normal_p(twice_u: int, n: int, m: int, ties: NDArray[np.int64]) -> float:
    """Return p by the normal approximation, corrected for ties and continuity."""
    total = float(n + m)
    # Python ints: the cube of a large tie count overflows int64.
    correction = float(sum(t**3 - t for t in ties.tolist()))
    variance = n * m * ((total + 1) - correction / (total * (total - 1))) / 12
    distance = max(abs(twice_u / 2 - n * m / 2) - 0.5, 0.0)
    # Always the lower tail: 1 minus the upper one loses small p.
    return 2 * _normal_below(-distance / sqrt(variance))


@lru_cache(maxsize=256)
def _untied_sums(n: int, m: int) -> NDArray[np.float64]:
    """Return P(U ≤ u) for u from 0 to n·m/2, without ties; n ≤ m.

    Uses the recurrence of Mann and Whitney (1947): p of (n, m) at u is
    (n·p of (n-1, m) at u-m + m·p of (n, m-1) at u) / (n + m).
    """
    size = n * m // 2 + 1
    # row[j] is p of (j, i) for the current i; past the diagonal it is p of (i, j).
    row = [np.zeros(size) for _ in range(n + 1)]
    row[0][0] = 1.0
    for i in range(1, m + 1):
        for j in range(1, min(i, n) + 1):
            before = row[j] if j < i else row[i - 1]
            after = i * before
            after[i:] += j * row[j - 1][: max(size - i, 0)]
            row[j] = after / (i + j)
    return np.cumsum(row[n])


def _tied_p(twice_u: int, n: int, ties: tuple[int, ...]) -> float:
    sums = _tied_sums(n, ties)
    below, whole = int(sums[twice_u]), int(sums[-1])
    above = whole - (int(sums[twice_u - 1]) if twice_u else 0)
    return min(2 * (min(below, above) / whole), 1.0)


@lru_cache(maxsize=256)
def _tied_sums(n: int, ties: tuple[int, ...]) -> NDArray[np.int64]:
    """Return how many samples of size `n` have 2U ≤ 0, 1, … 2·n·(values - n).

    Counts are exact: at most C(50, 25), about 1.3e14.
    """
    total = sum(ties)
    # chosen[k, s]: ways to choose k of the values so far whose doubled ranks sum to s.
    chosen = np.zeros((n + 1, _largest_sum(n, total) + 1), np.int64)
    chosen[0, 0] = 1
    below = 0
    for tie in ties:
        before = chosen[: below + 1, : _largest_sum(min(n, below), below) + 1].copy()
        # With fewer chosen, the remaining values cannot make up n.
        least = n - (total - below - tie)
        for taken in range(1, min(tie, n) + 1):
            rows = range(max(least - taken, 0), min(below, n - taken) + 1)
            if rows:
                part = before[
                    rows.start : rows.stop, : _largest_sum(rows[-1], below) + 1
                ]
                shift = (2 * below + tie + 1) * taken
                chosen[
                    rows.start + taken : rows.stop + taken,
                    shift : shift + part.shape[1],
                ] += comb(tie, taken) * part
        below += tie
    return np.cumsum(chosen[n, n * (n + 1) :])


def _largest_sum(k: int, values: int) -> int:
    """Return the largest sum of k doubled ranks among this many values."""
    return k * (2 * values - k + 1)


# A larger side is reduced to this many order statistics: pairs grow quadratically.
_MOST = 1000


def shift_bounds(
    base: Sequence[float], new: Sequence[float], *, ratio: bool
) -> tuple[float, float] | None:
    """Bound new − base, or new ÷ base if `ratio` is set, with 95% confidence.

    None if there are too few values for bounds (three per side), or if a ratio's values
    are not all positive.
    """
    sides = [np.sort(np.asarray(side, np.float64)) for side in (base, new)]
    sizes = len(sides[0]), len(sides[1])
    if not all(sizes) or (ratio and min(side[0] for side in sides) <= 0):
        return None
    least = _rejected(*sizes)
    if least is None:
        return None
    old, now = (_thinned(side) for side in sides)
    pairs = now[:, None] / old if ratio else now[:, None] - old
    ordered = np.sort(pairs, axis=None)
    place = least * len(ordered) // (sizes[0] * sizes[1])
    return float(ordered[place]), float(ordered[len(ordered) - 1 - place])


def constant(base: Sequence[float], new: Sequence[float]) -> bool:
    """Return whether each side has one value only, often enough to believe it.

    The worst case is a figure with two values, one of them all of base by chance and
    the other all of new: with n and m draws that has a probability of at most n^n m^m /
    (n + m)^(n + m), whatever the values' shares. With three per side it is one in 64;
    the limit is half of `calibration.ALPHA`.
    """
    n, m = len(base), len(new)
    if not n or not m or len(set(base)) > 1 or len(set(new)) > 1:
        return False
    share = n / (n + m)
    return bool(share**n * (1 - share) ** m <= ALPHA / 2)


def _rejected(n: int, m: int) -> int | None:
    """Return the largest U that the test rejects: how many pairs are below the bounds.

    None if even the most extreme order of n and m values is not rejected.
    """
    if max(n, m) <= _EXACT:
        below = _untied_sums(*sorted((n, m)))
        most = int(np.searchsorted(below, ALPHA / 2, "right"))
    else:
        from statistics import NormalDist

        reach = NormalDist().inv_cdf(1 - ALPHA / 2) * sqrt(n * m * (n + m + 1) / 12)
        most = floor(n * m / 2 - reach + 0.5)
    return most - 1 if most else None


def _thinned(ordered: Floats) -> Floats:
    """Return evenly spaced order statistics of a large side, all of a small one."""
    if len(ordered) <= _MOST:
        return ordered
    places = (np.arange(_MOST) + 0.5) * len(ordered) / _MOST
    return ordered[places.astype(np.int64)]
