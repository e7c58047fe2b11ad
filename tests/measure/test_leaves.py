"""Each leaf benchmark by itself: its pattern and folder, and how often it is run."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.measure.leaves import (
    Counts,
    Leaf,
    Pilot,
    any_unlike,
    counts_for,
    folders_of,
    pattern_of,
    raised,
    results_of,
    shorter,
)
from pprofdiff.measure.sides import SIDES
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
# From a benchmark that measures nothing to one that takes an hour.
SPEEDS = st.one_of(st.just(0.0), st.floats(1e-11, 3600.0))
PAIRS = st.tuples(SPEEDS, SPEEDS)
SECONDS = st.floats(0.01, 10.0)


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


def pilots(base, new):
    return {"base": Pilot(base, 0.0), "new": Pilot(new, 0.0)}


def factor(counts):
    """Return how many times as often new runs: negative where base does."""
    base, new = counts
    assert max(counts) % min(counts) == 0
    return new // base if new >= base else -(base // new)


@given(PAIRS, SECONDS)
def test_counts_are_whole_and_easy_to_type(speeds, seconds):
    counts = counts_for(pilots(*speeds), seconds)
    assert min(counts) >= 1
    factor(counts)
    assert len(str(min(counts)).rstrip("0")) <= 2
    assert (counts.of("base"), counts.of("new")) == tuple(counts)


@given(st.floats(1e-9, 10.0), st.floats(0.201, 4.999), SECONDS)
def test_below_a_factor_of_five_both_run_equally_often(base, ratio, seconds):
    base_count, new_count = counts_for(pilots(base, base * ratio), seconds)
    assert base_count == new_count


@given(PAIRS, SECONDS)
def test_swapped_sides_have_swapped_counts(speeds, seconds):
    there, back = (counts_for(pilots(*s), seconds) for s in (speeds, speeds[::-1]))
    assert tuple(there) == tuple(back)[::-1]


@given(st.floats(1e-7, 1e-3), st.floats(1e-3, 1e3), st.floats(0.1, 10.0))
def test_both_sides_get_about_the_time(base, ratio, seconds):
    """The slower one takes it, less what two digits leave out; none runs longer."""
    speeds = base, base * ratio
    counts = counts_for(pilots(*speeds), seconds)
    took = [count * speed for count, speed in zip(counts, speeds, strict=True)]
    if min(counts) > 1:
        assert max(took) <= seconds * 1.001
    # Equal iterations differ by less than five in time, other factors by half a unit.
    if seconds > 100 * max(speeds):
        assert max(took) >= 0.9 * seconds
        assert min(took) >= 0.18 * seconds


@given(
    st.tuples(st.floats(1e-9, 1e-2), st.floats(1e-9, 1e-2)),
    st.tuples(st.integers(1, 10**6), st.integers(1, 10**6)),
    st.floats(0.02, 1.0),
)
def test_what_ran_too_briefly_runs_longer(took, before, seconds):
    """A pilot next to busy programs may be many times as slow as the benchmark."""
    times = dict(zip(SIDES, took, strict=True))
    counts = Counts(*before)
    after = raised(counts, times, seconds)
    ran = [min(one.of(s) * times[s] for s in SIDES) for one in (counts, after)]
    if ran[0] >= seconds / 2:
        assert after == counts
    assert ran[1] >= ran[0]
    assert after in (counts, counts_for(pilots(*took), seconds))


@pytest.mark.parametrize(
    ("base", "new", "unlike"),
    [(1e-7, 2e-7, False), (1e-7, 1e-6, True), (0.0, 0.0, False)],
)
def test_a_pilot_that_others_slowed_is_looked_at_again(base, new, unlike):
    leaf = Leaf("p", "X")
    found = {"base": {leaf: Pilot(base, 1.0)}, "new": {leaf: Pilot(new, 1.0)}}
    assert any_unlike(found) == unlike
    again = {leaf: Pilot(3e-7, 2.0)}
    assert shorter(found["new"], again) == {leaf: Pilot(min(new, 3e-7), 1.0)}
