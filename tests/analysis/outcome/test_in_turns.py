"""The verdict of benchmarks in turns: which figure decides, and what is left open."""

import json
import re

import numpy as np
import pytest
from msgspec.structs import replace

from pprofdiff.analysis.benchmarks.turns import Turns
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.outcome.by_unit import judged_in_turns, units_in_turns
from pprofdiff.analysis.outcome.deciding import outcome
from pprofdiff.report.json.document import render
from pprofdiff.report.model import report_of
from pprofdiff.report.sections.units import unit_headline
from tests.analysis.measuring import Unit, compared, made, path

F = {path("F"): 600}
# Goroutines that were stopped for others are this part of all samples.
BUSY = F | {path("runtime.asyncPreempt", "F"): 100}


def of(base, new):
    """Return the outcome, and the ids of its figures."""
    got = outcome(compared(base, new))
    return got, [measure.id for measure in got.measures]


def while_busy(operations, wall):
    """Return the outcome where a busy machine does so many operations a turn in new."""
    new = Unit(BUSY, operations=operations, wall=wall, noise=0.1)
    return of(Unit(BUSY, noise=0.1), new)[0]


@pytest.mark.parametrize(
    ("cpu", "wall", "verdict", "first"),
    [
        (F, 1.5, "slower", "time"),
        (F, 0.5, "faster", "time"),
        (F, 1.0, "same", "time"),
        # Others took the time: CPU time is this program's alone.
        (BUSY, 1.5, "same", "cpu"),
        (BUSY, 0.5, "same", "cpu"),
    ],
)
def test_time_decides_and_on_a_busy_machine_cpu_does(cpu, wall, verdict, first):
    got, ids = of(Unit(cpu), Unit(cpu, wall=wall))
    assert (got.verdict, ids[0], sorted(ids)) == (verdict, first, ["cpu", "time"])
    assert {measure.confidence for measure in got.measures} == {99}
    assert all(measure.runs == (40, 40) for measure in got.measures)


@pytest.mark.parametrize("busy", [F, BUSY])
def test_twice_the_cpu_is_slower_on_any_machine(busy):
    twice = {stack: 2 * samples for stack, samples in busy.items()}
    got, _ = of(Unit(busy), Unit(twice))
    assert got.verdict == "slower"
    assert got.headline.judged.ratio == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize(
    ("operations", "wall", "verdict"),
    [
        # CPU per op is 1/0.92 of what it was: on a busy machine chance does that.
        (920, 0.92, "unknown"),
        (920, 1.0, "unknown"),
        # It moves by more, and nobody waits longer; or somebody does.
        (800, 0.8, "unknown"),
        (800, 0.9, "slower"),
        (800, 1.0, "slower"),
    ],
)
def test_one_figure_alone_must_move_beyond_chance(operations, wall, verdict):
    got = while_busy(operations, wall)
    cpu = next(measure for measure in got.measures if measure.id == "cpu")
    assert (cpu.verdict, cpu.beyond_chance) == ("slower", operations == 800)
    assert got.verdict == verdict
    assert bool(got.needs) == (verdict == "unknown")


BUSY_NEEDS = "the machine is busy, so a verdict needs {} to change at 99.9% and {} to agree, but {}"
CPU, TIME = "CPU/op", "time/op"


@pytest.mark.parametrize(
    ("operations", "wall", "words"),
    [
        (800, 0.8, (CPU, TIME, "time/op does not agree")),
        # Both changed, and less than an early look asks for.
        (920, 1.0, (CPU, TIME, "CPU/op does not reach that")),
        # The time fell as surely as the CPU rose.
        (800, 0.5, (TIME, CPU, "CPU/op does not agree")),
    ],
)
def test_on_a_busy_machine_the_reason_is_said(operations, wall, words):
    got = while_busy(operations, wall)
    assert got.verdict == "unknown"
    needs = f"{BUSY_NEEDS.format(*words)}: stop other programs, or raise --time"
    assert got.needs == needs


@pytest.mark.parametrize(
    ("allocated", "verdict"), [({}, "slower"), ({path("F"): (1, 64)}, "unknown")]
)
def test_cpu_alone_decides_where_no_op_allocates(allocated, verdict):
    """Idle processors run GC workers, if there is anything to collect."""
    base = Unit(F, allocated, noise=0.1)
    new = Unit(F, allocated, operations=800, wall=0.8, noise=0.1)
    got, ids = of(base, new)
    assert (got.verdict, "cpu" in ids) == (verdict, True)
    assert ("GC workers" in got.needs) == (verdict == "unknown")


def test_what_is_open_is_shown_and_not_what_is_known_to_be_the_same():
    """CPU time alone decides nothing where ops allocate, however sure it is."""
    made = {path("F"): (1, 64)}
    sides = Unit(F, made, noise=0.03), Unit(F, made, noise=0.03, wall=1.013)
    got, ids = of(*sides)
    verdicts = {measure.id: measure.verdict for measure in got.measures}
    assert got.verdict == "unknown"
    assert (ids[0], verdicts) == ("time", {"time": "unknown", "cpu": "same"})


def test_what_is_open_says_how_much_longer_it_takes():
    got, _ = of(Unit(F, noise=0.08), Unit(F, noise=0.08))
    assert got.verdict == "unknown"
    found = re.fullmatch(
        r"to show (?:a change of [\d.]+%|that it is the same within 2%), "
        r"measure about ([\d.]+)× as long \(--time\)",
        got.needs,
    )
    assert 1.1 <= float(found[1]) <= 20
    got, _ = of(Unit(F, noise=0.5), Unit(F, noise=0.5))
    assert got.verdict == "unknown"
    said = r"to show a change of [\d.]+%, use a quieter machine: runs vary too much .*"
    assert re.fullmatch(said, got.needs)


def test_turns_of_one_or_two_layouts_do_not_show_how_much_they_vary():
    unit = Unit(F, noise=0.5)
    needs = {outcome(compared(unit, unit, runs=1, turns=n)).needs for n in range(4, 12)}
    assert "measure longer (--time)" in needs
    assert not any("vary" in one for one in needs)


def test_of_several_benchmarks_the_one_that_needs_least_time_is_named():
    """The mean has those in it that run none of the changed code."""

    def side(cost):
        other = path("G", bench="B")
        return [
            Unit({path("F", bench="A"): cost}, name="A", noise=0.3),
            Unit({other: 600}, name="B", noise=0.3),
        ]

    got = outcome(compared(side(600), side(660)))
    assert got.verdict == "unknown"
    assert re.match(r"to show a change of [\d.]+% in A, ", got.needs)


def test_a_benchmark_that_allocates_otherwise_is_the_one_to_measure():
    """A changed more next to its interval, but B is known to run what changed."""

    def side(cost, size):
        other = path("G", bench="B")
        return [
            Unit({path("F", bench="A"): cost}, name="A", noise=0.3),
            Unit({other: 600 + cost // 12}, {other: (1, size)}, name="B", noise=0.5),
        ]

    got = outcome(compared(side(600, 64), side(660, 96)))
    assert re.match(r"to show a change of [\d.]+% in B, ", got.needs)


def test_a_verdict_needs_nothing_more():
    for new in (Unit(F), Unit({path("F"): 1200})):
        assert of(Unit(F), new)[0].needs == ""


def test_what_a_unit_costs_agrees_with_its_ratio():
    """Medians of noisy turns may move against the mean of their ratios."""
    base = [Unit(F, name=name, noise=0.3) for name in "ABC"]
    new = [Unit(F, name=name, noise=0.3, operations=900) for name in "ABC"]
    got = outcome(compared(base, new))
    assert len(got.units) == len(base)
    for unit in got.units:
        cost = unit.cost
        assert cost.new / cost.base == pytest.approx(cost.ratio, rel=1e-9)


def test_what_no_turn_counted_is_no_figure_of_turns():
    """Starting may take all CPU of short turns: samples do not stand in for it."""
    lost = [{path("F", bench=name): 600} for name in "AB"]
    units = [Unit(cpu, name=name) for cpu, name in zip(lost, "AB", strict=True)]
    sides = [made("base", *units), made("new", *units)]
    got = outcome(compare_sides(*(without_cpu(side) for side in sides)))
    assert [measure.id for measure in got.measures] == ["time"]
    assert {unit.figure for unit in got.units} == {"time"}


def test_a_benchmark_without_cpu_takes_it_from_no_other():
    """It has no CPU/op, and the mean of all has none."""
    fast, slow = ({path("F", bench="A"): n} for n in (600, 900))
    lost = Unit({path("F", bench="B"): 600}, name="B")
    sides = (
        made("base", Unit(fast, name="A"), lost),
        made("new", Unit(slow, name="A"), lost),
    )
    kept = compare_sides(*(without_cpu(side, "B") for side in sides))
    assert kept.turns.has_cpu.tolist() == [True, False]
    got = outcome(kept)
    assert [measure.id for measure in got.measures] == ["time"]
    tables = judged_in_turns(kept, got).benchmarks.tables
    (row,) = next(table.rows for table in tables if table.unit == "cpu-sec/op")
    assert row.name == "A"
    assert row.of_turns.ratio == pytest.approx(1.5, rel=0.05)


def with_results(side, change):
    """Return a side whose benchmarks have other results."""
    captures = tuple(
        replace(one, content=one.content._replace(results=change(one.content.results)))
        if one.kind == "benchmark"
        else one
        for one in side.captures
    )
    return replace(side, captures=captures)


def without_cpu(side, name=""):
    """Return a side whose turns have no CPU time, in benchmarks with this name."""

    def kept(results):
        return tuple(
            r for r in results if r.unit != "cpu-ns/op" or not r.name.startswith(name)
        )

    return with_results(side, kept)


@pytest.mark.parametrize("turns", [2, 3])
def test_fewer_turns_than_an_observation_has_decide_nothing(turns):
    """Of two turns, a slice that other programs took is half of what there is."""
    units = [Unit({path("F", bench=name): 600}, name=name) for name in "ABC"]
    slow = [unit._replace(wall=13.0) if unit.name == "B" else unit for unit in units]
    got = outcome(compared(units, slow, runs=1, turns=turns))
    assert got.verdict == "unknown"
    assert got.needs == "measure longer (--time)"
    assert not any(unit.moved for unit in got.units)
    assert outcome(compared(units, slow, runs=1, turns=8)).moved


@pytest.mark.parametrize(("times", "verdict"), [(9, "slower"), (3, "unknown")])
def test_few_turns_show_a_change_that_no_machine_makes(times, verdict):
    units = [Unit({path("F", bench=name): 600}, name=name) for name in "ABC"]
    slow = {path("F", bench="B"): 600 * times}
    slower = [one._replace(cpu=slow) if one.name == "B" else one for one in units]
    got = outcome(compared(units, slower, runs=1, turns=3))
    assert got.verdict == verdict
    assert [unit.name for unit in got.units if unit.moved] == ["B"] * (times == 9)
    # A benchmark alone is judged as one of several.
    alone = [[one for one in side if one.name == "B"] for side in (units, slower)]
    assert outcome(compared(*alone, runs=1, turns=3)).verdict == verdict


@pytest.mark.parametrize("noise", [0.2, 0.4])
def test_of_figures_that_stay_open_the_one_known_best_comes_first(noise):
    sides = [
        [Unit({path("F", bench=name): 600}, name=name, noise=noise) for name in names]
        for names in ("ABC", "ABC")
    ]
    got = outcome(compared(*sides))
    assert got.verdict == "unknown"
    widths = [measure.judged.width for measure in got.measures]
    assert len(widths) > 1
    assert widths[0] == min(widths)
    assert {unit.figure for unit in got.units} == {got.measures[0].id}


def test_few_turns_have_tables_of_every_unit():
    """Bytes a second are the inverse of a time whose bounds nothing shows."""
    units = [Unit({path("F", bench=name): 600}, name=name) for name in "AB"]
    sides = [
        with_speed(made(side, *units, runs=1, turns=2)) for side in ("base", "new")
    ]
    report = report_of(compare_sides(*sides))
    (row, *_) = (row for row in report.comparison.benchmarks.rows if row.unit == "MB/s")
    assert row.bounds[0] < 1e-300
    assert row.bounds[1] > 1e300
    assert json.loads(render(report))["outcome"]["verdict"] == "unknown"


def test_a_rate_that_a_benchmark_reports_has_the_noise_of_its_time():
    units = [Unit({path("F", bench=name): 600}, name=name, noise=0.5) for name in "AB"]
    # Ranks alone would call rates of 5 and 6 different.
    sides = [
        with_speed(made(label, *units), "read/s", rate)
        for label, rate in (("base", 5.0), ("new", 6.0))
    ]
    rows = report_of(compare_sides(*sides)).comparison.benchmarks.rows
    (first, _) = (row for row in rows if row.unit == "read/s")
    (time, _) = (row for row in rows if row.unit == "ns/op")
    assert not first.significant
    assert first.of_turns.ratio == pytest.approx(1.2)
    old, now = (row.bounds[1] / row.bounds[0] for row in (time, first))
    assert now == pytest.approx(old)


def with_speed(side, unit="MB/s", speed=5.0):
    """Return a side whose benchmarks print how much they read, too."""

    def more(results):
        times = (r for r in results if r.unit == "ns/op")
        return (*results, *(r._replace(unit=unit, values=(speed,)) for r in times))

    return with_results(side, more)


# Ten layouts whose mean log ratio is this differ from 0 at 99.7%: t is 4.0.
SHIFT, SPREAD = 0.067, 0.05


@pytest.mark.parametrize(
    ("time", "cpu", "objects", "moved"),
    [
        (SHIFT, 0, 3, False),
        (SHIFT, -SHIFT, 3, False),
        (SHIFT, SHIFT, 3, True),
        (SHIFT, 0, 4, True),
        (2 * SHIFT, 0, 3, True),
    ],
)
def test_one_of_several_benchmarks_needs_a_second_figure_or_99_9(
    time, cpu, objects, moved
):
    """Unchanged benchmarks of a busy machine differ by one figure now and then."""
    layouts = np.repeat(SPREAD * np.array([1, -1] * 5), 4)[:, None]

    def new(shift):
        return np.exp(layouts + np.array([0, shift]))

    base, counts = np.ones((40, 2)), np.array([3.0, 3.0])
    turns = Turns(
        (("A", 2, None), ("B", 2, None)),
        (base, new(time)),
        (base, new(cpu)),
        {"alloc_objects": (counts, np.array([3.0, objects]))},
        {"alloc_objects": np.array([True, objects == counts[1]])},
        layouts=True,
    )
    assert [one.moved for one in units_in_turns(turns, "time", 0.02)] == [False, moved]


@pytest.mark.parametrize("slower", ["A", "B"])
def test_a_benchmark_that_is_written_differently_decides_nothing_next_to_others(slower):
    """Its op may do other work; where all are, the report says so of the outcome."""
    units = [Unit({path("F", bench=name): 600}, name=name) for name in "AB"]
    slow = [
        Unit({path("F", bench=one.name): 900}, name=one.name)
        if one.name == slower
        else one
        for one in units
    ]
    sides = made("base", *units), made("new", *slow)
    for rewritten in ("BenchmarkA", "BenchmarkA, BenchmarkB"):
        got = outcome(compare_sides(*(written(side, rewritten) for side in sides)))
        both = "," in rewritten
        decides = both or slower == "B"
        assert got.verdict == ("slower" if decides else "unknown")
        assert [unit.rewritten for unit in got.units] == [not both, False]
        assert [unit.moved for unit in got.units].count(True) == decides


def written(side, rewritten):
    """Return a side whose results say which benchmarks' code differs."""
    config = (("rewritten", rewritten),)

    def changed(results):
        return tuple(one._replace(config=one.config + config) for one in results)

    return with_results(side, changed)


def test_a_figure_that_changed_alone_is_in_the_headline():
    """CPU/op of A doubled, and nobody waits longer for it."""
    sides = [
        [
            Unit(_of("A", cost), name="A", wall=600 / cost, noise=0.02),
            Unit(_of("B", other), name="B", noise=0.02),
        ]
        for cost, other in ((600, 300), (1200, 900))
    ]
    got, _ = of(*sides)
    units = {unit.name: unit for unit in got.units}
    assert not units["A"].moved
    assert units["A"].other.ratio == pytest.approx(2, rel=0.03)
    assert units["B"].other is None
    said = unit_headline(got.units, [units["B"]])
    assert re.search(r"the other one unchanged in time/op \(CPU/op .*\)$", said)


def _of(bench, samples):
    return {path("F", bench=bench): samples}
