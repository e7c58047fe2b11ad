"""p-values, Student's t for few runs, and how many runs would be enough."""

from __future__ import annotations

from math import ceil, erfc, inf, isinf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def two_sided(z: Floats) -> Floats:
    """Return the two-sided p of each normal deviate z."""
    return np.array(list(map(erfc, (np.abs(z) / sqrt(2)).tolist())), np.float64)


def false_discovery_rates(p: Floats, among: int | None = None) -> Floats:
    """Return the Benjamini-Hochberg adjusted p for each p.

    `p` may be the smallest of `among`, whose q is then correct as far as it is below
    all the others.
    """
    order = np.argsort(p)[::-1]
    count = len(p) if among is None else among
    scaled = p[order] * count / np.arange(len(p), 0, -1)
    q = np.empty(len(p), np.float64)
    q[order] = np.minimum.accumulate(np.minimum(scaled, 1.0))
    return q


# Student's t at 99.5, 97.5 and 95% for 1, 2, … degrees of freedom.
_T995 = (63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169)
_T975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
_T95 = (6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812)
_Z995, _Z975, _Z95 = 2.575829, 1.959964, 1.644854


class _Reach(NamedTuple):
    """How many deviations 99, 95 and 90% intervals extend on either side."""

    of_99: float
    of_95: float
    of_90: float


NORMAL = _Reach(_Z995, _Z975, _Z95)
"""How many deviations intervals extend where the deviation is known."""


def reach(freedom: float) -> _Reach:
    """Return how far intervals extend, in deviations; `freedom` may be infinite."""
    if isinf(freedom):
        return NORMAL
    whole = int(freedom)
    if whole <= len(_T975):
        return _Reach(_T995[whole - 1], _T975[whole - 1], _T95[whole - 1])
    return _Reach(*(_expanded(z, whole) for z in NORMAL))


def _expanded(z: float, freedom: int) -> float:
    """Return Student's t at a quantile of the normal distribution.

    The first terms of the expansion by degrees of freedom (Abramowitz and Stegun,
    26.7.5), which is right to three decimals from 11 on.
    """
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    below = z + first / freedom + second / freedom**2
    return below + third / freedom**3 + fourth / freedom**4


def normal(t: Floats, freedom: Floats) -> Floats:
    """Return the normal deviates that are as rare as Student's t.

    Wallace's approximation (1959, Annals of Mathematical Statistics 30(4)): for three
    deviations it is off by 0.11 at two degrees of freedom, by 0.03 at four.
    """
    known = np.isfinite(freedom)
    if not known.any():
        return t
    with np.errstate(invalid="ignore", over="ignore"):
        nu = np.where(known, freedom, 1.0)
        size = (8 * nu + 1) / (8 * nu + 3) * np.sqrt(nu * np.log1p(np.square(t) / nu))
    return np.where(known, np.sign(t) * size, t)


def student(z: float, freedom: Floats) -> Floats:
    """Return the Student's t that is as rare as a normal deviate; inverts `normal`."""
    known = np.isfinite(freedom)
    if not known.any():
        return np.full(len(freedom), z)
    with np.errstate(over="ignore"):
        nu = np.where(known, freedom, 1.0)
        size = np.square(z * (8 * nu + 3) / (8 * nu + 1)) / nu
        return np.where(known, np.sqrt(nu * np.expm1(np.minimum(size, 500.0))), z)


MOST_RUNS = 200
"""The most runs per side, or times as long a profile, worth suggesting."""


def times_as_many(reach: float, goal: float) -> float:
    """Return the factor by which runs, or samples, must grow to narrow an interval.

    `reach` is how far the interval extends on the side in question, `goal` how far it
    may: it narrows with the square root of the count. Infinite for no `goal`.
    """
    return (reach / goal) ** 2 if goal and reach < inf else inf


def wanted_runs(have: int, times: float) -> int | None:
    """Return how many runs per side to suggest, None above `MOST_RUNS`."""
    if have * times > MOST_RUNS:
        return None
    return max(ceil(have * times), have + 1)
