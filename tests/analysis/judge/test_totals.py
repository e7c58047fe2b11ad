"""The ratio of a whole figure: what it is, and how often its interval covers."""

from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.analysis.judge.calibration import TOTAL_SIGMA
from pprofdiff.analysis.judge.samples import change_of_medians
from pprofdiff.analysis.judge.totals import ratio_of_medians, ratio_of_runs

# Logarithms and exponentials round a few times.
FEW = 1e-12

values = st.floats(1e-9, 1e12)
sides = st.lists(st.lists(values, min_size=1, max_size=4), min_size=1, max_size=6)


def width(ratio):
    """Return how far an interval reaches, as a logarithm."""
    return log(ratio.high / ratio.low)


@given(sides, sides)
def test_swapped_sides_are_the_inverse(base, new):
    there, back = ratio_of_runs(base, new), ratio_of_runs(new, base)
    assert there.ratio * back.ratio == pytest.approx(1, rel=FEW)
    assert there.low * back.high == pytest.approx(1, rel=FEW)
    assert there.high * back.low == pytest.approx(1, rel=FEW)
    assert there.narrow[0] * back.narrow[1] == pytest.approx(1, rel=FEW)
    assert there.sigma == pytest.approx(back.sigma, rel=FEW)


@given(sides, sides)
def test_the_narrow_interval_lies_in_the_wide_one_and_has_the_ratio(base, new):
    got = ratio_of_runs(base, new)
    low, high = got.narrow
    assert got.low < low < got.ratio < high < got.high


@given(sides, sides, st.sampled_from((1e-9, 1e-3, 60.0)))
def test_the_unit_does_not_matter(base, new, unit):
    scaled = [[[value * unit for value in run] for run in side] for side in (base, new)]
    one, other = ratio_of_runs(*scaled), ratio_of_runs(base, new)
    assert [one.ratio, one.low, one.high, *one.narrow, one.sigma] == pytest.approx(
        [other.ratio, other.low, other.high, *other.narrow, other.sigma], rel=1e-9
    )


@given(
    st.lists(values, min_size=1, max_size=6), st.lists(values, min_size=1, max_size=6)
)
def test_it_is_of_geometric_means(base, new):
    got = ratio_of_runs([[v] for v in base], [[v] for v in new])
    means = [np.prod([v ** (1 / len(side)) for v in side]) for side in (base, new)]
    assert got.ratio == pytest.approx(means[1] / means[0], rel=1e-9)


@given(values, values)
def test_one_run_a_side_has_the_prior_alone(base, new):
    got = ratio_of_runs([[base]], [[new]])
    sigma = TOTAL_SIGMA * sqrt(2)
    assert got.ratio == pytest.approx(new / base, rel=FEW)
    assert got.sigma == pytest.approx(sigma)

    assert got.low == pytest.approx(new / base * exp(-1.95996 * sigma), rel=1e-4)
    assert got.high == pytest.approx(new / base * exp(1.95996 * sigma), rel=1e-4)
    assert got.narrow[1] == pytest.approx(new / base * exp(1.64485 * sigma), rel=1e-4)


def test_each_run_more_shows_more():
    steady = [[1.0], [1.01], [0.99], [1.0], [1.01], [0.99]]
    widths = [width(ratio_of_runs(steady[:n], steady[:n])) for n in range(1, 7)]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < widths[0] / 3


def test_runs_that_differ_say_so():
    steady, wild = [[1.0], [1.01], [0.99]], [[1.0], [1.6], [0.6]]
    assert width(ratio_of_runs(wild, wild)) > 2 * width(ratio_of_runs(steady, steady))


@pytest.mark.parametrize("number", [2, 4, 10])
def test_values_of_one_process_say_less_than_as_many_runs(number):
    numbers = [1 + i % 3 / 100 for i in range(number)]
    runs = [[value] for value in numbers]
    serial = ratio_of_runs([numbers], [numbers])
    assert width(serial) > width(ratio_of_runs(runs, runs))
    assert width(serial) <= width(ratio_of_runs([numbers[:1]], [numbers[:1]]))


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("runs", [1, 2, 3, 6, 10])
@pytest.mark.parametrize("sigma", [TOTAL_SIGMA / 5, TOTAL_SIGMA])
def test_the_interval_covers(runs, sigma):
    """Runs whose logarithm differs by up to the prior: 95 in 100 intervals have 1."""
    rng = np.random.default_rng(20)
    times = 1500
    drawn = np.exp(rng.normal(0.0, sigma, (times, 2, runs, 1)))
    got = [ratio_of_runs(base, new) for base, new in drawn.tolist()]
    covers = sum(one.low <= 1 <= one.high for one in got) / times
    narrow = sum(one.narrow[0] <= 1 <= one.narrow[1] for one in got) / times
    # Three standard errors of a share of so many.
    assert covers >= 0.95 - 3 * sqrt(0.95 * 0.05 / times)
    assert narrow >= 0.90 - 3 * sqrt(0.90 * 0.10 / times)


@pytest.mark.parametrize(
    ("runs", "usual", "narrow", "wide"),
    [(2, 3.182, 2.353, 5.841), (3, 2.776, 2.132, 4.604), (5, 2.306, 1.860, 3.355),
     (6, 2.228, 1.812, 3.169), (7, 2.179, 1.782, 3.055), (8, 2.145, 1.761, 2.977),
     (11, 2.086, 1.725, 2.845), (15, 2.048, 1.701, 2.763), (60, 1.980, 1.658, 2.618)],
)  # fmt: skip
def test_the_quantiles_match_student(runs, usual, narrow, wide):
    """As printed tables have them, for each run but one of a side.

    Two runs a side have the prior for one more degree of freedom.
    """
    same = [[1.0]] * runs
    got = ratio_of_runs(same, same)
    assert log(got.high) / got.sigma == pytest.approx(usual, abs=6e-4)
    assert log(got.narrow[1]) / got.sigma == pytest.approx(narrow, abs=6e-4)
    assert log(got.wide[1]) / got.sigma == pytest.approx(wide, abs=6e-4)


@given(sides, sides)
def test_the_ratio_of_medians_is_in_intervals_that_are_no_narrower(base, new):
    medians, runs = ratio_of_medians(base, new), ratio_of_runs(base, new)
    middles = [np.median(np.concatenate(side)) for side in (base, new)]
    assert medians.ratio == pytest.approx(middles[1] / middles[0], rel=1e-9)
    assert medians.low <= medians.ratio <= medians.high
    assert medians.low <= runs.low
    assert medians.high >= runs.high
    assert medians.sigma == runs.sigma
    if not medians.low <= 1 <= medians.high:
        assert change_of_medians(*map(np.concatenate, (base, new))).noise is not True
    if len(base) == len(new) == 1:
        assert medians.ratio == pytest.approx(runs.ratio, rel=FEW)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3, 10])
@pytest.mark.parametrize("runs", [1, 3, 6])
@pytest.mark.parametrize("sigma", [TOTAL_SIGMA / 5, TOTAL_SIGMA])
def test_the_interval_of_medians_covers(runs, sigma, count):
    """Values of a run share its drift; one in ten met another process."""
    rng = np.random.default_rng(21)
    times = 600
    # The variance of runs is twice the variance of values within one.
    logs = rng.normal(0.0, sigma / sqrt(2), (times, 2, runs, 1))
    logs = logs + rng.normal(0.0, sigma / sqrt(2), (times, 2, runs, count))
    if count > 1:
        logs += np.where(rng.random(logs.shape) < 0.1, log(1.5), 0.0)
    got = [ratio_of_medians(base, new) for base, new in np.exp(logs).tolist()]
    covers = sum(one.low <= 1 <= one.high for one in got) / times
    assert covers >= 0.95 - 3 * sqrt(0.95 * 0.05 / times)
