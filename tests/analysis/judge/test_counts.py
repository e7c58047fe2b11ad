"""The count model: its arithmetic, and what it promises of counts made by chance.

It promises: where nothing changed, at most 5 % of tables hold a row that is called a
change (Benjamini and Hochberg's rate, which is the chance of any false row where all
rows are unchanged), as long as counts vary by no more than `DISPERSION` times their
mean.
"""

from math import erfc, sqrt

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from pprofdiff.analysis.judge.calibration import (
    DISPERSION,
    LIMIT,
)
from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.judge.run_spread import one_run
from pprofdiff.analysis.judge.scaling import Normalization
from tests.analysis.building import given
from tests.examples import daily

COUNTS = st.lists(st.tuples(*[st.integers(0, 10**7)] * 2), min_size=1, max_size=30)
STEP = 10_000_000


def model(base_factor=1.0, new_factor=1.0):
    """Return the model of CPU profiles sampled every 10 ms."""
    by = Normalization("absolute", base_factor, new_factor, "")
    return CountModel.of((STEP, STEP), by)


def columns(counts):
    """Return raw base and new of numbers of samples."""
    base, new = np.array(counts, np.int64).T
    return base * STEP, new * STEP


def judged(counts, **factors):
    """Judge numbers of samples."""
    return model(**factors).rows(Runs.single(*columns(counts)))


def test_the_length_that_is_needed_is_enough():
    counts = [(100, 140)]
    times = model().lengths_needed(Runs.single(*columns(counts)))[0]
    grown = [(100 * times, 140 * times)]
    delta, spread = grown[0][1] - grown[0][0], sqrt(DISPERSION * sum(grown[0]))
    assert delta / spread == pytest.approx(LIMIT)


def test_no_length_shows_what_runs_differ_by():
    spread = one_run((10_000.0, 10_000.0), 1.0)
    one = model()._replace(spread=spread)
    short = columns([(400, 480)]), columns([(400, 800)])
    assert one.lengths_needed(Runs.single(*short[0]))[0] == np.inf
    times = one.lengths_needed(Runs.single(*columns([(40, 80)])))[0]
    assert 1 < times < np.inf


def test_more_rows_need_more_evidence():
    clear = (100, 160)
    assert not judged([clear]).noise[0]
    crowd = [clear, *[(500, 500)] * 1000]
    assert judged(crowd).noise.all()


def test_no_rows():
    verdict = model().rows(Runs.single(np.zeros(0, np.int64), np.zeros(0, np.int64)))
    assert [len(x) for x in (verdict.z, verdict.p, verdict.q, verdict.noise)] == [0] * 4


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 8, 300])
def test_chance_alone_is_called_a_change_in_at_most_one_table_of_twenty(rows):
    random = np.random.default_rng(rows)
    trials, means = 2000, 10 ** random.uniform(0, 4, rows)
    # A negative binomial has variance DISPERSION times its mean.
    shape = means / (DISPERSION - 1)
    base, new = (
        random.negative_binomial(shape, 1 / DISPERSION, (trials, rows))
        for _ in range(2)
    )
    false = sum(
        bool((~model().rows(Runs.single(b * STEP, n * STEP)).noise).any())
        for b, n in zip(base, new, strict=True)
    )
    assert false / trials <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("rows", [8, 300])
def test_real_changes_are_found_next_to_many_unchanged_rows(rows):
    random = np.random.default_rng(rows)
    means = np.full(rows, 400.0)
    grown = means.copy()
    grown[0] *= 1.5
    found = false = 0
    for _ in range(500):
        verdict = model().rows(
            Runs.single(random.poisson(means) * STEP, random.poisson(grown) * STEP)
        )
        found += not verdict.noise[0]
        false += int((~verdict.noise[1:]).sum())
    assert found >= 475
    assert false <= 25


LIMITED = st.lists(
    st.tuples(st.integers(0, 5000), st.integers(0, 5000)), min_size=1, max_size=40
)


@given(LIMITED, st.sampled_from((0.0, 0.02, 0.5, 4.0)))
def test_what_is_beyond_a_limit_is_what_benjamini_and_hochberg_say(rows, share):
    """One-sided tests of new − (1 + share) × base, counted here once more."""
    base, new = (np.array(side) for side in zip(*rows, strict=True))
    counting = CountModel.of((1.0, 1.0), Normalization("absolute", 1.0, 1.0, ""))
    low, high = counting.against(Runs.single(base, new), share=share)
    counted = base * (1 + share) ** 2 + np.maximum(new, np.where(base, 0, 1))
    z = (new - (1 + share) * base) / np.sqrt(DISPERSION * counted)
    # Rounding decides of a row that lies on the limit itself.
    assume((np.abs(z - LIMIT) > 1e-9).all())
    p = [erfc(v / sqrt(2)) if v > 0 else 1.0 for v in z]
    order = sorted(range(len(p)), key=lambda i: p[i])
    ranks = [k for k, i in enumerate(order, 1) if p[i] <= k * 0.05 / len(p)]
    rejected = set(order[: max(ranks, default=0)])
    expected = {i for i in rejected if z[i] >= LIMIT}
    assert {i for i in range(len(p)) if low[i] > share * base[i]} == expected
    assert (low <= new - base).all()
    assert (new - base <= high).all()


def of_sides(raw, new, step):
    """Return what counting gives base, whose samples are worth `step`, and new.

    Together no less than if both were of one rate, and than one sample's worth.
    """
    of_base, of_new = raw * step, new + max(step**2 - raw * step - new, 0)
    lacking = max(raw + new * step - of_base - of_new, 0)
    return (of_base + lacking, of_new) if step > 1 else (of_base, of_new + lacking)


@given(st.integers(1, 10**5), st.integers(0, 10**5), st.floats(1.0, 3.0))
def test_bounds_of_a_ratio_are_where_its_test_begins_to_reject(base, new, step):
    counting = CountModel.of((step, 1.0), Normalization("absolute", 1.0, 1.0, ""))
    raw = round(base * step)
    (low,), (high,) = counting.against(
        Runs.single(np.array([raw]), np.array([new])), share=0.1
    )
    for bound in (low, high):
        if -raw < bound < np.inf:
            times = 1 + bound / raw
            of_base, of_new = of_sides(raw, new, step)
            variance = DISPERSION * (times**2 * of_base + max(of_new, 1))
            z = (new - times * raw) / sqrt(variance)
            assert abs(z) == pytest.approx(LIMIT, rel=1e-6)
    # Where nothing bounds the ratio from above, chance may have left base no sample.
    of_base, _ = of_sides(raw, new, step)
    surely = raw > LIMIT * sqrt(DISPERSION * of_base)
    assert np.isinf(high) == (not surely)


@pytest.mark.parametrize("limit", [{"share": 0.05}, {"amount": 15.0}])
def test_tables_at_their_limit_hardly_ever_fail(limit):
    """Every row moved by just the limit: of 400 tables 5 % may have one that fails."""
    rng = np.random.default_rng(5)
    counting = CountModel.of((1.0, 1.0), Normalization("absolute", 1.0, 1.0, ""))
    failed = 0
    for _ in range(400):
        base, new = rng.poisson(300, 200), rng.poisson(315, 200)
        low, _ = counting.against(Runs.single(base, new), **limit)
        allowed = limit.get("share", 0.0) * base + limit.get("amount", 0.0)
        failed += bool((low > allowed).any())
    assert failed / 400 <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("samples", [(400, 400), (2000, 300)])
@pytest.mark.parametrize("share", daily((0.05, 0.5, 0.95), (0.95,)))
def test_shares_vary_by_what_the_others_leave_of_them(share, samples):
    """Of x / (x + y), where x and y vary by 7 % each and counts are Poisson's."""
    random = np.random.default_rng(7)
    part = np.array([share, 1 - share])
    z = []
    for _ in range(2000):
        sides = [
            random.poisson(n * part * random.lognormal(0, 0.07 / sqrt(2), 2))
            for n in samples
        ]
        totals = tuple(int(side.sum()) * STEP for side in sides)
        by = Normalization("composition", 100 / totals[0], 100 / totals[1], "")
        spread = one_run((totals[0] / STEP, totals[1] / STEP), 1.0)
        got = CountModel.of((STEP, STEP), by)._replace(spread=spread)
        z.append(got.rows(Runs.single(*(side[:1] * STEP for side in sides))).z[0])
    # Three deviations hold what they promise, and are none too wide at any share.
    assert np.mean(np.abs(z) > LIMIT) <= 0.005
    assert 0.7 < np.sqrt(np.mean(np.square(z))) < 1.05


def test_a_share_of_nearly_all_that_falls_by_a_third_is_reported():
    by = Normalization("composition", 100 / 337, 100 / 62, "")
    fell = np.array([323]), np.array([39])
    got = CountModel.of((1, 1), by)._replace(spread=one_run((337, 62), 1.0))
    assert got.one(Runs.single(*fell)).mark == "less"
    # As costs, next to a total that is not one for both, they are binomial no longer.
    assert got.with_base_times(1.0).sigma(Runs.single(*fell)) > got.sigma(
        Runs.single(*fell)
    )
