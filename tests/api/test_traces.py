"""An execution trace in a notebook: frames, what their sums are, and the JSON report."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import hypothesis
import numpy as np
import pandas as pd
import pytest
from msgspec import structs

import pprofdiff
from pprofdiff.analysis.traces.compare import compare_traces
from pprofdiff.analysis.traces.goroutines import BLOCK_REASONS, INACTIVE
from pprofdiff.analysis.traces.profiles import STATES
from pprofdiff.api.traces import Trace
from pprofdiff.model.side import Capture
from pprofdiff.model.traces.trace import (
    CPUSamples,
    RangeKind,
    Regions,
    Series,
    Tasks,
)
from pprofdiff.report.json.traces import trace_row
from tests.analysis.traces.built import END, SOME, START, STRINGS, empty, traces
from tests.conftest import DATA, STORIES
from tests.examples import daily
from tests.traces import make

TIMES = ["exec_ns", "sched_wait_ns", "syscall_ns", "syscall_block_ns", "unknown_ns"]
DURATIONS = ["total_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"]
LABELLED = ["name", "count", "complete", *DURATIONS]
FRAMES = {
    "states": {
        "goroutine": "int64", "name": "category", "state": "category",
        "reason": "category", "start_ns": "int64", "end_ns": "int64", "stack": "int32",
        "processor": "Int64", "thread": "Int64", "by": "Int64",
    },
    "latency": {
        "start_ns": "int64", "duration_ns": "int64", "goroutine": "int64",
        "name": "category", "cut": "bool", "gc_mark_ns": "int64", "stw_ns": "int64",
        "busy_ns": "int64", "cause": "category",
    },
    "stw": {"kind": "str", "start_ns": "int64", "duration_ns": "Int64"},
    "heap": {"time_ns": "int64", "live_bytes": "Int64", "goal_bytes": "Int64"},
    "tasks": {"name": "str", "count": "int64", "complete": "int64"}
    | dict.fromkeys(DURATIONS, "Int64"),
    "regions": {"name": "str", "count": "int64", "complete": "int64"}
    | dict.fromkeys(DURATIONS, "Int64"),
}  # fmt: skip


@cache
def loaded(story):
    """Return a story's trace of base."""
    return pprofdiff.load(DATA / story / "base/trace.out")


@cache
def entry(story):
    """Return the JSON report's entry on that trace."""
    run = Capture("x", "trace", loaded(story).data)
    return json.loads(json.dumps(trace_row(compare_traces(("b", [run]), ("n", [run])))))


def typed(frame):
    """Return a frame's columns and dtypes; text is called so by some pandas only."""
    return {
        name: "str" if str(t) == "object" else str(t)
        for name, t in frame.dtypes.items()
    }


@pytest.mark.slow
def test_a_trace_says_what_it_is():
    trace = loaded("node-pool")
    assert isinstance(trace, Trace)
    assert repr(trace) == "<Trace go 1.26: 3.2 s, 137757 events, 17 goroutines>"
    assert trace.label is None
    path = DATA / "node-pool/base/trace.out"
    assert trace.path == str(path)
    for same in (pprofdiff.load(path.read_bytes()), pprofdiff.load(f"main={path}")):
        pd.testing.assert_frame_equal(same.goroutines, trace.goroutines)
    assert pprofdiff.load(f"main={path}").label == "main"


@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
@pytest.mark.parametrize("name", FRAMES)
def test_columns_and_their_types(story, name):
    assert typed(getattr(loaded(story), name)) == FRAMES[name]
    nothing = getattr(Trace(empty()), name)
    assert (len(nothing), typed(nothing)) == (0, FRAMES[name])


@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_goroutines_match_the_report(story):
    frame = loaded(story).goroutines
    rows = {row["name"]: row["base"] for row in entry(story)["goroutines"]}
    assert set(frame.index) == set(rows)
    assert frame.index.is_unique
    assert frame.index.name == "name"
    assert frame["total_ns"].is_monotonic_decreasing
    for field in ("count", "total_ns", *TIMES, "system", "tracing"):
        assert frame[field].to_dict() == {k: v[field] for k, v in rows.items()}
    for column in frame:
        field, _, rest = column.partition(" (")
        if rest:
            wanted = {k: v[field].get(rest[:-1], 0) for k, v in rows.items()}
            assert frame[column].to_dict() == wanted
    numbers = frame.drop(columns=["system", "tracing"])
    assert set(numbers.dtypes.astype(str)) == {"int64"}


@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_states_are_the_goroutines_time_interval_by_interval(story):
    trace = loaded(story)
    states = trace.states
    spent = (
        (states["end_ns"] - states["start_ns"])
        .groupby(states["state"], observed=True)
        .sum()
    )
    assert (states["end_ns"] >= states["start_ns"]).all()
    # A goroutine's intervals follow one another.
    same = states["goroutine"].eq(states["goroutine"].shift(-1))
    assert (states["end_ns"][same] == states["start_ns"].shift(-1)[same]).all()
    assert states["goroutine"].nunique() == trace.goroutines["count"].sum()
    for state, column in (("running", 1), ("runnable", 1)):
        assert trace.profile(state).data.values[:, column].sum() == spent[state]
    assert trace.profile("blocked").data.values[:, 1].sum() == spent["waiting"]
    calls = spent.get("syscall", 0) + spent.get("syscall_blocked", 0)
    assert trace.profile("syscall").data.values[:, 1].sum() == calls
    assert trace.processors.goroutine_ns == spent["running"]
    assert trace.latency["duration_ns"].sum() == spent["runnable"]
    assert entry(story)["base"]["goroutine_ns"] == spent["running"]


@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_latency_matches_the_report(story):
    frame, got = loaded(story).latency, entry(story)["latency"]["base"]
    own = frame[loaded(story).side.measured]
    # A wait that the trace's end cuts off counts where it is longer than all others.
    whole = frame[~frame["cut"] | loaded(story).side.measured]
    assert (len(own), own["duration_ns"].sum()) == (got["count"], got["total_ns"])
    assert own["duration_ns"].max() == got["max_ns"]
    ranked = own["duration_ns"].sort_values()
    assert ranked.iloc[-(-len(ranked) * 99 // 100) - 1] == got["p99_ns"]
    causes = whole.groupby("cause", observed=True)["duration_ns"].agg(["size", "sum"])
    assert causes["size"].to_dict() == {
        k: v["count"] for k, v in got["by_cause"].items()
    }
    assert causes["sum"].to_dict() == {
        k: v["total_ns"] for k, v in got["by_cause"].items()
    }
    for part in ("gc_mark_ns", "stw_ns", "busy_ns"):
        assert (frame[part] <= frame["duration_ns"]).all()
        assert frame[part].sum() == got[part]


@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_waits_are_the_runnable_states_with_the_same_ids_and_names(story):
    trace = loaded(story)
    keys = ["goroutine", "name", "start_ns", "duration_ns"]
    states = trace.states[trace.states["state"] == "runnable"]
    states = states.assign(duration_ns=states["end_ns"] - states["start_ns"])
    rows = [
        frame[keys].astype({"name": str}).reset_index(drop=True)
        for frame in (trace.latency, states)
    ]
    pd.testing.assert_frame_equal(*rows)
    assert set(trace.latency["goroutine"]) <= set(trace.data.goroutines.id)
    for frame in (trace.latency, trace.states):
        assert set(frame["name"]) <= set(trace.goroutines.index)
    whole = trace.latency[~trace.latency["cut"]]
    by_name = whole.groupby("name", observed=True)["duration_ns"].agg(["size", "sum"])
    got = {
        row["name"]: [row["base"]["latency"][f] for f in ("count", "total_ns")]
        for row in entry(story)["goroutines"]
        if row["base"]["latency"]["count"]
    }
    assert {k: list(v) for k, v in by_name.T.to_dict("list").items()} == got


def test_a_goroutine_of_no_known_root_is_called_so_everywhere():
    held = loaded("health-check").data
    nameless = structs.replace(
        held.goroutines, name=np.zeros_like(held.goroutines.name)
    )
    trace = Trace(replace(held, goroutines=nameless))
    for frame in (trace.latency, trace.states):
        assert list(frame["name"].cat.categories) == [INACTIVE]
    assert trace.goroutines.index.tolist() == [INACTIVE]


def test_a_reason_that_a_trace_lacks_is_zero():
    trace = loaded("node-pool")
    assert "network" not in trace.data.reasons
    for frame in (trace.goroutines, Trace(empty()).goroutines):
        columns = [c for c in frame if c.startswith("block_ns (")]
        assert columns[: len(BLOCK_REASONS)] == [
            f"block_ns ({r})" for r in BLOCK_REASONS
        ]
        assert (frame["block_ns (network)"] == 0).all()
        assert {"range_ns (GC mark assist)", "range_ns (GC incremental sweep)"} < {
            *frame
        }


@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_stops_and_collections_match_the_report(story):
    trace, got = loaded(story), entry(story)["base"]
    stops = trace.stw.groupby("kind")["duration_ns"].sum().astype("int64")
    assert stops.to_dict() == got["stw_ns"]
    gc = trace.side.collections
    assert (gc.started, gc.mark_wall_ns) == (got["gc_cycles"], got["gc_mark_wall_ns"])
    cycles = gc.cycles.to_frame()
    assert (cycles["end_ns"] - cycles["start_ns"]).sum() == got["gc_mark_wall_ns"]
    rows = trace.processors.to_frame()
    parts = rows["running_ns"] + rows["idle_ns"] + rows["syscall_ns"]
    assert (parts == rows["life_ns"]).all()
    assert rows["steals"].sum() == got["steals"]
    windows = [row["window_ns"] for row in entry(story)["mmu"]]
    series = trace.mmu(windows)
    assert (series.name, series.index.name, str(series.dtype)) == (
        "mmu", "window_ns", "float64",
    )  # fmt: skip
    assert series.to_dict() == {r["window_ns"]: r["base"] for r in entry(story)["mmu"]}


@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_the_heap_is_what_it_last_was(story):
    trace = loaded(story)
    frame = trace.heap
    assert frame["time_ns"].is_unique
    series = (trace.data.heap_live_bytes, trace.data.heap_goal_bytes)
    for column, one in zip(("live_bytes", "goal_bytes"), series, strict=True):
        place = np.searchsorted(one.time_ns, frame["time_ns"], "right") - 1
        known = frame[column].notna().to_numpy()
        assert (known == (place >= 0)).all()
        assert (one.value[place[known]] == frame[column][known]).all()


@pytest.mark.slow
@hypothesis.given(traces())
@SOME
def test_a_stop_without_an_end_has_no_duration(data):
    frame, held = Trace(data).stw, data.ranges
    rows = np.flatnonzero(held.kind == RangeKind.STOP_THE_WORLD)
    wanted = [
        (STRINGS[n], s, None if e < 0 else e - s)
        for n, s, e in zip(held.name[rows].tolist(), held.start_ns[rows].tolist(), held.end_ns[rows].tolist(), strict=True)
    ]  # fmt: skip
    found = zip(frame["kind"], frame["start_ns"], frame["duration_ns"], strict=True)
    assert [(k, s, None if d is pd.NA else d) for k, s, d in found] == wanted


def test_series_begin_when_they_are_reported():
    live = Series(np.array([START + 3, START + 5]), np.array([10, 20]))
    goal = Series(np.array([START + 5, START + 5]), np.array([50, 60]))
    frame = Trace(empty(heap_live_bytes=live, heap_goal_bytes=goal)).heap
    assert frame["time_ns"].tolist() == [START + 3, START + 5]
    assert frame["live_bytes"].tolist() == [10, 20]
    assert frame["goal_bytes"].tolist() == [pd.NA, 60]


def test_names_without_a_complete_one_have_no_quantiles():
    one, none = np.array([1]), np.array([-1], np.int32)
    begun, name = np.array([START]), np.array([1], np.int32)
    open_ = np.array([-1])
    tasks = Tasks(one, one - 1, name, none, none, begun, open_, none + 1)
    regions = Regions(none + 1, one, name, name, begun, open_, none + 1)
    trace = Trace(empty(tasks=tasks, regions=regions))
    for frame in (trace.tasks, trace.regions):
        assert list(frame) == LABELLED
        row = frame.iloc[0]
        assert (row["name"], row["count"], row["complete"]) == (STRINGS[1], 1, 0)
        assert all(row[field] is pd.NA for field in DURATIONS)


@pytest.mark.go
def test_tasks_regions_and_samples_of_go():
    trace = pprofdiff.load(make.trace("tasks", "1.26.8"))
    frame = trace.tasks.set_index("name")
    assert frame.loc["order", ["count", "complete"]].tolist() == [5, 5]
    assert frame.loc["order", "total_ns"] >= 5 * frame["p50_ns"].min()
    assert pd.isna(frame.loc["never ended", "p50_ns"])
    assert set(trace.regions["name"]) > {"check", "stock", "price", "whole order"}
    assert trace.cpu() is None
    sampled = pprofdiff.load(make.trace("samples", "1.26.8"))
    assert sampled.cpu().data.values[:, 0].sum() == len(sampled.data.samples) > 0


def test_samples_stand_for_ten_milliseconds_each():
    none = np.full(3, -1, np.int32)
    samples = CPUSamples(np.arange(3) + START, none, none, none, none + 1)
    profile = Trace(empty(samples=samples)).cpu()
    assert profile.data.values.tolist() == [[3, 30_000_000]]
    assert profile.data.duration_ns == END - START


@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_exports_are_profiles_of_waits(story):
    trace = loaded(story)
    for kind in ("net", "sync", "syscall", "sched"):
        types = [t.type for t in trace.export(kind).data.sample_types]
        assert types == ["contentions", "delay"]
    # Go leaves some waits out of its exports, and adds none.
    whole = {
        state: int(trace.profile(state).data.values[:, 1].sum()) for state in STATES
    }
    exported = {
        k: int(trace.export(k).data.values[:, 1].sum())
        for k in ("net", "sync", "syscall", "sched")
    }
    assert exported["net"] + exported["sync"] <= whole["blocked"]
    assert exported["sched"] <= whole["runnable"]
    assert exported["syscall"] <= whole["syscall"]


@pytest.mark.slow
def test_what_there_is_not_is_refused():
    trace = Trace(empty())
    with pytest.raises(pprofdiff.UsageError, match="no state 'idle'"):
        trace.profile("idle")
    with pytest.raises(pprofdiff.UsageError, match="no export 'cpu'"):
        trace.export("cpu")
    assert trace.mmu([1_000, 2_000]).isna().tolist() == [True, True]
    assert trace.mmu([]).empty
    assert trace.cpu() is None
