"""Tables of benchmarks in turns: one statistic of a figure, and nothing of the harness."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.profiles.harness import of_operations
from pprofdiff.loaders.benchmarks.reader import parse
from pprofdiff.model.side import Capture
from pprofdiff.report.markdown.comment import render
from pprofdiff.report.model import Scope, report_of
from pprofdiff.report.rows import Table
from pprofdiff.report.sections import sections, tiles
from pprofdiff.report.sections.changes import bounds, change
from pprofdiff.report.sections.profiles.headline import headline
from pprofdiff.report.sections.profiles.owners import group_table
from pprofdiff.report.sections.units import unit_parts
from pprofdiff.report.text.lines import render as as_text
from pprofdiff.report.text.report import report_parts
from tests.analysis.building import stacks
from tests.analysis.measuring import PACKAGE, Unit, compared, made, path


def in_tests(stack):
    """Return a stack whose benchmark stands in a test file, as all of Go's do."""
    return tuple((f, "/p/p_test.go", 9) if ".Benchmark" in f else f for f in stack)


F, G = path("F"), path("G")
CODE, OTHER = in_tests(F), in_tests(G)
ONE = Unit({CODE: 600}, {F: (3, 300)})
LOOP = ("testing.(*B).runN", "testing.(*B).launch")
FULL = Scope(full=True)
FIGURES = {"time": "sec/op", "cpu": "cpu-sec/op"}


def named(name, cpu, **how):
    """Return a unit of this name that runs F."""
    return Unit({in_tests(path("F", bench=name)): cpu}, name=name, **how)


PAIRS = {
    "slower": (ONE, ONE._replace(cpu={CODE: 1800})),
    "faster": (ONE, ONE._replace(cpu={CODE: 480})),
    "same": (ONE, ONE),
    "noisy": (ONE._replace(noise=0.4), ONE._replace(cpu={CODE: 660}, noise=0.4)),
    "waits": (ONE, ONE._replace(wall=1.6)),
    "three": (
        [named(name, 600) for name in "ABC"],
        [named("A", 1200), named("B", 600), named("C", 480)],
    ),
    "nine": (
        [named(name, 600, noise=0.1) for name in "ABCDEFGHI"],
        [named(name, 700, noise=0.1) for name in "ABCDEFGHI"],
    ),
}


@pytest.fixture(scope="module", params=PAIRS)
def report(request):
    """Return the report of a pair that was measured in turns."""
    return report_of(compared(*PAIRS[request.param]))


def section(report, kind):
    """Return the section of a kind; None without one."""
    return next((s for s in sections(report, FULL) if s.id.startswith(kind)), None)


def cells(table, role):
    """Return the cells of a role by the row's key."""
    at = table.place(role)
    return {row.key: row.cells[at] for row in table.rows if row.role != "mean"}


def mark_of(outcome, figure):
    """Return the mark of a figure of the outcome in tables."""
    measure = next((m for m in outcome.measures if m.id == figure), None)
    if measure is None:
        return "unknown"
    if not outcome.decided or measure.judged.low <= 1 <= measure.judged.high:
        return "noise"
    return "more" if measure.judged.ratio > 1 else "less"


@pytest.mark.slow
def test_a_benchmark_has_the_value_the_interval_and_the_mark_of_the_outcome(report):
    outcome, found = report.outcome, 0
    by_unit = {table.key: table for table in section(report, "benchmark").tables}
    for measure in outcome.measures:
        table = by_unit[FIGURES[measure.id]]
        if not outcome.units:
            (delta,), (interval,) = (
                cells(table, role).values() for role in ("delta", "interval")
            )
            assert delta.text in (change(measure.judged.ratio), "")
            assert delta.mark == mark_of(outcome, measure.id)
            base, new = (
                next(iter(cells(table, r).values())).value for r in ("base", "new")
            )
            assert (base, new) == pytest.approx((measure.base, measure.new))
            judged = measure.judged
            assert new / base == pytest.approx(judged.ratio)
            said = bounds(judged.ratio, judged.low, judged.high)
            if delta.mark == "noise" and not judged.low <= 1 <= judged.high:
                said = "not significant"
            assert interval.text == f"({said})"
            found += 1
        for unit in outcome.units:
            delta = cells(table, "delta")[f"{unit.name}-2"]
            if unit.figure == measure.id:
                assert delta.text in (change(unit.cost.ratio), "")
                assert delta.mark == unit.cost.mark
                found += 1
            elif not unit.moved:
                assert delta.mark == "noise"
    assert found == max(len(outcome.units), len(outcome.measures) * (not outcome.units))


# Two bounds of one sign, or two factors on one side of 1.
_WITHOUT_NONE = re.compile(r"\(([+−]).* to \1|\([1-9][\d.]* to [1-9]")


def test_within_noise_no_interval_excludes_no_change(report):
    named = [section(report, "benchmark").parts, list(unit_parts(report))]
    for table in (part for parts in named for part in parts):
        if not isinstance(table, Table) or table.place("interval") < 0:
            continue
        delta, interval = (cells(table, role) for role in ("delta", "interval"))
        for key, cell in delta.items():
            apart = _WITHOUT_NONE.match(interval[key].text)
            assert not (cell.mark == "noise" and apart)


def test_call_sites_of_a_comment_agree_with_exact_counts(report):
    """One profile per side shows no change that counts do not have."""
    part = section(report, "allocs")
    if part is None:
        return
    assert part.unchanged
    assert "allocs (" not in render(report)
    marks = {c.mark for table in part.tables for c in cells(table, "delta").values()}
    assert marks <= {""}


def test_call_sites_of_changed_counts_are_said_to_be_of_a_profile():
    report = report_of(compared(ONE, ONE._replace(allocated={F: (5, 500)})))
    assert render(report).count("From one profile per side") == 1
    assert not section(report, "allocs").unchanged


def test_a_category_that_changed_has_its_group_in_a_short_table():
    """A row of all groups within noise would hide it, and repeat the total."""
    concat, other = ("runtime.concatstrings", *CODE), ("runtime.memmove", *CODE)
    base, new = (Unit({CODE: 400, concat: one, other: 300 - one}) for one in (20, 280))
    table = group_table(compared(base, new).cpu, ("base", "new"), 4, brief=True)
    marks = {row.key: row.cells[table.place("delta")].mark for row in table.rows}
    assert marks["group:runtime"] == "noise"
    assert (marks["category:string"], marks["category:mem.move"]) == ("more", "less")


def test_no_other_statistic_is_named(report):
    part = section(report, "benchmark")
    assert "medians" not in part.measure
    assert "geometric means of turns" in part.measure
    texts = [c.text for t in part.tables for row in t.rows for c in row.cells]
    assert not any("±" in text or "p=" in text for text in texts)


def test_units_that_benchmarks_report_stay_as_benchstat_has_them():
    def reporting(label):
        side = made(label, ONE)
        captures = []
        for one in side.captures:
            if one.kind != "benchmark":
                captures.append(one)
                continue
            text = f"measured: in turns\npkg: {PACKAGE}\n"
            for turn in range(8):
                ns = 6e6 * (1 + 0.01 * ((7 * one.run + 3 * turn) % 5))
                figures = f"{ns:.3f} ns/op \t 9.5 MB/s \t 7.0 hits/op"
                text += f"BenchmarkAll-2 \t 1000 \t {figures}\n"
            read, how = (
                parse(text.encode(), one.path),
                {"run": one.run, "run_known": True},
            )
            captures.append(Capture(one.path, "benchmark", read, **how))
        return replace(side, captures=tuple(captures))

    report = report_of(compare_sides(reporting("base"), reporting("new")))
    part = section(report, "benchmark")
    found = {table.key: table for table in part.tables}
    assert [c.role for c in found["hits/op"].columns].count("test") == 1
    assert [c.role for c in found["sec/op"].columns].count("interval") == 1
    # Bytes a second are as sure as the time.
    assert [c.role for c in found["B/s"].columns].count("interval") == 1
    assert part.measure.endswith("other units: medians ± 95% interval")


def test_the_total_is_marked_as_the_outcome_judges_it(report):
    part = section(report, "cpu")
    if report.comparison.alone is not None and report.outcome.moved:
        # Of several benchmarks, each that changed has its own.
        assert {table.key for table in part.tables} <= {"unit_groups", "unit_cum"}
        assert not list(tiles(part))
        return
    (groups,) = [table for table in part.tables if table.key == "groups"]
    mark = cells(groups, "delta")["total"].mark
    assert mark == mark_of(report.outcome, "cpu")
    assert {tile.change.mark for tile in tiles(part)} <= {mark, ""}
    if report.outcome.verdict in ("same", "unknown") and not report.outcome.contrary:
        assert mark == "noise"


HARNESS = {
    # The benchmark that calls b.Run is below a loop itself.
    ("testing.(*B).run1", "testing.(*B).Run", *F[1:]): (1, 700),
    ("regexp.makeOnePass", "testing.(*matcher).fullName", "testing.(*B).Run", *F[1:]): (1, 90),
    ("fmt.init", "runtime.doInit1", "runtime.main"): (1, 80),
    ("runtime.malg", "runtime.mstart"): (1, 800),
    ("flag.Parse", "testing.(*M).Run", "main.main", "runtime.main"): (1, 60),
}  # fmt: skip
OPERATIONS = {
    F: (3, 300),
    path("bytes.growSlice", "F"): (1, 64),
    (f"{PACKAGE}.F", f"{PACKAGE}.BenchmarkAll.func1", "testing.(*B).RunParallel.func1"): (1, 32),
    # A goroutine that an operation starts.
    (f"{PACKAGE}.work", f"{PACKAGE}.F.func1"): (1, 48),
}  # fmt: skip


def test_what_starts_and_runs_benchmarks_is_of_no_operation():
    comparison = compared(*[Unit({F: 600}, HARNESS | OPERATIONS)] * 2)
    diff = next(d for d in comparison.profiles if d.sample_type.type == "alloc_space")
    for side, kept in zip((diff.base, diff.new), of_operations(diff), strict=True):
        names = [stack for stack, _ in stacks(side.profile)]
        assert {tuple(n) for n, k in zip(names, kept, strict=True) if k} == {
            *OPERATIONS
        }


def counting(unit, objects, size, label):
    """Return a side whose benchmark counts other amounts than its profile has."""
    counted = unit._replace(allocated={F: (objects, size)})
    profiles = {c.path: c for c in made(label, unit).captures if c.kind == "profile"}
    side = made(label, counted)
    return replace(side, captures=tuple(profiles.get(c.path, c) for c in side.captures))


def test_where_no_benchmark_allocates_allocs_have_no_section():
    unit = Unit({F: 600}, HARNESS)
    report = report_of(
        compare_sides(counting(unit, 0, 0, "base"), counting(unit, 0, 0, "new"))
    )
    assert section(report, "allocs") is None
    assert "mallocgc" not in render(report)


def test_call_sites_match_operations_without_a_total():
    new = Unit({F: 600}, HARNESS | OPERATIONS | {F: (6, 600)})
    sides = (
        counting(Unit({F: 600}, HARNESS | OPERATIONS), 6, 444, "base"),
        counting(new, 9, 744, "new"),
    )
    report = report_of(compare_sides(*sides))
    part = section(report, "allocs")
    assert part.lead == ""
    assert not list(tiles(part))
    (table,) = part.tables
    keys = " ".join(row.key for row in table.rows)
    assert f"{PACKAGE}.F" in keys
    assert not re.search(r"testing|fmt\.init|runtime|regexp|flag", keys)


@pytest.mark.parametrize(("objects", "got"), [(6, 3), (7, 0)])
def test_objects_stand_where_profiles_count_nearly_all(objects, got):
    """Tiny objects that share a block are one to the profiler."""
    unit = Unit({F: 600}, OPERATIONS)
    sides = [counting(unit, objects, 444, label) for label in ("base", "new")]
    (table,) = section(report_of(compare_sides(*sides)), "allocs").tables
    heads = [column.text for column in table.columns]
    known = (
        [row.cells[heads.index("objects")].text for row in table.rows] if got else []
    )
    assert ("objects" in heads, len([*filter(None, known)])) == (got > 0, got)


def test_functions_match_the_program(report):
    """Not those of package testing, nor the benchmark, where there are others."""
    shown = [
        row.key
        for table in section(report, "cpu").tables
        if table.key in ("cum", "flat", "owned")
        for row in table.rows
    ]
    assert not any(re.search(r"testing|Benchmark", key) for key in shown)
    full = as_text(report_parts(report, FULL))
    assert "must change by" not in full


def test_the_code_of_the_loop_itself_stays():
    bench = in_tests(path())
    report = report_of(compared(Unit({bench: 600}), Unit({bench: 1200})))
    (table, *_) = [t for t in section(report, "cpu").tables if t.key == "cum"]
    assert [row.key for row in table.rows] == [f"{PACKAGE}.BenchmarkAll"]


def test_rows_that_repeat_their_causes_are_left_out():
    alone = as_text(report_parts(report_of(compared(*PAIRS["slower"]))))
    assert "p.F uses 3.00× the CPU" in alone
    assert "changed most" not in alone
    above = render(report_of(compared(*PAIRS["slower"]))).partition("<details>")[0]
    assert "Got slower" not in above
    both = [
        ONE._replace(cpu={CODE: 600, OTHER: 600}),
        ONE._replace(cpu={CODE: 1800, OTHER: 1200}),
    ]
    assert "changed most" not in as_text(report_parts(report_of(compared(*both))))


def test_nine_benchmarks_are_nine_rows():
    text = as_text(report_parts(report_of(compared(*PAIRS["nine"]))))
    assert "of 9" not in text.partition("\n\ncpu")[0].partition("Benchmarks, judged")[2]


def test_a_little_gc_has_no_price():
    scan = ("runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker")
    for samples, there in ((3, False), (200, True)):
        units = [Unit({F: 600, scan: samples}, {F: (n, 100 * n)}) for n in (3, 5)]
        report = report_of(compared(*units))
        assert (report.gc is not None) is there


def test_where_no_group_changed_the_category_that_did_is_named():
    maps, hashing = (
        in_tests(path(name, "F"))
        for name in ("runtime.mapaccess1_fast64", "runtime.memhash64")
    )
    report = report_of(
        compared(Unit({CODE: 600, maps: 300}), Unit({CODE: 600, hashing: 300}))
    )
    lead = headline(section(report, "cpu").compared, noise=None)
    assert lead.startswith("No group changed beyond noise on its own; ")
    assert re.search("; (maps|hashing and equality) costs ", lead)


def test_a_group_that_may_have_the_change_of_all_turns_is_not_within_noise():
    """Three runs hardly show how far they differ; many turns show the total."""
    base, new = (Unit({CODE: 900, OTHER: n}, uneven=0.35) for n in (100, 700))
    diff = section(report_of(compared(base, new)), "cpu").compared
    tables = [
        group_table(diff, ("base", "new"), timed=timed) for timed in (False, True)
    ]
    marks = []
    for table in tables:
        at = table.place("delta")
        marks.append({row.key: row.cells[at].mark for row in table.rows})
    assert [one["group:user"] for one in marks] == ["noise", ""]
    assert marks[0]["total"] == marks[1]["total"] == "more"


def test_a_total_with_set_up_in_it_is_not_tested():
    """Its groups may change by all of it: "within noise" next to them is false."""
    base, new = (Unit({CODE: 900, OTHER: n}, wall=0.3) for n in (100, 2000))
    report = report_of(compared(base, new))
    assert report.comparison.work.with_set_up
    tables = {table.key: table for table in section(report, "cpu").tables}
    assert cells(tables["groups"], "delta")["total"].mark == ""
