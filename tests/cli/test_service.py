"""A service under load, as one folder a side: `tests/workloads/service` says what is planted."""

import json
import re
import shutil
from dataclasses import replace

import pytest

from pprofdiff.analysis.side import numbered
from pprofdiff.loaders.traces import decode
from pprofdiff.model.side import Capture, Side
from tests.conftest import DATA
from tests.traces.toolchains import run_go

BASE, NEW = DATA / "service" / "base", DATA / "service" / "new"

PLANTED = {
    "/search": ("main.pattern", "search_new.go:9"),
    "/cart": ("main.(*carts).render", "cart_new.go:7"),
    "/orders": ("main.price.func1", "orders_new.go:9"),
}
"""Function and line of each regression, by the endpoint that it is in."""


def test_each_regression_is_named_with_endpoint_function_and_line(cli):
    got = " ".join(cli(BASE, NEW).out.split())
    causes = re.split(r" [1-9]\. ", got.partition(" Why")[2])[1:]
    for endpoint, (function, line) in PLANTED.items():
        said = [one for one in causes if one.startswith(f"endpoint {endpoint}: ")]
        assert len(said) == 1, endpoint
        assert function in said[0]
        assert line in said[0]


@pytest.mark.go
def test_nearly_all_samples_of_a_function_have_the_label_said(cli, tmp_path):
    """As go tool pprof counts them, on both sides together."""
    out = tmp_path / "x.json"
    cli("-q", BASE, NEW, "-o", str(out))
    found = json.loads(out.read_text())["findings"]
    named = {
        unit["name"]: finding
        for finding in found
        if (unit := finding["unit"]) and unit["label"] == "endpoint"
    }
    assert named.keys() == PLANTED.keys()
    for endpoint, (function, _) in PLANTED.items():
        kind = "goroutineleak" if endpoint == "/orders" else "cpu"
        whole, labelled = (
            sum(
                samples(side / f"{kind}.pb.gz", function, *more) for side in (BASE, NEW)
            )
            for more in ((), (f"-tagfocus=endpoint={endpoint}",))
        )
        assert whole >= 30
        assert labelled >= 0.9 * whole


def samples(profile, function, *more):
    """Return how many samples have a function on their stack, by go tool pprof."""
    words = "-sample_index=0", "-unit=minimum", f"-focus=^{re.escape(function)}$", *more
    top = run_go("tool", "pprof", "-top", *words, profile)
    return int(re.search(r"nodes accounting for (\d+)", top)[1])


def test_traces_of_one_process_are_one_run(cli):
    """Of base they overlap, of new one follows the other."""
    got = cli("--full", BASE, NEW).out
    assert "one run per side" in got
    for side, longest in (("base", "flight.trace"), ("new", "trace.out")):
        assert re.search(
            rf"! {side}: 2 traces of one run; figures are of the longest,\s+\S*{longest}",
            got,
        )
    # The window of a snapshot is its own.
    assert "events from 22:42:38.153 UTC" in got


def test_traces_of_two_processes_are_two_runs():
    """Also where threads have the same numbers, as in containers."""
    paths = [DATA / "node-pool" / side / "trace.out" for side in ("base", "new")]
    one, other = (decode(path.read_bytes(), str(path)) for path in paths)
    for trace in (other, replace(other, threads=one.threads)):
        captures = (Capture("trace.out", "trace", each) for each in (one, trace))
        side = Side("base", tuple(captures))
        assert [capture.run for capture in numbered(side).captures] == [0, 1]


def test_what_go_builds_with_is_no_run(cli, tmp_path):
    for side in (BASE, NEW):
        shutil.copytree(side, tmp_path / side.name)
        other = DATA / "unchanged/run1/cpu.pb.gz"
        shutil.copyfile(other, tmp_path / side.name / "default.pgo")
    got = cli("--full", tmp_path / "base", tmp_path / "new").out
    assert "! base and new: not used, profile for go build -pgo: default.pgo" in got
    assert "cpu 2 runs" not in got


def test_a_function_that_is_all_of_the_total_is_not_said_to_cost_no_more(cli):
    """With --focus=search, main.search has 100% of both sides; it costs 3.65×."""
    profiles = (side / "cpu.pb.gz" for side in (BASE, NEW))
    out = cli(*profiles, "--focus", "search").out
    assert "1. main.pattern (search_new.go:9) now takes " in out
    assert "no more" not in out
