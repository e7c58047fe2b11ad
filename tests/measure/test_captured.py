"""What profiles of real benchmarks keep, and which lines of their output count."""

from __future__ import annotations

import re
from collections import Counter
from shutil import copy

import numpy as np
import pytest

from pprofdiff.inputs.decompression import decompress
from pprofdiff.loaders.profiles.encode import compress, encode
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.measure.captured import keep_allocations, keep_operations
from pprofdiff.model.profiles.profile import Operations, operations_of
from tests.analysis.building import PERIOD, profile
from tests.measure.benchmarks import bench, build, write
from tests.repository import go

pytestmark = pytest.mark.go

# Each function that spins is of one kind of place that a benchmark has work in.
BENCHMARKS = """package p

import (
	"sync/atomic"
	"testing"
)

var sink [][]byte
var small [][]byte
var total uint64

//go:noinline
func spin(steps int) {
	sum := uint64(steps)
	for i := range steps {
		sum = sum*31 + uint64(i)
	}
	atomic.AddUint64(&total, sum)
}

//go:noinline
func setUp() { spin(40_000_000) }

//go:noinline
func above() { spin(40_000_000) }

//go:noinline
func paused() { spin(2_000_000) }

//go:noinline
func operation() { spin(2_000_000) }

//go:noinline
func parallel() { spin(2_000_000) }

//go:noinline
func served() { spin(2_000_000) }

func BenchmarkAll(b *testing.B) {
	above()
	b.Run("deep/er", func(b *testing.B) {
		setUp()
		ask, done := make(chan int), make(chan int)
		go func() {
			for range ask {
				served()
				done <- 0
			}
		}()
		b.ResetTimer()
		for range b.N {
			b.StopTimer()
			paused()
			b.StartTimer()
			operation()
			ask <- 0
			<-done
		}
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				parallel()
			}
		})
		close(ask)
	})
}

//go:noinline
func three() {
	for range 3 {
		small = append(small[:0], make([]byte, 64))
	}
}

//go:noinline
func one() { sink = append(sink[:0], make([]byte, 1024)) }

//go:noinline
func begins() {
	for range 1024 {
		sink = append(sink, make([]byte, 1024))
	}
}

func BenchmarkAllocates(b *testing.B) {
	begins()
	small = make([][]byte, 0, 1)
	b.ResetTimer()
	for range b.N {
		three()
		one()
	}
}
"""
OF_OPERATIONS = {"operation", "parallel", "served"}
UNTIMED = {"above", "setUp", "paused"}
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
def benchmark(tmp_path_factory):
    """Return what runs a benchmark with a profile, and the folder of both."""
    folder = tmp_path_factory.mktemp("captured")
    write(folder, BENCHMARKS)
    build(folder)

    def profiled(name, pattern, times, *flags):
        path = folder / name
        bench(folder, pattern, times, *(flag.format(path) for flag in flags))
        return path

    return profiled


@pytest.fixture(scope="module")
def cpu(benchmark):
    """Return a CPU profile as Go wrote it, and what is kept, with its CPU seconds."""
    raw = benchmark("raw.pb.gz", "All", 100, "-test.cpuprofile={}")
    kept = copy(raw, raw.with_name("kept.pb.gz"))
    covered = Operations(101, "p BenchmarkAll/deep/er")
    return raw, kept, keep_operations(str(kept), covered, str(raw.parent))


def traces(path):
    """Return (functions leaf first, nanoseconds) of each sample, as Go's pprof has it."""
    _, *parts = go("tool", "pprof", "-traces", "-unit=ns", path).split(
        "-----------+" + "-" * 55
    )
    samples = []
    for part in parts:
        lines = [line for line in part.splitlines() if line.strip()]
        if lines:
            amount, first = lines[0].split(None, 1)
            frames = [first, *(line.strip() for line in lines[1:])]
            names = [frame.removesuffix(" (inline)") for frame in frames]
            samples.append((names, int(amount.removesuffix("ns"))))
    return samples


def test_all_of_operations_is_kept_and_nothing_that_the_timer_leaves_out(cpu):
    for name in sorted(OF_OPERATIONS | UNTIMED):
        was, left = (
            sum(ns for names, ns in traces(path) if f"example.com/p.{name}" in names)
            for path in cpu[:2]
        )
        assert was > 0, name
        assert left == (was if name in OF_OPERATIONS else 0), name


def test_nothing_of_the_harness_is_kept(cpu):
    raw, kept, seconds = cpu
    samples = traces(kept)
    own = [
        (names, ns)
        for names, ns in traces(raw)
        if not any(name.startswith("example.com/p.") for name in names)
    ]
    bad = {f"testing.(*B).{clock}Timer" for clock in ("Start", "Stop", "Reset")}
    bad |= {"runtime/pprof.profileWriter", "runtime.main"}
    assert [names for names, _ in samples if bad.intersection(names)] == []
    loop = "testing.(*B).runN"
    for names, _ in samples:
        if loop in names:
            called = names[names.index(loop) - 1]
            assert called.startswith("example.com/p.Benchmark"), names
    # Nothing is invented either: what is not the benchmark's is the runtime's own.
    rest = Counter({tuple(names): ns for names, ns in own})
    for names, ns in samples:
        if not any(name.startswith("example.com/p.") for name in names):
            assert ns <= rest[tuple(names)]
    assert seconds == pytest.approx(sum(ns for _, ns in samples) / 1e9)


LOOP = ("testing.(*B).runN", "testing.(*B).launch")
# Stacks, leaf first, and whether they are of operations.
STACKS = [
    (("p.work", "p.BenchmarkX", *LOOP), True),
    (("runtime.mallocgc", "p.BenchmarkX", *LOOP), True),
    (("p.work", "p.BenchmarkX.func1", "testing.(*B).runN", "testing.(*B).run1.func1"), True),
    (("runtime.ReadMemStats", "testing.(*B).StopTimer", "p.BenchmarkX", *LOOP), False),
    (("runtime.ReadMemStats", "testing.(*B).StartTimer", *LOOP), False),
    (("testing.(*B).ResetTimer", "p.BenchmarkX", *LOOP), False),
    (("runtime.gcStart", "runtime.GC", *LOOP), False),
    (LOOP, False),
    # A benchmark of benchmarks: what the inner loop calls counts.
    (("p.work", "p.BenchmarkX.func1", *LOOP, "testing.(*B).Run", "p.BenchmarkX", *LOOP), True),
    (("p.parse", "testing.(*B).RunParallel.func1"), True),
    (("p.serve", "net/http.(*conn).serve"), True),
    (("runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker"), True),
    (("runtime.findRunnable", "runtime.schedule", "runtime.mcall"), True),
    (("p.init.0", "runtime.doInit1", "runtime.main"), False),
    (("p.TestMain", "main.main", "runtime.main"), False),
    (("compress/flate.(*compressor).write", "runtime/pprof.profileWriter"), False),
    (("p.TestX", "testing.tRunner"), False),
    (("main.main",), True),
    ((), True),
]  # fmt: skip


def test_stacks_of_operations_are_kept_and_no_others(tmp_path):
    path = tmp_path / "cpu.pb.gz"
    made = profile([(stack, 1 << n) for n, (stack, _) in enumerate(STACKS)])
    path.write_bytes(compress(encode(made)))
    seconds = keep_operations(str(path), Operations(7), "")
    left = decode(decompress(path.read_bytes(), ""), "left")
    wanted = [1 << n for n, (_, kept) in enumerate(STACKS) if kept]
    assert sorted(left.values[:, 0].tolist()) == wanted
    assert seconds == sum(wanted) * PERIOD / 1e9


def test_a_profile_without_samples_stays_one(tmp_path):
    path = tmp_path / "cpu.pb.gz"
    path.write_bytes(compress(encode(profile([]))))
    assert keep_operations(str(path), Operations(7, "p BenchmarkX"), "") == 0.0
    left = decode(decompress(path.read_bytes(), ""), "left")
    assert (len(left), operations_of(left)) == (0, Operations(7, "p BenchmarkX"))


def test_a_profile_says_what_it_covers_to_go_too(cpu):
    got = decode(decompress(cpu[1].read_bytes(), ""), "kept")
    assert operations_of(got) == Operations(101, "p BenchmarkAll/deep/er")
    comments = go("tool", "pprof", "-comments", cpu[1])
    assert comments.strip() == "operations: 101 of p BenchmarkAll/deep/er"


def test_objects_of_operations_are_counted_exactly(benchmark):
    """What setting up takes, 1 MB, is not there; each site is, to the object."""
    flags = "-test.memprofile={}", "-test.memprofilerate=1"
    more = benchmark("more.pb.gz", "Allocates", 1000, *flags)
    fewer = benchmark("fewer.pb.gz", "Allocates", 2, *flags)
    operations = 1001 - 3
    of_them = Operations(operations, "p BenchmarkX")
    keep_allocations(str(more), str(fewer), of_them, str(more.parent))
    left = decode(decompress(more.read_bytes(), ""), "more")
    assert operations_of(left) == Operations(operations, "p BenchmarkX")
    kinds = [left.sample_index(f"alloc_{what}") for what in ("objects", "space")]
    frames, names = left.frames(), left.function_names()
    called = [names[i] for i in left.locations.line_function[frames.line].tolist()]
    sums = Counter()
    for row, values in enumerate(left.values[:, kinds].tolist()):
        stack = called[frames.offsets[row] : frames.offsets[row + 1]]
        own = next((name for name in stack if name.startswith("example.com/p.")), "")
        for kind, value in zip(("objects", "bytes"), values, strict=True):
            sums[own, kind] += value
    # What is in no function of the package is the harness's; nothing of an operation.
    assert {key: n / operations for key, n in sums.items() if key[0]} == {
        ("example.com/p.three", "objects"): 3, ("example.com/p.three", "bytes"): 192,
        ("example.com/p.one", "objects"): 1, ("example.com/p.one", "bytes"): 1024,
    }  # fmt: skip
    # What is in use at the end is no cost of an operation.
    assert not np.delete(left.values, kinds, axis=1).any()


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
