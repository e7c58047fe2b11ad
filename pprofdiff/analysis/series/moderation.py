"""Empirical Bayes moderation of a row's deviation by that of all rows.

A few hosts hardly show one row's deviation; hundreds of rows show how much rows vary in
theirs (Smyth 2004, Statistical Applications in Genetics 3(1), section 6.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, isinf, log
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.series.curves import Between, Shares, between

__all__ = ["ALONE", "Moderation", "moderation"]

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
        """Return the deviation of a difference, and its degrees of freedom.

        It is never below the row's own, since units may respond differently.
        """
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
