"""How far runs differ is told from runs, and nothing is called changed that they explain."""

from __future__ import annotations

from math import erfc, sqrt

import numpy as np
import pytest

from pprofdiff.analysis.normalization import Normalization
from pprofdiff.analysis.stats.calibration import DISPERSION
from pprofdiff.analysis.stats.counts import CountModel
from pprofdiff.analysis.stats.judgement import Runs
from pprofdiff.analysis.stats.run_spread import (
    ONE_RUN,
    RunCounts,
    spread_of,
)
from pprofdiff.analysis.stats.student import normal, student

ROWS = np.concatenate([np.full(60, 3.0), np.full(40, 12.0), np.full(10, 60.0), [300.0]])


def runs_of(chance, runs, factor):
    """Draw runs of one build: counts by row, all of a run times one factor."""
    speed = np.exp(chance.normal(0, factor, runs))
    return chance.poisson(ROWS[:, None] * speed).astype(float)


def told(base, new, spread):
    """Return how many rows are told to have changed."""
    by = Normalization("per_work", 1 / base.shape[1], 1 / new.shape[1], "")
    model = CountModel.of((1.0, 1.0), by)._replace(spread=spread)
    sides = (tuple(side.T.astype(np.int64)) for side in (base, new))
    return int((~model.rows(Runs(*sides)).noise).sum())


@pytest.mark.parametrize("runs", [2, 3, 5, 10])
@pytest.mark.parametrize("factor", [0.0, 0.05, 0.15])
def test_runs_of_one_build_are_told_apart_in_few_draws(runs, factor):
    chance = np.random.default_rng(runs)
    alarms = poisson = 0
    for _ in range(200):
        sides = [runs_of(chance, runs, factor) for _ in range(2)]
        known = [RunCounts(side, np.ones(runs)) for side in sides]
        alarms += bool(told(*sides, spread_of(known, totals=True)))
        poisson += bool(told(*sides, ONE_RUN))
    # 5 % of 200 draws, and three standard deviations.
    assert alarms <= 19
    # Without what runs show, 15 % and more of the draws have a false alarm.
    assert poisson > 29 or factor < 0.1


@pytest.mark.parametrize("runs", [3, 5, 10])
def test_a_row_that_changed_much_is_told(runs):
    chance = np.random.default_rng(runs)
    found = 0
    for _ in range(50):
        base, new = (runs_of(chance, runs, 0.03) for _ in range(2))
        new[-2] = chance.poisson(150.0, runs)
        known = [RunCounts(side, np.ones(runs)) for side in (base, new)]
        found += bool(told(base, new, spread_of(known, totals=True)))
    assert found >= 45


def test_one_run_a_side_shows_nothing():
    one = RunCounts(np.ones((5, 1)), np.ones(1))
    spread = spread_of([one, one], totals=True)
    assert not spread.several
    assert (spread.dispersion, spread.shared, spread.common) == (DISPERSION, 0, 0)


def test_shares_have_no_spread_of_totals():
    chance = np.random.default_rng(1)
    sides = []
    for _ in range(2):
        counts = runs_of(chance, 6, 0.3)
        sides.append(RunCounts(counts, counts.sum(axis=0)))
    assert spread_of(sides, totals=False).common == 0
    assert spread_of(sides, totals=False).shared < 0.01
    by_operation = [RunCounts(side.counts, np.ones(6)) for side in sides]
    assert spread_of(by_operation, totals=True).common > 0.03


# Student's t at 97.5 % (two-sided 5 %), by degrees of freedom.
TABLE = {2: 4.303, 3: 3.182, 5: 2.571, 10: 2.228, 30: 2.042}


@pytest.mark.parametrize(("freedom", "t"), TABLE.items())
def test_students_t_as_normal_deviates(freedom, t):
    nu = np.array([float(freedom)])
    z = float(normal(np.array([t]), nu)[0])
    assert erfc(z / sqrt(2)) == pytest.approx(0.05, rel=0.08)
    assert float(student(z, nu)[0]) == pytest.approx(t, rel=1e-9)
    endless = np.array([np.inf])
    assert float(normal(np.array([t]), endless)[0]) == t
    assert float(student(t, endless)[0]) == t
