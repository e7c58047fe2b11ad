"""The model of means: rates and costs of GC cycles, which vary from cycle to cycle."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.calibration import CYCLES_FOR_MEAN, LIMIT
from pprofdiff.analysis.judge.judgement import Judgement, Runs

__all__ = ["MeanModel"]


@dataclass(frozen=True)
class MeanModel:
    """How far means of independent draws differ by chance."""

    def rows(self, runs: Runs[NDArray[np.float64]]) -> Judgement:
        """Judge new's mean minus base's; the draws of all runs are pooled.

        Returns one row, whose interval reaches three standard errors on either side. It
        is unknown if a side has fewer than 5 draws.
        """
        base, new = np.concatenate(runs.base), np.concatenate(runs.new)
        if min(len(base), len(new)) < CYCLES_FOR_MEAN:
            means = [
                float(side.mean()) if len(side) else np.nan for side in (base, new)
            ]
            return Judgement.of_one(means[1] - means[0], noise=None)
        delta = float(new.mean()) - float(base.mean())
        variances = (float(side.var(ddof=1)) / len(side) for side in (base, new))
        reach = LIMIT * sqrt(sum(variances))
        return Judgement.of_one(
            delta, interval=(delta - reach, delta + reach), noise=abs(delta) <= reach
        )
