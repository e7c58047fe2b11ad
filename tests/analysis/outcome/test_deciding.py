"""Whether new is slower: one answer, or what would give one."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pprofdiff.analysis.figures.costs import COSTS
from pprofdiff.analysis.judge.totals import Ratio
from pprofdiff.analysis.outcome.deciding import _tightest, outcome
from pprofdiff.analysis.outcome.model import Measure, Outcome
from pprofdiff.analysis.work import counted, rated
from pprofdiff.loaders.benchmarks.reader import parse
from pprofdiff.model.side import Capture
from pprofdiff.report.sections.outcome import outcome_text
from tests.analysis.building import MARK, SCHEDULE
from tests.examples import examples

from .evidence import PACKAGES, bench, compared_sides, cpu, decided, load, swapped

OTHER = {"slower": "faster", "faster": "slower", "same": "same", "unknown": "unknown"}
FEW = 1e-12
# One run of 1 % more is no news; of 3 × it is, whatever the machine does.
STEADY = tuple({"A": 1000 + i % 3, "B": 20_000 + i % 2} for i in range(24))


def times(by, **more):
    """Return the runs in which each time is multiplied by its factor."""
    return bench(*({n: v * more.get(n, by) for n, v in run.items()} for run in STEADY))


@pytest.mark.parametrize(
    ("by", "verdict"), [(3, "slower"), (1 / 3, "faster"), (1, "same"), (1.005, "same")]
)
def test_benchmarks_decide(by, verdict):
    said = decided(times(1), times(by))
    assert (said.verdict, said.contrary, said.needs) == (verdict, (), "")
    assert said.headline.id == "time"
    assert said.headline.judged.ratio == pytest.approx(by)


def test_benchmarks_that_moved_both_ways_are_no_one_verdict():
    """A mean must not hide a part that got worse."""
    for one, other in ((0.01, 3), (3, 0.01), (0.5, 2)):
        said = decided(times(1), times(1, A=one, B=other))
        assert said.verdict == "unknown"
        assert set(said.contrary) == {"A", "B"}
        ways = {unit.name: unit.verdict for unit in said.units}
        both = {True: "faster", False: "slower"}
        assert (ways["A"], ways["B"]) == (both[one < 1], both[other < 1])
        assert said.headline.judged.ratio == pytest.approx((one * other) ** 0.5)


def test_a_nearer_same_takes_more_runs():
    """Runs that differ by 3 % show +0.5 % to be the same within 5 %, not within 1 %."""
    base = bench(*({"A": 1000 + 30 * (i % 3)} for i in range(9)))
    new = bench(*({"A": 1005 + 30 * (i % 3)} for i in range(9)))
    wide, narrow, narrower = (
        decided(base, new, same_within=within) for within in (0.05, 0.01, 0.008)
    )
    assert (wide.verdict, wide.needs) == ("same", "")
    assert narrow.verdict == narrower.verdict == "unknown"
    runs = [
        int(re.search(r"about (\d+) runs", one.needs)[1]) for one in (narrow, narrower)
    ]
    assert 9 < runs[0] < runs[1]


def test_one_run_a_side_cannot_show_a_little():
    said = decided(bench({"A": 100}), bench({"A": 110}))
    assert (said.verdict, said.headline.id) == ("unknown", "time")
    assert "several times" in said.needs
    assert decided(bench({"A": 100}), bench({"A": 300})).verdict == "slower"


def test_shares_are_no_outcome():
    base, new = cpu({"main.f": 1000, "main.g": 10}), cpu({"main.f": 100, "main.g": 10})
    said = decided(base, new)
    assert (said.verdict, said.measures, said.contrary) == ("unknown", (), ())
    assert "--work BASE:NEW" in said.needs
    assert decided(base, new, work=counted((1, 1))).verdict == "faster"


def test_what_was_asked_for_is_no_speed():
    """Twice the requests at equal CPU a request: the load differs, not the build."""
    base, new = cpu({"main.f": 1000}), cpu({"main.f": 2000})
    said = decided(base, new, work=rated((100.0, 200.0)))
    assert said.verdict == "unknown"
    assert said.headline.id == "cpu"
    assert "throughput" in [m.id for m in said.measures]


def test_a_closed_loop_is():
    said = decided(
        (*cpu({"main.f": 900}), *load(100)), (*cpu({"main.f": 2700}), *load(25))
    )
    assert (said.verdict, said.headline.id) == ("slower", "throughput")
    assert said.headline.judged.ratio == pytest.approx(0.25)


def test_a_machine_that_gave_less_made_no_slower_build():
    """Operations took twice as long, and cost the same CPU in the same groups."""
    stacks = dict.fromkeys(PACKAGES, 100) | {MARK: 200, SCHEDULE: 50}
    half = {stack: count // 2 for stack, count in stacks.items()}
    said = decided((*cpu(stacks), *load(100)), (*cpu(half), *load(50)))
    assert said.verdict == "unknown"
    assert "the machine" in said.needs


@pytest.mark.parametrize("by", [2, 3])
def test_all_groups_alike_are_one_factor(by):
    stacks = dict.fromkeys(PACKAGES, 100) | {MARK: 200, SCHEDULE: 50}
    more = {stack: count * by for stack, count in stacks.items()}
    assert decided(cpu(stacks), cpu(more)).alike == pytest.approx(by)
    # So long a profile has so many samples.
    longer = cpu(more, duration_ns=by * 10**10)
    assert decided(cpu(stacks), longer).alike is None
    # One group alone is no factor of all.
    assert decided(cpu(stacks), cpu(stacks | {MARK: 200 * by})).alike is None


def test_one_group_alone_does_not_show_the_machine_from_the_code():
    """Nearly all is the program's own code: it may as well cost three times as much."""

    def words(said):
        return outcome_text(said).below[0].text

    stacks = dict.fromkeys(PACKAGES[:3], 300) | {MARK: 4}
    more = {stack: count * 3 for stack, count in stacks.items()}
    alone = decided(cpu(stacks), cpu(more))
    assert (alone.alike, alone.cpu_a_second[0]) == (None, pytest.approx(3))
    said = words(alone)
    assert said.startswith("The program took 3.00× the CPU per second (2.")
    assert "an op cost more" in said
    less = words(decided(cpu(more), cpu(stacks)))
    assert "an op cost less" in less
    both = [side | {MARK: 200 * by} for side, by in ((stacks, 1), (more, 3))]
    several = decided(*map(cpu, both))
    assert several.cpu_a_second is None
    assert words(several).startswith("All groups")


def test_groups_are_said_to_scale_alike_where_their_samples_show_it():
    """Nothing distinguishes few samples; what the table of groups has is no one factor."""
    groups = {MARK: 200, SCHEDULE: 200} | dict.fromkeys(PACKAGES[:4], 100)

    def said(times, part=1.0):
        base = {stack: round(n * part) for stack, n in groups.items()}
        new = {
            stack: round(n * part * times.get(stack, 2)) for stack, n in groups.items()
        }
        return decided(cpu(base), cpu(new))

    assert said({}).alike == pytest.approx(2)
    assert said({}).cpu_a_second is None
    # A tenth of the samples, and a scheduler that did half of the others' more.
    for one in (said({}, 0.1), said({SCHEDULE: 1.2}, 0.15)):
        assert one.alike is None
        ratio, low, high = one.cpu_a_second
        assert 1 < low < ratio < high
        assert (
            "no group's share changed beyond noise" in outcome_text(one).below[0].text
        )
    # One share moved beyond noise, or the factor may as well be none.
    for one in (said({SCHEDULE: 0.5}), said(dict.fromkeys(groups, 1.12), 0.3)):
        assert (one.alike, one.cpu_a_second) == (None, None)


def figure(name, ratio, low, high):
    """Return a figure of three runs a side."""
    judged = Ratio(ratio, low, high, (low, high), (low, high), 0.1)
    return Measure(COSTS[name], None, None, judged, name, (3, 3))


def test_of_figures_that_contradict_each_other_and_are_not_sure_one_is_reported():
    wide, narrow = figure("time", 1.16, 0.76, 1.77), figure("cpu", 0.82, 0.67, 1.08)
    assert _tightest(wide, [wide, narrow]) is narrow
    assert _tightest(narrow, [narrow, wide]) is narrow
    # One that is sure is reported too, and so is one that agrees.
    for other in (figure("cpu", 0.82, 0.8, 0.84), figure("cpu", 1.1, 0.9, 1.2)):
        assert _tightest(wide, [wide, other]) is wide
        headline = outcome_text(Outcome("unknown", (wide, other))).headline
        assert "CPU/op" in headline
    headline = outcome_text(Outcome("unknown", (narrow, wide))).headline
    assert headline == "Can't tell: −18% CPU/op (−33% to +8.0%)."


def test_figures_that_surely_contradict_each_other_are_said_to():
    both = figure("time", 0.8, 0.7, 0.9), figure("cpu", 1.2, 1.1, 1.3)
    (said,) = (
        one.text
        for one in outcome_text(Outcome("faster", both)).below
        if "ways" in one.text
    )
    assert said == ("Time/op and CPU/op changed in opposite ways, both significantly.")
    alike = both[1], figure("time", 1.2, 1.1, 1.3)
    assert not any(
        "ways" in s.text for s in outcome_text(Outcome("slower", alike)).below
    )


@pytest.mark.parametrize("way", [1, -1])
def test_what_may_be_none_is_not_reported_against_what_was_measured(way):
    """The cost against unchanged code has an interval, which the headline leaves out."""

    def turned(name, ratio, *bounds):
        return figure(name, ratio**way, *sorted(bound**way for bound in bounds))

    time = turned("time", 0.55, 0.5, 0.6)
    for control, there in (
        ((1.22, 0.95, 1.43), False), ((0.8, 0.6, 1.1), True), ((1.3, 1.2, 1.4), True)
    ):  # fmt: skip
        both = (time, turned("control", *control))
        said = outcome_text(Outcome("faster" if way > 0 else "slower", both))
        assert ("did not change" in said.headline) is there


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(40, 4000)] * 2), min_size=1, max_size=8),
    st.sampled_from((None, counted((3, 4)), rated((5.0, 7.0)), rated((5.0, 7.0), "hey", closed=True))),
    st.one_of(st.none(), st.tuples(*[st.integers(1, 1000)] * 4)),
)  # fmt: skip
def test_swapped_sides_turn_the_answer_around(counts, work, measured):
    sides = [
        cpu({name: pair[i] for name, pair in zip(PACKAGES, counts, strict=False)})
        for i in (0, 1)
    ]
    if measured is not None:
        a, b, c, d = measured
        sides = [
            (*sides[0], *bench({"A": a, "B": b})),
            (*sides[1], *bench({"A": c, "B": d})),
        ]
    there = decided(*sides, work=work)
    back = decided(*sides[::-1], work=work and swapped(work))
    assert back.verdict == OTHER[there.verdict]
    assert [m.id for m in back.measures] == [m.id for m in there.measures]
    for one, other in zip(there.measures, back.measures, strict=True):
        assert one.judged.ratio * other.judged.ratio == pytest.approx(1, rel=FEW)
        assert one.judged.low * other.judged.high == pytest.approx(1, rel=FEW)
        assert (one.base, one.new) == (other.new, other.base)
    assert set(back.contrary) == set(there.contrary)
    assert (back.needs, back.alike is None) == (there.needs, there.alike is None)


# Runs of one side, whose time differs by so much that +6 % shows nothing.
CLOCK = (1.0, 1.4, 0.8, 1.2, 0.7)
STEPS = (0, 20, -20, 10, -10)


def runs(samples, times, stopped=0):
    """Return runs: CPU samples of each, and the time that an operation took.

    So many samples of each are of goroutines that were stopped.
    """
    return tuple(
        replace(capture, path=f"{i}/{capture.path}", run=i)
        for i, (count, time) in enumerate(zip(samples, times, strict=True))
        for capture in (
            *cpu(
                {"main.f": count - stopped, "runtime.asyncPreempt": stopped},
                duration_ns=round(time * 1e10),
            ),
            *bench({"A": time * 1e7}),
        )
    )


def slower_by(part, steps=STEPS, stopped=0):
    """Return what is said of runs whose CPU grew by a part, and whose time hides it."""
    base = runs([1000 + step for step in steps], CLOCK, stopped)
    new = [round((1000 + step) * (1 + part)) for step in steps[::-1]]
    return decided(base, runs(new, CLOCK[::-1], stopped))


def test_a_second_figure_decides_where_it_is_surer():
    """Each look at runs of one build has a chance of its own to alarm."""
    said = slower_by(0.06)
    assert (said.verdict, said.headline.id) == ("slower", "cpu")
    assert said.headline.judged.sure
    said = slower_by(0.025)
    figures = {measure.id: measure for measure in said.measures}
    assert figures["cpu"].verdict == "slower"
    assert not figures["cpu"].judged.sure
    assert (said.verdict, said.headline.id) == ("unknown", "time")
    assert (
        "CPU per op changed, but no other figure did, and one figure alone needs 99%"
        in said.needs
    )


def test_the_first_figure_decides_on_a_busy_machine_by_cpu():
    """There the clock stands second, however many runs there are."""
    said = slower_by(0.025, stopped=100)
    assert (said.verdict, said.headline.id) == ("slower", "cpu")
    assert not said.headline.judged.sure


_ALIKE = {"A": 2.2, "B": 2.6, "C": 3.0}


def _text(by, **units):
    """Return one file of three benchmarks: their times, and units an operation."""
    lines = [
        f"Benchmark{n}-4 1000 {1e6 * by.get(n, 1) + i} ns/op"
        + "".join(f" {values[n][i]} {unit}/op" for unit, values in units.items())
        for n in "ABC"
        for i in range(5)
    ]
    content = parse("\n".join([*lines, ""]).encode(), "bench.txt")
    return (Capture("bench.txt", "benchmark", content),)


_COUNTS = dict.fromkeys("ABC", (100,) * 5)


def test_benchmarks_that_a_machine_may_have_slowed_say_so():
    base = _text({}, B=_COUNTS, allocs=_COUNTS)
    # What is allocated once is of fewer operations.
    more = _COUNTS | {"A": (101,) * 5}
    said = decided(base, _text(_ALIKE, B=more, allocs=_COUNTS))
    assert said.verdict == "slower"
    assert said.together[0] == 3
    text = " ".join(sentence.text for sentence in outcome_text(said).below)
    assert (
        "All 3 benchmarks slowed alike (2.20 to 3.00×) and allocate as before: a busy or "
        "throttled machine has the same effect. Measure in turns to separate them: "
        "pprofdiff measure." in text
    )
    back = decided(_text(_ALIKE, B=more, allocs=_COUNTS), base)
    assert back.verdict == "faster"
    text = " ".join(sentence.text for sentence in outcome_text(back).below)
    assert "sped up alike (2.20 to 3.00×)" in text
    assert "during base has the same effect" in text
    # Nothing is said of allocation that was not counted.
    plain = decided(_text({}), _text(_ALIKE))
    assert plain.together is not None
    assert not plain.together.allocate_alike


@pytest.mark.parametrize(
    ("by", "units"),
    [
        ({"A": 2.2, "B": 2.6, "C": 6.0}, {}),
        ({"A": 1.05, "B": 3.0, "C": 3.0}, {}),
        (_ALIKE, {"B": _COUNTS | {"B": (150,) * 5}}),
        (_ALIKE, {"allocs": _COUNTS | {"C": (110,) * 5}}),
    ],
    ids=["unlike factors", "one as before", "more bytes", "more objects"],
)
def test_what_a_machine_does_not_do_is_not_said_of_one(by, units):
    counts = {"B": _COUNTS, "allocs": _COUNTS}
    said = decided(_text({}, **counts), _text(by, **(counts | units)))
    assert said.headline.id == "time"
    assert said.together is None


def test_two_benchmarks_or_turns_or_dearer_cpu_are_no_such_case():
    two = decided(bench({"A": 100, "B": 200}), bench({"A": 300, "B": 600}))
    assert (two.verdict, two.together) == ("slower", None)
    runs = [dict.fromkeys("ABC", 1000 + i) for i in range(4)]
    more = [{n: 3 * t for n, t in run.items()} for run in runs]
    apart = compared_sides(bench(*runs), bench(*more))
    assert outcome(apart).together is not None
    paired = replace(apart, pairs=4)
    assert outcome(paired).headline.in_turns
    assert outcome(paired).together is None
    base = dict.fromkeys(PACKAGES, 100)
    dearer = dict.fromkeys(PACKAGES, 300)
    work = counted((100, 100))
    sides = (*cpu(base), *bench(*runs[:1])), (*cpu(dearer), *bench(*more[:1]))
    costs = compared_sides(*sides, work=work)
    assert outcome(costs).verdict == "slower"
    assert outcome(costs).together is None
