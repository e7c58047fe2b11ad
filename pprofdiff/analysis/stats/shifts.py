"""By how much two samples of a benchmark may differ: bounds of their shift or ratio.

They hold what the test of Mann and Whitney does not reject, at `calibration.ALPHA`:
order statistics of all differences, or quotients, of a value of new and one of base
(Hodges and Lehmann 1963, Annals of Mathematical Statistics 34(2)).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.stats.calibration import ALPHA
from pprofdiff.analysis.stats.samples import untied_sums

__all__ = ["constant", "shift_bounds"]

Floats = NDArray[np.float64]

# Up to so many values a side the distribution of U is exact, as in `samples`.
_EXACT = 50
# So many order statistics stand for a side of more: pairs grow with the square.
_MOST = 1000


def shift_bounds(
    base: Sequence[float], new: Sequence[float], *, ratio: bool
) -> tuple[float, float] | None:
    """Bound new less base, or new ÷ base where `ratio` is set, with 95 % confidence.

    None where too few values have no bounds (three a side), and where a ratio's values
    are not above 0.
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
    """Return whether each side has one value only, and often enough to believe it.

    The least that chance takes is a figure with two values, one of which is all of base
    and the other all of new: of n and m draws it does so with a probability of at most
    n^n m^m / (n + m)^(n + m), whatever the values' shares. With three a side that is
    one in 64; it is believed where it is below half of `calibration.ALPHA`.
    """
    n, m = len(base), len(new)
    if not n or not m or len(set(base)) > 1 or len(set(new)) > 1:
        return False
    share = n / (n + m)
    return bool(share**n * (1 - share) ** m <= ALPHA / 2)


def _rejected(n: int, m: int) -> int | None:
    """Return the largest U that the test rejects: so many pairs are below the bounds.

    None where even the most extreme order of n and m values is not rejected.
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
