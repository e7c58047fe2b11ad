"""One measurement of a benchmark that does 500 times the work on one side."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any, NamedTuple

import numpy as np
import pytest

from pprofdiff.inputs.decompression import decompress
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.measure.leaves import operations_in
from pprofdiff.model.profiles.profile import Operations, operations_of
from tests.cli.test_whole import ENVIRONMENT, PPROFDIFF
from tests.repository import git, repository
from tests.traces.toolchains import once, session

pytestmark = [pytest.mark.go, pytest.mark.whole]

FACTOR = 500
# An operation of base has samples by itself: on a busy machine there are few of them.
FIND = """package index

import "fmt"

type Entry struct{ key, value int }

var kept []*Entry

//go:noinline
func Find(key int) int {
	sum := key
	for i := range 20_000_000 {
		sum = sum*31 + i
	}
	return sum
}

//go:noinline
func Keep(key int) {
	kept = kept[:0]
	for range 3 {
		kept = append(kept, &Entry{key, key})
	}
}

func Name(key int) string { return fmt.Sprint(key) }
"""
TESTS = """package index

import "testing"

var sum int

func BenchmarkFind(b *testing.B) {
	kept = make([]*Entry, 0, 3)
	names := make([][]byte, 1<<10)
	for i := range names {
		names[i] = make([]byte, 1<<10)
	}
	b.ResetTimer()
	for i := range b.N {
		sum += Find(i)
		Keep(i)
	}
	_ = names
}

func TestName(t *testing.T) {
	// vet: the format has a verb of the wrong type.
	t.Logf("%d", Name(1))
}
"""
FASTER = FIND.replace("20_000_000", f"{20_000_000 // FACTOR:_}").replace("3 {", "1 {")


class Measured(NamedTuple):
    """What was printed and kept."""

    out: Any
    report: Any
    notes: Any
    said: str
    got: str

    def profile(self, side, run, kind):
        """Return a profile that was kept."""
        path = self.out / side / str(run) / "BenchmarkFind" / f"{kind}.pb.gz"
        return decode(decompress(path.read_bytes(), ""), str(path))


@pytest.fixture(scope="module")
def measured():
    """Measure a commit that makes a function 500 times as fast, once for all processes."""
    folder = once(session() / "factor", measure)
    said, got = ((folder / name).read_text("utf-8") for name in ("said", "got"))
    notes = json.loads((folder / "runs" / "measure.json").read_text("utf-8"))
    report = json.loads((folder / "x.json").read_text("utf-8"))
    return Measured(folder / "runs", report, notes, said, got)


def measure(folder):
    """Write runs, report and what was printed to a folder."""
    repo = repository(folder / "repo")
    files = {"go.mod": "module example.com/shop\n\ngo 1.24\n"}
    repo.commit("begin", files | {"index/find.go": FIND, "index/find_test.go": TESTS})
    repo.commit("index: look less", {"index/find.go": FASTER})
    out, page = folder / "runs", folder / "x.json"
    words = ("--rounds", "2", "--per-run", "1s", "--time", "10m", "-o-runs", str(out))
    done = subprocess.run(
        [*PPROFDIFF, "measure", *words, f"-o={page}", "HEAD~1", "HEAD", "--", "./..."],
        check=False, cwd=repo.folder, capture_output=True, text=True, env=ENVIRONMENT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert git(repo.folder, "status", "--porcelain") == ""
    (folder / "said").write_text(done.stderr, "utf-8")
    (folder / "got").write_text(done.stdout, "utf-8")


def test_the_cause_is_the_function_and_its_changed_line(measured):
    assert measured.report["outcome"]["verdict"] == "faster"
    assert measured.report["outcome"]["ratio"] < 1 / 50
    first, *_ = measured.report["findings"]
    assert first["title"].startswith("index.Find ")
    assert (first["direction"], first["severity"]) == ("better", "major")
    source = first["source"]
    lines = [one for part in ("lines", "near") for one in source[part]]
    assert lines[0]["file"] == "index/find.go"
    assert [c["subject"] for c in lines[0]["commits"]] == ["index: look less"]


def test_both_sides_have_samples(measured):
    for side in ("base", "new"):
        for run in (1, 2):
            profile = measured.profile(side, run, "cpu")
            index = profile.sample_index("cpu")
            assert profile.values[:, index].sum() > 0
            assert "example.com/shop/index.Find" in profile.function_names()


def test_unlike_iterations_are_reported(measured):
    (unit,) = measured.notes["benchmarks"]
    timed, profiled = unit["timed"], unit["profiled"]
    for counts in (timed, profiled):
        assert counts["new"] % counts["base"] == 0
        assert counts["new"] // counts["base"] > 50
    warning = "base and new run a different number of iterations, so that both get "
    # A busy machine may change the plan after that.
    said = re.search(
        rf"{warning}enough time: BenchmarkFind \(([\d,]+) and ([\d,]+)\)",
        " ".join(measured.said.split()),
    )
    base, new = (int(count.replace(",", "")) for count in said.groups())
    assert new % base == 0
    assert new // base > 50
    # A profile says how many it is of: one, and then as many as were asked for.
    for side in ("base", "new"):
        name = "example.com/shop/index BenchmarkFind"
        found = operations_of(measured.profile(side, 1, "cpu"))
        assert found == Operations(operations_in(profiled[side]), name)


def test_turns_are_in_one_file_with_what_the_kernel_counted(measured):
    rounds = {}
    for side in ("base", "new"):
        for run in (1, 2):
            path = measured.out / side / str(run) / "bench.txt"
            began, first, *lines = path.read_text("utf-8").splitlines()
            rounds.setdefault(run, set()).add(began.removesuffix(f", {side}"))
            assert re.fullmatch(r"measured: in turns, \d+ a layout", first)
            assert lines.count("pkg: example.com/shop/index") == 1
            turns = [line for line in lines if line.startswith("BenchmarkFind")]
            assert len(turns) == measured.notes["turns_a_round"]
            for turn in turns:
                units = re.findall(r"\s([\d.]+) (\S+/op)", turn.replace("\t", " "))
                wanted = ["ns/op", "B/op", "allocs/op", "cpu-ns/op"]
                assert [unit for _, unit in units] == wanted
    # A round began once for both sides.
    assert all(len(began) == 1 for began in rounds.values())
    assert rounds[1] != rounds[2]


def test_objects_of_an_operation_are_exact(measured):
    """Three, or one, of 16 bytes; the MB that the benchmark sets up is not there."""
    assert measured.report["outcome"]["counted"][1] == {
        "unit": "allocs/op", "base": 3.0, "new": 1.0, "noise": False, "exact": True,
    }  # fmt: skip
    for side, objects in (("base", 3), ("new", 1)):
        profile = measured.profile(side, 1, "allocs")
        kinds = [profile.sample_index(f"alloc_{of}") for of in ("objects", "space")]
        done = operations_of(profile).number
        kept = _under(profile, "example.com/shop/index.Keep")
        sums = profile.values[kept][:, kinds].sum(axis=0) / done
        assert sums.tolist() == [objects, 16 * objects]
        assert not _under(profile, "example.com/shop/index.BenchmarkFind")[~kept].any()
        assert not (
            measured.out / side / "2" / "BenchmarkFind" / "allocs.pb.gz"
        ).exists()


def _under(profile, function):
    """Return which samples have a function in their stack."""
    frames, names = profile.frames(), np.array(profile.function_names())
    chosen = names[profile.locations.line_function[frames.line]] == function
    return np.array(
        [
            chosen[start:stop].any()
            for start, stop in zip(frames.offsets, frames.offsets[1:], strict=False)
        ],
        np.bool_,
    )


def test_the_report_names_what_changed_in_its_first_lines(measured):
    first = " ".join(measured.got.split("\n\n")[0].split())
    # On a busy machine CPU time stands before what the clock shows.
    assert re.match(r"base → new Faster: (time|CPU)/op ", first)
    assert "allocs/op 3 → 1" in first
    assert "index.Find" in measured.got
