"""Goroutine time is a partition: every nanosecond of every goroutine, once."""

from __future__ import annotations

import pytest

from pprofdiff.analysis.traces.compare import compare_traces
from tests.analysis.traces.test_several import STORIES, captures
from tests.plots.captured import traces

from .real import times_of


def compared(stories):
    """Return the traces of some stories, a run each, compared."""
    sides = [captures(*enumerate(traces(s)[side] for s in stories)) for side in (0, 1)]
    return compare_traces(("base", sides[0]), ("new", sides[1]))


@pytest.mark.parametrize("stories", [*((name,) for name in STORIES), STORIES])
def test_every_nanosecond_is_in_one_cell(stories):
    diff = compared(stories)
    cells = diff.time.ledger.by("program", "root", "state")
    for side, runs in enumerate((cells.runs.base, cells.runs.new)):
        lives = [int(times_of(traces(s)[side]).total_ns.sum()) for s in stories]
        assert [int(run.sum()) for run in runs] == lives


def test_some_root_functions_of_one_name_are_one_row():
    diff = compared(("syncpool",))
    whole = diff.time.ledger.by("root")
    assert len(whole["root"]) == len(
        {row.name for row in diff.groups if row.new >= 0}
        | {diff.base.groups.names[row.base] for row in diff.groups if row.new < 0}
    )
