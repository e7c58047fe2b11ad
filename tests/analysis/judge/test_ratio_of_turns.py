"""Ratios of turns: how often intervals miss, whatever the machine does, and find."""

from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pprofdiff.analysis.judge.totals import InTurns
from pprofdiff.measure.sides import order

TRIES = 1500
values = st.floats(1e-9, 1e9)
sides = st.lists(st.tuples(values, values), min_size=1, max_size=60)


def white(rng, size):
    """Return logarithms of what the machine takes for itself, run by run: sd 10 %."""
    return rng.normal(0.0, 0.1, size)


def drifting(rng, size):
    """Return a walk that takes 2 % a run, with 3 % of noise."""
    return np.cumsum(rng.normal(0.0, 0.02, size)) + rng.normal(0.0, 0.03, size)


def warming(rng, size):
    """Return a machine that gets slower, by 30 % over all turns."""
    return np.linspace(0.0, 0.3, size) + rng.normal(0.0, 0.03, size)


def bursts(rng, size):
    """Return another program that doubles the time of 3 to 12 runs, now and then."""
    busy = np.zeros(size)
    for start in np.flatnonzero(rng.random(size) < 0.03):
        busy[start : start + rng.integers(3, 13)] = log(2)
    return busy + rng.normal(0.0, 0.02, size)


def measured(rng, noise, turns, change=0.0):
    """Return both sides' values, in turns, on a machine with noise."""
    logs = noise(rng, 2 * turns)
    base, new = np.empty(turns), np.empty(turns)
    for turn in range(turns):
        for half, side in enumerate(order(turn)):
            (base if side == "base" else new)[turn] = logs[2 * turn + half]
    return np.exp(base), np.exp(new + change)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("turns", [8, 16, 40, 120])
@pytest.mark.parametrize("noise", [white, drifting, warming, bursts])
def test_an_unchanged_build_is_hardly_ever_marked(noise, turns):
    rng = np.random.default_rng(turns)
    got = [InTurns(*measured(rng, noise, turns)).ratio() for _ in range(TRIES)]
    missed = sum(not one.wide[0] <= 1 <= one.wide[1] for one in got) / TRIES
    # One in a hundred; 0.8 % are three standard errors of so many tries.
    assert missed <= 0.018
    usual = sum(not one.low <= 1 <= one.high for one in got) / TRIES
    assert usual <= 0.05 + 3 * sqrt(0.05 * 0.95 / TRIES)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("turns", "together", "deviation"),
    [
        (40, 4, 0.05),
        (72, 4, 0.05),
        (36, 12, 0.05),
        (72, 12, 0.05),
        (12, 4, 0.035),
        (4, 2, 0.035),
    ],
)
def test_where_functions_lie_marks_an_unchanged_build_no_more_often(
    turns, together, deviation
):
    """Layouts make each side faster or slower, as long as they are in force."""
    rng = np.random.default_rng(turns)
    got = []
    for _ in range(TRIES):
        base, new = measured(rng, white, turns)
        size = (turns // together, 2)
        layouts = np.repeat(rng.normal(0.0, deviation, size), together, axis=0)
        base, new = base * np.exp(layouts[:, 0]), new * np.exp(layouts[:, 1])
        got.append(InTurns(base, new, together, layouts=True).ratio())
    missed = sum(not one.wide[0] <= 1 <= one.wide[1] for one in got) / TRIES
    assert missed <= 0.018


@pytest.mark.slow
@pytest.mark.parametrize(("deviation", "power"), [(0.1, 0.8), (0.1 / sqrt(2), 0.98)])
def test_five_percent_are_found(deviation, power):
    """120 turns whose sides, or whose ratios, have a deviation of 10 %."""
    rng = np.random.default_rng(3)

    def noise(rng, size):
        return rng.normal(0.0, deviation, size)

    got = [InTurns(*measured(rng, noise, 120, log(1.05))).ratio() for _ in range(TRIES)]
    assert sum(one.wide[0] > 1 for one in got) / TRIES >= power
    assert np.mean([one.ratio for one in got]) == pytest.approx(1.05, abs=0.002)


@pytest.mark.parametrize("turns", [2, 5, 19])
def test_few_turns_are_the_paired_t_test(turns):
    base, new = np.exp(np.random.default_rng(turns).normal(0, 0.1, (2, turns)))
    got = InTurns(base, new).ratio()
    test = stats.ttest_rel(np.log(new), np.log(base))
    for level, bounds in (
        (0.99, got.wide),
        (0.95, (got.low, got.high)),
        (0.9, got.narrow),
    ):
        assert np.log(bounds) == pytest.approx(
            [*test.confidence_interval(level)], rel=2e-3
        )


def test_turns_that_follow_each_other_are_one_observation():
    """Four of 120 alike say no more than their mean."""
    means = np.random.default_rng(1).normal(0.0, 0.1, 30)
    repeated = np.exp(np.repeat(means, 4))
    got = InTurns(np.ones(120), repeated).ratio()
    test = stats.ttest_1samp(means, 0.0).confidence_interval(0.99)
    assert np.log(got.wide) == pytest.approx([*test], rel=2e-3)


@given(sides)
def test_swapped_sides_are_the_inverse(turns):
    base, new = zip(*turns, strict=True)
    there, back = InTurns(base, new).ratio(), InTurns(new, base).ratio()
    assert there.ratio * back.ratio == pytest.approx(1, rel=1e-9)
    assert there.wide[0] * back.wide[1] == pytest.approx(1, rel=1e-6)
    assert there.ratio == pytest.approx(
        exp(sum(log(b) - log(a) for a, b in turns) / len(turns)), rel=1e-9
    )
    assert there.wide[0] <= there.low <= there.narrow[0] <= there.ratio
    assert there.ratio <= there.narrow[1] <= there.high <= there.wide[1]


def test_turns_that_agree_to_the_last_digit_are_not_without_doubt():
    got = InTurns([1.0] * 40, [1.001] * 40).ratio()
    assert got.wide[0] < got.ratio < got.wide[1]


def test_turns_that_have_nothing_in_common_have_an_interval_of_numbers():
    got = InTurns([1e-9, 1e9], [1e9, 1e-9]).ratio()
    assert got.ratio == pytest.approx(1)
    assert 0 < got.wide[0] < got.low < 1 < got.high < got.wide[1] < float("inf")


def test_blocks_that_agree_by_luck_vary_as_much_as_their_turns():
    """Six means within 2% of turns that differ by 35% are one draw of many."""
    rng = np.random.default_rng(7)
    blocks = rng.normal(0, 0.35, (6, 4))
    lucky = blocks - blocks.mean(axis=1, keepdims=True) + rng.normal(0, 0.02, (6, 1))
    got = InTurns([1.0] * 24, np.exp(lucky).ravel().tolist()).ratio()
    assert 0.1 <= log(got.wide[1] / got.ratio) <= 0.35
    # What the turns of a block have by their order does not count.
    order = np.tile([0.3, -0.3, -0.3, 0.3], (6, 1)) + rng.normal(0, 0.02, (6, 4))
    got = InTurns([1.0] * 24, np.exp(order).ravel().tolist()).ratio()
    assert log(got.wide[1] / got.ratio) <= 0.03
