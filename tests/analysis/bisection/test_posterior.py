"""The posterior against one that adds up every set of commits, by scipy's density."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from pprofdiff.analysis.bisection import posterior as of
from pprofdiff.analysis.bisection.posterior import Reading, posterior
from tests.analysis.bisection.world import line, merges

BETWEEN = 0.02


def by_commit(contains, readings):
    """Return the chance of a step in each commit, and of a drift."""
    rows = sorted(readings)
    seen = contains[rows][:, 1:].astype(float)
    count = seen.shape[1]
    values = np.array([readings[row].value for row in rows])
    sigma = np.array([readings[row].sigma for row in rows])
    span = np.abs(values).max()
    parts = [tuple(column) for column in seen.T]
    steps, drift, whole = np.zeros(count), 0.0, 0.0
    for factor, weight in of._BETWEEN:
        noise = np.diag(sigma**2) + (BETWEEN * factor) ** 2 * (np.eye(len(rows)) + 1)

        def density(extra, noise=noise):
            return multivariate_normal.pdf(values, cov=noise + span**2 * extra)

        for number, prior in enumerate(of._OF_STEPS):
            for some in combinations(range(count), number):
                if len({parts[i] for i in some}) == number:
                    own = seen[:, some]
                    chance = weight * prior * factorial(number) / count**number
                    chance *= density(own @ own.T)
                    whole += chance
                    steps[list(some)] += chance
        along = seen.sum(axis=1) / count
        for extra, prior in zip(
            (seen @ seen.T / count, np.outer(along, along)), of._OF_DRIFTS, strict=True
        ):
            chance = weight * prior * density(extra)
            drift, whole = drift + chance, whole + chance
    return steps / whole, drift / whole


@pytest.mark.parametrize(
    ("contains", "measured"),
    [(line(9), (4, 5, 9)), (merges(2, 2), (3, 4, 6, 8)), (line(6), (6,))],
)
def test_parts_have_the_chances_of_their_commits(contains, measured):
    rng = np.random.default_rng(len(measured))
    readings = {
        row: Reading(float(rng.normal(0.1, 0.1)), float(rng.uniform(0.01, 0.05)), 1)
        for row in measured
    }
    known = posterior(contains, readings, BETWEEN)
    steps, drift = by_commit(contains, readings)
    added = np.bincount(known.part[1:], weights=steps)
    np.testing.assert_allclose(known.inclusion, added, rtol=1e-9)
    assert known.drift == pytest.approx(drift, rel=1e-9)
