"""Ratios judged together: bounds exclude 1 where the procedure finds a change."""

from __future__ import annotations

from math import inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from pprofdiff.analysis.stats.discoveries import two_sided
from pprofdiff.analysis.stats.together import judged_together
from pprofdiff.analysis.stats.totals import Ratio, ratio_of_runs, ratio_of_sums

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
