"""The posterior over which commits changed a figure.

A figure of commit *i* is the sum of the steps of all commits that *i* contains, so any
history works, with merges or without. A measurement adds two errors: one of its runs,
and one that all runs of a build share, such as where its functions lie in memory.
Everything is Gaussian, so the likelihood of a set of steps has a closed form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import factorial, inf, isfinite, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.arrays import Mask

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_STEPS = 3
"""The largest number of steps that is considered: more of them look like a drift."""

# Prior of 0, 1, 2 … steps, of a random walk over commits, and of a straight line. The
# ends differed when compared, so no step at all is unlikely.
_OF_STEPS = (0.05, 0.73, 0.12, 0.04)
_OF_DRIFTS = (0.03, 0.03)
# Factors of the deviation between builds of one source, which is known only roughly,
# and their prior.
_BETWEEN = ((0.3, 0.3), (1.0, 0.45), (2.5, 0.25))
# Degrees of freedom that the spread of all readings adds to each one's.
_SHARED = 10.0
# The least error, relative to the largest change: 0 would make matrices singular.
_LEAST = 0.002


class Reading(NamedTuple):
    """A commit's figure relative to the good end, over `rounds` rounds.

    `sigma` is the deviation of `value` due to its runs, known with `freedom` degrees of
    freedom; both have the figure's unit, such as the logarithm of a ratio.
    """

    value: float
    sigma: float
    rounds: int
    freedom: float = inf


@dataclass(frozen=True, eq=False)
class Posterior:
    """What the readings of some commits show about steps.

    Commits that no reading separates are a part. `part` has the part of each commit
    (int64), -1 for the good end. `steps` has the steps of each hypothesis (bool of
    shape (hypotheses, parts)), `chance` its probability; the last two hypotheses are
    drifts: a random walk, a straight line. `rows` are the commits that were read, and
    `signs` (bool, rows × parts) says which contain a part. `between` is the deviation
    between builds, `span` a step's.
    """

    contains: Mask
    part: Ints
    steps: Mask
    chance: Floats
    rows: tuple[int, ...]
    signs: Mask
    values: Floats
    sigma: Floats
    between: float
    span: float

    @property
    def inclusion(self) -> Floats:
        """The probability that a part has a step (float64 by part)."""
        chances: Floats = self.chance @ self.steps
        return chances

    @property
    def drift(self) -> float:
        """The probability that the figure drifted over many commits."""
        return float(self.chance[-2:].sum())

    @property
    def none(self) -> float:
        """The probability that nothing changed."""
        return float(self.chance[:-2][~self.steps[:-2].any(axis=1)].sum())

    def only(self, parts: Mask) -> float:
        """Return the probability that there are steps, all of them in `parts`."""
        outside = self.steps[:, ~parts].any(axis=1)
        some = self.steps.any(axis=1)
        return float(self.chance[some & ~outside].sum())

    def sizes(self) -> tuple[Floats, Floats]:
        """Return the mean of each part's step and its deviation, if it has one."""
        weighted = np.zeros(self.steps.shape[1])
        squares = np.zeros(self.steps.shape[1])
        for h in np.flatnonzero(self.chance[:-2] > _NEGLIGIBLE).tolist():
            own = np.flatnonzero(self.steps[h])
            if not len(own):
                continue
            signs = self.signs[:, own].astype(np.float64)
            inverse = np.linalg.inv(self.covariance(h))
            gain = self.span**2 * signs.T @ inverse
            mean = gain @ self.values
            left = self.span**2 * (1 - np.einsum("sr,rs->s", gain, signs))
            weighted[own] += self.chance[h] * mean
            squares[own] += self.chance[h] * (mean**2 + left)
        chance = np.maximum(self.inclusion, 1e-300)
        mean = weighted / chance
        return mean, np.sqrt(np.maximum(squares / chance - mean**2, 0.0))

    def covariance(self, hypothesis: int) -> Floats:
        """Return the covariance of the readings under a hypothesis (rows × rows)."""
        drift = hypothesis - len(self.chance) + 2
        if drift >= 0:
            rows = self.contains[list(self.rows)][:, 1:].astype(np.float64)
            explained = _drifts(rows)[drift]
        else:
            own = self.signs[:, self.steps[hypothesis]].astype(np.float64)
            explained = own @ own.T
        covariance: Floats = _noise(self.sigma, self.between) + self.span**2 * explained
        return covariance


_NEGLIGIBLE = 1e-4


def posterior(
    contains: Mask, readings: Mapping[int, Reading], between: float
) -> Posterior:
    """Return the posterior over sets of steps.

    `contains` says whether commit *i* contains commit *k*, itself included: bool of
    shape (commits, commits). Commit 0 is the good end: it contains nothing, and nothing
    it. `readings` of other commits together contain every commit. `between` is the
    usual deviation between builds of one source, in the unit of readings.
    """
    rows = tuple(sorted(readings))
    values = np.array([readings[row].value for row in rows])
    span = max(float(np.abs(values).max()), 1e-12)
    least = _LEAST * span
    sigma = np.maximum(_moderated([readings[row] for row in rows]), least)
    seen = contains[list(rows)][:, 1:]
    signs, part = np.unique(seen, axis=1, return_inverse=True)
    weights = np.bincount(part.ravel(), minlength=signs.shape[1]) / seen.shape[1]
    parts = range(signs.shape[1])
    counts = range(min(MOST_STEPS, len(parts)) + 1)
    sets = list(chain.from_iterable(combinations(parts, n) for n in counts))
    steps = np.zeros((len(sets) + 2, signs.shape[1]), np.bool_)
    prior = np.empty(len(sets) + 2)
    for h, own in enumerate(sets):
        steps[h, list(own)] = True
        chance = _OF_STEPS[len(own)] * factorial(len(own)) * weights[list(own)].prod()
        prior[h] = log(chance)
    # A drift over so few commits counts as steps.
    prior[-2:] = np.log(_OF_DRIFTS) if seen.shape[1] > MOST_STEPS else -np.inf
    marks = signs.astype(np.float64)
    explained = np.einsum("rp,hp,qp->hrq", marks, steps.astype(np.float64), marks)
    explained[-2:] = _drifts(seen.astype(np.float64))
    widths = [max(between * factor, least) for factor, _ in _BETWEEN]
    logs = np.array(
        [
            prior
            + log(weight)
            + _likelihood(values, _noise(sigma, width) + span**2 * explained)
            for width, (_, weight) in zip(widths, _BETWEEN, strict=True)
        ]
    )
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    return Posterior(
        contains,
        np.array([-1, *part.ravel().tolist()], np.int64),
        steps,
        chances.sum(axis=0),
        rows,
        signs,
        values,
        sigma,
        float(chances.sum(axis=1) @ widths),
        span,
    )


def _moderated(readings: Sequence[Reading]) -> Floats:
    """Return each reading's deviation, moderated by the spread of all readings.

    All commits' rounds vary similarly, and a deviation from few turns may be far too
    small (Smyth 2004, Statistical Applications in Genetics and Molecular Biology 3(1)).
    It is widened as the variance of Student's t is.
    """
    known = [one for one in readings if isfinite(one.freedom)]
    if not known:
        return np.array([one.sigma for one in readings])
    freedom = np.array([one.freedom for one in readings])
    rounds = np.array([one.rounds for one in readings])
    of_round = rounds * np.array([one.sigma for one in readings]) ** 2
    shared = float(freedom @ of_round / freedom.sum())
    both = freedom + _SHARED
    variance = (freedom * of_round + _SHARED * shared) / (both - 2)
    sigma: Floats = np.sqrt(variance / rounds)
    return sigma


def _noise(sigma: Floats, between: float) -> Floats:
    """Return the covariance of readings' errors; the good end's build is in all."""
    noise: Floats = np.diag(sigma**2 + between**2) + between**2
    return noise


def _drifts(seen: Floats) -> Floats:
    """Return the covariance of readings of a random walk, and of a line, of size 1."""
    count = seen.shape[1]
    along = seen.sum(axis=1) / count
    return np.array([seen @ seen.T / count, np.outer(along, along)])


def _likelihood(values: Floats, covariance: Floats) -> Floats:
    """Return the log density of values for each of some covariances."""
    root = np.linalg.cholesky(covariance)
    wide = np.broadcast_to(values[:, None], (*covariance.shape[:1], len(values), 1))
    white = np.linalg.solve(root, wide)[..., 0]
    diagonal = np.diagonal(root, axis1=1, axis2=2)
    found: Floats = -0.5 * (white**2).sum(axis=1) - np.log(diagonal).sum(axis=1)
    return found
