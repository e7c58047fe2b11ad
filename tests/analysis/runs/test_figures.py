"""What is known run by run: exactly what its files hold, and nothing made up."""

import json
from collections import Counter
from math import prod

import pytest
from msgspec.structs import replace

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.runs.figures import count_runs, run_figures
from pprofdiff.analysis.runs.headline import headline_runs
from pprofdiff.analysis.settings import Settings
from pprofdiff.inputs.sides import load_sides
from pprofdiff.loaders.gclogs import parse as parse_log
from pprofdiff.model.side import Capture, Side
from pprofdiff.plots.pagecharts import run_charts
from pprofdiff.report.json.document import render
from pprofdiff.report.model import report_of
from tests.analysis.building import groups_of
from tests.analysis.outcome.evidence import bench, compared_sides, cpu, load
from tests.conftest import DATA

UNCHANGED = DATA / "unchanged"
LOG = (DATA / "syncpool/base/gctrace.log").read_bytes()


def captured(base, new):
    """Return the comparison of two lists of arguments."""
    loaded = load_sides([*map(str, base)], [*map(str, new)])
    return compare_sides(loaded.base, loaded.new, Settings())


@pytest.fixture(scope="module")
def unchanged():
    """Return eight runs of one build, three against five."""
    files = [UNCHANGED / f"run{i}/cpu.pb.gz" for i in range(1, 9)]
    return captured(files[:3], files[3:])


def by_run(comparison, figure):
    """Return {(side, run): value} of a figure."""
    return {
        (row.side, row.run): row.value
        for row in run_figures(comparison)
        if row.figure == figure
    }


def sums(comparison):
    """Return the sum over runs by side and figure, of what is counted."""
    found = Counter()
    for row in run_figures(comparison):
        if isinstance(row.value, int):
            found[row.side, row.figure] += row.value
    return found


def test_sums_over_runs_match_the_merged_profile(unchanged):
    assert count_runs(unchanged) == (3, 5)
    found = sums(unchanged)
    (diff,) = unchanged.profiles
    expected = {}
    for word, side in (("base", diff.base), ("new", diff.new)):
        totals = side.profile.values.sum(axis=0).tolist()
        for kind, total in zip(side.profile.sample_types, totals, strict=True):
            name = "cpu" if kind.type == "cpu" else f"cpu.{kind.type}"
            expected[word, name] = total
    for group, *values in groups_of(diff):
        for word, value in zip(("base", "new"), values, strict=True):
            expected[word, f"cpu.group.{group}"] = value
    assert found == expected
    assert {"cpu", "cpu.samples", "cpu.group.gc", "cpu.group.user"} <= {
        figure for _, figure in found
    }


def test_each_run_is_what_its_file_holds(unchanged):
    (diff,) = unchanged.profiles
    values = by_run(unchanged, "cpu")
    for word, side in (("base", diff.base), ("new", diff.new)):
        for place, capture in enumerate(side.runs, 1):
            column = capture.content.values[:, 1]
            assert values[word, place] == int(column.sum())
            shares = by_run(unchanged, "cpu.gc_share")
            whole = by_run(unchanged, "cpu.group.gc")[word, place]
            assert shares[word, place] == whole / values[word, place]


def test_a_run_began_when_its_cpu_profile_did(unchanged):
    starts = {(row.side, row.start_ns) for row in run_figures(unchanged)}
    (diff,) = unchanged.profiles
    assert starts == {
        (word, capture.content.time_ns)
        for word, side in (("base", diff.base), ("new", diff.new))
        for capture in side.runs
    }
    assert None not in {start for _, start in starts}
    # An allocs profile shows when it was written, benchmarks show nothing.
    alone = captured(
        [UNCHANGED / "run1/allocs.pb.gz"], [UNCHANGED / "run1/allocs.pb.gz"]
    )
    assert {row.start_ns for row in run_figures(alone)} == {None}


def test_profiles_of_one_run_add_up():
    """Two windows that were captured in one run are one run."""
    base = tuple(
        Capture(
            f"r/{run}/cpu{i}", "profile", cpu({"main.f": samples})[0].content, run, True
        )
        for run, i, samples in ((0, 1, 30), (0, 2, 12), (1, 1, 5))
    )
    comparison = compared_sides(base, cpu({"main.f": 7}))
    assert by_run(comparison, "cpu.samples") == {
        ("base", 0): 42, ("base", 1): 5, ("new", 1): 7,
    }  # fmt: skip


def test_a_benchmark_s_values_of_one_run_are_their_geometric_mean():
    base = bench({"A": (100, 400), "B": 7}, {"A": 300})
    comparison = compared_sides(base, bench({"A": 50}))
    values = by_run(comparison, "benchmark.A-4.sec/op")
    assert values == pytest.approx(
        {("base", 1): 200e-9, ("base", 2): 300e-9, ("new", 1): 50e-9}
    )
    # What a run did not measure has no row.
    assert by_run(comparison, "benchmark.B-4.sec/op") == {
        ("base", 1): pytest.approx(7e-9)
    }


def test_allocations_of_nothing_are_nothing():
    base = bench({"A": (0, 8)}, {"A": 0}, unit="B/op")
    comparison = compared_sides((*base, *bench({"A": 5})), bench({"A": 5}))
    assert by_run(comparison, "benchmark.A-4.B/op") == {("base", 1): 4, ("base", 2): 0}


def test_load_generators_count_operations_a_second():
    comparison = compared_sides((*load(50.0), *cpu({"main.f": 7})), cpu({"main.f": 7}))
    assert by_run(comparison, "load.per_second") == {("base", 1): 50.0}
    # Whether two of one run went at once, or one after the other, is not known.
    both = tuple(replace(one, run_known=True) for one in (*load(50.0), *load(9.0)))
    base = (*both, replace(cpu({"main.f": 7})[0], run_known=True))
    comparison = compared_sides(base, cpu({"main.f": 7}))
    assert by_run(comparison, "load.per_second") == {}


@pytest.mark.parametrize("value", ["NaN", "+Inf", "1e308", "-5", "0"])
def test_no_number_that_a_benchmark_prints_breaks_the_json(value):
    base = bench({"A": (value, value)}, {"A": (100, value)}, unit="widgets")
    comparison = compared_sides((*base, *bench({"T": 5})), bench({"T": 5}))
    document = json.loads(render(report_of(comparison)))
    assert {row["figure"] for row in document["runs"]} >= {"benchmark.T-4.sec/op"}


def test_gc_logs_show_of_each_run():
    lines = LOG.splitlines(keepends=True)
    gc = [i for i, line in enumerate(lines) if line.startswith(b"gc ")]
    parts = [b"".join(lines[: gc[n]]) for n in (20, 50)]
    logs = tuple(
        Capture(f"{i}", "gctrace", parse_log(part, str(i)))
        for i, part in enumerate(parts, 1)
    )
    comparison = compare_sides(Side("base", logs), Side("new", logs[:1]))
    assert by_run(comparison, "gc.cycles") == {
        ("base", 1): 20, ("base", 2): 50, ("new", 1): 20,
    }  # fmt: skip
    for log, run in zip(logs, (1, 2), strict=True):
        cycles = log.content.longest.cycles
        longest = max(
            cycles.sweep_termination_wall_us.max(),
            cycles.mark_termination_wall_us.max(),
        )
        assert by_run(comparison, "gc.pause.longest")["base", run] == longest


def test_headlines_are_time_and_cpu_an_operation():
    """Of several benchmarks a run's time is their geometric mean, if it has all."""
    base = bench({"A": 100, "B": 400}, {"A": 200, "B": 800}, {"A": 1})
    (one,) = headline_runs(compared_sides(base, bench({"A": 10, "B": 10})))
    assert (one.id, one.source) == ("time", "the geometric mean of 2 benchmarks")
    assert dict(one.base) == pytest.approx({0: 200e-9, 1: 400e-9})
    assert dict(one.new) == pytest.approx({0: 10e-9})
    assert headline_runs(compared_sides(bench({"A": 1}), bench({"A": 2}))) == []
    # No run of base has both: there is nothing to draw, and nobody stands apart.
    apart = compared_sides(
        bench({"A": 1}, {"B": 2}), bench({"A": 1, "B": 2}, {"A": 1, "B": 3})
    )
    assert headline_runs(apart) == []
    assert run_charts(apart) == ()


def test_cpu_an_operation_is_known_where_each_run_s_operations_are():
    """Benchmarks next to CPU profiles give operations; 10 s at 1 ms/op."""
    loops = {("testing.(*B).runN", "main.main"): 500, "main.f": 250}
    base = (*cpu(loops), *cpu({**loops, "main.f": 500}))
    times = bench({"A": 1e6}, {"A": 2e6})
    comparison = compared_sides((*base, *times), (*base, *times))
    time, cost = headline_runs(comparison)
    assert (time.id, cost.id) == ("time", "cpu")
    # 7.5 and 10 s of CPU, for 10 000 and 5 000 operations.
    assert dict(cost.base) == pytest.approx({0: 7.5e-4, 1: 2e-3})
    assert by_run(comparison, "cpu.per_operation") == pytest.approx(
        {(word, run + 1): 1e9 * value
         for word, side in zip(("base", "new"), cost.sides, strict=True)
         for run, value in side.items()}
    )  # fmt: skip
    ratio = prod(cost.new.values()) / prod(cost.base.values())
    assert ratio == pytest.approx(1)
