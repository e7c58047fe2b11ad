"""Benchmarks in turns: values of both sides side by side, or none at all."""

import sys

import numpy as np
import pytest

from pprofdiff.analysis.benchmarks.turns import Turns, measured_in_turns
from pprofdiff.analysis.inferred_work import work_in_turns
from pprofdiff.analysis.judge.totals import InTurns, of_independent
from pprofdiff.loaders.benchmarks.reader import parse
from pprofdiff.model.side import Capture, Side
from pprofdiff.report.json.document import render
from pprofdiff.report.model import report_of
from tests.analysis.measuring import Unit, compared, made, path

F = {path("F"): 600}


def side(label, *texts):
    """Return a side with a file of benchmarks a run, given last run first."""
    runs = list(enumerate(texts))
    return Side(
        label,
        tuple(
            Capture(
                "b", "benchmark", parse(text.encode(), "b"), run=run, run_known=True
            )
            for run, text in reversed(runs)
        ),
    )


def lines(*values, unit="ns/op", name="X", head="measured: in turns\npkg: p\n"):
    return head + "".join(f"Benchmark{name} \t 10 \t {v} {unit}\n" for v in values)


def test_values_stand_in_the_order_of_turns_whatever_order_runs_are_read_in():
    turns = measured_in_turns(
        side("base", lines(1, 2), lines(3, 4)), side("new", lines(5, 6), lines(7, 8))
    )
    assert [(one.T * 1e9).round(6).tolist() for one in turns.seconds] == [
        [[1, 2, 3, 4]],
        [[5, 6, 7, 8]],
    ]
    assert turns.cpu_seconds is None


def round_of(began, which, *values):
    head = f"Round of {began}, {which}\nmeasured: in turns\npkg: p\n"
    return lines(*values, head=head)


ROUNDS = [
    # What each side's outputs were, and whether they are pairs.
    ([("1Z", "base"), ("2Z", "base")], [("1Z", "new"), ("2Z", "new")], True),
    ([("1Z", "new")], [("1Z", "base")], True),
    ([("1Z", "base")], [("2Z", "base")], False),
    ([("1Z", "base")], [("1Z", "base")], False),
    ([("1Z", "base")], [("2Z", "new")], False),
    ([("1Z", "base"), ("2Z", "base")], [("2Z", "new"), ("1Z", "new")], False),
]


@pytest.mark.parametrize(("base", "new", "paired"), ROUNDS)
def test_only_turns_of_one_round_are_pairs(base, new, paired):
    """Two rounds of one side are minutes apart."""
    old, current = (
        side(label, *(round_of(*one, 1, 2, 3) for one in rounds))
        for label, rounds in (("base", base), ("new", new))
    )
    assert (measured_in_turns(old, current) is not None) == paired


OUTSIDE = [
    # CPU per op, time per op and GOMAXPROCS, and the factor, if any.
    (200, 100, 2, None),
    (230, 100, 2, None),
    (250, 100, 2, "2.5"),
    (250, 100, 8, None),
    (150, 100, None, "1.5"),
]


@pytest.mark.parametrize(("cpu", "time", "procs", "factor"), OUTSIDE)
def test_cpu_that_does_not_fit_in_the_time_is_outside_the_timer(
    cpu, time, procs, factor
):
    name = "BenchmarkX" if procs is None else f"BenchmarkX-{procs}"
    line = f"{name} \t 10 \t {time} ns/op \t {cpu} cpu-ns/op\n"
    text = "measured: in turns\npkg: p\n" + 2 * line
    turns = measured_in_turns(side("base", text), side("new", text))
    found = list(turns.outside_timer())
    assert [one.id for one in found] == ["outside-timer"] * (factor is not None)
    if factor:
        assert f"CPU/op of X is {factor} times its time/op" in found[0].text
        assert f"GOMAXPROCS={procs or 1}" in found[0].text


def with_cpu(*values):
    return "measured: in turns\npkg: p\n" + "".join(
        f"BenchmarkX \t 10 \t 5 ns/op \t {v} cpu-ns/op\n" for v in values
    )


def test_a_turn_whose_cpu_matches_starting_counts_as_the_least_of_the_others():
    turns = measured_in_turns(
        side("base", with_cpu(4, 3, 5, 6)), side("new", with_cpu(2, 0, 3, 1))
    )
    assert [(one.T * 1e9).round(6).tolist() for one in turns.cpu_seconds] == [
        [[4, 3, 5, 6]],
        [[2, 1, 3, 1]],
    ]
    few = measured_in_turns(
        side("base", with_cpu(4, 3, 5, 6)), side("new", with_cpu(2, 0, 0, 1))
    )
    assert few.cpu_seconds is None


@pytest.mark.parametrize(
    ("base", "new"),
    [
        (lines(1, 2, head=""), lines(1, 2)),
        (lines(1, 2), lines(1, 2, head="measured: alone\n")),
        (lines(1, 2), lines(1, 2, name="Y")),
        (lines(1, 2), lines(1, 2, 3)),
        (lines(1, 2), lines(1, 0)),
        ("", lines(1, 2)),
    ],
    ids=["not in turns", "otherwise", "other", "unlike number", "no time", "none"],
)
def test_others_are_none(base, new):
    sides = [side(label, *filter(None, [text])) for label, text in zip(("base", "new"), (base, new), strict=True)]  # fmt: skip
    assert measured_in_turns(*sides) is None


def test_all_that_is_counted_is_next_to_the_time():
    unit = Unit(F, {path("F"): (3, 300)}, wall=2.0)
    turns = measured_in_turns(made("base", unit), made("new", unit._replace(wall=4.0)))
    assert np.allclose(turns.seconds[0], 2 * turns.cpu_seconds[0], rtol=1e-6)
    assert np.allclose(turns.seconds[1], 4 * turns.cpu_seconds[1], rtol=1e-6)
    assert {kind: [one.tolist() for one in both] for kind, both in turns.allocated.items()} == {
        "alloc_space": [[300.0], [300.0]], "alloc_objects": [[3.0], [3.0]],
    }  # fmt: skip


@pytest.mark.parametrize(("times", "once"), [(100, True), (100_000, False)])
@pytest.mark.parametrize("more", ["", "\t3 iterations"], ids=["", "its own iterations"])
def test_bytes_that_a_process_allocates_once_are_no_change_per_op(times, once, more):
    """With 0 allocs/op, more iterations alone make B/op less."""

    def of(label, number, space):
        result = f"BenchmarkX 	{number}	10 ns/op	{space} B/op	0 allocs/op{more}\n"
        return side(label, "measured: in turns\npkg: p\n" + 20 * result)

    turns = measured_in_turns(of("base", times, 52), of("new", 4 * times, 7))
    assert turns.alike("alloc_space") == once


@pytest.mark.parametrize(
    ("number", "space", "alike"),
    [(100, 1057, True), (700, 1057, False), (100, 12, False)],
    ids=["grows once", "as often", "less"],
)
def test_bytes_of_the_side_without_objects_are_a_remainder(number, space, alike):
    """700 iterations have 2 objects and 207 bytes each, and 100 kB once."""

    def of(label, number, space, objects):
        result = f"BenchmarkX \t{number}\t10 ns/op\t{space} B/op\t{objects} allocs/op\n"
        return side(label, "measured: in turns\npkg: p\n" + 20 * result)

    turns = measured_in_turns(of("base", 700, 207, 2), of("new", number, space, 0))
    assert turns.alike("alloc_space") == alike
    assert not turns.alike("alloc_objects")


@pytest.mark.parametrize(
    ("number", "space", "alike"),
    [(750, 3680, True), (750, 3810, False), (160, 3680, False)],
)
def test_a_little_of_as_many_objects_may_be_a_remainder(number, space, alike):
    """150 iterations have 3,746 bytes each, 12 kB of them made before the first."""

    def of(label, number, space):
        result = f"BenchmarkX \t{number}\t10 ns/op\t{space} B/op\t10 allocs/op\n"
        return side(label, "measured: in turns\npkg: p\n" + 20 * result)

    turns = measured_in_turns(of("base", 150, 3746), of("new", number, space))
    assert turns.alike("alloc_space") == alike


def test_a_benchmark_that_one_side_has_alone_is_left_out():
    both, alone = Unit(F, name="A"), Unit(F, name="B")
    turns = measured_in_turns(made("base", both, alone), made("new", both))
    assert [name[0] for name in turns.names] == ["A"]
    assert turns.seconds[0].shape == (40, 1)


def test_turns_are_read_once_a_report(monkeypatch):
    read, reading = [], measured_in_turns

    def counted(*sides):
        read.append(sides)
        return reading(*sides)

    modules = [m for m in sys.modules.values() if "measured_in_turns" in vars(m)]
    # This one, and the package's.
    assert len(modules) > 2
    for module in modules:
        monkeypatch.setattr(module, "measured_in_turns", counted, raising=False)
    comparison = compared(Unit(F), Unit(F))
    render(report_of(comparison))
    assert len(read) == 1


@pytest.mark.parametrize(
    ("said", "together"),
    [("", 4), (", 12 a layout", 12), (", 2 a layout", 2), (", 0 a layout", 1)],
)
def test_how_many_turns_are_of_one_layout(said, together):
    text = lines(1, 2, head=f"measured: in turns{said}\npkg: p\n")
    turns = measured_in_turns(side("base", text), side("new", text))
    assert (turns.together, turns.layouts) == (together, "layout" in said)


def test_benchmarks_that_were_rewritten_are_known_from_the_results_alone():
    text = lines(1, 2, head="measured: in turns\nrewritten: data (in BenchmarkX)\n")
    turns = measured_in_turns(side("base", text), side("new", text))
    assert turns.rewritten == "data (in BenchmarkX)"


@pytest.mark.parametrize(
    ("base", "new", "alike"),
    [
        ((8, 8, 8), (8, 8, 8), True),
        ((8, 8, 8), (9, 9, 9), False),
        # What goroutines allocate may hang on when each runs.
        ((30, 36, 29, 31), (31, 37, 30, 36), True),
        ((30, 36, 29, 31), (51, 57, 50, 56), False),
        # Nearly all of one side are below the other: few share the range.
        ((33, 35, 37, 34, 36, 35) * 3, (31, 33, 35, 32, 33, 32) * 3, False),
        ((33, 35, 37, 34, 36, 35) * 3, (33, 35, 37, 34, 35, 34) * 3, True),
        # Two ranges of two are often separate by chance.
        ((30, 36), (51, 57), True),
        ((30, 30), (51, 51), False),
        # Few counts, and a change by many ranges.
        ((22631, 22629, 22629), (13934, 13934, 13936), False),
        ((22631, 22629, 22629), (22630, 22627, 22633), True),
    ],
)
def test_counts_that_vary_have_changed_where_their_ranges_are_apart(base, new, alike):
    turns = of_bytes(base, new)
    assert turns.alike("alloc_space") is alike
    assert not turns.alike("alloc_objects")


@pytest.mark.parametrize(
    ("base", "exact"),
    [((800, 800, 801, 800), True), ((1884, 3658, 2796, 2593), False)],
)
def test_counts_that_differ_from_turn_to_turn_are_not_exact(base, exact):
    """A pool's objects are made again after a collection."""
    assert of_bytes(base, (1056,) * 4).counts_exactly("alloc_space") is exact


def of_bytes(base, new):
    """Return turns with these bytes per op."""
    sides = []
    for label, values in (("base", base), ("new", new)):
        text = "measured: in turns\npkg: p\n"
        text += "".join(f"BenchmarkX \t 10 \t 5 ns/op \t {v} B/op\n" for v in values)
        sides.append(side(label, text))
    return measured_in_turns(*sides)


@pytest.mark.parametrize("odd", [lines(3, name="Odd"), lines(3, 0, name="Odd")])
def test_a_benchmark_that_lost_a_turn_is_left_out_and_no_other(odd):
    both = lines(1, 2, name="A") + lines(4, 5, name="B")
    turns = measured_in_turns(side("base", both + odd), side("new", both + odd))
    assert [name[0] for name in turns.names] == ["A", "B"]
    assert turns.seconds[0].shape == (2, 2)


def test_a_geomean_is_no_surer_than_that_of_independent_benchmarks():
    """Two benchmarks whose noise cancels in five turns do so by chance."""
    noise = np.array([0.1, -0.1, 0.05, -0.05, 0.0])[:, None] * [1, -1]
    base = np.ones((5, 2))
    turns = Turns(((("A", 1, ""), ("B", 1, ""))), (base, np.exp(noise)), None, {}, {})
    least = of_independent([one.ratio() for one in turns.each(turns.seconds)])
    mean = turns.geomeans(turns.seconds)._replace(least=least).ratio()
    own = InTurns(*(side[:, 0].tolist() for side in turns.seconds)).ratio()
    assert mean.ratio == pytest.approx(1)
    assert mean.sigma == pytest.approx(own.sigma / 2**0.5)
    assert mean.freedom == pytest.approx(2 * own.freedom)


@pytest.mark.parametrize(
    ("noise", "known"), [((1.0, 1.1, 0.9, 1.0), True), ((1.5, 1.6, 0.8, 0.2), False)]
)
def test_cpu_per_op_that_start_up_blurs_is_left_to_the_samples(noise, known):
    """With few ops, what remains of a process's CPU without start-up may be anything."""
    ones = np.ones((4, 1))
    cpu = np.array(noise)[:, None]
    turns = Turns((("A", 1, ""),), (ones, ones), (cpu, cpu), {}, {})
    work = work_in_turns(turns, {})
    assert ("cpu" in work.allocated) == known
