"""Ratios of several units of work, with intervals corrected for their number.

Of ten unchanged benchmarks, one is outside its own 95% interval in 40 of 100
comparisons. Here Benjamini and Hochberg's procedure decides which units changed, and
intervals have the confidence it leaves for them (Benjamini and Yekutieli 2005, Journal
of the American Statistical Association 100(469)): an interval excludes 1 exactly if the
unit changed. If none did, the chance of calling one changed is the rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, isfinite, log, sqrt

import numpy as np

from pprofdiff.analysis.judge.discoveries import false_discovery_rates, two_sided
from pprofdiff.analysis.judge.student import normal, student
from pprofdiff.analysis.judge.totals import Ratio, ratio_of

__all__ = ["judged_together", "moderated"]

# Degrees of freedom of the median deviation: those of benchmarks run together differ by
# a factor of two or so (turns: 6 to 15% in 43 benchmarks on one machine).
_SHARED_FREEDOM = 4
# The fewest units whose median says something.
_SEVERAL = 5
# e to the 700 is about the largest ratio that still has an inverse.
_LARGEST_LOG = 700.0


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
        found.append(ratio_of(log(one.ratio), sqrt((own + shared) / freedom), freedom))
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


def _exp(logarithm: float) -> float:
    return exp(max(-_LARGEST_LOG, min(_LARGEST_LOG, logarithm)))
