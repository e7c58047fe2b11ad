"""Traces in the JSON report: every field, and sums as read."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

from pprofdiff.analysis.traces.compare import compare_traces
from pprofdiff.analysis.traces.waited import chained, waited
from pprofdiff.loaders.traces import read
from pprofdiff.model.side import Capture
from pprofdiff.model.traces.trace import RangeKind, State
from pprofdiff.report.json.traces import trace_row
from tests.analysis.traces.built import END, START, empty
from tests.conftest import DATA, STORIES
from tests.examples import daily
from tests.report.json.shapes import FLAG, INT, NUMBER, SHARE, TEXT, check
from tests.traces import make
from tests.traces.captured import PAIRS, trace_pair

QUANTILES = {
    "count": INT, "total_ns": INT, "p50_ns": "int?", "p90_ns": "int?", "p99_ns": "int?",
    "p999_ns": "int?", "max_ns": "int?",
}  # fmt: skip
LOAD = {"mean": "share?", "most": INT}
SIDE = {
    "path": TEXT, "format": TEXT, "wall_ns": INT, "events": INT, "gomaxprocs": "int?",
    "capacity_ns": INT, "goroutine_ns": INT, "utilisation": "share?", "steals": INT,
    "running_at_once": LOAD, "runnable_at_once": LOAD, "gc_cycles": INT,
    "gc_triggers": {}, "gc_mark_wall_ns": INT, "gc_worker_ns": {}, "gc_assist_cpu_ns": INT,
    "gc_assist_wait_ns": INT, "gc_sweep_ns": INT, "gc_fraction": "share?", "stw_ns": {},
    "stw": [{"kind": TEXT, "count": INT, "duration": QUANTILES, "stopping": QUANTILES}],
    "allocated_bytes": "int?",
}  # fmt: skip
LIFE = ("running", "runnable", "syscall", "syscall_block", "unknown", "blocked")
SUMS = ("exec_ns", "sched_wait_ns", "syscall_ns", "syscall_block_ns", "total_ns", "unknown_ns")  # fmt: skip
GROUP = {
    "count": INT, **dict.fromkeys(SUMS, INT), "block_ns": {}, "range_ns": {},
    "capacity_share": "share?", "life_share": dict.fromkeys(LIFE, "share?"),
    "latency": QUANTILES, "system": FLAG, "tracing": FLAG,
}  # fmt: skip
DURATIONS = {"complete": INT, **QUANTILES}
BOTH = {"base": "share?", "new": "share?"}
WAITS = {**QUANTILES, "by_cause": {}, "gc_mark_ns": INT, "stw_ns": INT, "busy_ns": INT}
FIGURE = {
    "id": TEXT, "label": TEXT, "unit": TEXT, "worse_if": "text?", "base": f"{NUMBER}?", "new": f"{NUMBER}?",
    "base_scaled": f"{NUMBER}?", "new_scaled": f"{NUMBER}?", "ratio": f"{NUMBER}?",
    "low": f"{NUMBER}?", "high": f"{NUMBER}?", "mark": TEXT,
}  # fmt: skip
WAIT = dict.fromkeys(("reason", "function", "call"), TEXT)
CHAIN = {"root": "text?", "through": ([WAIT],), "base_ns": INT, "new_ns": INT}
ENTRY = {
    "kind": TEXT, "normalization": {"mode": TEXT, "base_factor": SHARE, "new_factor": SHARE},
    "base": SIDE, "new": SIDE,
    "states": [{"state": TEXT, "reason": TEXT, "base_ns": INT, "new_ns": INT}],
    "waits": [{
        "wait": WAIT,
        "end": dict.fromkeys(("kind", "function", "call"), TEXT), "line": "text?",
        "base_ns": INT, "new_ns": INT, "chains": [CHAIN],
    }],
    "goroutines": [{"name": TEXT, "base": (GROUP,), "new": (GROUP,)}],
    "created_by": [{"name": TEXT, "base": (GROUP,), "new": (GROUP,)}],
    "latency": {"base": WAITS, "new": WAITS, "delta_interval_ns": {}},
    "mmu": [{"window_ns": INT, **BOTH}],
    "figures": [FIGURE],
    "tasks": [{"name": TEXT, "base": (DURATIONS,), "new": (DURATIONS,)}],
    "regions": [{"name": TEXT, "base": (DURATIONS,), "new": (DURATIONS,)}],
}  # fmt: skip


@cache
def traces(story):
    """Return a story's two traces."""
    paths = [DATA / story / side / "trace.out" for side in ("base", "new")]
    return [read(path.read_bytes(), str(path)) for path in paths]


@pytest.fixture(scope="module")
def entry(written):
    """Return a function: a story's name in, its entry in the JSON report out."""

    @cache
    def read(story):
        sides = (DATA / story / side / "trace.out" for side in ("base", "new"))
        (found,) = written(*sides)["comparisons"]
        return found

    return read


def both(story, entry):
    """Yield each side's word, its trace and the entry."""
    for word, trace in zip(("base", "new"), traces(story), strict=True):
        yield word, trace, entry(story)


@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_every_field_is_there_and_nothing_else(entry, story):
    found = entry(story)
    check(found, ENTRY)
    assert found["kind"] == "trace"
    for row in (*found["goroutines"], *found["created_by"]):
        held = [row[word] for word in ("base", "new") if row[word]]
        assert held
        assert all(0 not in one["block_ns"].values() for one in held)


@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_a_side_is_what_was_read(entry, story):
    for word, trace, found in both(story, entry):
        side, ranges = found[word], trace.ranges
        assert side["wall_ns"] == trace.end_ns - trace.start_ns
        assert (side["events"], side["format"]) == (trace.events, "go1.26")
        assert side["gomaxprocs"] == trace.gomaxprocs.value[-1]
        ends = np.where(ranges.end_ns < 0, trace.end_ns, ranges.end_ns)
        lasts, marking = ends - ranges.start_ns, ranges.kind == RangeKind.GC_MARK
        assert side["gc_mark_wall_ns"] == lasts[marking].sum()
        assert side["gc_cycles"] == (marking & ranges.seen).sum()
        assert sum(side["gc_triggers"].values()) == side["gc_cycles"]
        stops = {}
        for row in np.flatnonzero(ranges.kind == RangeKind.STOP_THE_WORLD).tolist():
            kind = trace.strings[ranges.name[row]]
            stops[kind] = stops.get(kind, 0) + int(lasts[row])
        assert side["stw_ns"] == stops
        assert {stop["kind"] for stop in side["stw"]} == set(stops)
        state = trace.intervals.state == State.RUNNING
        ran = (trace.ends_ns(trace.intervals) - trace.intervals.start_ns)[state].sum()
        assert side["goroutine_ns"] == ran
        assert side["utilisation"] == ran / side["capacity_ns"]
        mean = side["running_at_once"]["mean"]
        assert mean == pytest.approx(ran / side["wall_ns"], rel=1e-9)
        assert 0 < side["running_at_once"]["most"] <= side["gomaxprocs"]


@pytest.mark.go
def test_tasks_and_regions_by_name(written):
    tasks, plain = make.trace("tasks", "1.26.8"), make.trace("sync", "1.26.8")
    (found,) = written(plain, tasks)["comparisons"]
    check(found, ENTRY)
    assert all(row["base"] is None for row in (*found["tasks"], *found["regions"]))
    counted = {
        r["name"]: (r["new"]["count"], r["new"]["complete"]) for r in found["tasks"]
    }
    assert counted == {
        "ended elsewhere": (1, 1), "mail": (5, 5), "never ended": (1, 0), "order": (5, 5),
    }  # fmt: skip
    rows = {row["name"]: row["new"] for row in found["regions"]}
    assert rows["never ended"] == dict.fromkeys(QUANTILES) | {
        "count": 1, "complete": 0, "total_ns": 0,
    }  # fmt: skip
    assert rows["whole order"]["p50_ns"] >= rows["stock"]["p50_ns"] > 0


@pytest.mark.slow
def test_what_a_trace_does_not_show_is_null():
    run = Capture("x", "trace", empty())
    found = trace_row(compare_traces(("base", [run]), ("new", [run])))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    check(found, ENTRY)
    side = found["base"]
    assert side["wall_ns"] == END - START
    assert side["gomaxprocs"] is None
    assert side["utilisation"] is side["gc_fraction"] is None
    assert side["allocated_bytes"] is None
    latency = found["latency"]["base"]
    assert (latency["count"], latency["p99_ns"], latency["max_ns"]) == (0, None, None)
    assert set(found["latency"]["delta_interval_ns"].values()) == {None}
    assert found["goroutines"] == found["tasks"] == found["mmu"] == []


@pytest.mark.parametrize("most", [0, 7, 10_000])
@pytest.mark.parametrize("name", PAIRS)
def test_chains_add_up_to_their_wait(name, most, monkeypatch):
    monkeypatch.setattr("pprofdiff.report.json.traces._CHAINS", most)
    diff = trace_pair(name)
    rows = trace_row(diff)["waits"]
    assert len(rows) == len(waited(diff))
    for row in rows:
        for side in ("base_ns", "new_ns"):
            assert sum(chain[side] for chain in row["chains"]) == row[side]
    chains = [chain for row in rows for chain in row["chains"]]
    listed = [chain for chain in chains if chain["root"] is not None]
    assert len(listed) == min(most, len(chained(diff)))
    assert all(chain["through"] is None for chain in chains if chain not in listed)
