"""How raw values of two sides become comparable: a factor for each side.

Scaling is in floating point and happens once, here; raw integers are kept.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.calibration import LOAD_SURE

Floats = NDArray[np.float64]

Mode = Literal["absolute", "per_second", "per_work", "share", "composition", "about"]

_Column = NDArray[np.int64] | NDArray[np.float64]
_Floats = NDArray[np.float64]


class InferredWork(NamedTuple):
    """The raw new ÷ base of unchanged code: work done × time per piece of work.

    `sigma` is the standard deviation of its logarithm, `low` to `high` its 95%
    interval. `rows` is how many functions or call sites show it.
    """

    ratio: float
    low: float
    high: float
    sigma: float
    rows: int

    @property
    def sure(self) -> bool:
        """Whether the ratio differs from 1 significantly, and by more than 15%."""
        return self.low > LOAD_SURE or self.high < 1 / LOAD_SURE

    def times(self, factor: float) -> InferredWork:
        """Return the work multiplied by a known factor, as for other units of it."""
        return self._replace(
            ratio=self.ratio * factor, low=self.low * factor, high=self.high * factor
        )


class Normalization(NamedTuple):
    """How raw values become comparable: scaled = raw × factor of its side.

    `mode` is ``absolute``, ``per_second`` (factor 1 / seconds), ``per_work`` (factor 1
    / operations), ``composition`` (100 / total: percent of each side's total),
    ``share`` (new scaled to base's total, like ``go tool pprof -normalize``) or
    ``about`` (new scaled to base's work, `inferred`); `reason` says why this one.
    `apart` is new ÷ base of the raw cost per op that profiles count, over that of the
    scaled values: 1 where both agree.
    """

    mode: Mode
    base_factor: float
    new_factor: float
    reason: str
    inferred: InferredWork | None = None
    apart: float = 1.0

    @property
    def sigma(self) -> float:
        """The standard deviation of the logarithm of the ratio of both factors."""
        return 0.0 if self.inferred is None else self.inferred.sigma

    @overload
    def scaled(self, base: float, new: float) -> tuple[float, float]: ...
    @overload
    def scaled(self, base: _Column, new: _Column) -> tuple[_Floats, _Floats]: ...
    def scaled(
        self, base: float | _Column, new: float | _Column
    ) -> tuple[object, object]:
        """Return raw numbers, or int64 columns, of (base, new) after scaling."""
        return base * self.base_factor, new * self.new_factor

    @overload
    def delta(self, base: float, new: float) -> float: ...
    @overload
    def delta(self, base: _Column, new: _Column) -> _Floats: ...
    def delta(self, base: float | _Column, new: float | _Column) -> object:
        """Return new − base after scaling."""
        return new * self.new_factor - base * self.base_factor

    @property
    def factors(self) -> tuple[float, float]:
        """The factors of base and new."""
        return self.base_factor, self.new_factor

    def unscaled(self, base: float, new: float) -> tuple[float, float]:
        """Return the raw values of scaled ones."""
        return base / self.base_factor, new / self.new_factor

    def larger(self, base: float, new: float) -> float:
        """Return the larger of two raw sums after scaling, ignoring signs."""
        return max(abs(base) * self.base_factor, abs(new) * self.new_factor)

    def of_shares(self, totals: tuple[int, int]) -> Normalization:
        """Return the scaling of raw values to percent of each side's raw total."""
        return Normalization(
            "composition", 100 / totals[0], 100 / totals[1], "% of the total"
        )

    def with_base_times(self, ratio: float) -> Normalization:
        """Return the scaling with base multiplied by a ratio most values share."""
        return self._replace(base_factor=self.base_factor * ratio)

    def ratio(self, base: float, new: float) -> float | None:
        """Return new ÷ base after scaling, None if base is 0."""
        return new * self.new_factor / (base * self.base_factor) if base else None


def weighted_median(values: Floats, weights: Floats) -> float:
    """Return the smallest value at which half of the total weight is reached."""
    order = np.argsort(values)
    passed = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(passed, passed[-1] / 2)])
