"""Each leaf benchmark by itself: patterns of ``go test``, and folders of its own."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.measure.leaves import Leaf, folders_of, pattern_of, results_of
from tests.measure.benchmarks import bench, build, write

# Names as programs give them; `go test` makes them its own (testing/match.go).
NAMES = [
    "plain", "plain", "pla", "n=10", "n=100", "two words", "a/b", "a/b/c", "x.y",
    "x-y", "[a-z]+", "(a|b)", "a|b", ".*", "^start$", "a\\d", "{2,3}", "q?", "é",
    "naïve 世界", "#01", "a#01", "tab\there", "'\"`", "-8", "50%", "", "/", "x/", "€",
]  # fmt: skip
BENCHMARKS = """package p

import "testing"

func BenchmarkPlain(b *testing.B) {
	for range b.N {
	}
}

func BenchmarkPlainer(b *testing.B) { BenchmarkPlain(b) }

func BenchmarkÜber(b *testing.B) {
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			b.Run("deep/er", BenchmarkPlain)
			b.Run("leaf", BenchmarkPlain)
		})
		b.Run(name, BenchmarkPlain)
	}
}
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Return what runs the benchmarks that a pattern matches: their names, counted."""
    folder = tmp_path_factory.mktemp("leaves")
    # JSON's strings are Go's.
    listed = ", ".join(json.dumps(name, ensure_ascii=False) for name in NAMES)
    write(folder, f"{BENCHMARKS}\nvar names = []string{{{listed}}}\n")
    build(folder)

    def names(pattern):
        printed = bench(folder, pattern, 1, "-test.cpu=1")
        return Counter(name for name, unit, _ in results_of(printed))

    return names


@pytest.mark.go
def test_a_pattern_runs_its_leaf_alone(ran):
    every = ran(".")
    assert len(every) > 3 * len(NAMES)
    assert set(every.values()) == {1}
    wrong = {
        name: found
        for name in every
        if (found := ran(pattern_of(Leaf("example.com/p", name)))) != Counter([name])
    }
    assert wrong == {}


@given(
    st.lists(
        st.builds(
            Leaf,
            st.sampled_from(("example.com/a", "example.com/b", "other.com/a")),
            st.text(max_size=120),
        ),
        min_size=1, max_size=8, unique=True,
    )
)  # fmt: skip
def test_folders_are_distinct_and_plain(leaves):
    folders = folders_of(leaves)
    assert list(folders) == leaves
    assert len(set(folders.values())) == len(leaves)
    for name in folders.values():
        assert re.fullmatch(r"[\w.=+-]{1,110}", name, re.ASCII)
        assert name not in (".", "..")
