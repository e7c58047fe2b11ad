"""A run that stands apart is named; runs that differ as runs do are not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.analysis.outcome.deciding import outcome
from pprofdiff.analysis.runs.headline import headline_runs, outliers, outlying_runs
from pprofdiff.report.model import report_of
from tests.analysis.outcome.evidence import bench, compared_sides, cpu

STEADY = (100, 101, 99, 100.5, 99.5)


def runs(values):
    """Return values by run."""
    return dict(enumerate(values))


def test_one_that_stands_apart_is_named_with_its_ratio():
    base = runs([*STEADY, 138])
    (one,) = outliers([base, runs(STEADY)])
    assert (one.side, one.run, one.others) == (0, 5, 5)
    assert one.ratio == pytest.approx(1.38)
    (one,) = outliers([runs(STEADY), runs([*STEADY, 50])])
    assert (one.side, one.run, one.ratio) == (1, 5, pytest.approx(0.5))


def test_an_outlier_does_not_hide_another():
    assert [o.run for o in outliers([runs([*STEADY, 200, 300]), runs(STEADY)])] == [
        5,
        6,
    ]


def test_two_runs_show_nothing():
    assert outliers([runs([1, 100]), runs([1, 100])]) == []
    assert outliers([{}, {}]) == []
    # Nor does a side of two call a run of three an outlier for its own spread.
    assert outliers([runs([1, 3]), runs([1, 1, 1.5])]) == []


def test_tiny_spreads_name_nobody():
    """However closely all others agree, 9 % are no outlier."""
    assert outliers([runs([100] * 20 + [109]), runs([100] * 20)]) == []


def test_another_build_is_no_outlier():
    assert outliers([runs(STEADY), runs(v * 3 for v in STEADY)]) == []


@given(
    st.lists(st.floats(1e-9, 1e9), max_size=8),
    st.lists(st.floats(1e-9, 1e9), max_size=8),
    st.floats(1e-3, 1e3),
)
def test_the_unit_and_the_order_do_not_matter(base, new, by):
    named = {(o.side, o.run) for o in outliers([runs(base), runs(new)])}
    turned = [dict(reversed(runs(side).items())) for side in (base, new)]
    assert {(o.side, o.run) for o in outliers(turned)} == named
    swapped = {(1 - o.side, o.run) for o in outliers([runs(new), runs(base)])}
    assert swapped == named
    scaled = outliers([runs(v * by for v in base), runs(v * by for v in new)])
    assert len(scaled) == len(named)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("spread", "most"), [(0.03, 0.001), (0.06, 0.02), (0.15, 0.15)]
)
@pytest.mark.parametrize("count", [3, 5, 10])
def test_runs_that_differ_as_runs_do_are_seldom_named(spread, most, count):
    """Comparisons of normal logarithms in which any of the runs is named."""
    draws = np.exp(np.random.default_rng(7).normal(0, spread, (400, 2, count)))
    named = [bool(outliers([runs(a.tolist()), runs(b.tolist())])) for a, b in draws]
    assert np.mean(named) <= most


def test_it_is_a_warning_and_the_run_counts():
    steady = [{"A": value} for value in STEADY]
    comparison = compared_sides(bench(*steady, {"A": 300}), bench(*steady))
    (caveat,) = outlying_runs(comparison)
    assert caveat.id == "outlying-run"
    assert caveat.text == (
        "base: bench.txt took 3.00× the time/op of the other 5 runs "
        "(their median); it counts as they do: check whether something else ran"
    )
    assert caveat in report_of(comparison).warnings
    assert outcome(comparison).headline.runs == (6, 5)
    assert list(outlying_runs(compared_sides(bench(*steady), bench(*steady)))) == []


def test_cpu_decides_where_it_is_known():
    """A run that only waited for the machine cost the same CPU as the others."""
    loops = {("testing.(*B).runN", "main.main"): 500, "main.f": 250}
    times = bench(*({"A": value} for value in (100, 101, 99, 300)))
    base = tuple(part for _ in range(4) for part in cpu(loops))
    # Of a third of the operations in the same 10 s, each has three times the CPU.
    dear = compared_sides((*base, *times), (*base, *bench(*[{"A": 100}] * 4)))
    assert [one.id for one in headline_runs(dear)] == ["time", "cpu"]
    (caveat,) = outlying_runs(dear)
    assert "the CPU/op of the other 3 runs" in caveat.text
    # Where it has a third of the CPU as well, an operation cost what it always did.
    third = cpu({("testing.(*B).runN", "main.main"): 167, "main.f": 83})
    waited = compared_sides(
        (*base[:3], *third, *times), (*base, *bench(*[{"A": 100}] * 4))
    )
    assert [one.id for one in headline_runs(waited)] == ["time", "cpu"]
    assert list(outlying_runs(waited)) == []
