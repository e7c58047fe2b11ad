"""Ratios judged together: bounds exclude 1 where the procedure finds a change."""

from math import inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from pprofdiff.analysis.judge.student import two_sided
from pprofdiff.analysis.judge.totals import (
    InTurns,
    Ratio,
    judged_together,
    moderated,
    ratio_of_runs,
    ratio_of_sums,
)

RATE = 0.05


def ratio(z, sigma=0.1):
    """Return a ratio so many deviations from 1."""
    return ratio_of_sums(1.0, float(np.exp(z * sigma)), prior_sigma=sigma / 2**0.5)


@given(st.lists(st.floats(-8, 8), min_size=1, max_size=40))
def test_bounds_exclude_1_where_scipy_finds_a_change(zs):
    bounds = judged_together([ratio(z) for z in zs], RATE)
    adjusted = false_discovery_control(two_sided(np.array(zs)))
    for (low, high), q in zip(bounds, adjusted, strict=True):
        if abs(q - RATE) > 1e-6:
            assert (low > 1 or high < 1) == (q <= RATE)
        assert low <= high


def test_one_ratio_has_its_own_interval():
    one = ratio_of_runs([[1.0], [1.1], [0.9]], [[1.5], [1.4], [1.7]])
    ((low, high),) = judged_together([one], RATE)
    # Student's t by Wallace's approximation.
    assert low == pytest.approx(one.low, rel=0.01)
    assert high == pytest.approx(one.high, rel=0.01)


def test_many_are_no_surer_than_one():
    alone = judged_together([ratio(2.5)], RATE)[0]
    among = judged_together([ratio(2.5), *([ratio(0.1)] * 9)], RATE)[0]
    assert alone[0] > 1 > among[0]
    assert among[1] > alone[1]


@pytest.mark.slow
def test_of_one_build_no_more_than_the_rate_have_a_change():
    rng = np.random.default_rng(7)
    alarms = sum(
        any(low > 1 or high < 1 for low, high in judged_together(own, RATE))
        for own in ([ratio(z) for z in rng.normal(size=20)] for _ in range(2000))
    )
    # Three deviations of a binomial above 5 %.
    assert alarms <= 2000 * RATE + 3 * (2000 * RATE * (1 - RATE)) ** 0.5


def test_a_deviation_has_a_floor():
    (wide,) = judged_together([ratio(3)], RATE, least_sigma=0.5)
    assert wide[0] < 1 < wide[1]
    assert judged_together([], RATE) == []
    assert Ratio(1.0, 1.0, 1.0, (1.0, 1.0), (1.0, 1.0), 0.1).freedom == inf
    assert log(wide[1]) - 0.3 == pytest.approx(0.5 * 1.959964)


def in_turns(rng, turns, changes):
    """Return ratios of benchmarks in a few turns, whose noise is 5 to 20 %."""
    found = []
    for change in changes:
        noise = rng.normal(0, 0.1 * np.exp(rng.normal(0, 0.35)), turns)
        found.append(InTurns(np.ones(turns), np.exp(change + noise)).ratio())
    return moderated(found)


@pytest.mark.slow
@pytest.mark.parametrize("turns", [3, 4, 12])
def test_the_noise_of_all_finds_no_change_where_there_is_none(turns):
    rng, tries, rate = np.random.default_rng(turns), 600, 0.01
    alarms = sum(
        any(
            low > 1 or high < 1
            for low, high in judged_together(in_turns(rng, turns, [0.0] * 20), rate)
        )
        for _ in range(tries)
    )
    assert alarms <= tries * rate + 3 * (tries * rate) ** 0.5


def test_a_few_turns_of_many_benchmarks_find_those_that_halved():
    rng = np.random.default_rng(1)
    changes = [log(0.5)] * 5 + [0.0] * 35
    found = [judged_together(in_turns(rng, 4, changes), 0.01) for _ in range(50)]
    right = np.mean([[high < 1 for _, high in one[:5]] for one in found])
    assert right >= 0.9


def test_few_benchmarks_have_each_their_own_noise():
    rng = np.random.default_rng(2)
    four = [InTurns([1.0] * 4, np.exp(rng.normal(0, 0.1, 4))).ratio() for _ in range(4)]
    assert moderated(four) == four
