"""The heap over time: every size that is drawn is one that the log or trace shows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from pprofdiff import palette, plots
from pprofdiff.model.gclogs import GCLog, GCRun
from pprofdiff.plots.heaps import banded, heap_in_words, thinned
from pprofdiff.plots.pagecharts import charts
from tests.analysis.gclogs.cycles import cycles_of
from tests.plots.captured import Capture, compare_logs, pools, story_logs, trace_diff

MIB = 1 << 20


def heaps(diff):
    """Return the Axes of base's and of new's heap."""
    figure = Figure()
    plots.heaps_of(diff, figure)
    return figure.axes


def lines(ax, name):
    """Return the lines in a side's colour: the heap, then live; and the goal."""
    own = [line for line in ax.lines if line.get_color() == palette.colour(name)]
    goal = [line for line in ax.lines if line.get_color() == palette.colour("text")]
    return own, goal


@pytest.mark.parametrize(("at", "side"), [(0, "base"), (1, "new")])
def test_a_log_s_cycles_are_drawn_one_by_one(at, side):
    log = getattr(pools(), side)
    (whole, live), (goal,) = lines(heaps(pools())[at], side)
    cycles = log.shown.run.cycles
    assert np.array_equal(live.get_ydata(), cycles.heap_live_mb * MIB)
    assert np.array_equal(goal.get_ydata(), cycles.goal_mb * MIB)
    assert np.array_equal(goal.get_xdata(), cycles.start_ms * 1e6)
    sizes = whole.get_ydata().reshape(-1, 3) / MIB
    assert np.array_equal(sizes[:, 0], cycles.heap_start_mb)
    assert np.array_equal(sizes[:, 1], cycles.heap_end_mb)
    assert np.array_equal(sizes[:, 2], cycles.heap_live_mb)
    times = whole.get_xdata().reshape(-1, 3)
    assert np.array_equal(times[:, 0], cycles.start_ms * 1e6)
    took = (times[:, 1] - times[:, 0]) / 1e3
    assert took == pytest.approx(
        cycles.sweep_termination_wall_us
        + cycles.mark_wall_us
        + cycles.mark_termination_wall_us
    )


def test_a_crowd_is_drawn_as_what_it_covers():
    diff = story_logs("zstd")
    side = diff.base
    assert len(side.shown.run.cycles) > 400
    ax = heaps(diff)[0]
    _, band = ax.collections
    corners = np.concatenate([path.vertices for path in band.get_paths()])
    cycles = side.shown.run.cycles
    low = min(cycles.heap_live_mb.min(), cycles.heap_start_mb.min())
    assert corners[:, 1].min() == low * MIB
    assert corners[:, 1].max() == cycles.heap_end_mb.max() * MIB
    (live,), (goal,) = lines(ax, "base")
    assert set(live.get_ydata() / MIB) <= set(cycles.heap_live_mb.tolist())
    assert set(goal.get_ydata() / MIB) <= set(cycles.goal_mb.tolist())
    assert len(live.get_xdata()) <= 100


def test_base_and_new_share_their_scale():
    left, right = heaps(pools())
    assert left.get_xlim() == right.get_xlim()
    assert left.get_ylim() == right.get_ylim()
    assert [ax.get_title("left") for ax in (left, right)] == [
        "Heap, main: 64 GC cycles in 44.8 s",
        "Heap, pr: 38 GC cycles in 35.2 s",
    ]
    assert left.get_yticklabels()[1].get_text() == "2.5 GiB"


@pytest.mark.parametrize(("at", "side"), [(0, "base"), (1, "new")])
def test_a_trace_s_goal_holds_until_the_next(at, side):
    diff = trace_diff("health-check")
    traced = getattr(diff, side)
    (whole,), (goal,) = lines(heaps(diff)[at], side)
    got = traced.trace.heap_goal_bytes
    assert goal.get_drawstyle() == "steps-post"
    assert goal.get_ydata().tolist() == [*got.value.tolist(), got.value[-1]]
    since = got.time_ns - traced.trace.start_ns
    assert goal.get_xdata().tolist() == [*since.tolist(), traced.wall_ns]
    sizes = traced.trace.heap_live_bytes.value
    assert len(whole.get_ydata()) <= 402
    assert set(whole.get_ydata().tolist()) <= set(sizes.tolist())
    assert whole.get_ydata().max() == sizes.max()


def test_words_show_the_report_s_means():
    diff = pools()
    words = heap_in_words(diff)
    live = diff.base.steady.heap.mean_live / 1024
    assert f"main: 64 GC cycles in 44.8 s, mean live {live:.2f} GiB" in words
    trace = trace_diff("health-check")
    top = trace.new.trace.heap_goal_bytes.value.max() / MIB
    assert f"goal at most {top:.1f} MiB." in heap_in_words(trace)


values = st.floats(-1e6, 1e6, width=32)
rows = st.lists(st.tuples(st.integers(0, 10**6), values), min_size=1, max_size=300)


@settings(derandomize=True)
@given(rows, st.integers(1, 40))
def test_what_is_thinned_keeps_its_range(points, columns):
    x, y = np.array(sorted(points, key=lambda row: row[0]), np.float64).T
    thin_x, thin_y = thinned(x, y, columns)
    assert len(thin_x) <= max(2 * columns, 2 * columns + 4)
    assert (thin_y.min(), thin_y.max()) == (y.min(), y.max())
    assert (thin_x[0], thin_x[-1]) == (x[0], x[-1])
    assert set(zip(thin_x, thin_y, strict=True)) <= set(zip(x, y, strict=True))
    if len(x) <= 2 * columns:
        assert np.array_equal(thin_y, y)


@settings(derandomize=True)
@given(rows, st.integers(1, 40))
def test_a_band_is_the_range_of_each_column(points, columns):
    x, y = np.array(sorted(points, key=lambda row: row[0]), np.float64).T
    band = banded(x, y, columns)
    width = max(x[-1] - x[0], 1e-12) / columns
    column = np.minimum(((x - x[0]) / width).astype(int), columns - 1)
    assert len(band.x) == len(set(column.tolist()))
    for i, place in enumerate(sorted(set(column.tolist()))):
        inside = np.sort(y[column == place])
        assert (band.low[i], band.high[i]) == (inside[0], inside[-1])
        assert band.middle[i] == inside[(len(inside) - 1) // 2]


@pytest.mark.slow
@pytest.mark.parametrize("count", [150, 151, 20_000])
def test_the_worst_log_makes_a_small_chart(count):
    rng = np.random.default_rng(1)
    names = ("heap_start_mb", "heap_end_mb", "heap_live_mb", "goal_mb")
    rows = [
        dict(zip(names, sizes, strict=True)) | {"start_ms": 7 * i}
        for i, sizes in enumerate(rng.integers(0, 1000, (count, 4)).tolist())
    ]
    log = GCLog((GCRun(cycles_of(rows), 0),))
    diff = compare_logs(
        (("a", [Capture("a", "gctrace", log)]), ("b", [Capture("b", "gctrace", log)]))
    )
    assert max(len(chart.svg) for chart in charts(diff, "x")) <= 20_000
