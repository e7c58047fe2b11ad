"""Which lines of real benchmark functions count: those that the timer leaves out do not."""

from __future__ import annotations

import re

import pytest

from pprofdiff.inputs.decompression import decompress
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.measure.captured import keep_allocations
from pprofdiff.model.profiles.profile import Operations
from tests.measure.benchmarks import bench, build, write

pytestmark = pytest.mark.go

# Each body calls functions whose name says whether the timer runs, or may run: they
# allocate n times, so that a run of more operations has more of all.
BODIES = {
    "Plain": "counts1(b.N); counts2(b.N)",
    "Reset": """untimed1(b.N)
	for range b.N {
		untimed2(1)
	}
	b.ResetTimer()
	for range b.N {
		counts1(1)
	}""",
    "TwoResets": """untimed1(b.N)
	b.ResetTimer()
	untimed2(b.N)
	b.ResetTimer()
	counts1(b.N)""",
    "Spoken": """counts1(b.N)
	// b.ResetTimer()
	_ = "b.ResetTimer()"
	_ = `
	b.StopTimer()
	`
	counts2(b.N) /*
	b.ResetTimer() */
	counts3(b.N)""",
    "Stopped": """for range b.N {
		b.StopTimer()
		untimed1(1)
		if b.N > 1 {
			untimed2(1)
		}
		b.StartTimer()
		counts1(1)
	}
	b.StopTimer()
	untimed3(b.N)""",
    "Loop": """untimed1(100)
	for b.Loop() {
		counts1(1)
	}
	untimed2(100)""",
    "LoopOfSteps": """untimed1(b.N)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		step(b)
	}""",
    "Helped": """helped(b, func() { counts1(1) })""",
    "Nested": """b.Run("x", func(b *testing.B) {
		untimed1(b.N)
		b.ResetTimer()
		func() {
			counts1(b.N)
		}()
	})""",
    "Perhaps": """counts1(b.N)
	if b.N > 1_000_000 {
		b.ResetTimer()
	}
	counts2(b.N)""",
    "Early": """if b.N > 1 {
		counts1(b.N)
		return
	}
	b.ResetTimer()""",
    "Elsewhere": """start := func() {
		b.StartTimer()
	}
	b.StopTimer()
	start()
	counts1(b.N)""",
    "StartedBelow": """b.StopTimer()
	starts(b)
	counts1(b.N)""",
    "Cases": """switch {
	case b.N < 0:
		b.StopTimer()
	default:
		counts1(b.N)
		b.StartTimer()
	}""",
    "Again": """b.StopTimer()
	for i := range 2 {
		if i > 0 {
			counts1(b.N)
		}
		b.StartTimer()
	}""",
    "Deferred": """counts1(b.N)
	defer b.StopTimer()
	counts2(b.N)""",
}
HELPERS = """
func helped(b *testing.B, operation func()) {
	untimed1(b.N)
	b.ResetTimer()
	for range b.N {
		operation()
	}
}

// A reset in each operation: the time printed is of the last one alone.
func step(b *testing.B) {
	counts1(1)
	b.ResetTimer()
}

func starts(b *testing.B) { b.StartTimer() }
"""
ALLOCATES = """
//go:noinline
func %s(n int) {
	for range n {
		sink = make([]byte, 64)
	}
}
"""
NAMES = [f"{kind}{n}" for kind in ("counts", "untimed") for n in (1, 2, 3)]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Return the folder of a test binary with a benchmark for each body."""
    folder = tmp_path_factory.mktemp("untimed")
    made = [
        f"func Benchmark{n}(b *testing.B) {{\n\t{t}\n}}\n" for n, t in BODIES.items()
    ]
    text = ['package p\n\nimport "testing"\n\nvar sink []byte\n', *made, HELPERS]
    text += [ALLOCATES % name for name in NAMES]
    write(folder, "\n".join(text))
    build(folder)
    build(folder, "-trimpath", binary="trimmed.test")
    return folder


def allocating(folder, name, sources, binary="p.test"):
    """Return the functions of the package that a kept profile has."""
    paths = [folder / f"{name}.{times}.pb.gz" for times in (100, 2)]
    for path, times in zip(paths, (100, 2), strict=True):
        flags = f"-test.memprofile={path}", "-test.memprofilerate=1"
        bench(folder, f"^Benchmark{name}$", times, *flags, binary=binary)
    shown = f"p Benchmark{name}{'/x' if name == 'Nested' else ''}"
    more, fewer = map(str, paths)
    keep_allocations(more, fewer, Operations(98, shown), str(sources))
    names = decode(decompress(paths[0].read_bytes(), ""), name).function_names()
    return {n.rpartition(".")[2] for n in names} & set(NAMES)


@pytest.mark.parametrize("name", BODIES)
def test_what_the_timer_leaves_out_is_dropped_and_nothing_else(package, name):
    called = {"Helped": BODIES["Helped"] + HELPERS.partition("//")[0]}
    text = called.get(name, BODIES[name]) + (
        "counts1" if "step" in BODIES[name] else ""
    )
    wanted = set(re.findall(r"counts\d", text))
    assert wanted
    assert allocating(package, name, package) == wanted


def test_paths_that_are_trimmed_are_of_the_packages_folder(package):
    assert allocating(package, "Reset", package, "trimmed.test") == {"counts1"}


def test_without_sources_all_is_kept(package, tmp_path):
    kept = allocating(package, "Reset", tmp_path, "trimmed.test")
    assert kept == {"counts1", "untimed1", "untimed2"}
