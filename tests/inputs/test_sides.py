"""What ``--state`` makes of traces: profiles of time, or of the CPU samples inside."""

from __future__ import annotations

import json

import pytest

import pprofdiff
from pprofdiff.analysis.traces.profiles import STATES
from tests.conftest import DATA
from tests.traces import make

TRACES = DATA / "health-check/base/trace.out", DATA / "health-check/new/trace.out"
VERSIONS = ("1.21.13", "1.26.8")
NONE = (
    "pprofdiff: {}: no CPU samples in this trace: run a CPU profile while it is traced "
    "(Go 1.19 or later), or ask for another --state\n"
)


def profile_in(cli, path, *words):
    """Return a JSON report, and its only comparison."""
    done = cli(*words, "-q", f"-o={path}")
    assert (done.status, done.out, done.err) == (0, "", "")
    report = json.loads(path.read_text("utf-8"))
    (found,) = report["comparisons"]
    assert found["kind"] == "profile"
    return report, found


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES)
def test_time_in_a_state_is_a_profile_of_that_name(cli, tmp_path, state):
    words = f"--state={state}", *TRACES
    report, found = profile_in(cli, tmp_path / "x.json", *words)
    assert (found["sample_type"], found["unit"]) == (state, "nanoseconds")
    both = [pprofdiff.load(path).profile(state) for path in TRACES]
    assert json.loads((both[1] - both[0]).to_json())["comparisons"] == [found]
    for side, own in zip(("base", "new"), both, strict=True):
        assert found["total"][side] == own.data.values[:, 1].sum() > 0
        for parts in (found["groups"], found["categories"]):
            assert found["total"][side] == sum(row[side] for row in parts)
    # It is no CPU time: what explains CPU says nothing of it.
    assert report["findings"] == []
    group = max(found["groups"], key=lambda row: row["base"])["id"]
    explained = cli(*words, f"--explain={group}")
    assert (explained.status, explained.err) == (0, "")
    assert group in explained.out
    flat = sum(row["delta_flat"] for row in found["functions"])
    assert flat == found["total"]["delta"]


@pytest.mark.go
@pytest.mark.parametrize("version", VERSIONS)
def test_cpu_samples_inside_traces_are_a_cpu_profile(cli, tmp_path, version):
    made = make.trace("samples", version)
    _, found = profile_in(cli, tmp_path / "x.json", "--state=cpu", made, made)
    trace = pprofdiff.load(made)
    assert (found["name"], found["sample_type"]) == ("cpu", "cpu")
    assert found["total"]["base"] == 10_000_000 * len(trace.data.samples) > 0
    assert found["total"]["delta"] == 0
    # Runtime categories and who pays are there, as of every CPU profile.
    assert sum(row["base"] for row in found["categories"]) == found["total"]["base"]
    spun = next(row for row in found["functions"] if row["name"] == "main.spin")
    assert spun["base_cum"] > found["total"]["base"] / 2
    for view in (["-top"], ["-top", "-cum"], ["-peek=spin"]):
        out = cli("--state=cpu", *view, made).out
        assert out.startswith("Type: cpu\n")
        assert f"Total samples = {found['total']['base'] // 1_000_000}ms" in out
        assert "main.spin" in out
    less = cli("--state=cpu", "-top", f"-diff_base={made}", made).out
    assert "Showing nodes accounting for 0, 0% of" in less
    whole = cli("--state=cpu", made, made, "--explain=main.spin")
    assert (whole.status, whole.err) == (0, "")


@pytest.mark.go
def test_cpu_samples_leave_as_a_profile(cli, tmp_path):
    made = make.trace("samples", "1.26.8")
    path = tmp_path / "cpu.pb.gz"
    assert cli("--state=cpu", "-proto", made, f"-o={path}").status == 0
    written, held = pprofdiff.load(path).data, pprofdiff.load(made).cpu().data
    assert written.sample_types == held.sample_types
    assert written.values.sum(axis=0).tolist() == held.values.sum(axis=0).tolist()
    assert written.period == held.period


@pytest.mark.slow
@pytest.mark.parametrize("words", [[], ["-top"], ["-peek=x"], ["-o=x.json", "-q"]])
def test_a_trace_without_cpu_samples_is_one_line(cli, words):
    done = cli("--state=cpu", *words, f"-diff_base={TRACES[0]}", TRACES[1])
    assert (done.status, done.out) == (2, "")
    assert done.err == NONE.format(TRACES[0])


@pytest.mark.go
def test_the_trace_that_has_none_is_named(cli):
    some, none = make.trace("samples", "1.26.8"), make.trace("tasks", "1.26.8")
    for base, new in ((some, none), (none, some)):
        done = cli("--state=cpu", base, new)
        assert (done.status, done.out, done.err) == (2, "", NONE.format(none))


@pytest.mark.parametrize("state", [*STATES, "cpu"])
def test_a_side_without_a_trace_is_one_line(cli, state):
    done = cli(f"--state={state}", TRACES[0], DATA / "zstd/new/cpu.pb.gz")
    assert (done.status, done.out) == (2, "")
    said = f"new: --state {state} needs execution traces: there is none on this side"
    assert done.err in (f"pprofdiff: {said}\n", NONE.format(TRACES[0]))
