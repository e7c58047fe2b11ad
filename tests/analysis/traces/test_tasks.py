"""Tasks and regions against Go's summary of them; CPU samples against its events."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from pprofdiff.analysis.traces.goroutines import root_name
from pprofdiff.analysis.traces.profiles import PERIOD_NS, cpu_profile
from pprofdiff.analysis.traces.quantiles import quantiles
from pprofdiff.analysis.traces.tasks import regions, tasks
from tests.traces import oracle

from .built import empty
from .real import path_of, slack_ns, trace_of

VERSIONS = ("1.22.12", "1.23.12", "1.26.8")


def expect(table, rows, slack):
    """Compare durations by name with rows of (name, start, end)."""
    assert [*table.counts] == sorted({name for name, _, _ in rows})
    assert table.counts == Counter(name for name, _, _ in rows)
    whole = [row for row in rows if None not in row]
    for name, count in table.counts.items():
        times = [end - start for one, start, end in whole if one == name]
        theirs, ours = quantiles(np.array(times, np.int64)), table.durations.row(name)
        assert ours.count == theirs.count
        assert abs(ours.total_ns - theirs.total_ns) <= slack * count
        assert abs((ours.max_ns or 0) - (theirs.max_ns or 0)) <= slack


@pytest.mark.go
@pytest.mark.parametrize("name", [f"tasks-{go}" for go in VERSIONS])
def test_tasks_and_regions_match_go(name):
    trace, go = trace_of(name), oracle.summary(path_of(name))
    slack = slack_ns(trace)
    # Go's summary has a task 0 for what is of none.
    real = [(t["name"], t["start_ns"], t["end_ns"]) for t in go["tasks"] if t["id"]]
    expect(tasks(trace), real, slack)
    # Go gives goroutines a region without a name for the task that they inherit, and
    # ends a region that did not with the goroutine's end.
    found = [
        (r["name"], r["start_ns"], None if r["end_ns"] == g["end_ns"] else r["end_ns"])
        for g in go["goroutines"]
        for r in g["regions"]
        if r["name"]
    ]
    expect(regions(trace), found, slack)
    frame = tasks(trace).to_frame().set_index("name")
    assert frame["complete"].to_dict() == {
        "ended elsewhere": 1,
        "mail": 5,
        "never ended": 0,
        "order": 5,
    }
    assert frame["p50_ns"].isna()["never ended"]


@pytest.mark.go
@pytest.mark.parametrize("name", [f"samples-{go}" for go in VERSIONS])
def test_cpu_samples_match_go(name):
    trace, go = trace_of(name), oracle.summary(path_of(name))
    profile = cpu_profile(trace)
    roots = dict(
        zip(trace.goroutines.id.tolist(), trace.goroutines.name.tolist(), strict=True)
    )
    theirs = Counter()
    for sample in go["cpu_samples"]:
        stack = tuple(frame["func"] for frame in go["stacks"][sample["stack"]])
        g = sample["goroutine"]
        theirs[stack, root_name(trace.strings[roots[g]]) if g >= 0 else None] += 1
    frame = profile.to_frame()
    ours = Counter()
    for row in frame.to_dict("records"):
        stack = tuple(reversed(row["stack"].split(";"))) if row["stack"] else ()
        label = row.get("label:goroutine")
        ours[stack, label if isinstance(label, str) else None] += row["samples"]
    assert ours == theirs
    assert (frame.cpu == frame.samples * PERIOD_NS).all()
    assert profile.period == PERIOD_NS
    assert profile.duration_ns == trace.end_ns - trace.start_ns
    assert [t.type for t in profile.sample_types] == ["samples", "cpu"]


@pytest.mark.slow
def test_a_trace_without_them_has_none():
    assert cpu_profile(empty()) is None
    assert tasks(empty()).counts == regions(empty()).counts == {}
    assert list(tasks(empty()).to_frame().columns)[:3] == ["name", "count", "complete"]
