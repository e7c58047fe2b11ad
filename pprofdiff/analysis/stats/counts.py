"""The model of sampled values: counts that vary a little more than Poisson's.

A sampled value of v with period p rests on n = v / p samples. Counts of unchanged
builds vary a little more than Poisson's law says (`calibration.DISPERSION`). A
difference is called a change where it exceeds `calibration.LIMIT` standard deviations
and survives the correction for how many rows are judged (Benjamini and Hochberg,
1995). One run a side cannot show how much whole runs differ; several do, and what they
differ by beyond counting is added (`run_spread`).
"""

from __future__ import annotations

from math import erfc, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.normalization import Normalization
from pprofdiff.analysis.stats.calibration import (
    EXPECTED_FOR_ABSENCE,
    FALSE_DISCOVERIES,
    LIMIT,
    SAMPLES_FOR_ROW,
)
from pprofdiff.analysis.stats.judgement import Change, Judgement, Runs
from pprofdiff.analysis.stats.run_spread import ONE_RUN, RunSpread, normal, student

__all__ = ["CountModel", "false_discovery_rates"]

Column = NDArray[np.int64]
Floats = NDArray[np.float64]


class CountModel(NamedTuple):
    """How far a scaled value may move by chance.

    `base_step` and `new_step` are what one sample is worth on each side after scaling
    with `by`: period × factor. Of several runs a side, values are added up, and
    `spread` says how far runs of it differ.
    """

    base_step: float
    new_step: float
    by: Normalization
    spread: RunSpread = ONE_RUN

    @classmethod
    def of(cls, worth: tuple[float, float], by: Normalization) -> CountModel:
        """Return the model of samples that are worth (base, new) raw values each."""
        return cls(*by.scaled(*worth), by)

    @property
    def sound(self) -> bool:
        """Whether a sample is worth something on both sides."""
        return min(self.base_step, self.new_step, *self.by.factors) > 0

    @property
    def worth(self) -> tuple[float, float]:
        """What a sample of each side is worth, raw: before scaling."""
        return self.by.unscaled(self.base_step, self.new_step)

    def sigma(self, base: Column, new: Column) -> Floats:
        """Return the standard deviation of the scaled delta of raw int64 columns."""
        return self._deviation(base, new)[0]

    def _deviation(
        self, base: Column, new: Column, runs: Runs[Column] | None = None
    ) -> tuple[Floats, Floats]:
        """Return each row's standard deviation, and its degrees of freedom.

        Those are infinite where counting alone is known. Of what a row varies by, and
        of what a run's rows share, they are Satterthwaite's (1946). Without `runs` a
        row is taken to vary as the trend says.
        """
        worth = self.by.scaled(self.base_step, self.new_step)
        # One sample is the least that a side without any could have had.
        floor = max(self.base_step, self.new_step) ** 2
        counted = np.maximum(np.abs(base) * worth[0] + np.abs(new) * worth[1], floor)
        spread = self.spread
        own = spread.dispersion * counted
        if not spread.several:
            return np.sqrt(own), np.full(len(own), np.inf)
        old, now = self.by.scaled(base, new)
        parts = np.square(old) / spread.runs[0] + np.square(now) / spread.runs[1]
        own = own + spread.shared * parts
        common = spread.common * parts
        inverse = np.zeros(len(own))
        if runs is not None:
            ratio, freedom = spread.of_rows(*self._samples(runs))
            # Counts vary no less than Poisson's law says.
            own = np.maximum(own * ratio, counted)
            inverse += np.square(own) / freedom
        inverse += np.square(common) / spread.freedom
        variance = own + common
        with np.errstate(divide="ignore"):
            return np.sqrt(variance), np.square(variance) / inverse

    def _samples(self, runs: Runs[Column]) -> tuple[Floats, Floats]:
        """Return how many samples raw values are, by row and run, base and new."""
        base, new = (
            np.abs(np.stack(side, axis=1)) / worth
            for side, worth in zip((runs.base, runs.new), self.worth, strict=True)
        )
        return base, new

    def reach(self, base: Column, new: Column) -> Floats:
        """Return how far the scaled delta of each row may be from 0 by chance."""
        return self.needs(base, new, LIMIT)

    def needs(self, base: Column, new: Column, least: float) -> Floats:
        """Return the least scaled |delta| of each row that is beyond chance.

        `least` is the |z| from which a change is, such as `Judgement.least` of another
        table of the same samples.
        """
        sigma, freedom = self._deviation(base, new)
        return student(least, freedom) * sigma

    def rows(self, runs: Runs[Column]) -> Judgement:
        """Judge rows of raw int64 values, one column a run.

        Of as many runs as `spread` knows, rows show how far they differ by themselves.
        """
        base, new = (np.sum(side, axis=0) for side in (runs.base, runs.new))
        known = (len(runs.base), len(runs.new)) == self.spread.runs
        return self._judged(base, new, runs if known else None)

    def judge(self, base: Column, new: Column) -> Judgement:
        """Judge rows of raw int64 values, base against new."""
        return self._judged(base, new, None)

    def _judged(
        self, base: Column, new: Column, runs: Runs[Column] | None
    ) -> Judgement:
        delta = self.by.delta(base, new)
        sigma, freedom = self._deviation(base, new, runs)
        z = normal(delta / sigma, freedom)
        reach = student(LIMIT, freedom) * sigma
        p = np.array([erfc(abs(v) / sqrt(2)) for v in z.tolist()], np.float64)
        worth = self.worth
        samples = np.abs(base) / worth[0] + np.abs(new) / worth[1]
        told = samples >= SAMPLES_FOR_ROW
        q = np.ones(len(p))
        q[told] = false_discovery_rates(p[told])
        return Judgement(
            delta=delta,
            low=delta - reach,
            high=delta + reach,
            z=z,
            p=p,
            q=q,
            noise=(np.abs(z) < LIMIT) | (q > FALSE_DISCOVERIES),
            known=np.ones(len(z), np.bool_),
        )

    def one(self, base: int, new: int) -> Change:
        """Judge one pair of raw values by itself."""
        return self.judge(
            np.array([base], np.int64), np.array([new], np.int64)
        ).change()

    def of_shares(self, totals: tuple[int, int]) -> CountModel:
        """Return the model of the same samples as percent of each side's raw total."""
        by = self.by.of_shares(totals)
        return CountModel(*by.scaled(*self.worth), by, self.spread)

    def with_base_times(self, ratio: float) -> CountModel:
        """Return the model with base multiplied by a ratio that most values share."""
        by = self.by.with_base_times(ratio)
        return CountModel(self.base_step * ratio, self.new_step, by, self.spread)

    def absence_tells(self, side: int, raw: float) -> bool:
        """Return whether a raw value expected on a side would hardly leave no sample.

        `side` is 0 for base and 1 for new.
        """
        step = (self.base_step, self.new_step)[side]
        return raw * self.by.factors[side] / step >= EXPECTED_FOR_ABSENCE

    def lengths_needed(self, z: Floats) -> Floats:
        """Return how many times as long profiles must be for each row to be told."""
        with np.errstate(divide="ignore"):
            return np.square(LIMIT / np.abs(z))


def false_discovery_rates(p: Floats) -> Floats:
    """Return Benjamini and Hochberg's adjusted p for each p."""
    count = len(p)
    order = np.argsort(p)[::-1]
    scaled = p[order] * count / np.arange(count, 0, -1)
    q = np.empty(count, np.float64)
    q[order] = np.minimum.accumulate(np.minimum(scaled, 1.0))
    return q
