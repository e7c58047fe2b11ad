"""What traces tell: the stories that they tell, and what must not be said of one build."""

from __future__ import annotations

import json

import pytest

from pprofdiff.cli import main
from pprofdiff.diff.findings.traces import (
    blocked,
    gc_capacity,
    latency,
    life_lost,
    overcommitted,
)

RULES = (blocked, gc_capacity, latency, life_lost, overcommitted)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Return a function: two inputs in, findings by id out."""
    path = tmp_path_factory.mktemp("json") / "x.json"

    def run(base, new):
        assert main([f"base={base}", f"new={new}", "-q", f"-o={path}"]) == 0
        report = json.loads(path.read_text("utf-8"))
        return {finding["id"]: finding for finding in report["findings"]}

    return run


def test_health_check_is_told(found, load_story):
    story = load_story("health-check")
    told = found(story.base, story.new)
    wait = told["sched-latency"]
    assert wait["title"].startswith("Goroutines wait 0.49× as long for a processor")
    assert (wait["severity"], wait["direction"]) == ("minor", "better")
    assert "goroutines created" in wait["text"]
    assert "no processor was idle" in wait["text"]
    over = told["gomaxprocs-over"]
    assert over["title"].startswith("GOMAXPROCS is 8, more than the CPU")
    assert over["severity"] == "info"  # it is so on both sides
    assert told["blocked-sync"]["direction"] == "better"


def test_backwards_it_is_worse(found, load_story):
    story = load_story("health-check")
    told = found(story.new / "trace.out", story.base / "trace.out")
    assert told["sched-latency"]["direction"] == "worse"
    assert "gomaxprocs-over" not in told  # needs CPU profiles


def test_life_lost_to_assist(found, load_story):
    story = load_story("zstd")
    told = found(story.base / "trace.out", story.new / "trace.out")
    assert "mark assists" in told["gc-life"]["title"]
    assert told["gc-life"]["direction"] == "better"


@pytest.mark.parametrize(
    "name", ["syncpool", "rss-search", "zstd", "health-check", "node-pool"]
)
def test_a_trace_and_itself_tell_nothing(found, load_story, name):
    trace = load_story(name).base / "trace.out"
    assert found(trace, trace) == {}


@pytest.mark.parametrize("rule", RULES)
def test_without_traces_no_rule_speaks(found, rule, load_story):
    story = load_story("health-check")
    told = found(story.base / "cpu.pb.gz", story.new / "cpu.pb.gz")
    assert rule.__doc__
    assert not {"sched-latency", "gc-life", "gomaxprocs-over", "blocked-sync"} & set(
        told
    )
