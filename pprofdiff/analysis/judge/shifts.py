"""Bounds on the shift or ratio between two samples of a benchmark.

They hold what the Mann-Whitney test does not reject at `calibration.ALPHA`: order
statistics of all pairwise differences, or quotients, of new and base values (Hodges and
Lehmann 1963, Annals of Mathematical Statistics 34(2)).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.calibration import ALPHA
from pprofdiff.analysis.judge.samples import untied_sums

__all__ = ["constant", "shift_bounds"]

Floats = NDArray[np.float64]

# Up to this many values per side the distribution of U is exact, as in `samples`.
_EXACT = 50
# A larger side is reduced to this many order statistics: pairs grow quadratically.
_MOST = 1000


def shift_bounds(
    base: Sequence[float], new: Sequence[float], *, ratio: bool
) -> tuple[float, float] | None:
    """Bound new − base, or new ÷ base if `ratio` is set, with 95% confidence.

    None if there are too few values for bounds (three per side), or if a ratio's values
    are not all positive.
    """
    sides = [np.sort(np.asarray(side, np.float64)) for side in (base, new)]
    sizes = len(sides[0]), len(sides[1])
    if not all(sizes) or (ratio and min(side[0] for side in sides) <= 0):
        return None
    least = _rejected(*sizes)
    if least is None:
        return None
    old, now = (_thinned(side) for side in sides)
    pairs = now[:, None] / old if ratio else now[:, None] - old
    ordered = np.sort(pairs, axis=None)
    place = least * len(ordered) // (sizes[0] * sizes[1])
    return float(ordered[place]), float(ordered[len(ordered) - 1 - place])


def constant(base: Sequence[float], new: Sequence[float]) -> bool:
    """Return whether each side has one value only, often enough to believe it.

    The worst case is a figure with two values, one of them all of base by chance and
    the other all of new: with n and m draws that has a probability of at most n^n m^m /
    (n + m)^(n + m), whatever the values' shares. With three per side it is one in 64;
    the limit is half of `calibration.ALPHA`.
    """
    n, m = len(base), len(new)
    if not n or not m or len(set(base)) > 1 or len(set(new)) > 1:
        return False
    share = n / (n + m)
    return bool(share**n * (1 - share) ** m <= ALPHA / 2)


def _rejected(n: int, m: int) -> int | None:
    """Return the largest U that the test rejects: how many pairs are below the bounds.

    None if even the most extreme order of n and m values is not rejected.
    """
    if max(n, m) <= _EXACT:
        below = untied_sums(*sorted((n, m)))
        most = int(np.searchsorted(below, ALPHA / 2, "right"))
    else:
        reach = NormalDist().inv_cdf(1 - ALPHA / 2) * sqrt(n * m * (n + m + 1) / 12)
        most = floor(n * m / 2 - reach + 0.5)
    return most - 1 if most else None


def _thinned(ordered: Floats) -> Floats:
    """Return evenly spaced order statistics of a large side, all of a small one."""
    if len(ordered) <= _MOST:
        return ordered
    places = (np.arange(_MOST) + 0.5) * len(ordered) / _MOST
    return ordered[places.astype(np.int64)]
