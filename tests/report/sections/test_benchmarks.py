"""Benchmarks as text and as JSON: benchstat's figures in the report's form."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.analysis.benchmarks.compare import compare_benchmarks
from pprofdiff.analysis.derived import pair_by_suffix
from pprofdiff.loaders.benchmarks.reader import parse
from pprofdiff.report.json.benchmarks import benchmark_rows
from pprofdiff.report.rows import Footnotes, Table
from pprofdiff.report.sections.benchmarks import (
    benchmark_parts,
    benchmark_sections,
    benchmark_tiles,
)
from pprofdiff.report.text.lines import render
from tests.analysis.benchmarks.benchstat import benchstat
from tests.analysis.benchmarks.benchtext import DATA, drawn, printed, saved
from tests.report.golden import check

LABELS = ("main", "pr")
ZSTD = tuple(
    (DATA / "zstd" / side / "bench.txt").read_text("utf-8") for side in ("base", "new")
)


def ops(times, size=0, objects=0):
    """Return results of a benchmark: times in ns, the same B/op and allocs/op."""
    return [{"ns/op": ns, "B/op": size, "allocs/op": objects} for ns in times]


FRESH = enumerate(ops([4.1 + i / 10 for i in range(7)], 64, 2))
# What can be missing, differ, be 0 or be on one side only.
ODD = (
    printed(
        {
            "Same-4": ops([120] * 6),
            "Fresh-4": ops([3.1 + i / 10 for i in range(8)]),
            "Few-4": ops([1e9 + i for i in range(3)], 16, 1),
            "Gone-4": ops([7], 8, 2),
        },
        config=("goos: linux", "pkg: example.com/odd", "cpu: Old CPU"),
    ),
    printed(
        {
            "Same-4": ops([120] * 6),
            "Fresh-4": [one | {"req/s": 1e6 / (9 + i)} for i, one in FRESH],
            "Few-4": ops([2e9 + i for i in range(3)], 16, 1),
            "Added-4": ops([7], 8, 2),
        },
        config=("goos: linux", "pkg: example.com/odd", "cpu: New CPU"),
    )
    + "BenchmarkBroken-4\nBenchmarkTorn-4 \tpanic: oops\n",
)


def compared(texts):
    base, new = (parse(text.encode(), "bench.txt") for text in texts)
    return compare_benchmarks([base], [new])


def parts(texts):
    return list(benchmark_parts(compared(texts), LABELS))


@pytest.mark.parametrize(("name", "texts"), [("zstd", ZSTD), ("odd", ODD)])
def test_as_it_was_last_looked_at(name, texts):
    check(f"benchmarks.{name}", render(parts(texts)))


def test_a_pair_of_one_output_as_it_was_last_looked_at():
    base, new = pair_by_suffix(parse(ZSTD[1].encode(), "bench.txt"), "Old")
    diff = compare_benchmarks([base], [new])
    check("benchmarks.pair", render(benchmark_parts(diff, ("Old", "now"))))


def our_lines(found):
    """Return the tables' lines as benchstat writes them, and the notes below."""
    lines, notes = [], set()
    for block in found:
        if isinstance(block, Table):
            for row in block.rows:
                texts = [cell.signed for cell in row.cells[:5]]
                if texts[3] in ("new", "gone"):
                    texts[3:] = []
                if texts[3:] and "from 0" in texts[3]:
                    texts[3] = "?"
                if texts[0] == "geomean" and not texts[3]:
                    texts[3] = "?"
                text = re.sub("[▲▼,]", "", " ".join(texts)).replace("−", "-")
                lines.append(text.split())
        elif isinstance(block, Footnotes):
            notes = {note.text for note in block.notes}
    return lines, notes


def their_lines(text):
    """Return the lines of benchstat's tables that compare, and the notes below."""
    lines, notes, wanted = [], set(), False
    for line in text.splitlines():
        mark = re.match("[⁰¹²³⁴⁵⁶⁷⁸⁹]+ ", line)
        if "│" in line:
            wanted = line.count("│") > 2
        elif mark:
            notes.add(line[mark.end() :])
        elif line and wanted and not re.match(r"\w+: ", line):
            plain_line = re.sub("[()⁰¹²³⁴⁵⁶⁷⁸⁹]", "", line)
            # It writes no p at all where 1 - (1 - p) is 0.
            plain_line = re.sub(r"(% +)(n=)", r"\1p=0.000 \2", plain_line)
            lines.append(plain_line.split())
    return lines, notes


FIGURE = re.compile(r"([\d.]+)([TGMkmµn]|[TGMK]i)?")
SIZES = {
    prefix: 10.0**power
    for prefix, power in zip("TGMkmµn", (12, 9, 6, 3, -3, -6, -9), strict=True)
}
SIZES |= {f"{prefix}i": 2.0**power for prefix, power in zip("TGMK", (40, 30, 20, 10), strict=True)}  # fmt: skip


def in_one_scale(lines):
    """Return lines in which medians far apart are to three digits, without prefix.

    benchstat writes both in the scale of the smaller one, here each has its own.
    """
    out = []
    for line in lines:
        places = [i - 1 for i, word in enumerate(line) if word == "±"]
        parts = [FIGURE.fullmatch(line[i]) for i in places]
        values = [float(p[1]) * SIZES.get(p[2], 1.0) for p in parts if p]
        if len(values) == 2 and min(values) and max(values) >= 999 * min(values):
            line = list(line)  # noqa: PLW2901 - the caller's stays as it is
            for i, value in zip(places, values, strict=True):
                line[i] = f"{value:.3g}"
        out.append(line)
    return out


@pytest.mark.go
@pytest.mark.parametrize("texts", [ZSTD, *map(drawn, range(4))], ids=range(5))
def test_every_figure_is_written_as_benchstat_writes_it(tmp_path, texts):
    lines, notes = our_lines(parts(texts))
    assert lines
    theirs, their_notes = their_lines(benchstat(*saved(tmp_path, texts))[0])
    assert in_one_scale(lines) == in_one_scale(theirs)
    assert notes == their_notes


@pytest.mark.go
def test_sizes_change_prefix_where_benchstats_do(tmp_path):
    values = [
        float(f"{digits}e{power}")
        for power in range(-13, 16)
        for digits in ("1", "9.9995", "9.9994999", "9.99951", "5.4321")
    ]
    values += [
        k * 2.0**power for power in range(0, 50, 10) for k in (0.99994, 0.99996, 1020)
    ]
    names = [f"V{i}" for i in range(len(values))]
    for unit in ("sec/op", "B/op"):
        text = printed(
            {name: [{unit: repr(v)}] for name, v in zip(names, values, strict=True)}
        )
        ours, theirs = our_lines(parts((text, text))), their_lines(
            benchstat(*saved(tmp_path, (text, text)))[0]
        )  # fmt: skip
        assert len(ours[0]) == len(values) + 1
        assert ours == theirs


def test_marks_say_more_or_less_and_tones_which_way_is_worse():
    def changes(texts):
        tables = [part for part in parts(texts) if isinstance(part, Table)]
        return {t.key: t.rows[0].cells[t.place("delta")] for t in tables}

    cells = changes(ZSTD)
    assert (cells["sec/op"].mark, cells["B/s"].mark) == ("less", "more")
    assert {cell.tone for cell in cells.values()} == {"better"}
    back = changes(ZSTD[::-1])
    assert (back["sec/op"].mark, back["B/s"].mark) == ("more", "less")
    assert {cell.tone for cell in back.values()} == {"worse"}


def test_that_nothing_is_on_both_sides_is_said():
    nothing = render(parts((printed({"A": [{"x": 1}]}), printed({"B": [{"x": 1}]}))))
    assert "No benchmark was measured on both sides." in nothing


def many(count, side, units=("ns/op",), packages=("x",)):
    """Return an output of `count` benchmarks a package; every hundredth is slower in new."""
    lines = []
    for package in packages:
        lines.append(f"pkg: {package}")
        for i in range(count):
            slow = 1 + i / count if side and i % 100 == 0 else 1
            for n in range(6):
                values = "  ".join(f"{slow * (1000 + n):.2f} {unit}" for unit in units)
                lines.append(f"BenchmarkName{i:06}-8 100 {values}")
    return "\n".join(lines) + "\n"


@pytest.mark.slow
def test_of_many_benchmarks_those_that_changed_most_are_shown():
    diff = compared([many(2000, 0), many(2000, 1)])
    whole = list(benchmark_parts(diff, LABELS))
    (grid,) = [part for part in whole if isinstance(part, Table)]
    assert len(grid.rows) == 2001
    limited = list(benchmark_parts(diff, LABELS, 10))
    (short,) = [part for part in limited if isinstance(part, Table)]
    *rows, folded, last = short.rows
    # The 20 slower ones are 1.0 (unchanged), 1.05 … 1.95 times as slow.
    assert [row.cells[0].text for row in rows] == [
        f"Name{i:06}-8" for i in range(1000, 2000, 100)
    ]
    assert all(row in grid.rows for row in rows)
    texts = [cell.text for cell in folded.cells]
    assert texts == ["(1,990 more)", "", "", "", "9 worse, 0 better", ""]
    assert [cell.text.strip() for cell in last.cells] == [
        cell.text.strip() for cell in grid.rows[-1].cells
    ]
    got = "Shown is what changed most; --full or -o x.json has all benchmarks."
    assert got in render(limited)
    assert len(benchmark_rows(diff)) == 2000


@pytest.mark.slow
def test_many_tables_are_limited_as_well():
    packages = [f"example.com/p{i:03}" for i in range(300)]
    texts = [many(4, side, ("ns/op", "B/op"), packages) for side in (0, 1)]
    faster = texts[1].replace("example.com/p299", "example.com/other")
    diff = compared([texts[0], faster])
    limited = list(benchmark_parts(diff, LABELS, 10))
    grids = [part for part in limited if isinstance(part, Table)]
    assert len(grids) == 10
    assert max(len(grid.rows) for grid in grids) <= 4 + 2
    text = render(limited)
    assert "(588 more tables, of 2,352 rows: 0 worse, 0 better)" in text
    assert len(text.splitlines()) < 150


@pytest.mark.parametrize("count", [1, 9, 10])
def test_what_fits_is_shown_as_without_a_limit(count):
    diff = compared([many(count, 0), many(count, 1)])
    limited, whole = (list(benchmark_parts(diff, LABELS, n)) for n in (10, None))
    assert repr(limited) == repr(whole)


def test_a_spread_beyond_all_numbers_is_not_known():
    wide = {"G-1": [{"MB/s": v} for v in (1.0, 7.9e-308, 5e-324, 5e-324, 5e-324, 1.0)]}
    text = render(parts([printed(wide), printed(wide)]))
    assert "± ?" in text
    assert "inf" not in text


numbers = st.floats(allow_nan=True) | st.sampled_from([0.0, -0.0, 1.0, 5e-324, 1e308])
units = st.sampled_from(["ns/op", "MB/s", "B/op", "x", "-", "ns*ns/MB"])
names = st.sampled_from(["F", "F-2", "F/a=1\x1b[31m", "G[go.shape.int]", "X\u202e"])
outputs = st.dictionaries(
    names, st.lists(st.dictionaries(units, numbers, min_size=1), max_size=9), min_size=1
)


@pytest.mark.slow
@given(outputs, outputs)
def test_whatever_is_printed_has_a_report(base, new):
    lines = "BenchmarkSure 1 1 ns/op\n"
    diff = compared([printed(side) + lines for side in (base, new)])
    json.dumps(benchmark_rows(diff), allow_nan=False)
    text = render(benchmark_parts(diff, LABELS))
    assert all(line.isprintable() for line in text.splitlines())
    assert not re.search(r"\b(nan|inf|None)\b", text)
    assert "geomean" in text or "Sure" in text


def _measured(*lines):
    """Return the text of benchmarks, each a name and values of ns, B and allocs."""
    results = {}
    for name, rows in lines:
        results[f"{name}-4"] = [ops([ns], *counts)[0] for ns, *counts in rows]
    return printed(results)


def section_of(diff, *, decided):
    """Return the section of a report whose outcome is decided or not."""
    report = SimpleNamespace(
        labels=LABELS,
        comparison=SimpleNamespace(turns=None, measured=False),
        outcome=SimpleNamespace(units=(), measures=(), decided=decided),
    )
    (section,) = benchmark_sections(diff, report, SimpleNamespace(rows=None))
    return section


@pytest.mark.parametrize(
    ("base", "new", "changed", "same"),
    [
        (
            [("A", [(100 + i, 10, 1) for i in range(6)])],
            [("A", [(200 + i, 5, 1) for i in range(6)])],
            "sec/op worse, B/op better",
            "allocs/op as before",
        ),
        (
            [("A", [(100 + i, 10, 1) for i in range(6)])],
            [("A", [(100.5 + i, 10, 1) for i in range(6)])],
            "",
            "sec/op within noise, B/op and allocs/op as before",
        ),
        (
            [(n, [(100 + i, 10, 1) for i in range(6)]) for n in "ABC"],
            [
                ("A", [(200 + i, 20, 1) for i in range(6)]),
                ("B", [(200 + i, 10, 1) for i in range(6)]),
                ("C", [(50 + i, 10, 1) for i in range(6)]),
            ],
            "sec/op: 2 of 3 worse, 1 better; B/op: 1 of 3 worse",
            "allocs/op as before",
        ),
        (
            [("A", [(100, 10, 1)])],
            [("A", [(200, 20, 2)])],
            "",
            "sec/op, B/op and allocs/op untested (under 4 values per side)",
        ),
    ],
    ids=["one", "noise", "several", "few"],
)
def test_units_are_not_counted_as_benchmarks(base, new, changed, same):
    diff = compared((_measured(*base), _measured(*new)))
    model = section_of(diff, decided=True)
    (tile,) = benchmark_tiles(model)
    assert (tile.values, tile.change.text) == (
        (changed, same) if changed else (same, "")
    )
    between = "; " if ";" in changed else ", "
    assert model.instead == f"{between.join(filter(None, (changed, same)))}."


def test_times_are_not_judged_where_the_outcome_is_not_decided():
    base = [("A", [(100 + i, 10, 1) for i in range(6)])]
    new = [("A", [(80 + i, 20, 1) for i in range(6)])]
    diff = compared((_measured(*base), _measured(*new)))
    model = section_of(diff, decided=False)
    words = "sec/op differs in these runs, B/op worse, allocs/op as before."
    assert model.instead == words
