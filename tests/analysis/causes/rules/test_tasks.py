"""Causes that only traces show, with the tasks or regions that they are in."""

from __future__ import annotations

import pytest

from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.outcome.deciding import outcome
from pprofdiff.api.comparison import compare_paths
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
