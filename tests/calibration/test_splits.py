"""Splits alternate in time, and are never of one run twice."""

import numpy as np
import pytest

from tests.calibration.capture import SIZES, UNCHANGED, added, order
from tests.calibration.plain import SAMPLES, discoveries, mann_whitney, welch
from tests.calibration.splits import of_planted, of_unchanged


@pytest.mark.parametrize("size", [1, 3, 5, 10])
def test_sides_alternate_in_pairs_of_neighbours(size):
    rng, runs = np.random.default_rng(1), list(range(100, 148, 2))
    splits = list(of_unchanged(runs, size, 50, rng))
    assert len(splits) == 50
    assert len(set(splits)) > 40
    for split in splits:
        assert len({*split.base, *split.new}) == 2 * size
        assert {*split.base, *split.new} <= set(runs)
        pairs = [sorted(pair) for pair in zip(*split, strict=True)]
        in_time = [run for pair in pairs for run in pair]
        assert in_time == sorted(in_time)
    firsts = [split.base[0] < split.new[0] for split in splits]
    assert 10 < sum(firsts) < 40


def test_too_few_runs_have_no_split():
    rng = np.random.default_rng(1)
    assert not list(of_unchanged(range(5), 3, 10, rng))
    assert not list(of_planted(np.arange(6), np.arange(2), 3, 10, rng))


def test_a_planted_run_stands_next_to_an_unchanged_one_of_its_time():
    unchanged = np.array([i for i in range(36) if i % 3])
    planted = np.arange(0, 36, 3)
    rng = np.random.default_rng(1)
    for split in of_planted(unchanged, planted, 10, 100, rng):
        assert len({*split.base}) == len({*split.new}) == 10
        assert {*split.new} <= {*planted.tolist()}
        assert {*split.base} <= {*unchanged.tolist()}
        apart = [abs(b - n) for b, n in zip(*split, strict=True)]
        assert max(apart) <= 5


def test_runs_of_all_builds_alternate_whichever_sizes_are_asked_for():
    every = list(order(24, SIZES))
    assert len(set(every)) == len(every) == 24 + 12 * len(SIZES)
    few = list(order(24, (5,)))
    assert few == [one for one in every if one[0] in (UNCHANGED, "+5")]
    for block in range(12):
        builds = [build for build, _ in few[3 * block : 3 * block + 3]]
        assert sorted(builds) == ["+5", UNCHANGED, UNCHANGED]
    assert len({tuple(b for b, _ in few[i : i + 3]) for i in range(0, 36, 3)}) == 3


def test_what_is_added_to_a_function_is_a_part_of_what_was_before():
    before, more = 0.08, 0.05
    assert added(before, (before + more) / (1 + more)) == pytest.approx(more)


def test_rows_of_few_samples_are_not_judged():
    totals = np.full(5, 200)
    base, new = np.zeros((2, 5), np.int64), np.zeros((2, 5), np.int64)
    new[0, :4] = 2  # eight samples, all of them new's
    new[1] = 40
    assert new[0].sum() < SAMPLES
    for test in (welch, mann_whitney):
        marked = discoveries(base, new, (totals, totals), test)
        assert marked.tolist() == [False, True]
