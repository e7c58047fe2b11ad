"""The figures that an outcome may rest on, each from one kind of evidence."""

from math import exp, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.analysis.figures.costs import TIME
from pprofdiff.analysis.judge.calibration import TOTAL_SIGMA
from pprofdiff.analysis.judge.totals import ratio_of_runs
from pprofdiff.analysis.outcome.figures import measures, timed
from pprofdiff.analysis.work import counted, rated
from tests.examples import examples

from .evidence import PACKAGES, bench, compared_sides, cpu, load

FEW = 1e-9
_times = st.integers(1, 10**9)
few = settings(max_examples=examples(40), deadline=None)


@pytest.mark.parametrize(("unit", "times"), [("ns/op", 500), ("sec/op", 5e-7)])
def test_one_benchmark_is_its_time_in_seconds(unit, times):
    figure = timed(
        compared_sides(
            bench({"A": times}, unit=unit), bench({"A": 2 * times}, unit=unit)
        )
    )
    assert (figure.whole.base, figure.whole.new) == pytest.approx((5e-7, 1e-6), rel=FEW)
    assert figure.whole.source == "BenchmarkA"
    assert list(figure.each) == ["A-4"]


_values = st.lists(_times, min_size=1, max_size=7).map(tuple)


@few
@given(st.data(), st.sampled_from((1, 1, 2, 3)))
def test_the_figure_matches_the_table(data, runs):
    """Benchstat prints the same, whatever the values: readers compare the two."""
    names = data.draw(st.sets(st.sampled_from(("A", "B", "C")), min_size=1))
    base, new = (
        [{n: data.draw(_values) for n in sorted(names)} for _ in range(runs)]
        for _ in range(2)
    )
    compared = compared_sides(bench(*base), bench(*new))
    (table,) = compared.benchmarks.tables
    figure = timed(compared)
    means = table.geomean
    assert figure.whole.judged.ratio == pytest.approx(means.ratio, rel=FEW)
    sides = figure.whole.base, figure.whole.new
    assert sides == pytest.approx((means.base, means.new), rel=FEW)
    ratios = {row.full_name: row.ratio for row in table.rows}
    assert {n: r.ratio for n, r in figure.each.items()} == pytest.approx(ratios)
    judged = figure.whole.judged
    assert judged.low <= judged.ratio <= judged.high
    assert figure.whole.cost == TIME
    if runs == 1:
        # They share the drift of their run: more of them are not more sure.
        widest = max(r.high / r.low for r in figure.each.values())
        assert judged.width >= widest * (1 - FEW)


def test_what_one_side_has_alone_is_no_part_of_it():
    figure = timed(
        compared_sides(bench({"A": 10, "Gone": 1}), bench({"A": 20, "Added": 9}))
    )
    assert list(figure.each) == ["A-4"]
    assert figure.whole.judged.ratio == pytest.approx(2)
    assert (
        timed(compared_sides(bench({"A": 10}, {"B": 1}), bench({"B": 1}))).whole.source
        == "BenchmarkB"
    )


def test_folders_are_runs_and_lines_of_one_file_are_not():
    lines = compared_sides(bench({"A": (10, 11)}), bench({"A": (20, 22)}))
    files = compared_sides(bench({"A": 10}, {"A": 11}), bench({"A": 20}, {"A": 22}))
    assert timed(lines).whole.runs == (1, 1)
    assert timed(files).whole.runs == (2, 2)
    wanted = ratio_of_runs([[10], [11]], [[20], [22]])
    whole = timed(files).whole
    assert whole.judged[:3] == pytest.approx(wanted[:3], rel=FEW)
    assert whole.judged.narrow == pytest.approx(wanted.narrow, rel=FEW)
    assert timed(lines).whole.judged.width > timed(files).whole.judged.width


def test_the_most_direct_figure_comes_first():
    base, new = dict.fromkeys(PACKAGES, 100), dict.fromkeys(PACKAGES, 200)
    work = counted((1000, 1000))
    ids = [
        m.id
        for m in measures(
            compared_sides(
                (*cpu(base), *bench({"A": 1})), (*cpu(new), *bench({"A": 2})), work=work
            )
        )
    ]
    # Operations a second of benchmarks are their time, said again.
    assert ids[:2] == ["time", "cpu"]
    assert "throughput" not in ids
    ids = [
        m.id
        for m in measures(compared_sides((*cpu(base), *load(5)), (*cpu(new), *load(4))))
    ]
    assert ids[:2] == ["throughput", "cpu"]


def test_cpu_an_operation_is_of_known_work_alone():
    base, new = cpu({"main.f": 100}), cpu({"main.f": 300})
    assert [m.id for m in measures(compared_sides(base, new))] == []
    figures = {
        m.id: m for m in measures(compared_sides(base, new, work=counted((100, 200))))
    }
    # A sample is 10 ms.
    assert (figures["cpu"].base, figures["cpu"].new) == pytest.approx(
        (0.010, 0.015), rel=FEW
    )
    reach = 1.959964 * TOTAL_SIGMA * sqrt(2)
    assert figures["cpu"].judged.high == pytest.approx(1.5 * exp(reach), rel=FEW)


@pytest.mark.parametrize(
    ("work", "more_is"),
    [(rated((10.0, 20.0)), ""), (rated((10.0, 20.0), "hey", closed=True), "faster")],
    ids=["asked", "closed loop"],
)
def test_operations_a_second_are_a_speed_where_each_waits_for_the_last(work, more_is):
    compared = compared_sides(cpu({"main.f": 100}), cpu({"main.f": 100}), work=work)
    figure = next(m for m in measures(compared) if m.id == "throughput")
    assert (figure.base, figure.new, figure.cost.more_is) == (10.0, 20.0, more_is)


@pytest.mark.parametrize("value", ["Inf", "NaN", "0", "1e308", "1e-300"])
def test_a_time_that_cannot_be_is_left_out(value):
    compared = compared_sides(bench({"A": 10, "B": value}), bench({"A": 20, "B": 5}))
    assert list(timed(compared).each) == ["A-4"]
