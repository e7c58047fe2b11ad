"""Profiles of units of work add up: sums and operations exactly, in one mix."""

from collections import Counter

import pytest
from hypothesis import strategies as st

from pprofdiff.analysis.ledger.added_up import added_up, in_one_mix, operations_by_unit
from pprofdiff.analysis.profiles.labels import labels_frame
from pprofdiff.analysis.side import measure
from pprofdiff.model.profiles.profile import Operations, operations_of
from pprofdiff.report.html.flame import packed
from tests.analysis.building import PERIOD, given, stacks
from tests.analysis.measuring import PACKAGE, RUNS, Unit, compared, made, path

COUNTS = st.integers(0, 400)
STACKS = st.sampled_from([path("F"), path("G", "F"), path("runtime.mallocgc", "G")])
UNITS = st.lists(
    st.builds(
        Unit,
        st.dictionaries(STACKS, COUNTS, min_size=1),
        st.dictionaries(STACKS, st.tuples(st.integers(1, 9), st.integers(8, 999))),
        st.integers(1, 10**6),
        st.just(100),
        wall=st.just(1.0),
        noise=st.just(0.0),
        uneven=st.just(0.0),
    ),
    min_size=1, max_size=4,
).map(lambda units: [u._replace(name=f"N{i}") for i, u in enumerate(units)])  # fmt: skip


def by_stack(samples):
    """Return the sums of (stack, value) pairs that are not 0."""
    sums = Counter()
    for stack, value in samples:
        sums[tuple(stack)] += value
    return {stack: value for stack, value in sums.items() if value}


def of_run(side, kind, run=0):
    """Return the contents of a side's profiles of a kind and run."""
    return [
        c.content for c in side.of("profile") if measure(c) == kind and c.run == run
    ]


def test_samples_of_a_sum_say_which_benchmark_they_are_of():
    """So that the flame graph of the page can be filtered by it."""
    base = [
        Unit({path("F"): 300, path("G"): 100}, name="A"),
        Unit({path("F"): 200}, name="B"),
    ]
    diff = compared(base, base).cpu
    frame = labels_frame(diff)
    assert frame["key"].tolist() == ["benchmark", "benchmark"]
    values = dict(zip(frame["value"], frame["base"], strict=True))
    assert values == {
        f"Benchmark{unit.name}": sum(unit.cpu.values()) * RUNS * PERIOD for unit in base
    }
    (document,) = packed(diff, budget=100)["filters"]
    assert document["key"] == "benchmark"
    assert list(document["values"]) == ["", "BenchmarkA", "BenchmarkB"]
    assert len(labels_frame(compared(base[0], base[0]).cpu)) == 0


@given(UNITS, st.integers(1, 3))
def test_one_profile_of_a_run_is_the_sum_of_its_units(units, runs):
    before = made("base", *units, runs=runs)
    after = added_up(before)
    for run in range(runs):
        (whole,) = of_run(after, "cpu", run)
        parts = of_run(before, "cpu", run)
        assert by_stack(stacks(whole)) == by_stack(
            pair for part in parts for pair in stacks(part)
        )
        done = operations_of(whole)
        assert done.number == sum(unit.operations for unit in units)
    assert not any(capture.unit for capture in after.captures)
    names = {f"{PACKAGE} Benchmark{unit.name}": unit for unit in units}
    assert operations_by_unit(before) == {
        name: runs * unit.operations for name, unit in names.items()
    }


def test_allocations_are_of_the_mix_of_the_cpu_profiles():
    """A benchmark runs 3 000 times in CPU profiles, another 10 times; 100 are counted."""
    often = Unit({path("F"): 9}, {path("F"): (2, 64)}, 3000, 100, "Often")
    seldom = Unit({path("G"): 9}, {path("G"): (5, 4096)}, 10, 50, "Seldom")
    (whole,) = of_run(added_up(made("base", often, seldom, runs=1)), "allocs")
    assert operations_of(whole) == Operations(3010)
    columns = [whole.sample_index(f"alloc_{what}") for what in ("objects", "space")]
    values = {
        tuple(stack): whole.values[row, columns].tolist()
        for row, (stack, _) in enumerate(stacks(whole))
    }
    assert values == {
        path("F"): [2 * 3000, 64 * 3000],
        path("G"): [5 * 10, 4096 * 10],
    }


def test_what_an_operation_allocates_is_what_benchmarks_count():
    units = [
        Unit({path("F"): 90}, {path("F"): (2, 64)}, 3000, 100, "Often"),
        Unit({path("G"): 60}, {path("G"): (5, 4096)}, 1000, 50, "Seldom"),
    ]
    both = compared(units, units)
    space = next(d for d in both.profiles if d.sample_type.type == "alloc_space")
    assert space.normalization.mode == "per_work"
    scaled = space.normalization.scaled(*space.totals)
    # Three of four operations are of the first.
    assert scaled == pytest.approx((0.75 * 64 + 0.25 * 4096,) * 2)


def test_a_side_without_units_stays_as_it_is():
    side = made("base", Unit({path("F"): 3}))
    plain = added_up(side)
    assert added_up(plain) is plain


def test_paths_name_all_units_of_a_run():
    units = [Unit({path("F"): 9}, name=name) for name in ("A", "B")]
    several, one = (added_up(made("base", *u)) for u in (units, units[:1]))
    got = {c.path for c in several.of("profile") if measure(c) == "cpu"}
    assert got == {f"base/{run}/*/cpu.pb.gz" for run in range(1, 6)}
    got = {c.path for c in one.of("profile") if measure(c) == "cpu"}
    assert "base/1/BenchmarkA/cpu.pb.gz" in got


def test_sides_that_ran_other_mixes_are_scaled_to_one():
    """A is ten times as fast in new and ran ten times as often: an op costs its own."""

    def side(cost, times):
        stacks = {path("F", bench="A"): cost * times}
        return [
            Unit(stacks, operations=100 * times, name="A"),
            Unit({path("G", bench="B"): 300}, operations=100, name="B"),
        ]

    comparison = compared(side(200, 1), side(20, 10))
    diff = comparison.cpu
    functions = diff.paired_functions
    scaled = diff.normalization.scaled(*functions.raw("cum"))
    at = {name: i for i, name in enumerate(functions.names)}
    f, g = (at[f"{PACKAGE}.{name}"] for name in "FG")
    assert scaled[1][f] / scaled[0][f] == pytest.approx(0.1, rel=0.02)
    assert scaled[1][g] / scaled[0][g] == pytest.approx(1.0, rel=0.02)
    assert in_one_mix(made("base", *side(200, 1)), made("new", *side(20, 10)))
    assert not in_one_mix(*(made(one, *side(200, 1)) for one in ("base", "new")))


def test_samples_are_counted_as_they_were_given():
    """The faster side's are scaled down to the mix, but that many were taken."""

    def side(cost, times):
        return [
            Unit({path("F", bench="A"): cost}, operations=100 * times, name="A"),
            Unit({path("G", bench="B"): 300}, operations=100, name="B"),
        ]

    comparison = compared(side(200, 1), side(200, 10))
    totals = [of_run(one, "cpu")[0].total() / PERIOD for one in comparison.given]
    assert totals == [500, 500]
    assert of_run(comparison.new, "cpu")[0].total() / PERIOD < 400
