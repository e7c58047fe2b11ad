"""Causes that only traces show, with the tasks or regions that they are in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pprofdiff
from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.outcome.deciding import outcome
from pprofdiff.api.comparison import compare_paths
from pprofdiff.model.side import Capture, Side
from pprofdiff.model.traces.trace import CPUSamples
from tests.conftest import DATA


def causes(base, new):
    """Return the causes with a task or region, by id, of two traces below `DATA`."""
    found = find(compare_paths(DATA / base, DATA / new).data).causes
    return {one.id: one for one in found if one.label[1]}


def test_the_planted_changes_are_in_their_tasks():
    found = causes("errands/base.trace", "errands/new.trace")
    labels = {one.id: one.label for one in found.values()}
    assert labels["blocked-sync"] == ("task", "quote")
    assert labels["unit-running"] == ("task", "report")
    assert {found[i].severity for i in ("blocked-sync", "unit-running")} == {"major"}
    assert "stock" not in {name for _, name in labels.values()}


def test_regions_where_there_are_no_tasks():
    found = causes("errands/base.regions.trace", "errands/new.regions.trace")
    assert found["blocked-sleep"].label == ("region", "quote")
    assert found["blocked-sleep"].title.startswith("main.quote (main.go:44)")
    both = causes("endpoints/base.regions.trace", "endpoints/new.regions.trace")
    assert both["unit-running"].label == ("region", "/search")


def test_nothing_is_in_a_task_where_nothing_changed():
    assert not causes("errands/base.trace", "errands/again.trace")


def test_where_goroutines_take_all_processors_tasks_do_not_decide():
    """The machine was busy in one of two runs of one build: tasks took 9.8× the time."""
    both = (DATA / f"errands/{name}.trace" for name in ("base", "again"))
    assert outcome(compare_paths(*both).data).verdict == "unknown"


def test_three_regressions_of_a_service_by_its_traces():
    found = causes("service/base/trace.out", "service/new/trace.out")
    labels = {one.id: one.label[1] for one in found.values()}
    assert labels == {
        "blocked-sync": "/cart",
        "unit-running": "/search",
        "goroutines-at-end": "/orders",
    }
    assert "main.(*carts).render (cart_new.go:7)" in found["blocked-sync"].title
    assert "main.price.func1 (chan send)" in found["goroutines-at-end"].title
    assert "orders_new.go:9: 0 → 1,796" in found["goroutines-at-end"].text


@pytest.mark.parametrize("kind", ["service", "errands"])
def test_each_way(kind):
    ends = ("/base/trace.out", "/new/trace.out")
    ends = ends if kind == "service" else ("/base.trace", "/new.trace")
    worse, better = (
        {id_: one.label for id_, one in causes(*pair).items()}
        for pair in ((kind + ends[0], kind + ends[1]), (kind + ends[1], kind + ends[0]))
    )
    assert worse == better


def sampled(side, function, many):
    """Return a trace with CPU samples in tasks /search, some of them in a function."""
    trace = pprofdiff.load(DATA / "service" / side / "trace.out").data
    tasks, text = trace.tasks, trace.strings
    search = [
        i for i, name in enumerate(tasks.name.tolist()) if text[name] == "/search"
    ]
    search = [i for i in search if min(tasks.start_ns[i], tasks.end_ns[i]) >= 0][:12]
    stacks = {
        name: next(
            i
            for i in range(len(trace.stacks))
            if name == next((f for f in trace.functions_of(i) if "main." in f), "")
        )
        for name in {function, "main.search"}
    }
    names = [function] * many + ["main.search"] * (len(search) - many)
    none = np.full(len(search), -1, np.int32)
    samples = CPUSamples(
        tasks.start_ns[search] + 1,
        tasks.goroutine[search],
        none,
        none,
        np.array([stacks[name] for name in names], np.int32),
    )
    return Side(side, (Capture("trace.out", "trace", replace(trace, samples=samples)),))


def test_cpu_samples_of_a_trace_say_which_function_runs():
    base = sampled("base", "main.search", 0)
    new = sampled("new", "main.pattern", 9)
    found = {one.id: one for one in find(compare_sides(base, new)).causes}
    text = "Of the traces' CPU samples in it, main.pattern has 0 of 12 → 9 of 12."
    assert found["unit-running"].text.startswith(text)
