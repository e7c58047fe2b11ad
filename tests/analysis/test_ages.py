"""How long a process ran, and whether it allocated all that time: GC logs, CPU profiles."""

import subprocess

import pytest
from msgspec.structs import replace

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.rules.marking import marking
from pprofdiff.analysis.side import age_seconds, allocating, counted_seconds, is_whole
from pprofdiff.analysis.work import rated
from pprofdiff.loaders.gclogs import parse
from pprofdiff.model.profiles.profile import ValueType
from pprofdiff.model.side import Capture, Side
from pprofdiff.report.model import report_of
from pprofdiff.report.sections import sections, tiles
from tests.analysis.building import profile
from tests.analysis.outcome.evidence import bench, compared_sides, cpu

SPACE = (ValueType("alloc_objects", "count"), ValueType("alloc_space", "bytes"))
LINE = (
    "gc {n} @{at:.3f}s 1%: 0.1+{mark}+0.1 ms clock, 0.2+0/{mark}/0+0.2 ms cpu, "
    "{start}->{start}->{live} MB, 8 MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
)


def log(*cycles, forced=False):
    """Return a GC log of cycles: (seconds, heap when it began, live heap), in MB.

    `forced` shows that runtime.GC ran the last one.
    """
    text = "".join(
        LINE.format(n=n, at=at, mark=2, start=start, live=live)
        for n, (at, start, live) in enumerate(cycles, 1)
    )
    text = f"{text[:-1]} (forced)\n" if forced else text
    return (Capture("gc.log", "gctrace", parse(text.encode(), "gc.log")),)


def allocs(sites):
    """Return an allocs profile: {site: (objects, bytes)}."""
    samples = [((name, "main.main"), values) for name, values in sites.items()]
    one = profile(samples, types=SPACE, period=512 * 1024, duration_ns=0)
    return (Capture("allocs", "profile", one),)


# Allocates 200 MB, a MB at a time, and prints how many of them were before the last
# collection but one, at least and at most, and how many the profile has.
PUBLISH = """package main

import (
	"fmt"
	"runtime"
)

var kept []byte

//go:noinline
func allocate() { kept = make([]byte, 1<<20) }

func collections() int {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.NumGC)
}

func main() {
	runtime.MemProfileRate = 1
	records := make([]runtime.MemProfileRecord, 10000)
	var spans [][2]int
	for i := 0; i < 200; i++ {
		before := collections()
		allocate()
		spans = append(spans, [2]int{before, collections()})
	}
	n, least, most, found := collections(), 0, 0, int64(0)
	for _, span := range spans {
		if span[1] < n-1 {
			least++
		}
		if span[0] < n-1 {
			most++
		}
	}
	got, _ := runtime.MemProfile(records, true)
	for _, r := range records[:got] {
		frames := runtime.CallersFrames(r.Stack())
		for {
			frame, more := frames.Next()
			if frame.Function == "main.allocate" {
				found += r.AllocBytes >> 20
			}
			if !more {
				break
			}
		}
	}
	fmt.Println(n, least, found, most)
}
"""
START = log((0.003, 3, 3), (0.01, 7, 6), (0.03, 15, 14))
STEADY = log(*((i / 4, 8, 4) for i in range(1, 40)))
CPU = cpu({"a.com/x.F": 400})


@pytest.mark.parametrize(
    ("captures", "age", "throughout"),
    [
        ((*STEADY, *CPU), 10, True),
        # The profile lasted longer than the collections that setting up took.
        ((*START, *CPU), 10, False),
        ((*log((40.0, 4, 3)), *CPU), 40, True),
        (START, 0.03, True),
        (CPU, None, True),
    ],
)
def test_the_longest_of_what_is_known_is_the_age(captures, age, throughout):
    side = Side("base", captures)
    assert age_seconds(side) == age
    assert allocating(side)[0] is throughout
    assert not is_whole(side)


@pytest.mark.parametrize(
    ("captures", "until"),
    [
        # One collection publishes nothing: then all is counted.
        ((*log((1.0, 4, 3)), *CPU), 10),
        ((*log((1.0, 4, 3), (3.0, 4, 3)), *CPU), 1.002),
        ((*STEADY, *CPU), 9.502),
        ((*log((1.0, 4, 3), (3.0, 4, 3), forced=True), *CPU), 3.002),
        (CPU, None),
    ],
)
def test_allocations_are_counted_until_the_last_collection_but_one(captures, until):
    assert counted_seconds(Side("base", captures)) == pytest.approx(until, abs=2e-4)


@pytest.mark.parametrize(("held_mb", "known"), [(4, False), (9, True), (90, False)])
def test_a_profile_that_holds_other_bytes_was_written_at_another_time(held_mb, known):
    cycles = log((1.0, 4, 1), (2.0, 5, 1), (3.0, 5, 1), (4.0, 5, 1))
    (one,) = allocs({"main.f": (held_mb, held_mb << 20)})
    sampled = replace(
        one.content,
        period_type=ValueType("space", "bytes"),
        default_sample_type="alloc_space",
    )
    captures = (*cycles, replace(one, content=sampled), *CPU)
    until = counted_seconds(Side("base", captures))
    assert (until is not None) == known


@pytest.mark.go
def test_the_runtime_publishes_allocations_so(tmp_path):
    (tmp_path / "go.mod").write_text("module example.com/publish\n\ngo 1.21\n")
    (tmp_path / "main.go").write_text(PUBLISH)
    done = subprocess.run(
        ["go", "run", "."], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    collections, least, found, most = map(int, done.stdout.split())
    assert collections > 5
    assert least <= found <= most < 200


def test_setting_up_is_no_operations_work():
    """23 MB to start and nothing later: a fifth of the operations have no more each."""
    start = {"a.com/x.Load": (100, 23 << 20)}

    def mode(log, new, rates=(100.0, 20.0)):
        base = (*log, *CPU, *allocs(start))
        compared = compared_sides(base, (*log, *CPU, *allocs(new)), work=rated(rates))
        modes = {d.normalization.mode for d in compared.profiles if not d.is_cpu}
        assert (compared.gc.rates is None) == (log is START)
        (mode,) = modes
        return mode

    assert mode(START, start) == "composition"
    assert mode(START, start, (20.0, 100.0)) == "composition"
    # As much in all of fewer operations is more of each, where it goes on.
    assert mode(STEADY, start) == "per_work"
    # What setting up alone cannot explain: more in all, of fewer operations.
    more = start | {"a.com/x.F": (1000, 60 << 20)}
    assert mode(START, more) == "per_work"
    # Collections go on, and take no more by operation later than they did for base.
    grew = log(
        *((i / 10, 120, 10) for i in range(1, 6)), *((i, 8, 4) for i in range(1, 10))
    )
    base = (*STEADY, *CPU, *allocs(more))
    five = {site: (n, 5 * size) for site, (n, size) in more.items()}
    compared = compared_sides(
        base, (*grew, *CPU, *allocs(five)), work=rated((100.0, 25.0))
    )
    assert {d.normalization.mode for d in compared.profiles} == {
        "per_work",
        "composition",
    }
    # Of as many operations, nothing seems to have changed.
    assert mode(START, start, (100.0, 100.0)) == "per_work"


def test_collections_at_the_start_say_nothing_of_the_profiled_time():
    marked = cpu({("runtime.gcDrain", "runtime.gcBgMarkWorker"): 5, "a.com/x.F": 400})

    def found(log):
        base = (*log, *marked, *bench({"A": 100}))
        return marking(Case(compared_sides(base, base)))

    assert found(STEADY) is not None
    assert found(START) is None


@pytest.mark.parametrize(
    ("cycles", "label", "said"),
    [
        (START, "GC cycles, whole logs", "3 → 3"),
        (STEADY, "GC cycles per second, under load", "4 → 4"),
    ],
)
def test_a_few_cycles_have_no_rate(cycles, label, said):
    (section,) = sections(report_of(compared_sides(cycles, cycles)))
    (tile,) = tiles(section)
    assert (tile.name, tile.values) == (label, said)
