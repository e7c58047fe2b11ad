"""The worst moments: the report's figures, and lanes counted nanosecond by nanosecond."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.analysis.traces.goroutines import is_system, is_tracing
from pprofdiff.analysis.traces.moments import (
    GC_ROOTS,
    GOROUTINES,
    MOMENTS,
    PROCESSORS,
    WINDOW_NS,
    Look,
    Slices,
    moment_pair,
    thinned,
)
from pprofdiff.analysis.traces.mutators import mmu, worst_window
from pprofdiff.model.traces.trace import RangeKind, State

from .built import SOME, rows_of, traces, within
from .real import STORIES, compared, story


def listed(slices):
    """Return slices as (start, end, look)."""
    columns = slices.start_ns, slices.end_ns, slices.look
    return list(zip(*(column.tolist() for column in columns), strict=True))


def seen(slices):
    """Return what a lane shows in each nanosecond that it shows something."""
    return {t: look for start, end, look in listed(slices) for t in range(start, end)}


def running_look(name):
    if name in GC_ROOTS:
        return Look.GC
    return Look.RUNTIME if is_system(name) or is_tracing(name) else Look.PROGRAM


def show(lanes, owner, time, look):
    """Let a lane show a look at a time, unless it shows a greater one."""
    if owner >= 0 and look:
        lane = lanes.setdefault(owner, {})
        lane[time] = max(lane.get(time, 0), look)


def moves(trace):
    """Yield (goroutine, processor or -1, time, look) of what goroutines do."""
    assisted = {
        (int(trace.ranges.goroutine[i]), t)
        for i, t in within(trace, RangeKind.MARK_ASSIST)
    }
    for g in range(len(trace.goroutines)):
        name = trace.strings[trace.goroutines.name[g]]
        looks = {
            State.RUNNABLE: Look.WAITING,
            State.RUNNING: running_look(name),
            State.SYSCALL: Look.SYSCALL,
            State.SYSCALL_BLOCKED: Look.SYSCALL,
        }
        for start, end, state, row in rows_of(trace, g):
            on = state in (State.RUNNING, State.SYSCALL)
            processor = int(trace.intervals.processor[row]) if on else -1
            for time in range(start, end):
                gc = state == State.RUNNING and (g, time) in assisted
                look = looks.get(state, Look.NOTHING)
                yield g, processor, time, Look.GC if gc else look


def counted(trace):
    """Return what lanes of goroutines, of processors, and of the GC show at times."""
    of_goroutines, of_processors, collector = {}, {}, {}
    for g, processor, time, look in moves(trace):
        show(of_goroutines, g, time, look)
        show(of_processors, processor, time, look)
    for i, time in within(trace, RangeKind.SWEEP):
        show(of_processors, int(trace.ranges.processor[i]), time, Look.GC)
        show(of_goroutines, int(trace.ranges.goroutine[i]), time, Look.GC)
    for _, time in within(trace, RangeKind.GC_MARK):
        show(collector, 0, time, Look.MARKING)
    for _, time in within(trace, RangeKind.STOP_THE_WORLD):
        show(collector, 0, time, Look.STOPPED)
    return of_goroutines, of_processors, collector.get(0, {})


@pytest.mark.slow
@pytest.mark.parametrize("name", STORIES)
def test_moments_are_what_the_tables_show(name):
    diff = story(name)
    wait, stop, window = (moment_pair(diff, moment) for moment in MOMENTS)
    for i, side in enumerate(diff.sides):
        assert wait.sides[i].duration_ns == side.latency.max_ns
        longest = {s.kind: s.duration.max_ns for s in side.collections.stops}
        of = stop.sides[i]
        assert of.duration_ns == longest[of.name]
        longest.pop("start trace", None)
        assert of.duration_ns == max(v for v in longest.values() if v is not None)
        share = diff.mmu[WINDOW_NS][i]
        assert (window.sides[i].share, window.sides[i].duration_ns) == (
            share,
            WINDOW_NS,
        )


@pytest.mark.parametrize("name", STORIES)
def test_both_moments_begin_and_end_in_sight_on_one_scale(name):
    diff = story(name)
    for pair in (moment_pair(diff, moment) for moment in MOMENTS):
        for side in pair.sides:
            assert pair.low_ns < 0 < side.duration_ns < pair.high_ns
            assert side.processors <= PROCESSORS
            kinds = [lane.kind for lane in side.lanes]
            assert kinds.count("processor") == side.processors
            assert 0 < kinds.count("goroutine") <= GOROUTINES
            assert 0 <= side.program + side.gc + side.other <= 1
            for lane in side.lanes:
                start, end = lane.slices.start_ns, lane.slices.end_ns
                assert (end > start).all()
                assert (start[1:] >= end[:-1]).all()
                if len(lane.slices):
                    assert pair.low_ns <= start[0] < end[-1] <= pair.high_ns


@pytest.mark.parametrize("name", STORIES)
def test_the_waiting_goroutine_is_the_first_and_waits_all_the_time(name):
    for side in moment_pair(story(name), "wait").sides:
        lane = next(lane for lane in side.lanes if lane.kind == "goroutine")
        rows = lane.slices
        some = (rows.start_ns == 0) & (rows.end_ns == side.duration_ns)
        assert rows.look[some].tolist() == [Look.WAITING]
        assert lane.name == side.name


@pytest.mark.slow
@SOME
@given(traces(), st.sampled_from(MOMENTS))
def test_lanes_show_what_happens_at_each_time(trace, which):
    pair = moment_pair(compared(trace), which)
    if pair is None:
        return
    of_goroutines, of_processors, collector = counted(trace)
    by_label = {
        "GC": collector,
        **{f"P{trace.processors[p]}": lane for p, lane in of_processors.items()},
        **{f"G{trace.goroutines.id[g]}": lane for g, lane in of_goroutines.items()},
    }
    for side in pair.sides:
        begin = trace.start_ns - side.traced_ns[0]
        for lane in side.lanes:
            ours = {begin + time: look for time, look in seen(lane.slices).items()}
            # All of these traces is in sight.
            assert ours == by_label.get(lane.label, {}), lane.label


@pytest.mark.parametrize("name", STORIES)
@pytest.mark.parametrize("window", [1_000_000, WINDOW_NS, 10**12])
def test_the_worst_window_has_the_least_share(name, window):
    for side in story(name).sides:
        series = side.utilisation
        start = worst_window(series, window)
        end = min(start + window, int(series.time_ns[-1]))
        edges = np.clip(series.time_ns, start, end)
        share = float((np.diff(edges) * series.share[:-1]).sum()) / (end - start)
        assert share == pytest.approx(mmu(series, window), rel=0, abs=1e-9)


def some_slices(lengths, looks):
    """Return slices and gaps of these lengths in turns."""
    edges = np.cumsum([0, *lengths])
    n = len(lengths) // 2
    look = np.resize(np.array(looks, np.uint8), n)
    return Slices(
        edges[0 : 2 * n : 2], edges[1 : 2 * n : 2], look, np.zeros(n, np.bool_)
    )


@SOME
@given(
    st.lists(st.integers(1, 9), min_size=2, max_size=60),
    st.lists(st.sampled_from([1, 2, 4]), min_size=1, max_size=7),
    st.integers(1, 9),
)
def test_thinning_keeps_what_is_wide_and_bounds_the_rest(lengths, looks, narrowest):
    rows = some_slices(lengths, looks)
    few = thinned(rows, narrowest)
    whole, kept = listed(rows), listed(few)
    wide = {one for one in whole if one[1] - one[0] >= narrowest}
    assert wide <= set(kept)
    assert (few.start_ns[1:] >= few.end_ns[:-1]).all()
    # Nothing that shows something gets lost, no wide gap is filled.
    before, after = seen(rows), seen(few)
    assert before.keys() <= after.keys()
    for one, other in pairwise(whole):
        if other[0] - one[1] >= narrowest:
            assert not after.keys() & set(range(one[1], other[0]))
    for (start, end, look), several in zip(kept, few.several.tolist(), strict=True):
        inside = [one for one in whole if start <= one[0] and one[1] <= end]
        assert several == (len(inside) > 1)
        spent = {k: sum(e - s for s, e, i in inside if i == k) for k in set(looks)}
        assert spent[look] == max(spent.values())
    assert len(few) <= 2 * (sum(lengths) / narrowest) + 1
