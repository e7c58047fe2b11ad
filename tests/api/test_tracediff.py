"""Two traces as objects: their frames are the JSON report's numbers."""

from __future__ import annotations

import json
from functools import cache

import pandas as pd
import pytest

import pprofdiff
from pprofdiff.analysis.traces.workers import workers
from tests.conftest import DATA, STORIES
from tests.examples import daily


@cache
def compared(story):
    """Return a story's traces compared, and the JSON report's entry on them."""
    d = pprofdiff.diff(DATA / story / "base/trace.out", DATA / story / "new/trace.out")
    (entry,) = json.loads(d.to_json())["comparisons"]
    return d, entry


@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_states(story):
    d, entry = compared(story)
    columns = ["state", "reason", "base_ns", "new_ns"]
    rows = d.states[columns].to_dict("records")
    assert rows == entry["states"]
    assert (d.states["delta_ns"] == d.states["new_ns"] - d.states["base_ns"]).all()
    by = entry["normalization"]
    wanted = (
        d.states["new_ns"] * by["new_factor"] - d.states["base_ns"] * by["base_factor"]
    )
    assert d.states["delta_scaled"].tolist() == pytest.approx(wanted.tolist())


@pytest.mark.parametrize("story", STORIES)
def test_waits_add_up_to_the_time_blocked(story):
    """Of the goroutines that do the work; JSON has the same rows."""
    d, entry = compared(story)
    rows = [
        (*row["wait"].values(), *row["end"].values(), row["base_ns"], row["new_ns"])
        for row in entry["waits"]
    ]
    columns = [
        *("reason", "function", "call", "end_kind", "end_function", "end_call"),
        *("base_ns", "new_ns"),
    ]
    assert list(d.waited[columns].itertuples(index=False, name=None)) == rows
    names = workers(d.data)
    for side, column in zip(d.data.sides, ("base_ns", "new_ns"), strict=True):
        groups = side.groups
        chosen = [i for i, name in enumerate(groups.names) if name in names]
        blocked = int(groups.block_ns[chosen].sum())
        assert d.waited[column].sum() == blocked


@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_goroutines(story):
    d, entry = compared(story)
    found, rows = d.goroutines, entry["goroutines"]
    assert found.index.tolist() == [row["name"] for row in rows]
    for side in ("base", "new"):
        for column in ("exec", "sched_wait", "syscall", "total"):
            wanted = [(row[side] or {}).get(f"{column}_ns", 0) for row in rows]
            assert found[f"{side}_{column}_ns"].tolist() == wanted
        blocked = [
            sum((row[side] or {"block_ns": {}})["block_ns"].values()) for row in rows
        ]
        assert found[f"{side}_block_ns"].tolist() == blocked
        counts = [(row[side] or {"count": 0})["count"] for row in rows]
        assert found[f"{side}_count"].tolist() == counts
    status = [
        "both" if row["base"] and row["new"] else "new" if row["new"] else "gone"
        for row in rows
    ]
    assert found["status"].tolist() == status
    assert found["base_exec_ns"].dtype == "int64"


@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_latency_stops_and_mmu(story):
    d, entry = compared(story)
    fields = ["p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"]
    for side in ("base", "new"):
        wanted = [entry["latency"][side][field] for field in fields]
        assert d.latency[f"{side}_ns"].tolist() == wanted
        stops = {stop["kind"]: stop for stop in entry[side]["stw"]}
        for kind, row in d.stw.iterrows():
            assert row[f"{side}_count"] == stops.get(kind, {"count": 0})["count"]
            assert row[f"{side}_total_ns"] == entry[side]["stw_ns"].get(kind, 0)
    bounds = entry["latency"]["delta_interval_ns"]
    for name, pair in bounds.items():
        low, high = d.latency.loc[name, ["delta_low_ns", "delta_high_ns"]]
        assert [low, high] == (pair or [pd.NA, pd.NA]) or pair is None
    assert (
        d.mmu.reset_index()[["window_ns", "base", "new"]].to_dict("records")
        == entry["mmu"]
    )


@pytest.mark.slow
def test_figures():
    d, entry = compared("health-check")
    pairs = {
        "wall": "wall_ns", "events": "events", "gc_cycles": "gc_cycles",
        "gc_mark_wall": "gc_mark_wall_ns", "gc_fraction": "gc_fraction",
        "utilisation": "utilisation", "allocated": "allocated_bytes",
    }  # fmt: skip
    for figure, name in pairs.items():
        for side in ("base", "new"):
            assert d.figures.loc[figure, side] == pytest.approx(entry[side][name])


@pytest.mark.whole
@pytest.mark.slow
def test_both_sides_rows_lie_below_each_other():
    d, _ = compared("node-pool")
    alone = [
        pprofdiff.load(DATA / "node-pool" / side / "trace.out")
        for side in ("base", "new")
    ]
    frame = d.waits
    assert {str(frame[column].dtype) for column in ("name", "cause")} == {"category"}
    for side, trace in zip(("base", "new"), alone, strict=True):
        own = frame[frame["side"] == side].drop(columns="side")
        assert len(own) == len(trace.latency)
        pd.testing.assert_frame_equal(
            own.reset_index(drop=True),
            trace.latency,
            check_categorical=False,
            check_dtype=False,
        )


@pytest.mark.slow
def test_a_plot_takes_the_object():
    from matplotlib.figure import Figure

    d, _ = compared("health-check")
    for name in ("latency", "mmu", "states", "waits", "wait_chains"):
        ax = Figure().subplots()
        assert getattr(d, f"plot_{name}")(ax) is ax
        assert ax.has_data()
