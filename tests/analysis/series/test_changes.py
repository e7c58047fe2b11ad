"""A series of one build shows no change; a planted step is found where it is."""

import numpy as np
import pytest

from pprofdiff.analysis.series.changes import _cut, penalty
from pprofdiff.analysis.series.judged import judge_series
from tests.analysis.series.fleets import of_counts, series
from tests.fleets import making

pytest.importorskip("ruptures")


def changed_in(made):
    """Return (step, function) of all functions that changed."""
    (kind,) = judge_series(made).kinds
    return [(one.step, curve.key) for curve in kind.functions for one in curve.changes]


# `changes.ALARMS` of all series may show one: 2 of 40.
@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    [
        pytest.param({"hosts": 12, "steps": 12}, marks=pytest.mark.whole),
        {"hosts": 12, "steps": 3},
        {"hosts": 12, "steps": 6, "same_hosts": False},
        {"hosts": 12, "steps": 12, "drift": 0.03},
        {"hosts": 5, "steps": 5},
        pytest.param({"hosts": 40, "steps": 24}, marks=pytest.mark.whole),
    ],
    ids=["12", "few-steps", "other-hosts", "drifting", "few-hosts", "40"],
)
def test_unlike_hosts_of_one_build_show_no_change(how):
    alarms = [
        (seed, changes)
        for seed in range(40)
        if (changes := changed_in(series(np.random.default_rng(seed), **how)))
    ]
    assert len(alarms) <= 2, alarms


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("same_hosts", [True, False])
@pytest.mark.parametrize(
    ("more", "hosts", "steps", "first"),
    [(0.005, 40, 24, 9), (0.01, 16, 8, 5), (0.02, 12, 8, 1), (0.02, 12, 3, 2)],
)
def test_a_planted_step_is_reported_at_its_window(
    more, hosts, steps, first, same_hosts
):
    rng = np.random.default_rng(hosts)
    planted = ((making.PLANTED, first, more),)
    made = series(rng, hosts, steps, planted=planted, same_hosts=same_hosts)
    (kind,) = judge_series(made).kinds
    curve = kind.functions[0]
    assert curve.key == making.PLANTED
    (change,) = curve.changes
    assert change.step == first
    # Shares are of the new total.
    assert change.low < more * (1 - change.before) / (1 + more) < change.high


@pytest.mark.slow
def test_hardly_another_function_is_reported_next_to_the_planted_one():
    planted = ((making.PLANTED, 4, 0.01),)
    steps = [
        changed_in(
            series(np.random.default_rng(seed), 12, 8, planted=planted, samples=6000)
        )
        for seed in range(20)
    ]
    assert all((4, making.PLANTED) in changes for changes in steps)
    # `changes.ALARMS` of what is reported.
    assert sum(len(changes) - 1 for changes in steps) <= 1


def test_what_goes_up_and_down_again_changes_twice():
    planted = ((making.PLANTED, 4, 0.02), (making.PLANTED, 5, -0.02))
    made = series(np.random.default_rng(1), 20, 10, planted=planted)
    assert changed_in(made) == [(4, making.PLANTED), (5, making.PLANTED)]


def test_what_others_lose_of_a_larger_total_is_no_change_of_theirs():
    made = series(
        np.random.default_rng(2), 40, 12, planted=((making.PLANTED, 6, 0.2),),
        samples=20_000,
    )  # fmt: skip
    (kind,) = judge_series(made).kinds
    others = [curve for curve in kind.functions if curve.key != making.PLANTED]
    lost = [np.mean(c.shares[6:]) / np.mean(c.shares[:6]) for c in others[:50]]
    assert np.median(lost) < 0.9
    assert len([curve for curve in others if curve.changes]) <= 2


def test_one_host_a_step_shows_nothing():
    counts = np.full((1, 6, 3), 1000)
    counts[0, 3:, 1] = 9000
    assert changed_in(of_counts(["a", "b", "c"], counts)) == []


def test_windows_that_are_empty_are_gaps():
    made = series(np.random.default_rng(3), 20, 9, planted=((making.PLANTED, 5, 0.02),))
    (measured,) = made.kinds
    counts = np.zeros((20, 11, len(measured.functions)), np.int64)
    flat = measured.flat_of(np.arange(len(measured.functions)))
    counts[:, [0, 1, 2, 4, 5, 7, 8, 9, 10]] = flat.transpose(1, 2, 0)
    (kind,) = judge_series(of_counts(measured.functions, counts)).kinds
    (curve,) = kind.changed
    # The sixth step that has profiles.
    assert [(one.step, curve.key) for one in curve.changes] == [(7, making.PLANTED)]
    assert np.isnan(curve.shares[[3, 6]]).all()
    assert np.isfinite(np.delete(curve.shares, [3, 6])).all()


@pytest.mark.slow
@pytest.mark.parametrize("steps", [3, 12, 48])
def test_the_penalty_lets_so_much_noise_through(steps):
    rng = np.random.default_rng(steps)
    weight = rng.uniform(0.5, 2.0, steps)
    trials = 300
    cut = sum(
        bool(_cut(rng.standard_normal(steps) / np.sqrt(weight), weight, penalty(steps)))
        for _ in range(trials)
    )
    # One change is as rare as that; two at once, a step that stands apart, add to it.
    assert cut / trials < 0.1


def test_steps_that_shake_all_hosts_alike_are_no_changes():
    rng = np.random.default_rng(4)
    made = series(rng, 30, 24, samples=20_000)
    (measured,) = made.kinds
    flat = measured.flat_of(np.arange(len(measured.functions))).transpose(1, 2, 0)
    shaken = np.exp(0.1 * rng.standard_normal((1, 24, flat.shape[2])))
    counts = rng.poisson(flat * shaken)
    assert len(changed_in(of_counts(measured.functions, counts))) <= 2
