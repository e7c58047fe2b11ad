"""Runs in pairs: what they leave out, and that they are as sure as they say."""

import numpy as np
import pytest
from scipy import stats

from pprofdiff.analysis.judge.calibration import ALPHA, Spread
from pprofdiff.analysis.judge.judge import judged_ratios
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.judge.totals import all_paired, ratio_of_runs, squares_of_runs

SPREAD = Spread(0.5, 0.0)


def drifting(rng, size, *, noise=0.02, change=0.0):
    """Return values of both sides, taken in turns on a machine that gets slower."""
    drift = np.repeat(np.cumsum(rng.normal(0.1, 0.1, size))[:, None], 2, axis=1)
    logs = drift + rng.normal(0, noise, (size, 2))
    return np.exp(logs[:, 0]), np.exp(logs[:, 1] + change)


@pytest.mark.parametrize("size", [5, 7, 10])
def test_pairs_are_the_paired_t_test(size):
    base, new = drifting(np.random.default_rng(size), size)
    wanted = stats.ttest_rel(np.log(new), np.log(base)).confidence_interval(0.95)
    got = ratio_of_runs(base[:, None], new[:, None], in_turns=True)
    assert np.log([got.low, got.high]) == pytest.approx([*wanted], rel=1e-3)


def test_pairs_leave_the_drift_out_that_hides_a_change():
    base, new = drifting(np.random.default_rng(1), 6, change=0.05)
    columns = base[:, None], new[:, None]
    assert ratio_of_runs(*columns).low < 1
    assert ratio_of_runs(*columns, in_turns=True).low > 1
    runs = [tuple(side[:, None]) for side in (base, new)]
    assert judged_ratios((SPREAD,), Runs(*runs)).noise.all()
    assert not judged_ratios((SPREAD,), Runs(*runs, in_turns=True)).noise.any()


def test_a_figure_that_a_run_lacks_is_not_compared_in_pairs():
    base = np.array([[1.0, 1.0], [2.0, np.nan], [3.0, 3.0]])
    new = base + 0.5
    squares, freedom = squares_of_runs(base, new, in_turns=True)
    assert squares[0] == 0
    assert freedom.tolist() == [2, 2]
    assert squares[1] == 4


@pytest.mark.parametrize(
    ("base", "new", "pairs", "paired"),
    [
        ([1, 2], [3, 4], 2, True),
        ([1, 2], [3], 2, False),
        ([1], [3], 2, False),  # A run of each side lacks the measure.
        ([1, 2], [3, 4], 0, False),
        ([], [], 0, False),
    ],
)
def test_runs_are_paired_where_every_run_has_the_measure(base, new, pairs, paired):
    assert all_paired(base, new, pairs) is paired


@pytest.mark.slow
def test_unchanged_sides_alarm_as_often_as_stated():
    rng, pairs = np.random.default_rng(15), 2000
    alarms = 0
    for _ in range(pairs):
        base, new = drifting(rng, 5)
        got = ratio_of_runs(base[:, None], new[:, None], in_turns=True)
        alarms += not got.low <= 1 <= got.high
    # One in a thousand such tests fails by chance, on either side.
    low, high = stats.binom.ppf([0.0005, 0.9995], pairs, ALPHA)
    assert low <= alarms <= high
