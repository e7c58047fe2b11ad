"""Change points of a share: proposed by ruptures, tested by the spread of hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, inf, isfinite, isinf, log, nan, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.samples import MEDIAN_DEVIATE
from pprofdiff.analysis.judge.student import normal, reach, student, two_sided
from pprofdiff.errors import UsageError

Floats = NDArray[np.float64]


# With fewer steps, a row's median of differences is unreliable: off by a third.
_SEVERAL_HOSTS = 24
# Above `_SHAKEN`, step-to-step noise sets the deviation.
_SHAKEN, _OF_MEDIANS = 1.5, 0.37


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Some rows' shares of the total at each step.

    `own` and `totals` are sums of rows and of all samples: float64 of shapes (rows,
    units, steps) and (units, steps); no step's total is 0. `shares` are over all units,
    of shape (rows, steps). `variance`, of the same shape, comes from how units vary
    when measured again at another step, with `freedom` degrees of freedom; NaN if no
    step has two units. `shaken` (at least 1) is the factor to multiply deviations by,
    because all units change together from step to step more than their variance
    explains.
    """

    own: Floats
    totals: Floats
    shares: Floats
    variance: Floats
    freedom: float
    shaken: Floats


def shares_of(own: NDArray[np.int64], totals: NDArray[np.int64]) -> Shares:
    """Return the shares of rows.

    `own` are rows' sums, int64 of shape (rows, units, steps); `totals` are all
    samples', of shape (units, steps), with a sum above 0 at each step.
    """
    values, weights = own.astype(np.float64), totals.astype(np.float64)
    whole = weights.sum(axis=0)
    shares = values.sum(axis=1) / whole
    variance = _variance(values, weights, shares)
    freedom = _freedom(weights)
    return Shares(values, weights, shares, variance, freedom, _shaken(shares, variance))


def _freedom(weights: Floats) -> float:
    """Return the number of deviations less the number of means they are taken from.

    Units of unequal size count as fewer units of equal size (Kish 1965, 11.7).
    """
    seen = weights > 0
    again = int((seen.sum(axis=1) > 1).sum())
    left = int(seen.sum()) - again - weights.shape[1] + bool(again)
    parts = weights / weights.sum(axis=0)
    alike = 1 / np.square(parts).sum(axis=0) / seen.sum(axis=0)
    return float(max(left * alike.mean(), 0.0))


def _variance(values: Floats, weights: Floats, shares: Floats) -> Floats:
    """Return the variance of each share (the ratio estimator's, over units)."""
    whole, seen = weights.sum(axis=0), weights > 0
    # How far each unit pulls the share; 0 where it was not measured.
    pull = (values - shares[:, None, :] * weights) / whole
    times = seen.sum(axis=1)
    own = pull.sum(axis=2) / np.maximum(times, 1)
    again = times > 1
    left = np.where(seen, pull - np.where(again, own, 0.0)[:, :, None], 0.0)
    # Correct for the spread lost to the unit's own mean over few steps.
    left *= np.sqrt(np.where(again, times / np.maximum(times - 1, 1), 1.0))[:, None]
    units = np.maximum(seen.sum(axis=0), 1)
    several = units > 1
    if not several.any():
        return np.full(shares.shape, np.nan)
    # Jackknife: the share without the unit.
    left /= np.maximum(1 - weights / whole, 1e-12)
    of_step = np.square(left).sum(axis=1) * np.where(several, 1 - 1 / units, 0.0)
    # A step with few units hardly shows its own spread: use at least the pooled one.
    sizes = np.square(weights / whole).sum(axis=0)
    common = of_step[:, several].sum(axis=1) / sizes[several].sum()
    variance: Floats = np.maximum(of_step, common[:, None] * sizes)
    return variance


def _shaken(shares: Floats, variance: Floats) -> Floats:
    """Return how much more shares vary from step to step than their variance explains.

    Load changes by the hour on all hosts together. The median over steps tolerates
    changes; the median over rows serves rows with few steps.
    """
    rows, steps = shares.shape
    if not rows:
        return np.ones(rows)
    spread = np.sqrt(variance[:, 1:] + variance[:, :-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        far = np.abs(np.diff(shares, axis=1)) / spread
    far[~np.isfinite(far)] = 0.0
    own = np.median(far, axis=1) / MEDIAN_DEVIATE
    common = max(float(np.median(own)), 1.0)
    if steps < _SEVERAL_HOSTS:
        return np.full(rows, common)
    factor: Floats = np.maximum(own, common)
    return factor


@dataclass(frozen=True, slots=True)
class Between:
    """One row's shares in two groups of steps.

    `deviation` is the deviation of their difference, each unit counted once; `freedom`
    is its degrees of freedom, 0 without two units on each side. `expected` is the
    deviation that `Shares.variance` predicts, with `expected_freedom`.
    """

    before: float
    after: float
    deviation: float
    expected: float
    freedom: int
    expected_freedom: float

    @property
    def even(self) -> float:
        """Factor that gives the difference a normal tail; near 1 for large counts.

        Counts of rare samples are skewed; their powers of 2/3 are not (Anscombe 1953,
        Journal of the Royal Statistical Society B 15(2)).
        """
        if self.before == self.after:
            return 1.0
        middle = ((self.before + self.after) / 2) ** (1 / 3)
        far = abs(self.after) ** (2 / 3) - abs(self.before) ** (2 / 3)
        return float(1.5 * middle * far / (self.after - self.before))


def between(shares: Shares, row: int, first: slice, second: slice) -> Between:
    """Return one row's shares in two groups of steps, and the deviation between them.

    Units in both groups are compared with themselves: what persists in a unit from step
    to step is not independent evidence.
    """
    pull = np.zeros(shares.totals.shape[0])
    ratios, alike, expected = [], [], 0.0
    for steps, sign in ((first, -1), (second, 1)):
        own = shares.own[row, :, steps].sum(axis=1)
        weights = shares.totals[:, steps].sum(axis=1)
        part = weights / weights.sum()
        ratio = float(own.sum() / weights.sum())
        ratios.append(ratio)
        # This many units of equal size vary as much as these do (Kish 1965, 11.7).
        alike.append(round(1 / float(np.square(part).sum())))
        # Jackknife: the ratio without the unit.
        without = np.maximum(1 - part, 1e-12)
        pull += sign * (own - ratio * weights) / weights.sum() / without
        sizes = shares.totals[:, steps].sum(axis=0) / weights.sum()
        expected += float((np.square(sizes) * shares.variance[row, steps]).sum())
    few = min(alike)
    most = shares.freedom
    if shares.shaken[row] > _SHAKEN and shares.totals.shape[1] >= _SEVERAL_HOSTS:
        most = min(most, _OF_MEDIANS * (shares.totals.shape[1] - 1))
    if few < 2:
        return Between(ratios[0], ratios[1], nan, nan, 0, 0.0)
    variance = float(np.square(pull).sum()) * (few - 1) / few
    return Between(
        ratios[0],
        ratios[1],
        sqrt(variance),
        sqrt(expected),
        few - 1,
        most,
    )


# With fewer rows, how much they vary is unknown too.
_SEVERAL = 20


class Moderation(NamedTuple):
    """What all rows show of a row's variance: `scale` times the expected variance.

    It counts as `freedom` degrees of freedom on top of the row's own, up to those of
    the expected variance.
    """

    scale: float
    freedom: float

    def deviation(self, seen: Between) -> tuple[float, float]:
        """Return a difference's deviation, at least the row's own, and its freedom."""
        if not self.freedom:
            return seen.deviation, float(seen.freedom)
        expected = self.scale * seen.expected**2
        own = seen.deviation**2
        both = self.freedom + seen.freedom
        part = 1.0 if isinf(both) else self.freedom / both
        variance = max(part * expected + (1 - part) * own, own)
        return variance**0.5, max(min(both, seen.expected_freedom), 1.0)


ALONE = Moderation(1.0, 0.0)
"""No moderation: each row's own deviation."""


def moderation(several: Sequence[Shares]) -> Moderation:
    """Return what all rows show, from the first and second half of the steps."""
    logs, freedom = [], 0
    for shares in several:
        rows, steps = shares.shares.shape
        half = slice(0, steps // 2), slice(steps // 2, steps)
        for row in range(rows):
            seen = between(shares, row, *half)
            if seen.freedom and seen.deviation > 0 and seen.expected > 0:
                freedom = seen.freedom
                logs.append(2 * log(seen.deviation / seen.expected))
    if len(logs) < _SEVERAL:
        return ALONE
    from scipy.special import digamma, polygamma

    each = np.array(logs) - float(digamma(freedom / 2)) + log(freedom / 2)
    spread = float(each.var(ddof=1)) - float(polygamma(1, freedom / 2))
    mean = float(each.mean())
    more = _solved(spread) if spread > 0 else inf
    if isfinite(more):
        mean += float(digamma(more / 2)) - log(more / 2)
    # A scale below 1 is no evidence: halves have more steps than most runs.
    return Moderation(max(float(np.exp(mean)), 1.0), more)


def _solved(spread: float) -> float:
    """Return the degrees of freedom for which log variances spread this much.

    That is twice the inverse of the trigamma function, which is decreasing.
    """
    from scipy.optimize import brentq
    from scipy.special import polygamma

    low, high = 1e-3, 1e4
    if spread <= float(polygamma(1, high)):
        return inf
    if spread >= float(polygamma(1, low)):
        return 0.0
    return 2 * float(brentq(lambda x: float(polygamma(1, x)) - spread, low, high))


ALARMS = 0.05
"""The share of series without any change that may still report one."""

_KNOWN = reach(inf).of_95


class Change(NamedTuple):
    """A step at which a share changed.

    `step` is the first with the new share. `before` is the share since the previous
    change, `after` until the next; `low` to `high` is the 95% interval of their
    difference. `q` is the false discovery rate at which the change is significant.
    """

    step: int
    before: float
    after: float
    low: float
    high: float
    q: float

    @property
    def delta(self) -> float:
        """New share − old share."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Proposed:
    """Possible changes of one row, at the first `steps` of new shares, sorted.

    `p` is corrected for the number of steps at which a change could have been found.
    """

    steps: tuple[int, ...] = ()
    p: tuple[float, ...] = ()


def need_ruptures() -> None:
    """Raise UsageError if ruptures is not installed."""
    from importlib.util import find_spec

    if find_spec("ruptures") is None:
        raise UsageError("--over looks for changes: pip install 'pprofdiff[fleet]'")


def penalty(steps: int) -> float:
    """Return the penalty for each change of a curve: the minimum gain in fit.

    One more change lowers the sum of squared deviations by the square of a normal
    deviate, at any step; the largest of ``steps - 1`` such squares exceeds this penalty
    in `ALARMS` of the series without a change (Bonferroni).
    """
    return NormalDist().inv_cdf(1 - ALARMS / (2 * max(steps - 1, 1))) ** 2


def proposed(shares: Shares, moderated: Moderation) -> list[Proposed]:
    """Return the possible changes of each row, not yet judged across rows."""
    least = penalty(shares.shares.shape[1])
    variance = shares.variance * np.square(shares.shaken)[:, None]
    known = np.logical_and.reduce(np.isfinite(variance) & (variance > 0), axis=1)
    worth = known & (_furthest(shares.shares, variance, known) >= least)
    none = Proposed()
    return [
        _judged(
            shares,
            row,
            _cut(shares.shares[row], 1 / variance[row], least),
            moderated,
        )
        if seen
        else none
        for row, seen in enumerate(worth.tolist())
    ]


def _furthest(shares: Floats, variance: Floats, known: NDArray[np.bool_]) -> Floats:
    """Return each row's largest gain in fit from setting one run of steps apart.

    Checking all runs at once is cheaper than a search, which most rows do not need.
    """
    rows, steps = shares.shape
    weight = np.where(known[:, None], 1 / np.where(known[:, None], variance, 1.0), 0.0)
    sums = np.zeros((2, rows, steps + 1))
    centre = (weight * shares).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-300)
    np.cumsum(weight, axis=1, out=sums[0][:, 1:])
    np.cumsum(weight * (shares - centre[:, None]), axis=1, out=sums[1][:, 1:])
    best = np.zeros(rows)
    for length in range(1, steps):
        inside, pulled = (one[:, length:] - one[:, :-length] for one in sums)
        outside = sums[0][:, -1:] - inside
        with np.errstate(invalid="ignore", divide="ignore"):
            gain = np.square(pulled) * (1 / inside + 1 / outside)
        best = np.maximum(best, np.nan_to_num(gain, posinf=0.0).max(axis=1))
    return best


def _cut(shares: Floats, weight: Floats, least: float) -> list[int]:
    """Return the first step of each new share, from the best penalized fit."""
    import ruptures

    signal = np.column_stack((shares, weight))
    search = ruptures.Pelt(custom_cost=_cost(), min_size=1, jump=1)
    ends: list[int] = search.fit(signal).predict(pen=least)
    return ends[:-1]


def _cost() -> Any:  # noqa: ANN401 - ruptures has no types
    from ruptures.base import BaseCost

    class Weighted(BaseCost):  # type: ignore[misc]
        """Squared deviations from the mean, each divided by its variance."""

        model = "weighted"
        min_size = 1

        def fit(self, signal: Floats) -> Weighted:
            """Take the (value, weight) of each step."""
            self.signal = signal
            value, weight = signal.T
            value = value - np.average(value, weights=weight)
            self.sums = np.zeros((3, len(value) + 1))
            each = (weight, weight * value, weight * value * value)
            np.cumsum(np.array(each), axis=1, out=self.sums[:, 1:])
            return self

        def error(self, start: int, end: int) -> float:
            """Return the cost of steps ``start:end``."""
            weight, pulled, squares = self.sums[:, end] - self.sums[:, start]
            return float(squares - pulled * pulled / weight)

    return Weighted()


def _judged(
    shares: Shares, row: int, steps: Sequence[int], moderated: Moderation
) -> Proposed:
    """Return p-values of changes from units' variation, Bonferroni over placements."""
    count = shares.shares.shape[1]
    ways = comb(count - 1, len(steps))
    chances = []
    for first, middle, end in _runs(steps, count):
        seen = between(shares, row, slice(first, middle), slice(middle, end))
        if not seen.freedom:
            chances.append(1.0)
            continue
        deviation, freedom = moderated.deviation(seen)
        deviation *= float(shares.shaken[row])
        t = seen.even * (seen.after - seen.before) / deviation if deviation else 0.0
        z = normal(np.array([t]), np.array([freedom]))
        chances.append(min(float(two_sided(z)[0]) * ways, 1.0))
    return Proposed(tuple(steps), tuple(chances))


def _runs(steps: Sequence[int], count: int) -> list[tuple[int, int, int]]:
    """Return (start of the run before, step, end of the run after) for each step."""
    ends = [0, *steps, count]
    return list(zip(ends[:-2], ends[1:-1], ends[2:], strict=True))


def changes_at(
    shares: Shares,
    row: int,
    steps: Sequence[int],
    rates: Sequence[float],
    moderated: Moderation,
) -> tuple[Change, ...]:
    """Return the changes of a row at the chosen steps, with their rates."""
    changes = []
    runs = _runs(steps, shares.shares.shape[1])
    for (first, middle, end), rate in zip(runs, rates, strict=True):
        seen = between(shares, row, slice(first, middle), slice(middle, end))
        deviation, freedom = moderated.deviation(seen)
        far = float(student(_KNOWN, np.array([freedom]))[0]) * deviation
        far *= float(shares.shaken[row])
        delta = seen.after - seen.before
        changes.append(
            Change(middle, seen.before, seen.after, delta - far, delta + far, rate)
        )
    return tuple(changes)
