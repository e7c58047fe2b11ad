"""Units of work: every sample is of one or of none, and each has its own operations."""

import gzip
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import strategies as st

from pprofdiff.analysis.causes.by_unit import changed_units
from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.ledger.units import REST, by_unit, executed
from pprofdiff.analysis.outcome.deciding import outcome
from pprofdiff.analysis.settings import DEFAULTS
from pprofdiff.analysis.side import measure
from pprofdiff.loaders.benchmarks.reader import parse
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.model.profiles.profile import operations_of
from pprofdiff.model.side import Capture, Side
from pprofdiff.report.model import Scope, report_of
from pprofdiff.report.rows import Table
from pprofdiff.report.sections import sections
from tests.analysis.building import given, profile, stacks
from tests.analysis.ledger.capture import CAPTURES, RUNS

PKG = "example.com/a"
LOOP = ("testing.(*B).runN", "testing.(*B).launch")
PARALLEL = ("testing.(*B).RunParallel.func1",)
ROOTS = {
    "A": (f"{PKG}.BenchmarkA", *LOOP),
    "B": (f"{PKG}.BenchmarkB.func1", *LOOP),
    "P": (f"{PKG}.BenchmarkP.func1", *PARALLEL),
    "X": (f"{PKG}_test.BenchmarkX", *LOOP),
}
OTHERS = [("runtime.gcBgMarkWorker",), ("runtime.mcall",), (f"{PKG}.serve",), ()]
LEAVES = [(f"{PKG}.F",), ("runtime.mallocgc", f"{PKG}.F"), (f"{PKG}.G", f"{PKG}.F"), ()]
TRUTHS = tomllib.loads((Path(__file__).parent / "truths.toml").read_text("utf-8"))


def lines(**benchmarks):
    """Return benchmark output: (iterations, ns/op) by name, ``B_n`` is ``B/n``."""
    text = f"pkg: {PKG}\n" + "".join(
        f"Benchmark{name.replace('_', '/')}-2 {count} {ns} ns/op\n"
        for name, (count, ns) in benchmarks.items()
    )
    return Capture("bench.txt", "benchmark", parse(text.encode(), "bench.txt"))


def side(samples, **benchmarks):
    """Return a side of one run: (stack, samples of 10 ms) and its benchmarks."""
    cpu = Capture("cpu.pb.gz", "profile", profile(samples))
    return Side("side", (cpu, lines(**benchmarks)))


def of(unit, count, *leaf):
    return (*leaf, *ROOTS[unit]), count


def summed(pairs):
    sums = Counter()
    for stack, value in pairs:
        sums[tuple(stack)] += value
    return {stack: value for stack, value in sums.items() if value}


SAMPLES = st.lists(
    st.tuples(
        st.tuples(st.sampled_from(LEAVES), st.sampled_from([*ROOTS.values(), *OTHERS])),
        st.integers(1, 50),
    ),
    max_size=30,
).map(
    lambda some: [
        ((*leaf, *root), count) for (leaf, root), count in some if leaf + root
    ]
)
EACH = [of(name, 100, f"{PKG}.F") for name in ROOTS]
FOUR = dict.fromkeys(ROOTS, (1000000, 1000))


@given(SAMPLES)
def test_units_and_the_rest_are_an_exact_partition(samples):
    samples = [*EACH, *samples]
    before = side(samples, **FOUR)
    apart = by_unit(before, before)
    parts = {c.unit: c.content for c in apart.base.of("profile")}
    assert set(parts) == {REST, *(f"{PKG} Benchmark{name}" for name in ROOTS)}
    (whole,) = (c.content for c in before.of("profile"))
    assert sum(map(len, parts.values())) == len(whole)
    assert summed(pair for part in parts.values() for pair in stacks(part)) == summed(
        stacks(whole)
    )
    for name, root in ROOTS.items():
        part = parts[f"{PKG} Benchmark{name}"]
        assert all(tuple(stack[-len(root) :]) == root for stack, _ in stacks(part))


def test_iterations_before_the_printed_ones_count():
    assert executed(1) == 1
    assert executed(100) == 101
    assert executed(1_000_000) == 1_010_101
    assert executed(1_200_000) == 2_210_101


def costs(base, new):
    """Return each function's CPU per op, (base, new), and the findings."""
    comparison = compare_sides(base, new, DEFAULTS)
    (cpu,) = (diff for diff in comparison.profiles if diff.is_cpu)
    assert cpu.normalization.mode == "per_work"
    table = cpu.table("functions")
    own, now = cpu.normalization.scaled(*table.raw("cum"))
    found = find(comparison, moved=outcome(comparison).moved).found
    return dict(zip(table.names, zip(own, now, strict=True), strict=True)), found


def ran(**benchmarks):
    """Return a side whose benchmarks took as long as all their iterations do."""
    samples = [
        of(name, round(executed(count) * ns / 1e7), f"{PKG}.F{name}")
        for name, (count, ns) in benchmarks.items()
    ]
    return side(samples, **benchmarks)


def test_what_ran_more_often_costs_no_more():
    """A dearer benchmark runs less often: others take more of the profile."""
    base = ran(A=(30_000_000, 1_000), B=(1_000_000, 10_000), P=(1_000_000, 10_000))
    new = ran(A=(15_000_000, 1_000), B=(500_000, 10_000), P=(3_000_000, 10_000))
    table, found = costs(base, new)
    for name in "ABP":
        before, after = table[f"{PKG}.F{name}"]
        assert after / before == pytest.approx(1, rel=0.01)
    assert found == ()


def test_sub_benchmarks_of_one_function_count_at_their_price():
    base = side(
        [of("A", 1000, f"{PKG}.F"), of("B", 2000, f"{PKG}.G")],
        A=(1_000_000, 10_000), B_small=(10_000_000, 1_000), B_large=(100_000, 100_000),
    )  # fmt: skip
    new = side(
        [of("A", 1000, f"{PKG}.F"), of("B", 3000, f"{PKG}.G")],
        A=(1_000_000, 10_000), B_small=(20_000_000, 1_000), B_large=(100_000, 100_000),
    )  # fmt: skip
    table, _ = costs(base, new)
    before, after = table[f"{PKG}.G"]
    assert after / before == pytest.approx(1, rel=0.1)


def test_no_goroutine_has_more_cpu_time_than_passes():
    """A run more than is printed is seen by the time that it took."""
    benchmarks = {"A": (900_000, 10_000), "B": (1000, 10**7)}
    ran_once = executed(900_000)
    once, twice = (
        side([of("A", round(count / 1000)), of("B", 1000)], **benchmarks)
        for count in (ran_once, ran_once + 800_000)
    )
    done = {}
    for label, new in (("once", once), ("twice", twice)):
        apart = by_unit(once, new)
        (part,) = (c for c in apart.new.of("profile") if c.unit.endswith("kA"))
        done[label] = operations_of(part.content).number
    assert done["once"] == ran_once
    assert done["twice"] == pytest.approx(ran_once + 800_000, rel=0.01)


@pytest.mark.parametrize(
    "new",
    [
        side(EACH, A=(1, 1)),
        Side("side", (lines(**FOUR),)),
        side([*EACH, ((f"{PKG}.helper", *LOOP), 300)], **FOUR),
    ],
    ids=["one benchmark", "no profile", "samples of an unknown function"],
)
def test_what_is_of_no_unit_is_not_divided(new):
    assert by_unit(side(EACH, **FOUR), new) is None


def test_a_function_that_several_benchmarks_run_is_named():
    helper = side([*EACH, ((f"{PKG}.helper.func1", *LOOP), 300)], **FOUR)
    comparison = compare_sides(helper, helper, DEFAULTS)
    assert comparison.work is None
    (cpu,) = (diff for diff in comparison.profiles if diff.is_cpu)
    assert cpu.normalization.mode == "composition"
    got = {caveat.id: caveat.text for caveat in comparison.caveats()}
    assert f"run {PKG}.helper.func1, " in got["unnamed-benchmarks"]
    for other in (side(EACH, **FOUR), side([of("A", 100)], A=(1000, 10**6))):
        kinds = {c.id for c in compare_sides(other, other, DEFAULTS).caveats()}
        assert "unnamed-benchmarks" not in kinds


# What follows is measured: see `truths.toml`, written before, and `capture.py`.
FILES = {"cpu.pb.gz": "profile", "allocs.pb.gz": "profile", "bench.txt": "benchmark"}


def kept(name, *kinds):
    """Return a kept side: its files of some kinds of names, a run a folder."""
    captures = []
    for run in range(RUNS):
        for file, kind in FILES.items():
            data = (CAPTURES / name / f"r{run + 1}" / file).read_bytes()
            data = gzip.decompress(data) if file.endswith(".gz") else data
            read = parse if kind == "benchmark" else decode
            if file in kinds:
                captures.append(
                    Capture(file, kind, read(data, file), run, run_known=True)
                )
    return Side(name, tuple(captures))


ALL = tuple(FILES)


@pytest.mark.parametrize("files", [("bench.txt",), ("bench.txt", "cpu.pb.gz"), ALL])
def test_the_planted_benchmark_is_the_one_named(files):
    comparison = compare_sides(kept("base", *files), kept("new", *files), DEFAULTS)
    said = outcome(comparison)
    assert said.verdict == "slower"
    (encode,) = said.moved
    truth = TRUTHS["Encode"]
    assert encode.name == "Encode"
    assert encode.cost.low < truth["time"] < encode.cost.high
    (allocs,) = (one for one in encode.counted if one.unit == "allocs/op")
    assert allocs.new / allocs.base == pytest.approx(truth["allocs"])
    found = find(comparison, said.verdict, said.moved).found
    others = {name.partition("/")[0] for name in TRUTHS} - {"Encode"}
    for finding in found:
        assert not any(other in finding.title for other in others)
    if len(files) > 1:
        assert found[0].severity == "major"
        assert found[0].title.startswith("Encode: codec.encoded uses ")


def test_the_changed_benchmark_has_tables_of_its_own():
    """They are of its samples alone, per op of its own."""
    sides = (kept(name, "bench.txt", "cpu.pb.gz") for name in ("base", "new"))
    report = report_of(compare_sides(*sides, DEFAULTS))
    ((_, alone),) = changed_units(report.comparison, report.outcome.moved)
    parts = [part for one in sections(report, Scope(full=True)) for part in one.parts]
    tables = [part for part in parts if isinstance(part, Table)]
    (groups,) = (table for table in tables if table.key == "unit_groups")
    assert groups.title.startswith("Encode, in ")
    *rows, total = groups.rows
    own = alone.cpu.normalization.scaled(*alone.cpu.totals)
    for column, whole in zip(
        (groups.place("base"), groups.place("new")), own, strict=True
    ):
        assert total.cells[column].value == pytest.approx(whole)
        each = [row.cells[column].value for row in rows if row.role == "group"]
        assert sum(each) == pytest.approx(whole)
    (cum,) = (t for t in tables if t.key == "unit_cum" and "slower" in t.title)
    assert cum.title == "Encode: Got slower (cum)"
    assert cum.rows[0].cells[cum.names].text.startswith("codec.")


@pytest.mark.parametrize("files", [("bench.txt",), ("bench.txt", "cpu.pb.gz"), ALL])
def test_of_the_same_build_nothing_is_said(files):
    for pair in (("base", "again"), ("again", "base")):
        comparison = compare_sides(*(kept(one, *files) for one in pair), DEFAULTS)
        said = outcome(comparison)
        assert said.moved == ()
        assert said.verdict in ("unknown", "same")
        found = find(comparison, said.verdict, said.moved).found
        assert [one.title for one in found if one.severity != "info"] == []


@pytest.mark.parametrize("name", ["base", "new", "again"])
def test_how_often_benchmarks_ran_is_known_about(name):
    """Where a machine is busy, about: runs may be one more, or their pilots shorter."""
    apart = by_unit(kept(name, *ALL), kept(name, *ALL))
    for capture in apart.base.of("profile"):
        if measure(capture) != "cpu" or capture.unit == REST:
            continue
        text = (CAPTURES / name / f"r{capture.run + 1}" / "executed.txt").read_text()
        ran = {name: int(count) for name, count in re.findall(r"(\S+) (\d+)", text)}
        function = capture.unit.rpartition(" Benchmark")[2]
        about = operations_of(capture.content).number
        if function in ran:
            assert 0.5 * ran[function] <= about <= 1.5 * ran[function]


def test_parallel_benchmarks_take_more_cpu_than_time():
    comparison = compare_sides(kept("base", *ALL), kept("new", *ALL), DEFAULTS)
    units = {unit.name: unit for unit in outcome(comparison).units}
    parallel = units["ParallelSum"].cpu_seconds
    serial = units["Sum"].cpu_seconds
    # Half as much data on two processors: half the CPU of the other, in less time.
    assert [p / s for p, s in zip(parallel, serial, strict=True)] == pytest.approx(
        [0.5, 0.5], rel=0.25
    )
