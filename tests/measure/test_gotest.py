"""Turns of real benchmarks: CPU per op where it has nothing from outside the timer."""

from __future__ import annotations

import re

import pytest

from pprofdiff.measure import gobuild
from pprofdiff.measure.goflags import go_test
from pprofdiff.measure.gotest import GoBenchmarks, Plan
from pprofdiff.measure.layouts import Layouts
from pprofdiff.measure.leaves import Counts, Leaf
from pprofdiff.measure.planning import planned
from pprofdiff.measure.sides import SIDES, Checkout
from tests.measure.benchmarks import write

pytestmark = pytest.mark.go

# An operation takes longer where a turn has only one: a busy machine starts processes
# late, and a start that is a quarter of the time looks like set-up.
# Much is done while the timer stands: on a busy machine time is a multiple of CPU time.
BENCHMARKS = """package p

import "testing"

var sum uint64

func spin(n int) {
	for i := range n {
		sum = sum*31 + uint64(i)
	}
}

func BenchmarkOne(b *testing.B) {
	for range b.N {
		spin(1_000_000_000)
	}
}

func BenchmarkOneSetUp(b *testing.B) {
	spin(200_000_000)
	b.ResetTimer()
	for range b.N {
		spin(200_000_000)
	}
}

func BenchmarkSetUp(b *testing.B) {
	spin(20_000_000)
	b.ResetTimer()
	for range b.N {
		spin(1_000_000)
	}
}

func BenchmarkPaused(b *testing.B) {
	for range b.N {
		b.StopTimer()
		spin(5_000_000)
		b.StartTimer()
		spin(1_000_000)
	}
}
"""
TIMES = {"One": 1, "OneSetUp": 1, "SetUp": 100, "Paused": 100}
TURNS = 4


def built(folder, benchmarks):
    """Return the test binaries of a package, for both sides."""
    write(folder, benchmarks)
    asked = go_test([])
    # The linker's flags are taken, so that functions keep their order.
    variables = {**gobuild.environment(), "GOFLAGS": "-buildvcs=false -ldflags=-w"}
    tree = gobuild.Tree(Checkout("new", "new", ""), str(folder), str(folder), variables)
    binaries = gobuild.test_binaries(tree, asked, str(folder / "bin"))
    trees = dict.fromkeys(SIDES, tree)
    return Layouts(asked, trees, dict.fromkeys(SIDES, binaries))


def printed(benchmarks, folder, pattern):
    """Measure one round; return what is found in the lines of both sides."""
    folders = {side: folder / side for side in SIDES}
    for one in folders.values():
        one.mkdir()
    benchmarks.timed_round({side: str(one) for side, one in folders.items()})
    texts = [(one / "bench.txt").read_text() for one in folders.values()]
    return re.findall(pattern, "\n".join(texts), re.MULTILINE)


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """Return (benchmark, whether it has CPU per op) of each line of both sides."""
    folder = tmp_path_factory.mktemp("turns")
    layouts = built(folder, BENCHMARKS)
    plans = {
        Leaf("example.com/p", name): Plan(*[Counts(times, times)] * 3)
        for name, times in TIMES.items()
    }
    benchmarks = GoBenchmarks(layouts, plans, TURNS, TURNS, None)
    found = printed(benchmarks, folder, r"^Benchmark([A-Za-z]+).* ns/op(.*)")
    return [(name, "cpu-ns/op" in rest) for name, rest in found]


@pytest.mark.parametrize(
    ("name", "has"),
    [("One", True), ("OneSetUp", False), ("SetUp", True), ("Paused", False)],
)
def test_cpu_per_op_is_of_operations_or_missing(counted, name, has):
    """Set-up cancels out where a shorter run has it; with one operation, none does."""
    assert counted.count((name, has)) == TURNS * len(SIDES)
    assert (name, not has) not in counted


LEAVES_STATE = """package p

import "testing"

var number, sum = 10_000, 0

func BenchmarkFirst(b *testing.B) {
	number = 1
	for range b.N {
		sum++
	}
}

func BenchmarkLater(b *testing.B) {
	for range b.N {
		for i := range number {
			sum ^= sum*31 + i
		}
	}
}
"""


def test_iterations_suit_a_benchmark_by_itself(tmp_path):
    """In the pilot, what First leaves makes Later a thousand times faster."""
    layouts = built(tmp_path, LEAVES_STATE)
    (later,) = (
        plan.timed.base
        for leaf, plan in planned(layouts, 1.0, list[str]().append).plans.items()
        if leaf.name == "Later"
    )
    # A turn is a tenth of a second or less, and an op takes a microsecond at least.
    assert later <= 100_000


def test_all_turns_of_a_benchmark_have_the_iterations_that_suit_it(tmp_path):
    """A pilot on a busy machine may be many times too slow; cost may depend on b.N."""
    layouts = built(tmp_path, LEAVES_STATE)
    few = Plan(*[Counts(20, 20)] * 3)
    plans = {Leaf("example.com/p", "Later"): few}
    benchmarks = GoBenchmarks(layouts, plans, TURNS, TURNS, 0.05)
    counts = printed(benchmarks, tmp_path, r"^BenchmarkLater\S*\s+(\d+)")
    assert len(counts) == TURNS * len(SIDES)
    assert len(set(counts)) == 1
    assert int(counts[0]) > few.timed.base
