"""The model of sampled values: counts that vary a little more than Poisson.

A sampled value v with period p rests on n = v / p samples. Counts of unchanged builds
vary a little more than Poisson (`calibration.DISPERSION`). A change is significant if
it exceeds `calibration.LIMIT` standard deviations and survives the correction for how
many rows are judged (Benjamini and Hochberg, 1995). Run-to-run variation beyond
counting is added (`run_spread`): as several runs per side show it, or as measured on
other unchanged builds. A change that counting does not explain, but that assumed
variation would, is unknown.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.analysis.judge.calibration import (
    DISPERSION,
    FALSE_DISCOVERIES,
    LIMIT,
    SAMPLES_FOR_ROW,
)
from pprofdiff.analysis.judge.judgement import Change, Judgement, Runs
from pprofdiff.analysis.judge.run_spread import ONE_RUN, RunSpread
from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.analysis.judge.student import (
    false_discovery_rates,
    normal,
    student,
    two_sided,
)

Column = NDArray[np.int64]
Floats = NDArray[np.float64]

# Below this deviate, p is above `FALSE_DISCOVERIES`.
_NEAR = 1.9


class _Parts(Struct, frozen=True, eq=False, dict=True):
    """The components of the variance of scaled rows.

    `own` is the variance of each row alone, `common` what all rows of a run share:
    float64 of shape (2, rows), base and new; freedoms are degrees of freedom.
    """

    own: Floats
    common: Floats
    own_freedom: Floats
    common_freedom: float

    def at(self, times: float) -> tuple[Floats, Floats]:
        """Return the deviation of new − times × base, and its degrees of freedom.

        These are infinite if only counting is known, else Satterthwaite's (1946).
        """
        own, common = (base * times**2 + new for base, new in (self.own, self.common))
        variance = own + common
        # Squares of absurd sample values may overflow.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inverse = np.square(own) / self.own_freedom
            inverse += np.square(common) / self.common_freedom
            freedom = np.square(variance) / inverse
        return np.sqrt(variance), np.where(np.isnan(freedom), np.inf, freedom)


class CountModel(NamedTuple):
    """How far a scaled value may change by chance.

    `base_step` and `new_step` are the value of one sample on each side after scaling
    with `by`: period × factor. `spread` says how far runs differ. `shares` means that
    scaled values are percent of each side's total. `since_start` means that work is
    inferred for values counted since process start: equal raw values may be start-up
    cost, so a change per op is unknown.
    """

    base_step: float
    new_step: float
    by: Normalization
    spread: RunSpread = ONE_RUN
    shares: bool = False
    since_start: bool = False

    @classmethod
    def of(cls, worth: tuple[float, float], by: Normalization) -> CountModel:
        """Return the model of samples worth `worth` raw values on (base, new)."""
        return cls(*by.scaled(*worth), by, shares=by.mode == "composition")

    @property
    def sound(self) -> bool:
        """Whether a sample has a positive value on both sides."""
        return min(self.base_step, self.new_step, *self.by.factors) > 0

    @property
    def counting(self) -> CountModel:
        """The model of counting alone, if run-to-run variation is only assumed."""
        return self.of_samples if self.spread.assumed else self

    @property
    def of_samples(self) -> CountModel:
        """The model of counting alone, as if runs of one build did not differ."""
        return self._replace(spread=ONE_RUN)

    @property
    def cautious(self) -> CountModel:
        """The model for statements in a sentence: rows are as uncertain as runs show.

        Rows of a table may be wrong at a known rate; a sentence should not be. With
        `RunSpread.certain`, 0 to 4% of 200 splits of runs of one build had a wrong one.
        """
        # Shares are taken to vary like costs: the larger, the more.
        return self._replace(spread=replace(self.spread, certain=False), shares=False)

    @property
    def worth(self) -> tuple[float, float]:
        """The raw value of one sample on each side, before scaling."""
        return self.by.unscaled(self.base_step, self.new_step)

    @property
    def raw(self) -> CountModel:
        """The model of the same samples without scaling."""
        return self.scaled_by(Normalization("absolute", 1.0, 1.0, "as counted"))

    def scaled_by(self, by: Normalization) -> CountModel:
        """Return the model of the same samples with another scaling."""
        return CountModel.of(self.worth, by)._replace(spread=self.spread)

    def sigma(self, runs: Runs[Column]) -> Floats:
        """Return the standard deviation of the scaled delta of raw int64 columns."""
        return self._parts(runs).at(1.0)[0]

    def _parts(self, runs: Runs[Column]) -> _Parts:
        """Return the variance components of each row.

        With as many runs as `spread` knows, each row shows its own run-to-run
        variation. If only sums are known, a row varies as the trend says.
        """
        base, new = _sums(runs)
        scaled, spread = np.stack(self.by.scaled(base, new)), self.spread
        # The scaled value of a sample; a negative period is corrupt data, but variances
        # are positive.
        steps = abs(self.base_step), abs(self.new_step)
        worth = np.abs(self.by.scaled(self.base_step, self.new_step))
        # A side without samples could have had one.
        floor = max(steps) ** 2
        counted = _at_least(np.abs(np.stack((base, new))) * worth[:, None], floor)
        mean, counting = _mean(np.abs(scaled), steps)
        if self.shares and not spread.several:
            counting = counting * _left(mean)
            counted = _at_least(counted * _left(scaled), floor)
        counted = _no_less(counting, counted, steps)
        own = spread.dispersion * counted
        inferred = np.square(self.by.sigma * mean)
        if not spread.several:
            if spread.shared:
                own = own + self._beyond_counting(base, new)
            common = np.stack((inferred, np.zeros(len(base))))
            return _Parts(own, common, np.full(len(base), spread.freedom), np.inf)
        between = np.square(mean) * sum(1 / count for count in spread.runs)
        squares = np.square(scaled) / np.array(spread.runs)[:, None]
        squares = _no_less(between, squares, steps)
        own = own + spread.shared * squares
        common = spread.common * squares
        common[0] += inferred
        if (len(runs.base), len(runs.new)) != spread.runs:
            return _Parts(own, common, np.full(len(base), np.inf), spread.freedom)
        ratio, freedom = spread.of_rows(*self._samples(runs))
        both = counted[0] + counted[1]
        # Counts vary at least as much as Poisson.
        own = own * np.maximum(ratio, both / (own[0] + own[1]))
        if spread.certain:
            freedom = _freedom(own[0] + own[1], both, freedom)
        return _Parts(own, common, freedom, spread.freedom)

    def _beyond_counting(self, base: Column, new: Column) -> Floats:
        """Return each row's variance beyond counting, as assumed for one run per side.

        It shrinks with the rest of the run: a row that is all of a run does not vary.
        """
        sides = zip(
            self._samples(Runs.single(base, new)),
            self.by.scaled(base, new),
            self.spread.totals,
            strict=True,
        )
        parts = [
            scaled * (1 - np.minimum(samples[:, 0] / total[0], 1.0))
            for samples, scaled, total in sides
        ]
        return self.spread.shared * np.square(parts)

    def _samples(self, runs: Runs[Column]) -> tuple[Floats, Floats]:
        """Return the sample counts of raw values, by row and run, for base and new."""
        steps = self.base_step, self.new_step
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            base, new = (
                np.abs(np.stack(side, axis=1) * factor) / np.float64(step)
                for side, factor, step in zip(
                    (runs.base, runs.new), self.by.factors, steps, strict=True
                )
            )
        return base, new

    def reach(self, runs: Runs[Column]) -> Floats:
        """Return how far each row's scaled delta may be from 0 by chance."""
        return self.needs(runs, LIMIT)

    def needs(self, runs: Runs[Column], least: float) -> Floats:
        """Return the smallest significant scaled |delta| of each row.

        `least` is the |z| from which a change is significant, such as `Judgement.least`
        of another table of the same samples.
        """
        parts, factor = self._parts(runs), self.spread.factor
        sigma, freedom = parts.at(1.0)
        need: Floats = student(least, freedom) * sigma
        if self.since_start:
            raw, (base, new) = self.raw, _sums(runs)
            alike = np.abs(raw.by.delta(base, new)) < raw.needs(runs, least)
            need = np.where(alike, np.inf, need)
        if factor == 1:
            return need
        old, now = self.by.scaled(*_sums(runs))
        sigma, freedom = parts.at(factor)
        by_factor = np.sign(now - old) * (factor - 1) * old
        return np.maximum(need, by_factor + student(least, freedom) * sigma)

    def rows(self, runs: Runs[Column]) -> Judgement:
        """Judge rows of raw int64 values, one column per run."""
        base, new = _sums(runs)
        tested, parts = self._tested(base, new), self._parts(runs)
        z, low, high = self._between(base, new, parts, 1.0)
        if self.spread.factor != 1:
            other, *bounds = self._between(base, new, parts, self.spread.factor)
            # Noise may be any factor up to this one: take the one that explains most.
            nearer = np.where(np.abs(other) < np.abs(z), other, z)
            z = np.where(z * other > 0, nearer, 0.0)
            low, high = np.fmin(low, bounds[0]), np.fmax(high, bounds[1])
        noise = _noise(z, tested)
        known = np.ones(len(z), np.bool_)
        if self.spread.assumed:
            sigma = self.counting.sigma(runs)
            known = ~noise | _noise(self.by.delta(base, new) / sigma, tested)
        if self.since_start:
            alike = self.raw.rows(runs).noise
            known, noise = known & (noise | ~alike), noise | alike
        return Judgement(self.by.delta(base, new), low, high, z, tested, noise, known)

    def _between(
        self, base: Column, new: Column, parts: _Parts, factor: float
    ) -> tuple[Floats, Floats, Floats]:
        """Return new − factor × base as normal deviates, and its bounds."""
        old, now = self.by.scaled(base, new)
        sigma, freedom = parts.at(factor)
        delta = now - factor * old if factor != 1 else self.by.delta(base, new)
        reach = student(LIMIT, freedom) * sigma
        return normal(delta / sigma, freedom), delta - reach, delta + reach

    def against(
        self, runs: Runs[Column], *, share: float = 0.0, amount: float = 0.0
    ) -> tuple[Floats, Floats]:
        """Bound the scaled delta of rows that are checked against a limit.

        The limit is a `share` of base, or a scaled `amount`; the other is 0. A row
        exceeds its limit if the lower bound does. That is a test against the limit, not
        against 0 (McCarthy and Smyth 2009, Bioinformatics 25(6)). If the limit is a
        share of base, bounds limit the ratio (Fieller 1954, Journal of the Royal
        Statistical Society B 16(2)), times base; the upper is infinite if base has too
        few samples for one. Bounds widen with the number of rows, so that at most
        `calibration.FALSE_DISCOVERIES` of the rows beyond the limit are wrong
        (Benjamini and Yekutieli 2005, Journal of the American Statistical Association
        100(469)).
        """
        base, new = _sums(runs)
        parts = self._parts(runs)
        old, now = self.by.scaled(base, new)
        times = 1 + share
        sigma, freedom = parts.at(times)
        z = normal((now - times * old - amount) / sigma, freedom)
        factor = self.spread.factor
        if factor > 1:
            sigma_at, _ = parts.at(times * factor)
            z = np.minimum(z, (now - times * factor * old - amount) / sigma_at)
        tested = self._tested(base, new)
        # Rows well within the limit must not make others look more significant.
        p = two_sided(np.fmax(z[tested], 0.0))
        beyond = int((false_discovery_rates(p) <= FALSE_DISCOVERIES).sum())
        level = FALSE_DISCOVERIES * max(beyond, 1) / max(len(p), 1)
        # Importing it takes 10 ms, and only gates need it.
        from statistics import NormalDist

        least = max(LIMIT, NormalDist().inv_cdf(1 - level / 2))
        reach = student(least, freedom)
        if not share:
            delta, far = now - old, reach * sigma
            low, high = delta - far, delta + far
            if factor != 1:
                sigma_at, freedom = parts.at(factor)
                delta = now - factor * old
                far = student(least, freedom) * sigma_at
                low, high = np.minimum(low, delta - far), np.maximum(high, delta + far)
        else:
            sides = parts.own + parts.common
            # Zero samples may mean that one was missed.
            missed = self.spread.dispersion * self.new_step**2
            sides[1] = np.maximum(parts.own[1], missed) + parts.common[1]
            low, high = _ratio_bounds(old, now, np.square(reach) * sides)
            if factor != 1:
                low = np.minimum(low, (low + old) / factor - old)
                high = np.maximum(high, (high + old) / factor - old)
        # Rows too small to be judged are never beyond a limit.
        low = np.where(tested, low, np.minimum(low, share * old + amount))
        # No value falls below 0.
        counted = (old >= 0) & (now >= 0)
        return np.where(counted, np.maximum(low, 0.0 - old), low), high

    def _tested(self, base: Column, new: Column) -> NDArray[np.bool_]:
        """Return which rows have enough samples to be judged."""
        old, now = self._samples(Runs.single(base, new))
        # If a sample is worth nothing, no number of them is too small.
        tested: NDArray[np.bool_] = ~((old + now)[:, 0] < SAMPLES_FOR_ROW)
        return tested

    def one(self, runs: Runs[Column]) -> Change:
        """Return the change of one pair of raw values by itself: columns of one row."""
        return self.rows(runs).change()

    def of_shares(self, totals: tuple[int, int]) -> CountModel:
        """Return the model of the same samples as percent of each side's raw total."""
        by = self.by.of_shares(totals)
        spread = replace(self.spread, factor=1.0)
        return CountModel(*by.scaled(*self.worth), by, spread, shares=True)

    def with_base_times(self, ratio: float) -> CountModel:
        """Return the model with base multiplied by a ratio that most values share."""
        by, spread = self.by.with_base_times(ratio), replace(self.spread, factor=1.0)
        return CountModel(self.base_step * ratio, self.new_step, by, spread)

    def lengths_needed(self, runs: Runs[Column]) -> Floats:
        """Return how many times as long profiles must be to make rows significant.

        Infinite if no length is enough: run-to-run variation does not shrink.
        """
        counting, whole = self.counting.sigma(runs), self.sigma(runs)
        # The change left after the factor that all rows may share.
        change = np.abs(self.by.delta(*_sums(runs))) - self.needs(runs, 0.0)
        rest = np.square(np.maximum(change, 0.0) / LIMIT)
        rest -= np.square(whole) - np.square(counting)
        with np.errstate(divide="ignore"):
            return np.where(rest > 0, np.square(counting) / rest, np.inf)


def _at_least(counted: Floats, floor: float) -> Floats:
    """Return counting variances of both sides whose sum is at least `floor`."""
    return np.stack((counted[0], np.maximum(counted[1], floor - counted[0])))


def _mean(scaled: Floats, steps: tuple[float, float]) -> tuple[Floats, Floats]:
    """Return the mean of both sides' scaled values, and the variance of their sum.

    Counts of mean μ with samples worth w have a variance of w μ: the counting variance
    if nothing changed. The mean is weighted by how much each side measured.
    """
    counting = scaled[0] * steps[1] + scaled[1] * steps[0]
    return counting / max(sum(steps), np.finfo(np.float64).tiny), counting


def _left(percent: Floats) -> Floats:
    left: Floats = 1 - np.clip(np.abs(percent) / 100, 0.0, 1.0)
    return left


def _no_less(expected: Floats, variances: Floats, steps: tuple[float, float]) -> Floats:
    """Return variances of both sides whose sum is at least the expected one.

    A side that measured less, such as 3 hosts against 40, may by chance have hardly any
    samples of a row; those vary far less than if nothing changed (Przyborowski and
    Wilenski 1940, Biometrika 31(3-4)). The side whose samples are worth more gets the
    difference; there is none if both measured equally much.
    """
    more = variances.copy()
    more[0 if steps[0] > steps[1] else 1] += np.maximum(
        expected - (variances[0] + variances[1]), 0.0
    )
    return more


def _freedom(variance: Floats, counted: Floats, known: Floats) -> Floats:
    """Return the degrees of freedom of variances if only counting is known.

    Variation beyond counting is estimated with `known` degrees of freedom. It is taken
    to be one standard error of the whole variance larger than estimated: runs that show
    none may still have some.
    """
    beyond = variance - counted + variance * np.sqrt(2 / known)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom: Floats = known * np.square(np.maximum(variance / beyond, 1.0))
    return freedom


def _noise(z: Floats, tested: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which deviates are noise; `tested` marks rows to judge.

    Most rows are near 0. They are noise, and do not bring another row's rate below
    `FALSE_DISCOVERIES`: their p need not be known.
    """
    far = np.flatnonzero(~(np.abs(z) < _NEAR))
    judged = tested[far]
    q = np.ones(len(far))
    p = two_sided(z[far[judged]])
    q[judged] = false_discovery_rates(p, int(np.count_nonzero(tested)))
    noise = np.ones(len(z), np.bool_)
    noise[far] = (np.abs(z[far]) < LIMIT) | (q > FALSE_DISCOVERIES)
    return noise


def _sums(runs: Runs[Column]) -> tuple[Column, Column]:
    base, new = (np.sum(side, axis=0) for side in (runs.base, runs.new))
    return base, new


def _ratio_bounds(old: Floats, now: Floats, reach: Floats) -> tuple[Floats, Floats]:
    """Bound now − old by all ratios r for which now − r × old may be 0.

    They lie between the roots of a quadratic in r. If old may be 0, there is only a
    lower bound, and only if now may not be 0. Bounds are old × (r − 1). `reach` are the
    squares of how far both sides reach: float64 of shape (2, rows).
    """
    of_old, of_now = reach
    a, c = np.square(old) - of_old, np.square(now) - of_now
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(of_old * np.square(now) + of_now * a, 0.0))
        lower = np.where((a > 0) | (c > 0), c / (old * now + root), 0.0)
        upper = np.where(a > 0, (old * now + root) / a, np.inf)
        low, high = old * (lower - 1), old * (upper - 1)
    # Without base there is no ratio.
    far, plain = np.sqrt(of_old + of_now), (old <= 0) | (now < 0)
    return np.where(plain, now - old - far, low), np.where(plain, now - old + far, high)


Pair = tuple[Column, Column]

# Size ÷ rate below which a sample's probability vanishes in float64.
_SMALLEST = 1e-12


def objects_moved(
    objects: Pair, space: Pair, rates: tuple[int | None, int | None], by: Normalization
) -> bool:
    """Return whether the number of objects differs by more than sampling noise.

    `objects` and `space` are the counts and bytes of each side's samples, int64; a
    sample's objects have one size. `rates` are the bytes between samples of each side;
    if one is missing, returns False.
    """
    known = [rate for rate in rates if rate]
    if len(known) < len(rates):
        return False
    sides = list(zip(objects, space, strict=True))
    seen = expected = 0.0
    for i, (rate, factor) in enumerate(zip(known, by.factors, strict=True)):
        seen += factor**2 * _variance(*sides[i], rate)
        # The expectation from both sides' objects if nothing changed: a side with few
        # samples does not show how many it could have had.
        both = sum(_variance(*side, rate) for side in sides)
        expected += factor**2 * both * by.factors[1 - i] / sum(by.factors)
    base, new = (int(side.sum()) for side in objects)
    variance = DISPERSION * max(seen, expected)
    return abs(by.delta(base, new)) >= LIMIT * sqrt(variance)


def held_variance(objects: Column, space: Column, rate: int) -> Floats:
    """Return the variance of each sample's bytes at another instant (float64).

    `objects` and `space` are what samples hold, int64; `rate` is the bytes between
    samples.
    """
    size = np.abs(space) / np.maximum(np.abs(objects), 1)
    chance = -np.expm1(-np.maximum(size / rate, _SMALLEST))
    variance: Floats = np.abs(space) * size / chance
    return variance


def held_moved(delta: float, variance: float) -> bool:
    """Return whether live bytes differ by more than two instants of one build do.

    `variance` is the sum of `held_variance` over both sides.
    """
    return abs(delta) >= LIMIT * sqrt(DISPERSION * variance)


def _variance(objects: Column, space: Column, rate: int) -> float:
    """Return the sampling variance of a number of objects."""
    filled = (objects > 0) & (space > 0)
    number = objects[filled].astype(np.float64)
    # (1 - p) / p is 1 / (exp(s / r) - 1): almost 0 long before exp overflows.
    size = np.minimum(space[filled] / number / rate, 700.0)
    return float((number / np.expm1(size)).sum())
