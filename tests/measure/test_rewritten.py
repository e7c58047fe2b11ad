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
