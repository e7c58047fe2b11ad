"""The ratio that most of a program changed by: the load, where nobody said it.

A build that serves twice the requests spends twice the CPU in most functions. That is
no change of the program, and hides what is one. Where neither duration nor ``--work``
tells operations, the functions themselves do: most of them move by one factor.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.stats.calibration import COMMON_RATIO_SURE, DISPERSION, LIMIT
from pprofdiff.analysis.stats.counts import CountModel
from pprofdiff.analysis.stats.judgement import Change
from pprofdiff.goruntime.names import is_runtime_like

__all__ = ["CommonRatio", "common_ratio"]

Floats = NDArray[np.float64]

# So many functions, with this part of the weight, must move alike to share a ratio.
_SEVERAL, _MUCH = 3, 0.3
# Functions with fewer samples, on either side, tell nothing.
_FEW = 3


class CommonRatio(NamedTuple):
    """New over base of most functions outside the runtime, and its log's deviation."""

    ratio: float
    sigma: float

    @property
    def span(self) -> tuple[float, float]:
        """The ratios that are within chance of this one."""
        reach = exp(LIMIT * self.sigma)
        return self.ratio / reach, self.ratio * reach

    @property
    def change(self) -> Change:
        """How far the ratio is from 1; noise up to 15 % more than chance."""
        low, high = self.span
        far = abs(log(self.ratio)) > LIMIT * self.sigma + log(COMMON_RATIO_SURE)
        return Change(self.ratio - 1, low - 1, high - 1, None, noise=not far)

    @property
    def sure(self) -> bool:
        """Whether the ratio differs from 1 by more than chance and 15 %."""
        return self.change.told


def common_ratio(diff: ProfileDiff) -> CommonRatio | None:
    """Return the factor by which most functions' flat values moved, None if none did.

    The factor is the median over functions outside the runtime, weighted by cost, then
    the ratio of sums over those within noise of it.
    """
    model = diff.model
    if model is None or not model.sound:
        return None
    base, new = _outside_the_runtime(diff, model)
    if not len(base):
        return None
    ratios, weights = new / base, np.sqrt(base * new)
    order = np.argsort(ratios)
    passed = np.cumsum(weights[order])
    middle = float(ratios[order][np.searchsorted(passed, passed[-1] / 2)])
    steps = model.base_step * middle, model.new_step
    spread = base * middle * steps[0] + new * steps[1]
    alike = np.abs(new - base * middle) <= LIMIT * np.sqrt(DISPERSION * spread)
    if alike.sum() < _SEVERAL or weights[alike].sum() < _MUCH * passed[-1]:
        return None
    sums = float(base[alike].sum()), float(new[alike].sum())
    sigma = sqrt(DISPERSION * (model.base_step / sums[0] + model.new_step / sums[1]))
    return CommonRatio(sums[1] / sums[0], sigma)


def _outside_the_runtime(diff: ProfileDiff, model: CountModel) -> tuple[Floats, Floats]:
    """Return scaled flat of the functions that both sides sampled often enough."""
    table = diff.table("functions")
    base, new = table.scaled("flat")
    enough = (base >= _FEW * model.base_step) & (new >= _FEW * model.new_step)
    enough &= np.array([not is_runtime_like(name) for name in table.names], bool)
    return base[enough], new[enough]
