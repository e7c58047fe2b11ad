"""The first line of a report of benchmarks in turns: verdict, figures, exact counts."""

from __future__ import annotations

import json
from statistics import geometric_mean

import pytest
from msgspec.structs import replace

from pprofdiff.analysis.figures.costs import COSTS
from pprofdiff.analysis.outcome.model import is_bounded
from pprofdiff.report.json.document import render
from pprofdiff.report.model import Scope, report_of
from pprofdiff.report.sections.changes import change
from pprofdiff.report.sections.outcome import outcome_text
from pprofdiff.report.sections.units import ROWS, unit_parts
from pprofdiff.report.text.lines import render as as_text
from pprofdiff.report.text.report import report_parts
from tests.analysis.measuring import Unit, compared, path

F = path("F")
ONE = Unit({F: 600}, {F: (3, 300)})
THREE = [ONE._replace(name=name) for name in "ABC"]


def of(base, new):
    return report_of(compared(base, new))


def sentences(base, new):
    """Return the headline, and the sentences below it."""
    sentences = outcome_text(of(base, new).outcome)
    return sentences.headline, [sentence.text for sentence in sentences.below]


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (ONE, ["The same within 2%: time/op 6.12 → 6.12 ms, 0.0% (90% CI −0.2% to +0.2%)",
               "CPU/op 0.0% (not significant)", "B/op 300 B unchanged",
               "allocs/op 3 unchanged."]),
        (Unit({F: 300}, {F: (1, 100)}),
         ["Faster: time/op 6.12 → 3.06 ms, −50% (99% CI ", "CPU/op −50%",
          "B/op 300 → 100 B (−67%)", "allocs/op 3 → 1 (−67%)."]),
        (Unit({F: 1800}, {F: (30, 300)}),
         ["Slower: time/op ", " 3.00× (99% CI ", "CPU/op 3.00×", "B/op 300 B unchanged",
          "allocs/op 3 → 30 (10.0×)."]),
        (Unit({F: 600}), ["The same within 2%: ", "B/op 300 → 0 B", "allocs/op 3 → 0."]),
    ],
)  # fmt: skip
def test_one_benchmark(new, words):
    headline, below = sentences(ONE, new)
    places = [headline.find(word) for word in words]
    assert -1 not in places
    assert places == sorted(places)
    assert headline.startswith(words[0].partition(":")[0])
    assert below == []


@pytest.mark.parametrize(
    ("allocated", "said"),
    [
        ((1, 100), "B/op 300 → 100 B (−67%, exact), allocs/op 3 → 1 (−67%, exact)."),
        ((0, 0), "B/op 300 → 0 B (exact), allocs/op 3 → 0 (exact)."),
        ((3, 300), "B/op 300 B unchanged, allocs/op 3 unchanged."),
    ],
)
def test_next_to_an_open_time_counts_are_said_to_be_exact(allocated, said):
    noisy = ONE._replace(noise=0.08)
    headline, below = sentences(noisy, noisy._replace(allocated={F: allocated}))
    assert headline.startswith("Can't tell: ")
    assert headline.endswith(said)
    assert below[0].startswith(("To show a change of ", "To show that it is the same"))


def test_of_several_those_that_moved_are_named():
    slower = [THREE[0]._replace(cpu={F: 1200}), *THREE[1:]]
    headline, below = sentences(THREE, slower)
    assert headline.startswith("Slower: A, time/op 2.00× (")
    assert headline.endswith("; 2 others unchanged.")
    # The geometric mean of 2, 1 and 1.
    (mean,) = below
    start = "Geomean of all 3 benchmarks: time/op +26% (99% CI "
    assert mean.startswith(start)


def test_a_benchmark_that_is_written_differently_is_in_no_mean():
    comparison = compared(THREE, [THREE[0]._replace(cpu={F: 1200}), *THREE[1:]])
    turns = replace(comparison.turns, rewritten="BenchmarkB")
    said = outcome_text(report_of(replace(comparison, turns=turns)).outcome)
    assert "written differently" in said.headline
    assert "eomean" not in " ".join((said.headline, *(one.text for one in said.below)))


def test_bytes_that_read_the_same_are_not_said_to_be_fewer():
    base = [one._replace(allocated={F: (3, 3 << 19)}) for one in THREE]
    new = [one._replace(allocated={F: (2, (3 << 19) - 56)}) for one in THREE]
    zero = THREE[0]._replace(name="Z", allocated={})
    said = sentences([*base, zero], [*new, zero])[0]
    assert said.endswith(", fewer allocs/op in 3 of 4.")


@pytest.mark.parametrize(
    ("objects", "size", "words"),
    [
        ((2, 2, 3), 300, "fewer allocs/op in 2 of 4."),
        ((0, 1, 2), 300, "fewer allocs/op in 3 of 4."),
        ((0, 1, 2), 200, "fewer B/op and allocs/op in 3 of 4."),
        ((2, 2, 3), 200, "fewer allocs/op in 2 of 4."),
        ((3, 9, 1), 300, "more allocs/op in 1 and fewer in 1 of 4."),
    ],
)
def test_where_zeros_allow_no_geomean_benchmarks_that_allocate_otherwise_are_counted(
    objects, size, words
):
    ops = zip(THREE, objects, strict=True)
    new = [one._replace(allocated={F: (many, size)}) for one, many in ops]
    base = [*THREE[:2], THREE[2]._replace(allocated={F: (3, 300)})]
    zero = [one._replace(name="Z", allocated={}) for one in THREE[:1]]
    assert sentences([*base, *zero], [*new, *zero])[0].endswith(words)


@pytest.mark.slow
def test_how_many_moved_is_said_in_words():
    """Both, all or some of them; what moved most is named behind."""
    dearer = [
        ONE._replace(name=c, cpu={F: n})
        for c, n in zip("ABC", (1200, 1800, 900), strict=True)
    ]
    for many, words in (
        (2, "Slower: both benchmarks; largest: B, time/op 3.00× ("),
        (3, "Slower: all 3 benchmarks; largest: B, time/op 3.00× ("),
    ):
        headline, (mean,) = sentences(THREE[:many], dearer[:many])
        assert headline.startswith(words)
        which = "both" if many == 2 else "all 3"
        assert mean.startswith(f"Geomean of {which} benchmarks: time/op ")
    headline, _ = sentences(THREE, [*dearer[:2], THREE[2]])
    assert headline.startswith("Slower: 2 of 3 benchmarks; largest: B, time/op 3.00× (")
    headline, _ = sentences(THREE, THREE)
    assert headline.startswith("The same within 2%, geomean of all 3 benchmarks: ")


@pytest.mark.slow
def test_all_figures_of_several_benchmarks_are_geometric_means():
    """As benchstat's last row: iterations do not weigh, and 0 has no such mean."""
    base = [
        Unit({F: 400}, {F: (2, 100)}, name="A"),
        Unit({F: 900}, {F: (8, 900)}, name="B", operations=100),
    ]
    new = [base[0]._replace(cpu={F: 1600}, allocated={F: (2, 400)}), base[1]]
    outcome = of(base, new).outcome
    for measure in outcome.measures:
        assert measure.judged.ratio == pytest.approx(2, rel=0.01)
        assert measure.new / measure.base == pytest.approx(2, rel=0.01)
        for side in ("base", "new"):
            if measure.id == outcome.units[0].figure:
                each = [getattr(unit.cost, side) for unit in outcome.units]
                whole = getattr(measure, side)
                assert whole == pytest.approx(geometric_mean(each), rel=0.01)
    counted = {one.unit: (one.base, one.new) for one in outcome.counted}
    assert counted["B/op"] == pytest.approx((300, 600))
    assert counted["allocs/op"] == pytest.approx((4, 4))
    _, (mean,) = sentences(base, new)
    assert mean.endswith("B/op 2.00×, allocs/op unchanged.")
    none = [base[0]._replace(allocated={}), base[1]]
    assert of(none, new).outcome.counted == ()


def test_benchmarks_that_moved_both_ways_are_no_verdict():
    slower, faster = (
        THREE[i]._replace(cpu={F: cpu}) for i, cpu in ((0, 1200), (1, 450))
    )
    headline, below = sentences(THREE, [slower, faster, THREE[2]])
    said = "Both ways: 1 of 3 benchmarks slower: A, time/op 2.00× ("
    assert headline.startswith(said)
    assert "; 1 faster: B, time/op −25% (" in headline
    assert headline.endswith("; the other one unchanged.")
    assert [line.split(":")[0] for line in below] == ["Geomean of all 3 benchmarks"]


def test_counts_and_benchmarks_are_in_json():
    outcome = json.loads(render(of(THREE, THREE)))["outcome"]
    assert outcome["confidence"] == 0.99
    for one, unit, count in zip(
        outcome["counted"], ("B/op", "allocs/op"), (300, 3), strict=True
    ):
        assert (one["unit"], one["noise"]) == (unit, True)
        assert (one["base"], one["new"]) == pytest.approx((count, count))
    units = outcome["units"]
    assert [unit["name"] for unit in units] == ["A", "B", "C"]
    assert [u["ratio"] for u in units] == pytest.approx([1, 1, 1])
    assert all(u["low"] < u["ratio"] < u["high"] for u in units)
    assert json.loads(render(of(ONE, ONE)))["outcome"]["units"] == []


def test_what_nobody_allocates_is_no_figure():
    headline, _ = sentences(Unit({F: 600}), Unit({F: 600}))
    assert "/op" in headline
    assert "B/op" not in headline
    assert "allocs/op" not in headline


@pytest.mark.parametrize("cause", [True, False])
def test_what_changed_most_is_shown_where_no_cause_says_it(cause):
    base, new = {F: 6000}, {F: 18000 if cause else 6000}
    text = as_text(report_parts(of(Unit(base), Unit(new))))
    assert ("\n1. " in text) == cause
    full = as_text(report_parts(of(Unit(base), Unit(new)), Scope(full=True)))
    assert ("Costs more (flat)" in full) == cause


@pytest.mark.parametrize("names", ["AB", "ABCDEFGHI"])
def test_exact_counts_are_said_where_time_is_open(names):
    """Which benchmarks allocate other numbers of objects is known whatever time does.

    A table that has all of them says it.
    """
    base, new = (
        [
            Unit({F: 600}, {F: (5 - (name == "A") * less, 64)}, name=name, noise=0.5)
            for name in names
        ]
        for less in (2, 1)
    )
    headline, below = sentences(base, new)
    assert "changed time/op or CPU/op significantly" in headline
    assert ("More allocs/op: A 3 → 4." in below) == (len(names) > ROWS)
    (table,) = unit_parts(of(base, new), ROWS)
    assert ("A" in {row.key for row in table.rows}) or len(names) > ROWS


def test_without_a_verdict_no_figure_is_shown_as_significant():
    """A figure that does not decide may exclude no change: it is no verdict."""
    found = 0
    for wall in (1.02, 1.03, 1.05, 1.5):
        report = of(ONE, ONE._replace(wall=wall))
        outcome = report.outcome
        (_, *others) = outcome.measures
        headline = outcome_text(outcome).headline
        for one in others:
            sure = outcome.decided and not one.judged.low <= 1 <= one.judged.high
            words = f"{COSTS[one.id].noun} {change(one.judged.ratio)}"
            assert words in headline
            assert (f"{words} (not significant)" in headline) != sure
            found += not sure
    assert found


def test_benchmarks_that_only_change_together_are_said_by_their_figure():
    """Not where exact counts of each changed: then each did change."""
    names = "ABCDEFGH"
    base, new, fewer = (
        [Unit({F: cpu}, {F: (objects, 64)}, name=name, noise=0.3) for name in names]
        for cpu, objects in ((600, 3), (660, 3), (660, 4))
    )
    headline, below = sentences(base, new)
    assert "geomean of all 8 benchmarks" in headline
    assert "None of them changed significantly in time/op on its own." in below
    _, below = sentences(base, fewer)
    assert not any("on its own" in sentence for sentence in below)


def test_too_few_turns_have_no_interval_anywhere():
    one = Unit({F: 600}, noise=0.2)
    outcome = report_of(compared(one, one, runs=1, turns=3)).outcome
    assert not any(is_bounded(*measure.judged.bounds) for measure in outcome.measures)
    assert "(too few rounds for an interval)" in outcome_text(outcome).headline


def test_counts_of_benchmarks_that_go_both_ways_have_no_mean():
    def side(*sizes):
        return [
            one._replace(allocated={F: (3, size)})
            for one, size in zip(THREE, sizes, strict=True)
        ]

    headline, below = sentences(side(100, 300, 50), side(50, 600, 50))
    said = " ".join([headline, *below])
    assert "more B/op in 1 and fewer in 1 of 3, allocs/op unchanged" in said


def test_the_mean_of_the_other_count_of_an_open_verdict_has_its_name():
    def side(*made):
        return [
            one._replace(allocated={F: counts}, noise=0.5)
            for one, counts in zip(THREE, made, strict=True)
        ]

    old = side((3, 100), (3, 300), (3, 50))
    headline, _ = sentences(old, side((2, 50), (3, 600), (3, 50)))
    assert "more B/op in 1 and fewer in 1 of 3, geomean allocs/op −" in headline


def test_counts_that_go_the_same_both_ways_are_one():
    def side(*made):
        return [
            one._replace(allocated={F: (many, 100 * many)})
            for one, many in zip(THREE, made, strict=True)
        ]

    headline, _ = sentences(side(2, 6, 3), side(1, 9, 3))
    assert headline.endswith(", more B/op and allocs/op in 1 and fewer in 1 of 3.")
    # Of a time that is open, no mean is shown then.
    noisy = [
        [one._replace(noise=0.5) for one in made]
        for made in (side(2, 6, 3), side(1, 9, 3))
    ]
    headline, _ = sentences(*noisy)
    assert "significantly; more B/op and allocs/op in 1 and" in headline


def test_several_benchmarks_with_one_round_are_not_judged():
    outcome = report_of(compared(THREE, THREE, runs=1, turns=3)).outcome
    headline = outcome_text(outcome).headline
    assert headline.startswith("Can't tell: too few rounds to judge any of 3 ")
    # It is said once, and no mean without an interval.
    assert headline.count("rounds") == 1
    assert "time/op" not in headline


def test_where_benchmarks_moved_both_ways_no_time_is_open():
    def side(first, second, size):
        cpu = zip(THREE, (first, second), strict=False)
        return [
            one._replace(cpu={F: cost}, allocated={F: (3, size)}) for one, cost in cpu
        ]

    headline, below = sentences(side(300, 900, 300), side(900, 300, 200))
    assert headline.startswith("Both ways: ")
    assert "B/op −33%" in (said := " ".join(below))
    assert "exact" not in said
