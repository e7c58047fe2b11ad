"""The harness on drawn runs: it passes what keeps its rates, and nothing else."""

from functools import cache

import numpy as np
import pytest
from scipy import stats

from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted
from tests.calibration.plain import discoveries, mann_whitney, welch
from tests.calibration.rates import Rates, too_many
from tests.calibration.said import said
from tests.calibration.splits import Split
from tests.calibration.synthetic import OPERATIONS, of_records, runs_of
from tests.examples import examples

pytestmark = pytest.mark.slow

PAIRS, RUNS = examples(200), 5
# As many as distinguish 12 % of alarms from 5 %.
DRAWS = 200
UNCHANGED = {"time": 1.0, "cpu": 1.0, "control": 1.0}


def drawn(base, new, function="", pairs=PAIRS, truth=UNCHANGED):
    """Return the rates of pairs of sides of five runs in turns, drawn anew each."""
    rng = np.random.default_rng(15)
    split = Split(tuple(range(0, 2 * RUNS, 2)), tuple(range(1, 2 * RUNS, 2)))
    done = RUNS * OPERATIONS
    settings = Settings(work=counted((done, done)))
    made = [
        said(runs_of([base, new] * RUNS, rng), split, function, settings)
        for _ in range(pairs)
    ]
    return Rates(made, truth)


@cache
def unchanged():
    """Return the rates of one build against itself."""
    return drawn(of_records(), of_records())


@pytest.mark.whole
@pytest.mark.parametrize("test", ["Welch", "Mann-Whitney"])
@pytest.mark.parametrize("column", ["flat", "cum"])
def test_tests_of_textbooks_keep_their_rate(test, column):
    assert not too_many(unchanged().marked(f"{test} {column}"), PAIRS)


def test_an_unchanged_build_is_not_reported_as_slower_or_faster():
    assert not too_many(unchanged().decided, PAIRS)
    assert not too_many(unchanged().trips("total"), PAIRS)


def test_an_unchanged_build_has_no_finding_above_info():
    assert unchanged().findings == 0


@pytest.mark.parametrize("table", ["flat", "cum", "groups"])
def test_rows_of_an_unchanged_build_are_not_marked(table):
    assert not too_many(unchanged().marked(table), PAIRS)


@pytest.mark.parametrize("figure", ["time", "cpu", "control"])
def test_intervals_have_the_truth_in_them(figure):
    assert not too_many(1 - unchanged().coverage(figure), PAIRS)


def test_a_function_that_became_dearer_is_found():
    build, function = of_records(), "main.slug"
    truth = dict.fromkeys(UNCHANGED, 1.2)
    rates = drawn(build, build.dearer(function, 0.2), function, 15, truth)
    assert rates.planted("flat") == 1
    assert rates.planted("Welch flat") > 0.5
    assert rates.wrong == 0
    assert rates.coverage("cpu") > 0.7


def anti_conservative(base, new):
    """Return p as if the runs of a side were one, and all their totals were equal."""
    sums = base.sum(axis=1), new.sum(axis=1)
    z = (sums[1] - sums[0]) / np.sqrt(sums[0] + sums[1])
    return 2 * stats.norm.sf(np.abs(z))


@pytest.mark.whole  # thousands of splits
def test_a_judge_that_marks_too_much_is_reported_from_those_that_do_not():
    build, rng = of_records(), np.random.default_rng(15)
    each = {test: [] for test in (anti_conservative, welch, mann_whitney)}
    for _ in range(DRAWS):
        counts = runs_of([build] * 2 * RUNS, rng).counts
        base, new = counts.flat[:, ::2], counts.flat[:, 1::2]
        totals = counts.totals[::2], counts.totals[1::2]
        for test, alarms in each.items():
            if test is anti_conservative:
                ones = np.ones(RUNS, np.int64)
                alarms.append(discoveries(base, new, (ones, ones), test).any())
            else:
                alarms.append(discoveries(base, new, totals, test).any())
    assert too_many(np.mean(each[anti_conservative]), DRAWS)
    assert not too_many(np.mean(each[welch]), DRAWS)
    assert not too_many(np.mean(each[mann_whitney]), DRAWS)
