"""Ratios of figures that are known run by run: what they are, and how often wrong."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pprofdiff.analysis.judge.calibration import TOTAL_FREEDOM, Spread
from pprofdiff.analysis.judge.judge import judged_ratios
from pprofdiff.analysis.judge.judgement import Runs

SPREAD = Spread(0.5, 0.01)
values = st.floats(1e-6, 1e12)
sides = st.lists(values, min_size=1, max_size=6)


def runs(base, new):
    """Return runs of one figure."""
    return Runs(*(tuple(np.array([value]) for value in side) for side in (base, new)))


def verdict_of(base, new, spread=SPREAD):
    return judged_ratios((spread,), runs(base, new)).change()


@given(sides, sides)
def test_it_is_the_ratio_of_geometric_means_and_swaps_its_sign(base, new):
    there, back = verdict_of(base, new), verdict_of(new, base)
    means = [sum(map(log, side)) / len(side) for side in (base, new)]
    assert there.delta == pytest.approx(means[1] - means[0], abs=1e-9)
    assert there.low < there.delta < there.high
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=1e-9)
    assert there.noise == back.noise


@given(values, values)
def test_one_run_a_side_has_the_spread_alone(base, new):
    change = verdict_of([base], [new])
    reach = stats.norm.ppf(0.975) * 0.5 * sqrt(2)
    assert change.high - change.delta == pytest.approx(reach, rel=1e-6)
    assert change.significant == (abs(log(new) - log(base)) > reach)


def test_from_enough_runs_on_it_is_students_t():
    base, new = [1.0, 2.0, 1.5], [2.0, 1.0, 4.0, 3.0]
    assert len(base) + len(new) - 2 >= TOTAL_FREEDOM
    wanted = stats.ttest_ind(np.log(new), np.log(base)).confidence_interval(0.95)
    change = verdict_of(base, new)
    # Wallace's approximation of t is off by 0.4 % at five degrees of freedom.
    middle, half = (wanted.high + wanted.low) / 2, (wanted.high - wanted.low) / 2
    assert change.delta == pytest.approx(middle)
    assert change.high - change.delta == pytest.approx(half, rel=0.005)


def test_of_two_runs_that_happen_to_agree_nothing_is_sure():
    """Their spread is drawn to the prior: 20 % is no change where runs differ by 50."""
    assert not verdict_of([1.0, 1.0], [1.2, 1.2]).significant
    assert verdict_of([1.0, 1.0, 1.0], [1.2, 1.2, 1.2]).significant
    assert verdict_of([1.0, 1.0], [20.0, 20.0]).significant


def test_runs_are_never_surer_than_the_log_is_exact():
    coarse = Spread(0.5, 0.2)
    assert not verdict_of([1.0] * 3, [1.2] * 3, coarse).significant


def test_a_run_that_does_not_show_is_left_out():
    nan = float("nan")
    assert verdict_of([1.0, nan], [2.0]) == verdict_of([1.0], [2.0])
    unknown = verdict_of([nan], [2.0])
    assert unknown.mark == "unknown"
    column = np.array([nan, 1.0]), np.array([1.0, 9.0])
    marks = judged_ratios((SPREAD, SPREAD), Runs.single(*column)).mark
    assert marks.tolist() == ["unknown", "more"]


@pytest.mark.parametrize("number", [1, 2, 3, 5, 10])
def test_intervals_cover_where_runs_differ_as_the_spread_says(number):
    """95 % of 2000: fewer than 1870 have p = 1e-3 (three runs and more are exact)."""
    rng = np.random.default_rng(number)
    draws = np.exp(0.5 * rng.standard_normal((2, number, 2000)))
    judged = judged_ratios((SPREAD,) * 2000, Runs(*map(tuple, draws)))
    inside = int(((judged.low <= 0) & (judged.high >= 0)).sum())
    assert inside >= stats.binom.ppf(0.001, 2000, 0.95)
    assert judged.noise.sum() >= 1990
