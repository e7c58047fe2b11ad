"""Two traces compared: sums are each side's, and a trace and itself are equal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pprofdiff.analysis.judge.durations import RANKS
from pprofdiff.analysis.traces.catalogue import MMU
from pprofdiff.analysis.work import counted, rated
from pprofdiff.model.traces.trace import Tasks

from . import built
from .built import START
from .real import STORIES, compared, story, trace_of


@pytest.mark.parametrize("name", STORIES)
def test_every_group_of_both_sides_is_there_once(name):
    diff = story(name)
    for side, place in zip(diff.sides, ("base", "new"), strict=True):
        rows = [getattr(pair, place) for pair in diff.groups]
        assert sorted(row for row in rows if row >= 0) == list(range(len(side.groups)))
    for pair in diff.groups:
        assert max(pair.base, pair.new) >= 0


@pytest.mark.slow
def test_scaled_is_by_second_or_by_operation():
    alone = story("health-check")
    assert alone.mode == "per_second"
    for side, factor in zip(alone.sides, alone.factors, strict=True):
        assert factor == 1e9 / side.wall_ns
    by_work = story("health-check", rated((10.0, 20.0)))
    assert by_work.mode == "per_work"
    assert by_work.factors == (alone.factors[0] / 10, alone.factors[1] / 20)
    done = story("health-check", counted((100, 100)), (10.0, 5.0))
    assert done.rates == (10.0, 20.0)


def test_a_trace_and_itself_do_not_differ():
    diff = compared(trace_of("health-check/base"))
    assert all(row.base_ns == row.new_ns for row in diff.states)
    assert all(pair.base == pair.new for pair in diff.groups)
    for base, new in diff.mmu.values():
        assert base == new


def test_short_traces_say_so_and_have_no_interval():
    diff = story("health-check")
    assert [c.id for c in diff.caveats()] == ["trace-short"] * 2
    assert "another run may differ" in diff.caveats()[0].text
    assert set(diff.latency_intervals) == set(RANKS)
    assert diff.latency_intervals["p99"] is None


def test_windows_that_a_trace_holds_have_a_utilisation():
    diff = story("zstd")
    assert list(diff.mmu) == [w for w in MMU if w <= 200_000_000]
    for shares in diff.mmu.values():
        assert all(0 <= share <= 1 for share in shares)


def with_tasks(count, seconds):
    """Return a trace of so many user tasks, all called mail, and nothing else."""
    index, time = np.zeros(count, np.int32), np.arange(count)
    mails = Tasks(time, time, index + 1, index, index, time, time + 1, index)
    end = START + seconds * 10**9
    return replace(built.empty(), strings=("", "mail"), tasks=mails, end_ns=end)


def test_unlike_numbers_of_user_tasks_are_said():
    trace = with_tasks(300, seconds=2)
    for some, said in ((300, False), (250, False), (150, True), (10, False)):
        new = replace(trace, tasks=trace.tasks.take(np.arange(some)))
        got = [c.text for c in compared(trace, new).caveats()]
        found = [text for text in got if "user tasks" in text]
        assert bool(found) == said
        if said:
            assert "mail: 150 → 75 per second" in found[0]
            assert "--rps 150:75" in found[0]
            by_task = compared(trace, new, rated((150, 75)))
            assert not any("user tasks" in c.text for c in by_task.caveats())
