"""Rules over traces, each on a pair that fires it and on pairs that must not."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from pprofdiff.analysis.causes.traces import collecting
from pprofdiff.analysis.judge import calibration
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import rated
from pprofdiff.cli.main import main
from pprofdiff.loaders.traces import decode
from pprofdiff.model.side import Capture
from pprofdiff.model.traces.trace import Series
from tests.analysis import growing

STORIES = ("syncpool", "rss-search", "zstd", "health-check", "node-pool")
IDS = {
    "wait-processor", "wait-gc", "gomaxprocs-over", "utilisation", "gc-capacity",
    "blocked-sync",
}  # fmt: skip


@pytest.fixture(scope="module")
def load(data_folder):
    """Return a function: a capture's folder in, its trace out, read once."""

    @cache
    def read(folder):
        place = f"{folder}/trace.out"
        return decode((data_folder / place).read_bytes(), place)

    return read


@pytest.fixture(scope="module")
def findings_of(load):
    """Return a function: a story in, findings of its traces alone out, by id."""

    @cache
    def find_(name, *, back=False):
        sides = load(f"{name}/base"), load(f"{name}/new")
        return findings(*(reversed(sides) if back else sides))

    return find_


def findings(base, new, work=None):
    """Return what is found, by id, of two traces."""
    traces = (Capture("trace.out", "trace", trace) for trace in (base, new))
    return growing.findings(*traces, settings=Settings(work=work))


# Which story fires a rule, which way it goes, and which story does not.
FIRES = [
    ("wait-processor", "node-pool", "better", "health-check"),
    ("wait-gc", "zstd", "better", "health-check"),
    ("gomaxprocs-over", "health-check", "neutral", "node-pool"),
    ("utilisation", "health-check", "neutral", "node-pool"),
    ("gc-capacity", "node-pool", "better", "health-check"),
    ("blocked-sync", "zstd", "worse", "rss-search"),
    ("blocked-sync", "zstd", "worse", "health-check"),  # 1.9 % in one function
]
OPPOSITE = {"better": "worse", "worse": "better", "neutral": "neutral"}


@pytest.mark.slow
@pytest.mark.parametrize(("id_", "story", "way", "beside"), FIRES)
def test_what_fires_a_rule_and_what_does_not(findings_of, id_, story, way, beside):
    assert findings_of(story)[id_].direction == way
    assert findings_of(story, back=True)[id_].direction == OPPOSITE[way]
    assert id_ not in findings_of(beside)


def test_every_rule_is_tried():
    assert {id_ for id_, *_ in FIRES} == IDS


@pytest.mark.parametrize("name", STORIES)
def test_a_trace_and_itself_show_nothing(load, name):
    trace = load(f"{name}/base")
    assert findings(trace, trace) == {}
    assert findings(trace, trace, rated((7.0, 7.0))) == {}


@pytest.mark.parametrize("name", STORIES)
def test_short_traces_show_of_moments(findings_of, name):
    # All are 0.2 s but one.
    severities = {f.severity for f in findings_of(name).values()}
    assert severities <= ({"minor", "info"} if name == "node-pool" else {"info"})


def test_as_long_ones_matter_where_runs_of_one_build_never_differ_so(load, monkeypatch):
    monkeypatch.setattr(calibration, "LONG_NS", 0)
    for name, ids in (
        ("zstd", {"wait-gc", "blocked-sync"}),  # GC 0.25×: too near
        ("node-pool", {"gc-capacity", "wait-gc"}),
        ("health-check", set()),  # 0.27× of locks: runs differ so
        ("syncpool", set()),
        ("rss-search", set()),
    ):
        found = findings(load(f"{name}/base"), load(f"{name}/new"))
        assert {f.id for f in found.values() if f.severity != "info"} == ids


def test_node_pool_is_reported_by_traces_alone(findings_of):
    first, collect, probe = findings_of("node-pool").values()
    assert first.title == "GC uses 6.1% → 0.1% of GOMAXPROCS"
    assert "3 → 3 cycles in 3.20 s, all triggered by runtime.GC in main.collect" in (
        first.text
    )
    assert "Marking was on for 717 → 13 ms of that wall time" in first.text
    assert "the longest stop of the world took 182 → 190 µs" in first.text
    assert "waited 825 → 22 ms per second for a processor while GC was" in first.text
    assert collect.title == (
        "Goroutines of main.collect wait for GC for 22.4% → 0.4% of their lifetime"
    )
    assert collect.parent == first.id
    assert probe.title == (
        "Goroutines of main.probe wait for a processor for 8.2% → 3.6% of their lifetime"
    )
    assert probe.text.startswith("That is 81.9 → 35.7 ms per second")
    assert "GC was marking for 83.9% → 11.4% of the time they were runnable" in (
        probe.text
    )


def test_health_check_is_reported_by_traces_alone(findings_of):
    found = findings_of("health-check")
    assert found["gomaxprocs-over"].title.startswith("GOMAXPROCS is 8, probably more")


def test_at_most_two_reasons_to_block_are_reported(findings_of):
    for name in STORIES:
        assert sum(id_.startswith("blocked-") for id_ in findings_of(name)) <= 2


def test_by_operation_times_are_scaled_so(load):
    sides = load("zstd/base"), load("zstd/new")
    found = findings(*sides, rated((100.0, 200.0)))["blocked-sync"]
    assert "in sync.(*Mutex).Lock for 2.14 µs → 4.14 ms per op" in found.title
    assert "What held them up: " in found.text
    assert found.evidence == findings(*sides)["blocked-sync"].evidence  # raw
    # The same time a second is a tenth by operation where ten times as many are done.
    same = findings(sides[1], sides[1], rated((100.0, 1000.0)))["wait-processor"]
    assert same.direction == "better"


def limited(trace, limit):
    """Return a trace as if GOMAXPROCS had been another."""
    return replace(
        trace, gomaxprocs=Series(np.array([trace.start_ns]), np.array([limit]))
    )


def test_gomaxprocs_that_differs_and_is_too_much(load):
    trace = load("health-check/base")
    found = findings(trace, limited(trace, 16))["gomaxprocs-over"]
    assert found.title.startswith("GOMAXPROCS is 8 → 16, probably more")
    assert (found.severity, found.direction) == ("minor", "worse")
    back = findings(limited(trace, 16), trace)["gomaxprocs-over"]
    assert (back.severity, back.direction) == ("minor", "better")
    assert "gomaxprocs-over" not in findings(limited(trace, 1), limited(trace, 1))


@pytest.mark.slow
def test_in_bundles_nothing_is_reported_twice(load_story, tmp_path):
    path = tmp_path / "x.json"
    found = {}
    for name in STORIES:
        story = load_story(name)
        assert main([f"base={story.base}", f"new={story.new}", "-q", f"-o={path}"]) == 0
        report = json.loads(path.read_text("utf-8"))
        found[name] = {finding["id"]: finding for finding in report["findings"]}
        # GC logs and CPU profiles show more of GC than traces, and mutex profiles of locks.
        assert "gc-capacity" not in found[name]
        if {"blocked-sync", "contention"} <= set(found[name]):
            assert found[name]["blocked-sync"]["parent"] == "contention"
    health = found["health-check"]
    # Processors held and cores of CPU have a label each.
    assert re.search(
        r"ran on 2\.68 → 1\.49 processors at a time; the CPU profiles "
        r"have \d\.\d+ → \d\.\d+ cores",
        health["gomaxprocs-over"]["text"],
    )
    assert "main.probe" in found["node-pool"]["wait-processor"]["title"]


def collected(base, new, *, rates=None):
    """Return two traces of a second: GC's share, and that of running goroutines."""
    sides = [
        SimpleNamespace(
            collections=SimpleNamespace(gc_fraction=fraction, started=20),
            processors=SimpleNamespace(utilisation=ran),
            wall_ns=10**9,
        )
        for fraction, ran in (base, new)
    ]
    return SimpleNamespace(
        base=sides[0], new=sides[1], sides=sides, rates=rates, varies=lambda _: False
    )


def test_gc_that_takes_less_as_goroutines_run_less_did_not_change():
    less = (0.16, 0.70), (0.05, 0.22)
    assert collecting(collected(*less)) is None
    assert collecting(collected(*less[::-1])) is None
    assert collecting(collected(*less, rates=(1.0, 1.0))) == (0.16, 0.05)
    # They run as much, or more where GC takes less.
    assert collecting(collected((0.16, 0.70), (0.05, 0.65))) == (0.16, 0.05)
    assert collecting(collected((0.16, 0.50), (0.05, 0.90))) == (0.16, 0.05)
    assert collecting(collected((0.128, 0.9), (0.124, 0.9))) is None
