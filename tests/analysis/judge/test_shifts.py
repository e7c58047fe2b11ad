"""Bounds of benchmarks' shifts: what the U test does not reject."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.analysis.judge.calibration import ALPHA
from pprofdiff.analysis.judge.samples import constant, mann_whitney, shift_bounds

sizes = st.integers(1, 12)


@given(sizes, sizes, st.randoms(use_true_random=False))
def test_bounds_hold_what_the_test_does_not_reject(n, m, random):
    """Whole numbers without ties; between two of them lies what no pair differs by."""
    base = [16 * v for v in random.sample(range(1000), n)]
    new = [16 * v + 1 for v in random.sample(range(1000), m)]
    bounds = shift_bounds(base, new, ratio=False)
    extreme = mann_whitney(range(n), range(n, n + m))
    assert (bounds is None) == (extreme > ALPHA)
    if bounds is None:
        return
    low, high = bounds
    for shift, rejected in (
        (low - 0.5, True), (low + 0.5, False), (high - 0.5, False), (high + 0.5, True),
    ):  # fmt: skip
        p = mann_whitney([value + shift for value in base], new)
        assert (p <= ALPHA) == rejected, (shift, p)


@given(st.lists(st.integers(1, 500), min_size=4, max_size=60), st.integers(1, 9))
def test_of_one_sample_times_a_factor_the_ratio_holds_the_factor(base, factor):
    low, high = shift_bounds(base, [factor * value for value in base], ratio=True)
    assert low <= factor <= high
    back = shift_bounds([factor * value for value in base], base, ratio=True)
    assert back == pytest.approx((1 / high, 1 / low))


def test_ratios_of_what_may_be_nothing_have_no_bounds():
    assert shift_bounds([0, 1, 2, 3], [4, 5, 6, 7], ratio=True) is None
    assert shift_bounds([0, 1, 2, 3], [4, 5, 6, 7], ratio=False) == (1, 7)
    assert shift_bounds([1, 2, 3], [4, 5, 6], ratio=True) is None
    assert shift_bounds([], [4, 5, 6, 7], ratio=False) is None


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("count", [12, 60, 3000])
def test_bounds_miss_the_truth_as_often_as_they_may(count):
    """Of 400 pairs 5 % may miss; three standard errors more are 8.3 %."""
    rng = np.random.default_rng(1)
    tries = 400 if count < 1000 else 60
    missed = 0
    for _ in range(tries):
        base, new = rng.lognormal(3, 0.2, count), 1.1 * rng.lognormal(3, 0.2, count)
        low, high = shift_bounds(base, new, ratio=True)
        missed += not low <= 1.1 <= high
    assert missed / tries <= 0.05 + 3 * (0.05 * 0.95 / tries) ** 0.5


@pytest.mark.parametrize(("n", "m"), list(product(range(1, 7), repeat=2)))
def test_equal_values_are_believed_where_chance_hardly_makes_them(n, m):
    """The chance that a coin shows heads n times, then tails m times, at its worst."""
    worst = max(share**n * (1 - share) ** m for share in np.linspace(0, 1, 10_001))
    assert constant([3.0] * n, [4.0] * m) == (worst <= ALPHA / 2)
    assert not constant([3.0] * n + [3.5], [4.0] * m)
    assert not constant([], [4.0] * m)
