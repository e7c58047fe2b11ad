"""Benchmarks compared: figure by figure as benchstat, and what it does not compare."""

import pytest
from msgspec.structs import replace

from pprofdiff.analysis.benchmarks.compare import compare_benchmarks
from pprofdiff.analysis.benchmarks.units import better, in_bytes, tidy
from pprofdiff.analysis.derived import pair_by_suffix
from pprofdiff.errors import UsageError
from pprofdiff.loaders.benchmarks.reader import parse

from .benchstat import Said, tables
from .benchtext import DATA, drawn, printed, saved

SEEDS = range(6)


def compared(*texts):
    base, new = (parse(text.encode(), "bench.txt") for text in texts)
    return compare_benchmarks([base], [new])


def interval(summary):
    if summary.low is None or summary.high is None:
        return "∞"
    return "?" if summary.spread is None else f"{100 * summary.spread:.0f}%"


def versus(row):
    if not row.significant:
        return "~"
    if row.delta == 0:
        return "0.00%"
    return "?" if row.ratio is None else f"{(row.ratio - 1) * 100:+.2f}%"


def said(row):
    """Return a row as benchstat's CSV has it, its medians as numbers."""
    sides = []
    for summary in (row.tidy_base, row.tidy_new):
        sides += ["", ""] if summary is None else [summary.median, interval(summary)]
    if row.p is None:
        return Said(*sides, "", "")
    counts = list(dict.fromkeys((row.base.n, row.new.n)))
    n = f"n={'+'.join(map(str, counts))}"
    return Said(*sides, versus(row), f"p={row.p:.3f} {n}")


def as_numbers(line):
    """Return a line of benchstat's with its medians as numbers."""
    medians = [float(text) if text else "" for text in (line.base, line.new)]
    # It writes no p at all where 1 - (1 - p) is 0.
    test = f"p=0.000 {line.test}" if line.test.startswith("n=") else line.test
    return line._replace(base=medians[0], new=medians[1], test=test)


def check(diff, expected, warnings):
    """Compare every figure of every table, in order."""
    two_sided = [table for table in diff.tables if not table.side]
    known = [table for table in expected if table.sides == 2]
    assert [t.unit for t in two_sided] == [t.unit for t in known]
    for ours, theirs in zip(two_sided, known, strict=True):
        assert dict(ours.config).items() <= theirs.config.items()
        lines = {row.full_name: said(row) for row in ours.rows}
        means = as_numbers(theirs.rows.pop("geomean"))
        assert list(lines) == list(theirs.rows)
        assert lines == {name: as_numbers(line) for name, line in theirs.rows.items()}
        # Go's logarithm is another than the C library's: they differ in the last bit.
        for mine, go in (
            (ours.geomean.base, means.base),
            (ours.geomean.new, means.new),
        ):
            assert mine == (None if go == "" else pytest.approx(go, rel=1e-14))
        ratio = ours.geomean.ratio
        shown = "?" if ratio is None else f"{(ratio - 1) * 100:+.2f}%"
        assert shown == means.versus
    notes = [t.geomean.notes for t in two_sided]
    notes += [row.notes for table in diff.tables for row in table.rows]
    assert {note for some in notes for note in some} == warnings


@pytest.mark.go
def test_our_capture_is_as_benchstat_has_it():
    paths = [DATA / "zstd" / side / "bench.txt" for side in ("base", "new")]
    check(compared(*(path.read_text("utf-8") for path in paths)), *tables(*paths))


@pytest.mark.go
@pytest.mark.parametrize("seed", SEEDS)
def test_drawn_figures_are_as_benchstat_has_them(tmp_path, seed):
    outputs = drawn(seed)
    check(compared(*outputs), *tables(*saved(tmp_path, outputs)))


@pytest.mark.go
def test_unequal_numbers_of_runs_are_as_benchstat_has_them(tmp_path):
    outputs = [
        printed({
            "F": [{"ns/op": (1 + i) * 1.01**side} for i in range(n)],
            "G": [{"ns/op": 5 + i % 3 + side} for i in range(40 + n)],
        })
        for side, n in enumerate((10, 7))
    ]  # fmt: skip
    diff = compared(*outputs)
    assert [(row.base.n, row.new.n) for row in diff.rows] == [(10, 7), (50, 47)]
    check(diff, *tables(*saved(tmp_path, outputs)))


def runs(unit="ns/op", *values):
    return [{unit: value} for value in values]


def test_figures_are_kept_in_the_unit_they_were_printed_in():
    row = compared(
        printed({"F-4": runs("ns/op", 3, 1, 2)}), printed({"F-4": runs("ns/op", 7, 9)})
    ).rows[0]
    assert (row.name, row.procs, row.full_name, row.unit) == ("F", 4, "F-4", "ns/op")
    assert (row.base.median, row.new.median, row.delta) == (2, 8, 6)
    assert (row.tidy_base.median, row.ratio) == (2e-9, pytest.approx(4))
    mixed = compared(
        printed({"F": runs("ns/op", 3, 3)}), printed({"F": runs("sec/op", 3e-9)})
    ).rows[0]
    assert (mixed.unit, mixed.base.median) == ("sec/op", 3 * 1e-9)
    assert mixed.ratio == pytest.approx(1)


def test_several_outputs_of_a_side_are_one_sample():
    outputs = [parse(printed({"F": runs("ns/op", i)}).encode(), "") for i in range(12)]
    pooled = compare_benchmarks(outputs[:6], outputs[6:])
    whole = compared(
        printed({"F": runs("ns/op", *range(6))}),
        printed({"F": runs("ns/op", *range(6, 12))}),
    )
    assert [table.geomean for table in pooled.tables] == [
        table.geomean for table in whole.tables
    ]
    # Runs are numbered by output.
    for one, other in zip(pooled.rows, whole.rows, strict=True):
        assert replace(one, runs=other.runs) == other
    assert pooled.rows[0].significant


@pytest.mark.parametrize(
    ("unit", "shown", "good", "binary"),
    [
        ("ns/op", "sec/op", "lower", False),
        ("MB/s", "B/s", "higher", True),
        ("B/op", "B/op", "lower", True),
        ("allocs/op", "allocs/op", "lower", False),
        ("p99-ns", "p99-sec", "lower", False),
        ("req/s", "req/s", "higher", False),
        ("ns/GC", "sec/GC", "lower", False),
        ("MB*ns/op", "B*sec/op", "lower", True),
        ("op/ns", "op/ns", None, False),
        ("instances/op", "instances/op", None, False),
        ("ratio", "ratio", None, False),
        ("/", "/", None, False),
    ],
)
def test_units(unit, shown, good, binary):
    assert tidy(unit).unit == shown
    assert (better(shown), in_bytes(shown)) == (good, binary)


@pytest.mark.parametrize(
    ("unit", "worse"), [("ns/op", True), ("MB/s", False), ("widgets", None)]
)
def test_which_way_is_worse(unit, worse):
    low, high = range(1, 7), range(11, 17)
    texts = [printed({"F": runs(unit, *values)}) for values in (low, high, low)]
    assert compared(texts[0], texts[1]).rows[0].worse is worse
    back = compared(texts[1], texts[2]).rows[0].worse
    assert back is (None if worse is None else not worse)
    assert compared(texts[0], texts[2]).rows[0].worse is None


def test_zero_times_stay_among_times():
    # benchstat leaves 0 ns/op under ns/op, apart from every other time.
    diff = compared(printed({"F": runs("ns/op", 0)}), printed({"F": runs("ns/op", 5)}))
    (row,) = diff.rows
    assert (row.base.median, row.ratio, diff.tables[0].unit) == (0, None, "sec/op")


def test_two_machines_are_compared_and_it_is_said():
    texts = [
        printed({"F": runs("ns/op", 1)}, config=("pkg: p", f"cpu: {cpu}", *more))
        for cpu, more in (("A", ()), ("B", ("tags: x",)))
    ]
    diff = compared(*texts)
    assert diff.rows[0].ratio == 1
    assert [tuple(d) for d in diff.differences] == [
        ("cpu", ("A",), ("B",)),
        ("tags", ("",), ("x",)),
    ]


def test_one_name_in_two_packages_is_two_benchmarks():
    text = "".join(
        printed({"F": runs("ns/op", i)}, config=(f"pkg: {p}",))
        for i, p in enumerate("ab", 1)
    )
    diff = compared(text, text)
    assert [table.config for table in diff.tables] == [(("pkg", "a"),), (("pkg", "b"),)]
    assert [row.base.median for row in diff.rows] == [1, 2]
    assert diff.differences == ()


def test_what_one_side_alone_has_is_named():
    base = printed({"F": runs("ns/op", 1), "G": [{"ns/op": 2, "B/op": 8}]})
    new = printed({"G": runs("ns/op", 1), "H-2": runs("ns/op", 1)})
    diff = compared(base, new)
    assert (diff.only("base"), diff.only("new")) == (("F",), ("H-2",))
    assert [(table.unit, table.side) for table in diff.tables] == [
        ("sec/op", ""),
        ("B/op", "base"),
    ]
    lonely = diff.rows[0]
    assert (lonely.new, lonely.delta, lonely.ratio, lonely.p) == (None,) * 4
    assert not lonely.significant


def test_what_is_no_number_is_left_out_and_said():
    base = printed({"F": runs("ns/op", 1, "NaN", "1e300"), "G": runs("ns/op", "+Inf")})
    diff = compared(base, printed({"F": runs("ns/op", 1)}))
    (row,) = diff.rows
    assert row.base.n == 1
    assert "2 measurements are not numbers and are left out" in row.notes


OLD_AND_NEW = {
    "Compress/size=1k-2": runs("ns/op", 1),
    "CompressOld/size=1k-2": runs("ns/op", 2),
    "Compress/size=Old-2": runs("ns/op", 3),
    "Other-2": runs("ns/op", 4),
    "LonelyOld-2": runs("ns/op", 5),
}


def test_pairs_by_suffix_of_the_function():
    both = parse(printed(OLD_AND_NEW).encode(), "")
    base, new = pair_by_suffix(both, "Old")
    assert [(r.name, r.values) for r in base.results] == [("Compress/size=1k", (2.0,))]
    assert [(r.name, r.values) for r in new.results] == [
        ("Compress/size=1k", (1.0,)),
        ("Compress/size=Old", (3.0,)),
    ]
    diff = compare_benchmarks([base], [new])
    assert diff.rows[0].ratio == 0.5
    assert diff.only("new") == ("Compress/size=Old-2",)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["New", "ld", "", "Compress", "/size=1k"])
def test_a_suffix_that_pairs_nothing_is_refused(suffix):
    both = parse(printed(OLD_AND_NEW).encode(), "")
    with pytest.raises(UsageError, match="--pair suffix=") as caught:
        pair_by_suffix(both, suffix)
    assert "\n" not in str(caught.value)
