"""Benchmarks, and what they call in test files, are compared by their code."""

from __future__ import annotations

import pytest

from pprofdiff.measure.rewritten import rewritten

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
    for side in ("base", "new"):
        (tmp_path / side).mkdir()
        for file, text in (("get_test.go", _BENCHMARK), ("help_test.go", _HELPERS)):
            changed = text.replace(old, new) if side == "new" else text
            (tmp_path / side / file).write_text(changed)
        (tmp_path / side / "store.go").write_text(f"package store // {side}")
    sides = str(tmp_path / "base"), str(tmp_path / "new")
    assert rewritten(*sides, ["BenchmarkGet"]) == found


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
    for side in ("base", "new"):
        (tmp_path / side).mkdir()
        text = _TABLE.replace(old, new) if side == "new" else _TABLE
        (tmp_path / side / "get_test.go").write_text(text)
    sides = str(tmp_path / "base"), str(tmp_path / "new")
    assert rewritten(*sides, ["BenchmarkGet", "BenchmarkPut"]) == found
    # A name that it declares itself is not the table's.
    assert "names (in BenchmarkPut)" not in rewritten(*sides, ["BenchmarkPut"])


@pytest.mark.parametrize(
    ("entries", "found"),
    [("0, 10, 20", []), ("20", []), ("10, 30", ["sizes (in BenchmarkGet)"])],
)
def test_more_cases_of_a_table_are_other_benchmarks(tmp_path, entries, found):
    for side, some in (("base", "10, 20"), ("new", entries)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "get_test.go").write_text(
            f"package store\n\nvar sizes = []int{{{some}}}\n\n"
            "func BenchmarkGet(b *testing.B) {\n\tfor _, n := range sizes {\n"
            "\t\tb.Run(name(n), func(b *testing.B) { get(b, n) })\n\t}\n}\n"
        )
    sides = str(tmp_path / "base"), str(tmp_path / "new")
    assert rewritten(*sides, ["BenchmarkGet"]) == found


@pytest.mark.parametrize(
    ("entries", "found"),
    [("0, 10, 20", []), ("20", []), ("10, 30", ["BenchmarkGet"])],
)
def test_more_cases_of_a_loop_are_other_benchmarks(tmp_path, entries, found):
    for side, some in (("base", "10, 20"), ("new", entries)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "get_test.go").write_text(
            "package store\n\nfunc BenchmarkGet(b *testing.B) {\n"
            f"\tfor _, n := range []int{{{some}}} {{\n"
            "\t\tb.Run(name(n), func(b *testing.B) { get(b, n) })\n\t}\n}\n"
        )
    sides = str(tmp_path / "base"), str(tmp_path / "new")
    assert rewritten(*sides, ["BenchmarkGet"]) == found
