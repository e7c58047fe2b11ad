"""Shares are exact, and their deviations those that repeated series have."""

import numpy as np
import pytest

from pprofdiff.analysis.series.changes import (
    ALONE,
    Moderation,
    between,
    moderation,
    shares_of,
)


def counted(rng, units, steps, *, spread, of_unit):
    """Return (own, totals): one row with a tenth of all, of units that differ."""
    totals = rng.poisson(
        20_000 * np.exp(0.3 * rng.standard_normal((units, 1))), (units, steps)
    )
    level = 0.1 * np.exp(of_unit * rng.standard_normal((units, 1)))
    level = level * np.exp(spread * rng.standard_normal((units, steps)))
    return rng.poisson(totals * level)[None], totals


def test_a_share_is_the_sum_of_all_units():
    own = np.array([[[1, 2], [3, 0]]])
    totals = np.array([[10, 20], [30, 5]])
    shares = shares_of(own, totals)
    assert shares.shares.tolist() == [[4 / 40, 2 / 25]]


@pytest.mark.parametrize("of_unit", [0.0, 0.5])
def test_units_are_compared_with_themselves(of_unit):
    """How far units differ from each other says nothing of a step."""
    rng = np.random.default_rng(7)
    steps, shown = [], []
    for _ in range(300):
        own, totals = counted(rng, 20, 6, spread=0.1, of_unit=of_unit)
        shares = shares_of(own, totals)
        got = between(shares, 0, slice(0, 3), slice(3, 6))
        steps.append(got.after - got.before)
        shown.append((got.deviation, got.expected))
    ratio = np.sqrt(np.square(shown).mean(axis=0)) / np.std(steps)
    # A tenth is what 300 trials show; loads of other sizes make them wider, not less.
    assert (ratio > 0.9).all()
    assert (ratio < 1.35).all()


def test_units_of_one_step_alone_count_for_all_that_they_differ():
    rng = np.random.default_rng(8)
    own, totals = counted(rng, 40, 2, spread=0.0, of_unit=0.3)
    apart = np.repeat([[True, False], [False, True]], 20, axis=0)
    both = shares_of(own, totals)
    other = shares_of(np.where(apart, own, 0), np.where(apart, totals, 0))
    halves = slice(0, 1), slice(1, 2)
    assert (
        between(other, 0, *halves).deviation > 5 * between(both, 0, *halves).deviation
    )
    assert other.variance[0, 0] > 25 * both.variance[0, 0] / 2


def test_one_unit_shows_no_deviation():
    shares = shares_of(np.array([[[1, 2, 3]]]), np.array([[10, 10, 10]]))
    assert np.isnan(shares.variance).all()
    assert between(shares, 0, slice(0, 1), slice(1, 3)).freedom == 0


def rows(rng, count, spread):
    """Return shares of rows whose units drift step by step."""
    totals = rng.poisson(20_000, (10, 8))
    walk = spread * rng.standard_normal((count, 10, 8)).cumsum(axis=2)
    return shares_of(rng.poisson(totals * 0.01 * np.exp(walk)), totals)


def test_rows_show_together_how_far_units_drift():
    rng = np.random.default_rng(9)
    counts = moderation([rows(rng, 200, 0.0)])
    drifting = moderation([rows(rng, 200, 0.2)])
    # Counts alone: a row's deviation is what is expected, and units need not agree.
    assert counts.freedom > 50
    assert 1 <= counts.scale < 1.25
    # Four steps of a walk are further from the next four than steps apart are.
    assert drifting.scale > 1.5


@pytest.mark.slow
def test_few_rows_have_their_own_deviations():
    assert moderation([rows(np.random.default_rng(1), 5, 0.0)]) == ALONE
    got = between(rows(np.random.default_rng(1), 1, 0.0), 0, slice(0, 4), slice(4, 8))
    assert ALONE.deviation(got) == (pytest.approx(got.deviation), 9)
    both = Moderation(4.0, 9.0).deviation(got)
    mean = np.sqrt((4 * got.expected**2 + got.deviation**2) / 2)
    assert both == (pytest.approx(mean), 18)
