"""Runs show how far runs differ, and what they explain is no change."""

from math import erfc, sqrt

import numpy as np
import pytest

from pprofdiff.analysis.judge.calibration import DISPERSION, LIMIT
from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.judge.run_spread import (
    ONE_RUN,
    Pairs,
    RunCounts,
    one_run,
    spread_of,
)
from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.analysis.judge.student import normal, student

ROWS = np.concatenate([np.full(60, 3.0), np.full(40, 12.0), np.full(10, 60.0), [300.0]])


def runs_of(chance, runs, factor):
    """Draw runs of one build: counts by row, all of a run times one factor."""
    speed = np.exp(chance.normal(0, factor, runs))
    return chance.poisson(ROWS[:, None] * speed).astype(float)


def model_of(spread, base=1, new=1):
    """Return the model of per-op counts over these numbers of runs."""
    by = Normalization("per_work", 1 / base, 1 / new, "")
    return CountModel.of((1.0, 1.0), by)._replace(spread=spread)


def changed_rows(base, new, spread):
    """Return how many rows are asked to have changed."""
    model = model_of(spread, base.shape[1], new.shape[1])
    sides = (tuple(side.T.astype(np.int64)) for side in (base, new))
    return int((~model.rows(Runs(*sides)).noise).sum())


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("runs", [2, 3, 5, 10])
@pytest.mark.parametrize("factor", [0.0, 0.05, 0.15])
def test_runs_of_one_build_are_distinguished_in_few_draws(runs, factor):
    chance = np.random.default_rng(runs)
    alarms = poisson = 0
    for _ in range(200):
        sides = [runs_of(chance, runs, factor) for _ in range(2)]
        known = [RunCounts(side, np.ones(runs)) for side in sides]
        alarms += bool(changed_rows(*sides, spread_of(known, totals=True)))
        poisson += bool(changed_rows(*sides, ONE_RUN))
    # 5 % of 200 draws, and three standard deviations.
    assert alarms <= 19
    # Without what runs show, 15 % and more of the draws have a false alarm.
    assert poisson > 29 or factor < 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "part"), [(5, 0.25), (10, 0.80)])
def test_a_row_that_varies_by_counting_alone_is_reported_by_counting(runs, part):
    """Its few runs would need a larger change if all of its variance were estimated."""
    chance = np.random.default_rng(runs)
    found = 0
    for _ in range(200):
        base, new = (runs_of(chance, runs, 0.03) for _ in range(2))
        new[70] = chance.poisson(21.0, runs)
        known = [RunCounts(side, np.ones(runs)) for side in (base, new)]
        model = model_of(spread_of(known, totals=True), runs, runs)
        columns = (tuple(side.T.astype(np.int64)) for side in (base, new))
        found += not model.rows(Runs(*columns)).noise[70]
    assert found >= part * 200


@pytest.mark.slow
@pytest.mark.parametrize("runs", [5, 10])
def test_rows_unlike_the_others_are_distinguished_in_few_draws(runs):
    """Three rows differ by a factor of 1.8 from run to run, the others by counting.

    Three runs do not show which rows these are.
    """
    chance, alarms = np.random.default_rng(runs), 0
    sigma = np.zeros((len(ROWS), 1))
    sigma[[65, 80, 105]] = 0.6
    for _ in range(200):
        base, new = (
            chance.poisson(
                ROWS[:, None] * np.exp(sigma * chance.normal(0, 1, (len(ROWS), runs)))
            ).astype(float)
            for _ in range(2)
        )
        known = [RunCounts(side, np.ones(runs)) for side in (base, new)]
        alarms += bool(changed_rows(base, new, spread_of(known, totals=True)))
    assert alarms <= 19


@pytest.mark.parametrize("runs", [3, 5, 10])
def test_a_row_that_changed_much_is_reported(runs):
    chance = np.random.default_rng(runs)
    found = 0
    for _ in range(50):
        base, new = (runs_of(chance, runs, 0.03) for _ in range(2))
        new[-2] = chance.poisson(150.0, runs)
        known = [RunCounts(side, np.ones(runs)) for side in (base, new)]
        found += bool(changed_rows(base, new, spread_of(known, totals=True)))
    assert found >= 45


def test_one_run_a_side_shows_nothing():
    one = RunCounts(np.ones((5, 1)), np.ones(1))
    spread = spread_of([one, one], totals=True)
    assert not spread.several
    assert (spread.dispersion, spread.shared, spread.common) == (DISPERSION, 0, 0)


def one_of(base, new):
    """Return the spread of one run a side; most rows moved by the median."""
    ratio = float(np.median(new[:, 0] / np.maximum(base[:, 0], 1)))
    return one_run((base.sum(), new.sum()), ratio)


@pytest.mark.slow
@pytest.mark.parametrize("length", [1, 30])
def test_two_runs_of_one_build_are_distinguished_in_few_draws(length):
    """Rows' shares differ by 7 %, the machine's speed by 15 %, as was measured."""
    chance = np.random.default_rng(length)
    alarms = counted = untested = 0
    for _ in range(200):
        base, new = (
            chance.poisson(
                length
                * ROWS[:, None]
                * np.exp(chance.normal(0, 0.07, (len(ROWS), 1)))
                * np.exp(chance.normal(0, 0.15))
            ).astype(float)
            for _ in range(2)
        )
        spread = one_of(base, new)
        alarms += bool(changed_rows(base, new, spread))
        counted += bool(changed_rows(base, new, ONE_RUN))
        untested += not judged(base, new, spread).known.all()
    assert alarms <= 19
    assert counted > 100 or length == 1
    # Nothing is hidden: what counting shows is never called noise.
    assert untested >= counted - alarms


def judged(base, new, spread):
    """Judge one run a side."""
    return model_of(spread).rows(
        Runs.single(base[:, 0].astype(np.int64), new[:, 0].astype(np.int64))
    )


def test_of_one_run_a_large_change_is_reported():
    chance = np.random.default_rng(4)
    base, new = (chance.poisson(100 * ROWS[:, None]).astype(float) for _ in range(2))
    new[-2] *= 2
    verdict = judged(base, new, one_of(base, new))
    assert verdict.mark[-2] == "more"
    assert (verdict.mark == "more").sum() == 1


@pytest.mark.parametrize("ratio", [0.75, 1.0, 1.3])
def test_what_is_needed_is_what_is_reported(ratio):
    """The pages' marks ask how large a change must be, tables how many deviations."""
    chance = np.random.default_rng(5)
    base, new = (chance.integers(0, 400, 300) for _ in range(2))
    spread = one_run((base.sum(), new.sum()), ratio)
    model = model_of(spread)
    verdict = model.rows(Runs.single(base, new))
    needed = model.needs(Runs.single(base, new), LIMIT)
    beyond = np.abs(verdict.delta) >= needed
    assert (beyond == (np.abs(verdict.z) >= LIMIT)).all()
    assert 0 < beyond.sum() < 300
    assert ((verdict.low > 0) | (verdict.high < 0) == beyond).all()


def test_of_one_run_no_limit_is_passed_for_what_the_machine_does():
    """All rows cost a quarter more: a limit of 10 % is neither kept nor broken."""
    rows = np.full(20, 10_000)
    spread = one_run((rows.sum(), rows.sum() * 1.25), 1.25)
    model = model_of(spread)
    runs = Runs.single(rows, (rows * 1.25).astype(np.int64))
    for limit in ({"share": 0.1}, {"amount": 1000.0}):
        low, high = model.against(runs, **limit)
        assert (low < 1000).all()
        assert (high > 2500).all()


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


@pytest.mark.parametrize(
    ("both", "variance"),
    [(40, 0.05**2), (20, 0.05**2 + 0.3**2 / 2), (0, 0.3**2 + 0.05**2)],
)
def test_pairs_leave_out_what_hosts_have_on_both_sides(both, variance):
    # 500 rows; in each, a host has up to 30 % more on both sides, 5 % in its hour.
    rng = np.random.default_rng(8)
    runs = [*range(40)], [*range(40 - both, 80 - both)]
    of_host = 0.3 * rng.standard_normal((500, 80))
    sides = []
    for own in runs:
        shares = np.exp(of_host[:, own] + 0.05 * rng.standard_normal((500, 40)))
        counts = rng.poisson(1e4 * shares).astype(float)
        rest = counts.sum(axis=0).max() * 2 - counts.sum(axis=0)
        sides.append(RunCounts(np.vstack([counts, rest]), np.ones(40)))
    spread = spread_of(sides, totals=False, pairs=Pairs.of(*runs))
    # The median over rows of a squared deviation of 39 freedoms is 2 % below its mean.
    assert spread.shared == pytest.approx(variance, rel=0.15)
    ratio, freedom = spread.of_rows(sides[0].counts, sides[1].counts)
    assert np.median(ratio[:-1]) == pytest.approx(1, rel=0.1)
    assert 38 < freedom[0] - 10 < 79
    if not both:
        without = spread_of(sides, totals=False)
        assert spread.shared == pytest.approx(without.shared, rel=0.05)
