"""Did all move by one factor? Then the machine gave more, or the work differed."""

from __future__ import annotations

from collections.abc import Collection
from math import erfc, exp, inf, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.stats.calibration import ALPHA, DISPERSION
from pprofdiff.analysis.stats.student import reach
from pprofdiff.goruntime.names import is_runtime_like
from pprofdiff.goruntime.rules import rules

__all__ = ["ScaledAlike", "functions_alike", "scaled_alike"]

Floats = NDArray[np.float64]

# Groups that would have fewer samples on a side are judged together.
_EXPECTED = 10
# Thirty samples a side are off by 26 % together: a change of a half is two deviations.
_TELLING, _SEVERAL = 30, 3
# Where a group has this share of a side, readers see it scale otherwise.
_SEEN = 0.05
# Beyond this factor a function, or a group, did not scale as all did: a finding tells
# functions from there on. And what counts must rule out: a group that did not scale at
# all where the others doubled.
_NEAR, _FAR = 1.25, 2.0
_MOST = 0.5
# How far (log) a group moves between runs of one build, beyond what counts explain.
_SPREAD = 0.10


class ScaledAlike(NamedTuple):
    """Whether all groups of a comparison moved by the ratio of its totals.

    `ratio` is new / base of *raw* totals, within `low` to `high` with 95 %. `p` is the
    chance of groups as unlike as these where all moved by one factor, and `alike` says
    that it is at least 5 %. `several` says that more than one group has the samples to
    show a factor of its own: what one group does, all code does. `shown` says that the
    samples show it of each group worth a look: that is more than nothing said against.
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
    """Test whether all groups moved by one factor, by chi square over groups.

    Groups of the ids in `without` are left out, of the ratio as well. None where
    samples are in no groups, a sample's worth is unknown, a side is empty, a group's
    sum is negative, or all samples are in one group.
    """
    model = diff.model
    if not diff.classified or model is None or not model.sound or min(diff.totals) <= 0:
        return None
    worth = np.array(model.worth)
    kept = [group.id not in without for group in rules().groups]
    sums = diff.ledger.every("group").where(np.array(kept, np.bool_))
    counts = np.stack([sums.base, sums.new], axis=1) / worth
    totals = counts.sum(axis=0)
    # What was subtracted before, as in a diff, is no count of samples.
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
    several = int((counts.min(axis=1) >= _TELLING).sum()) > 1
    ratio = float(totals[1] * worth[1] / (totals[0] * worth[0]))
    sigma = sqrt(DISPERSION * float((1 / totals).sum()))
    factor = exp(reach(inf).of_95 * sigma)
    low, high = ratio / factor, ratio * factor
    return ScaledAlike(ratio, low, high, p, p >= ALPHA, several, shown)


def _shown(counts: Floats, totals: Floats) -> bool:
    """Return whether each group that readers see moved by nearly the common factor.

    It did as its counts are, and they are enough to tell.
    """
    counts = counts[(counts / totals).max(axis=1) >= _SEEN]
    if not counts.all():
        return False
    away = np.abs(np.log(counts[:, 1] / counts[:, 0] * (totals[0] / totals[1])))
    off = reach(inf).of_95 * np.sqrt(DISPERSION * (1 / counts).sum(axis=1))
    return bool((away <= log(_NEAR)).all() and (away + off <= log(_FAR)).all())


def functions_alike(diff: ProfileDiff) -> bool:
    """Return whether the program's functions moved by one factor, as far as that shows.

    They are those outside the runtime with enough samples of their own on both sides to
    show a change of a half; there must be several, and most of them near the factor of
    all samples.
    """
    model = diff.model
    if model is None or not model.sound or min(diff.totals) <= 0:
        return False
    worth = np.array(model.worth)
    table = diff.table("functions")
    counts = np.stack(table.raw("flat"), axis=1) / worth
    own = np.array([not is_runtime_like(name) for name in table.names], np.bool_)
    counts = counts[own & (counts.min(axis=1) >= _TELLING)]
    if len(counts) < _SEVERAL:
        return False
    common = diff.totals[1] / worth[1] / (diff.totals[0] / worth[0])
    near = np.abs(np.log(counts[:, 1] / counts[:, 0] / common)) <= log(_NEAR)
    return near.mean() > _MOST and _chance(counts, counts.sum(axis=0)) >= ALPHA


def _chance(counts: Floats, totals: Floats) -> float:
    """Return the chance of rows as unlike as these where all moved by one factor."""
    expected = counts.sum(axis=1)[:, None] * (totals / totals.sum())
    # One sample more, split as the totals are: a row may have none on a side.
    one = totals / totals.sum()
    logs = np.log((counts[:, 1] + one[1]) / (counts[:, 0] + one[0]))
    variance = DISPERSION * (1 / (expected + one)).sum(axis=1) + 2 * _SPREAD**2
    mean = (logs / variance).sum() / (1 / variance).sum()
    chi_square = float((np.square(logs - mean) / variance).sum())
    return _beyond(chi_square, len(counts) - 1)


def _beyond(chi_square: float, degrees: int) -> float:
    """Return the upper tail of chi square, by the closed forms of whole degrees."""
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
