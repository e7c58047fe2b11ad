"""Benchmarks, and what they call in test files, are compared by their code."""

from __future__ import annotations

import pytest

from pprofdiff.measure.rewritten import rewritten


def changed(folder, benchmarks, **files):
    """Return which benchmarks changed; `files` are a base's and a new text each."""
    for number, side in enumerate(("base", "new")):
        (folder / side).mkdir()
        for name, texts in files.items():
            (folder / side / f"{name}.go").write_text(texts[number])
    return rewritten(str(folder / "base"), str(folder / "new"), benchmarks)


_BENCHMARK = """\
package store

func BenchmarkGet(b *testing.B) {
	s := filled(b, 100)
	for b.Loop() {
		s.Get("a")
	}
}
"""
_HELPERS = """\
package store

func filled(b *testing.B, n int) *Store { return fill(New(), keys(n)) }

func keys(n int) []string {
	return make([]string, n)
}

func unused() int { return 1 }
"""


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ('Get("a")', 'Get("b")', ["BenchmarkGet"]),
        ("filled(b, 100)", "filled(b, 100) // all", []),
        ("make([]string, n)", "make([]string, 2*n)", ["keys (in BenchmarkGet)"]),
        ("return 1", "return 2", []),
        ("for b.Loop", "b.ReportAllocs()\n\tb.SetBytes(int64(8))\n\tfor b.Loop", []),
        ("for b.Loop", "b.ResetTimer()\n\tfor b.Loop", ["BenchmarkGet"]),
        ("func keys(", "func names(", ["keys (in BenchmarkGet)"]),
        # Another type's method is not the one that the benchmark calls.
        ("func unused", "func (n none) Get(string) {}\n\nfunc unused", []),
        ("BenchmarkGet", "BenchmarkGetOne", []),
        # What variables are called says nothing, unlike what is called.
        (
            "s := filled(b, 100)\n\tfor b.Loop() {\n\t\ts.Get",
            "all := filled(b, 100)\n\tfor b.Loop() {\n\t\tall.Get",
            [],
        ),
        ("\ts :=", "\tt := s()\n\ts :=", ["BenchmarkGet"]),
        ("s.Get", "s.Peek", ["BenchmarkGet"]),
        (
            "n int) []string {\n\treturn make([]string, n",
            "m int) []string {\n\treturn make([]string, m",
            [],
        ),
    ],
)
def test_code_that_a_benchmark_reaches_is_compared(tmp_path, old, new, found):
    files = {
        "get_test": (_BENCHMARK, _BENCHMARK.replace(old, new)),
        "help_test": (_HELPERS, _HELPERS.replace(old, new)),
        "store": ("package store // base", "package store // new"),
    }
    assert changed(tmp_path, ["BenchmarkGet"], **files) == found


_TABLE = """\
package store

const size = 2

var (
	sizes = []int{size}
	names = []string{
		"a",
	}
)

func BenchmarkGet(b *testing.B) {
	for b.Loop() {
		for _, name := range names {
			get(name)
		}
	}
}

func BenchmarkPut(b *testing.B) {
	names := []string{"c"}
	put(b, names, sizes)
}
"""


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        # A loop inside an operation runs over more: an operation does more.
        ('"a",', '"a",\n\t\t"b",', ["names (in BenchmarkGet)"]),
        ("size = 2", "size = 3", ["size (in BenchmarkPut)"]),
        ('"a",', '"a", // The first.', []),
    ],
)
def test_tables_that_a_benchmark_runs_are_compared(tmp_path, old, new, found):
    both = _TABLE, _TABLE.replace(old, new)
    names = ["BenchmarkGet", "BenchmarkPut"]
    assert changed(tmp_path, names, get_test=both) == found
    # A name that it declares itself is not the table's.
    sides = str(tmp_path / "base"), str(tmp_path / "new")
    assert "names (in BenchmarkPut)" not in rewritten(*sides, ["BenchmarkPut"])


_SIZES = """package store

{}
func BenchmarkGet(b *testing.B) {{
	for _, n := range {} {{
		b.Run(name(n), func(b *testing.B) {{ get(b, n) }})
	}}
}}
"""


@pytest.mark.parametrize(
    ("entries", "known"), [("0, 10, 20", True), ("20", True), ("10, 30", False)]
)
def test_more_cases_are_other_benchmarks(tmp_path, entries, known):
    tables = [f"[]int{{{some}}}" for some in ("10, 20", entries)]
    files = {
        "sizes (in BenchmarkGet)": [
            _SIZES.format(f"var sizes = {table}\n", "sizes") for table in tables
        ],
        "BenchmarkGet": [_SIZES.format("", table) for table in tables],
    }
    for found, texts in files.items():
        (folder := tmp_path / found).mkdir()
        got = changed(folder, ["BenchmarkGet"], get_test=texts)
        assert got == ([] if known else [found])
