"""The judge: what holds of every measure, and each model against its own formula."""

from math import erfc, inf, log, sqrt
from statistics import fmean, median, variance
from typing import get_args

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from pprofdiff.analysis.judge import calibration
from pprofdiff.analysis.judge.calibration import (
    DISPERSION,
    LATENCY_SURE,
    LIMIT,
    SAMPLES_FOR_ROW,
    SHARE,
    Prior,
)
from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.judge import (
    beyond_runs,
    change_by_prior,
    change_of_means,
    enough_events,
)
from pprofdiff.analysis.judge.judgement import Change, Mark, Observed, Runs
from pprofdiff.analysis.judge.samples import change_of_medians, mann_whitney
from pprofdiff.analysis.judge.scaling import Normalization
from tests.analysis.building import given

PERIOD = 10_000_000
ROWS = st.lists(st.tuples(*[st.integers(0, 10**6)] * 2), min_size=1, max_size=20)
FACTORS = st.sampled_from((1.0, 0.5, 3.0, 1e-3))
DRAWS = st.lists(st.integers(0, 10**6).map(float), min_size=1, max_size=30)
FIGURES = st.floats(0, 1e6, allow_subnormal=False)
LONG = Prior(8.0, events=200, long=True)
OPPOSITE = {"more": "less", "less": "more", "noise": "noise", "unknown": "unknown"}


def counts(base=1.0, new=1.0):
    """Return the judge of CPU profiles sampled every 10 ms."""
    by = Normalization("absolute", base, new, "")
    return CountModel.of((PERIOD, PERIOD), by)


def runs(rows):
    """Return one run a side of rows of (base, new) sample counts."""
    base, new = np.array(rows, np.int64).T * PERIOD
    return Runs.single(base, new)


def swapped(held):
    return Runs(held.new, held.base)


def opposite(one, other, *, exact=False):
    """Assert that a change is the other, looked at from the other side."""
    same = (lambda v: v) if exact else (lambda v: pytest.approx(v, rel=1e-9, abs=1e-9))
    assert one.delta == same(-other.delta)
    assert one.mark == OPPOSITE[other.mark]
    assert (one.low is None) == (other.high is None)
    if one.low is not None:
        assert (one.low, one.high) == (same(-other.high), same(-other.low))


# What holds of every measure.


@given(ROWS, FACTORS, FACTORS)
def test_swapped_counts_are_negated(rows, base, new):
    there = counts(base, new).rows(runs(rows))
    back = counts(new, base).rows(swapped(runs(rows)))
    for row in range(len(rows)):
        opposite(there.change(row), back.change(row))


@given(DRAWS, DRAWS)
def test_swapped_means_are_negated(base, new):
    base, new = np.array(base), np.array(new)
    opposite(change_of_means(base, new), change_of_means(new, base))


@given(DRAWS, DRAWS)
def test_swapped_benchmarks_are_negated(base, new):
    opposite(change_of_medians(base, new), change_of_medians(new, base), exact=True)


@given(FIGURES, FIGURES, st.sampled_from((LATENCY_SURE, SHARE, LONG)))
def test_swapped_figures_are_negated(base, new, prior):
    base, new = Observed(base), Observed(new)
    there, back = change_by_prior(prior, base, new), change_by_prior(prior, new, base)
    opposite(there, back, exact=True)


@given(ROWS, st.sampled_from((2.0, 0.25, 1e6)), FACTORS)
def test_scaling_both_sides_scales_delta_and_interval(rows, times, factor):
    one = counts(factor, 1.0).rows(runs(rows))
    other = counts(factor * times, times).rows(runs(rows))
    for column in ("delta", "low", "high"):
        before, after = getattr(one, column), getattr(other, column)
        assert after == pytest.approx(before * times, rel=1e-9, abs=1e-9 * times)
    assert one.mark.tolist() == other.mark.tolist()


@given(DRAWS, DRAWS, st.sampled_from((2.0, 0.25, 1024.0)))
def test_means_in_another_unit_are_as_sure(base, new, times):
    one = change_of_means(np.array(base), np.array(new))
    other = change_of_means(np.array(base) * times, np.array(new) * times)
    assert other.mark == one.mark
    assert other.delta == one.delta * times
    if one.low is not None:
        assert other.low == pytest.approx(one.low * times, rel=1e-9, abs=1e-9)


@given(st.integers(1, 10**5), st.integers(1, 10**5), st.integers(2, 50))
def test_more_samples_of_one_ratio_never_widen_the_relative_interval(base, new, times):
    short, long = (counts().one(runs([(base * n, new * n)])) for n in (1, times))
    width = (short.high - short.low) / base, (long.high - long.low) / (base * times)
    assert width[1] <= width[0]
    assert width[1] == pytest.approx(width[0] / sqrt(times))
    assert long.significant or not short.significant


@given(ROWS)
def test_a_change_reported_has_an_interval_without_0(rows):
    judged = counts().rows(runs(rows))
    for row in range(len(rows)):
        change = judged.change(row)
        if change.significant:
            assert change.low > 0 or change.high < 0
            assert change.mark == ("more" if change.delta > 0 else "less")
        # Among many rows less is reported than the interval of one row alone would.
        elif change.low > 0 or change.high < 0:
            assert judged.q[row] > calibration.FALSE_DISCOVERIES


@given(ROWS, st.integers(2, 4), st.randoms())
def test_several_runs_of_counts_are_their_sum(rows, parts, random):
    base, new = np.array(rows, np.int64).T
    split = [[], []]
    for side, column in enumerate((base, new)):
        left = column.copy()
        for _ in range(parts - 1):
            part = np.array([random.randint(0, int(n)) for n in left], np.int64)
            split[side].append(part * PERIOD)
            left -= part
        split[side].append(left * PERIOD)
    whole = counts().rows(runs(rows))
    apart = counts().rows(Runs(*map(tuple, split)))
    for column in ("delta", "low", "high", "z", "p", "q", "noise"):
        assert getattr(whole, column).tolist() == getattr(apart, column).tolist()


def test_a_side_has_a_run():
    with pytest.raises(ValueError, match="no run"):
        Runs((), (1,))


def test_the_vocabulary_is_closed():
    assert set(get_args(Mark)) == set(OPPOSITE)
    none = (None, None, None)
    assert Change(1.0, *none, noise=None).mark == "unknown"
    assert Change(1.0, *none, noise=None).noise is None
    assert Change(0.0, *none, noise=False).mark == "noise"
    assert Change(-1.0, *none, noise=False).mark == "less"
    assert not Change(1.0, *none, noise=True).significant


# One run a side: each model's numbers, worked out another way.


@given(ROWS, FACTORS, FACTORS)
def test_counts_by_hand(rows, base_factor, new_factor):
    judged = counts(base_factor, new_factor).rows(runs(rows))
    steps = PERIOD * base_factor, PERIOD * new_factor
    p = {}
    for row, (base, new) in enumerate(rows):
        delta = new * steps[1] - base * steps[0]
        spread = base * steps[0] ** 2 + new * steps[1] ** 2
        alike = (base + new) * steps[0] * steps[1]
        sigma = sqrt(DISPERSION * max(spread, alike, max(steps) ** 2))
        change = judged.change(row)
        near = {"rel": 1e-9, "abs": 1e-9 * sigma}
        assert change.delta == pytest.approx(delta, **near)
        assert change.low == pytest.approx(delta - LIMIT * sigma, **near)
        assert change.high == pytest.approx(delta + LIMIT * sigma, **near)
        own = erfc(abs(delta) / sigma / sqrt(2))
        assert change.p == pytest.approx(own, rel=1e-6, abs=1e-300)
        if base + new >= SAMPLES_FOR_ROW:
            p[row] = own
    ordered = sorted(p.values())
    for row, own in p.items():
        ranks = [v * len(p) / (k + 1) for k, v in enumerate(ordered) if v >= own]
        assert judged.q[row] == pytest.approx(min(1.0, *ranks), rel=1e-6, abs=1e-300)
    assert all(judged.q[row] == 1 for row in range(len(rows)) if row not in p)
    small = np.abs(judged.z) < LIMIT
    assert (judged.noise == (small | (judged.q > calibration.FALSE_DISCOVERIES))).all()


@given(DRAWS, DRAWS)
def test_means_by_hand(base, new):
    change = change_of_means(np.array(base), np.array(new))
    if min(len(base), len(new)) < 5:
        assert (change.mark, change.low) == ("unknown", None)
        return
    delta = fmean(new) - fmean(base)
    reach = 3 * sqrt(variance(base) / len(base) + variance(new) / len(new))
    near = {"rel": 1e-9, "abs": 1e-6}
    assert change.delta == pytest.approx(delta, **near)
    assert change.high - change.delta == pytest.approx(reach, **near)
    if abs(abs(delta) - reach) > 1e-6:
        assert change.significant == (abs(delta) > reach)


@given(DRAWS, DRAWS)
def test_benchmarks_by_the_u_test(base, new):
    change, p = change_of_medians(base, new), mann_whitney(base, new)
    assert change.p == (1.0 if p is None else p)
    assert change.delta == pytest.approx(median(new) - median(base), rel=1e-9, abs=1e-6)
    if change.p <= 0.05:
        assert change.noise is False
    else:
        assert change.noise is (None if max(len(base), len(new)) < 4 else True)


@given(FIGURES, FIGURES)
def test_figures_by_hand(base, new):
    apart = base != new if min(base, new) == 0 else abs(log(new / base)) >= log(1.5)
    assert beyond_runs(Prior(1.5), base, new) == apart
    moved = abs(new - base)
    shares = base / 1e6, new / 1e6
    moved = abs(shares[1] - shares[0])
    assert beyond_runs(SHARE, *shares) == (
        moved >= 0.10 or (moved >= 0.02 and beyond_runs(Prior(1.5), *shares))
    )


@given(FIGURES, FIGURES, st.sampled_from((Prior(1.5), SHARE, Prior(8.0, points=3.0))))
def test_the_interval_of_a_figure_is_what_its_mark_says(base, new, prior):
    change = change_by_prior(prior, Observed(base), Observed(new))
    reach = change.high - change.delta
    # Rounding decides where the change is as large as the prior allows.
    assume(abs(reach - abs(change.delta)) > 1e-9 * max(base, new, 1.0))
    assert change.significant == (not change.low <= 0 <= change.high)


@pytest.mark.parametrize("side", [0, 1])
def test_too_few_events_or_too_short_a_trace_show_nothing(side):
    def judged(**less):
        sides = [
            Observed(value, 200, calibration.LONG_NS)._replace(
                **(less if i == side else {})
            )
            for i, value in enumerate((1.0, 100.0))
        ]
        return change_by_prior(LONG, *sides).mark

    assert judged() == "more"
    assert judged(events=199) == judged(wall_ns=calibration.LONG_NS - 1) == "unknown"


@pytest.mark.parametrize(
    ("base", "new", "enough"),
    [(0, 6, False), (0, 7, True), (2, 2, False), (3, 3, True), (20, 5, True)],
)
def test_events_by_chi_square(base, new, enough):
    assert enough_events(base, new) == enough_events(new, base) == enough


def test_marks_of_many_rows_match_each():
    judged = counts().rows(runs([(100, 100), (100, 300), (300, 100), (0, 1)]))
    assert judged.mark.tolist() == ["noise", "more", "less", "noise"]
    assert [judged.change(i).mark for i in range(4)] == judged.mark.tolist()
    assert judged.least == min(abs(judged.z[1]), abs(judged.z[2]))
    assert counts().rows(runs([(1, 1)])).least is None
    assert inf > judged.least > LIMIT
