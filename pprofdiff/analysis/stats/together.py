"""Ratios of several units of work judged together, so that many stay as sure as one.

Of ten unchanged benchmarks one is beyond its own 95 % interval in 40 comparisons of
100. Here Benjamini and Hochberg's procedure says which units changed, and intervals are
of the confidence that it leaves for them (Benjamini and Yekutieli 2005, Journal of the
American Statistical Association 100(469)): an interval excludes 1 exactly where the
unit changed. Where none changed, the chance that one is called changed is the rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from statistics import NormalDist

import numpy as np

from pprofdiff.analysis.stats.discoveries import false_discovery_rates, two_sided
from pprofdiff.analysis.stats.student import normal, student
from pprofdiff.analysis.stats.totals import Ratio

__all__ = ["judged_together"]

# e to the 700 is the largest ratio that still has an inverse.
_LARGEST_LOG = 700.0


def judged_together(
    ratios: Sequence[Ratio], rate: float, least_sigma: float = 0.0
) -> list[tuple[float, float]]:
    """Return the (low, high) bounds of each ratio.

    Of the units whose bounds exclude 1, no more than `rate` are expected to be wrong.
    No deviation of a ratio's logarithm is taken to be below `least_sigma`.
    """
    if not ratios:
        return []
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


def _exp(logarithm: float) -> float:
    return exp(max(-_LARGEST_LOG, min(_LARGEST_LOG, logarithm)))
