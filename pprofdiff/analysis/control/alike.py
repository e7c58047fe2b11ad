"""Whether everything changed by one factor: a faster machine, or different work."""

from __future__ import annotations

from collections.abc import Collection
from math import erfc, exp, inf, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.calibration import ALPHA, DISPERSION
from pprofdiff.analysis.judge.student import reach
from pprofdiff.analysis.policy import MOST
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.goruntime.names import is_runtime_like
from pprofdiff.goruntime.rules import rules

Floats = NDArray[np.float64]

# Groups with fewer expected samples on a side are judged together.
_EXPECTED = 10
# With 30 samples per side, a ratio is off by 26%: a 50% change is two deviations.
_ENOUGH, _SEVERAL = 30, 3
# From this share of a side on, readers notice a group that scales differently.
_SEEN = 0.05
# Findings name functions whose ratio differs from the common one by _NEAR. Counts must
# rule out _FAR: a group that did not change where the others doubled.
_NEAR, _FAR = 1.25, 2.0
# Run-to-run deviation (log) of a group of one build, beyond what counts explain.
_SPREAD = 0.10


class ScaledAlike(NamedTuple):
    """Whether all groups of a comparison changed by the ratio of its totals.

    `ratio` is new ÷ base of *raw* totals, with its 95% interval. `p` is the chance of
    groups differing this much if all changed by one factor; `alike` means at least 5%.
    `several` means that more than one group has enough samples to show its own factor.
    `shown` means that samples show the common factor in each group worth a look, not
    just that they do not contradict it.
    """

    ratio: float
    low: float
    high: float
    p: float
    alike: bool
    several: bool
    shown: bool


def scaled_alike(
    diff: ProfileDiff, without: Collection[str] = ()
) -> ScaledAlike | None:
    """Test whether all groups changed by one factor, by chi-square over groups.

    Groups whose ids are in `without` are left out, also of the ratio. None if samples
    have no groups or no known value, a side is empty or has a negative sum, or all
    samples are in one group.
    """
    model = diff.model
    if not diff.classified or model is None or not model.sound or min(diff.totals) <= 0:
        return None
    worth = np.array(model.worth)
    kept = [group.id not in without for group in rules().groups]
    sums = diff.ledger.every("group").where(np.array(kept, np.bool_))
    counts = np.stack([sums.base, sums.new], axis=1) / worth
    totals = counts.sum(axis=0)
    # Values of a diff, already subtracted, are not counts of samples.
    if (counts < 0).any() or not totals.all():
        return None
    shown = _shown(counts, totals)
    expected = counts.sum(axis=1)[:, None] * (totals / totals.sum())
    small = expected.min(axis=1) < _EXPECTED
    counts = np.concatenate([counts[~small], counts[small].sum(axis=0)[None]])
    counts = counts[counts.sum(axis=1) > 0]
    if len(counts) < 2:
        return None
    p = _chance(counts, totals)
    several = int((counts.min(axis=1) >= _ENOUGH).sum()) > 1
    ratio = float(totals[1] * worth[1] / (totals[0] * worth[0]))
    sigma = sqrt(DISPERSION * float((1 / totals).sum()))
    factor = exp(reach(inf).of_95 * sigma)
    low, high = ratio / factor, ratio * factor
    return ScaledAlike(ratio, low, high, p, p >= ALPHA, several, shown)


def _shown(counts: Floats, totals: Floats) -> bool:
    """Return whether each noticeable group changed by nearly one factor, by counts."""
    counts = counts[(counts / totals).max(axis=1) >= _SEEN]
    if not counts.all():
        return False
    away = np.abs(np.log(counts[:, 1] / counts[:, 0] * (totals[0] / totals[1])))
    off = reach(inf).of_95 * np.sqrt(DISPERSION * (1 / counts).sum(axis=1))
    return bool((away <= log(_NEAR)).all() and (away + off <= log(_FAR)).all())


def functions_alike(diff: ProfileDiff) -> bool:
    """Return whether the program's functions changed by one factor, as far as known.

    Several functions outside the runtime must have enough samples to show a 50% change,
    most of them near the factor of all samples.
    """
    model = diff.model
    if model is None or not model.sound or min(diff.totals) <= 0:
        return False
    worth = np.array(model.worth)
    table = diff.table("functions")
    counts = np.stack(table.raw("flat"), axis=1) / worth
    own = np.array([not is_runtime_like(name) for name in table.names], np.bool_)
    counts = counts[own & (counts.min(axis=1) >= _ENOUGH)]
    if len(counts) < _SEVERAL:
        return False
    common = diff.totals[1] / worth[1] / (diff.totals[0] / worth[0])
    near = np.abs(np.log(counts[:, 1] / counts[:, 0] / common)) <= log(_NEAR)
    return near.mean() > MOST and _chance(counts, counts.sum(axis=0)) >= ALPHA


def _chance(counts: Floats, totals: Floats) -> float:
    """Return the chance of rows differing this much if all changed by one factor."""
    expected = counts.sum(axis=1)[:, None] * (totals / totals.sum())
    # Add one sample, split like the totals: a row may have none on a side.
    one = totals / totals.sum()
    logs = np.log((counts[:, 1] + one[1]) / (counts[:, 0] + one[0]))
    variance = DISPERSION * (1 / (expected + one)).sum(axis=1) + 2 * _SPREAD**2
    mean = (logs / variance).sum() / (1 / variance).sum()
    chi_square = float((np.square(logs - mean) / variance).sum())
    return _beyond(chi_square, len(counts) - 1)


def _beyond(chi_square: float, degrees: int) -> float:
    """Return the upper tail of chi-square, in closed form for integer degrees."""
    half = chi_square / 2
    if degrees % 2:
        tail, term = erfc(sqrt(half)), sqrt(half) * exp(-half) * 2 / sqrt(np.pi)
        first = 3
    else:
        tail, term, first = exp(-half), half * exp(-half), 4
    for step in range(first, degrees + 1, 2):
        tail += term
        term *= half / (step / 2)
    return min(tail, 1.0)
