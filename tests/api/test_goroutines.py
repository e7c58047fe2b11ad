"""Goroutines have one id and one name in all frames of a trace, and all reasons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from msgspec import structs

from pprofdiff.analysis.traces.goroutines import BLOCK_REASONS, INACTIVE
from pprofdiff.api.traces import Trace
from tests.analysis.traces.built import empty
from tests.api.test_traces import entry, loaded
from tests.conftest import STORIES
from tests.examples import daily


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
    for frame in (trace.goroutines, trace.created, Trace(empty()).goroutines):
        columns = [c for c in frame if c.startswith("block_ns (")]
        assert columns[: len(BLOCK_REASONS)] == [
            f"block_ns ({r})" for r in BLOCK_REASONS
        ]
        assert (frame["block_ns (network)"] == 0).all()
        assert {"range_ns (GC mark assist)", "range_ns (GC incremental sweep)"} < {
            *frame
        }
