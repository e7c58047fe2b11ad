"""Pauses and latencies: each point of a curve is the share that is at least as long."""

from __future__ import annotations

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from pprofdiff import palette, plots
from pprofdiff.analysis.traces.quantiles import nearest
from pprofdiff.model.gclogs import GCLog, GCRun
from pprofdiff.plots.durations import latency_in_words, survival
from pprofdiff.plots.layout import RoundedLayout
from pprofdiff.plots.pagecharts import charts
from tests.analysis.gclogs.cycles import cycles_of
from tests.examples import daily
from tests.plots.captured import STORIES, Capture, compare_logs, pools, trace_diff


def curve(ax, name):
    """Return a side's curve, and its dots as (x, y)."""
    whole, *dots = [
        line for line in ax.lines if line.get_color() == palette.colour(name)
    ]
    return whole, [(line.get_xdata()[0], line.get_ydata()[0]) for line in dots]


def shares(values, at):
    """Return which share of values is at least as long, by definition."""
    return [np.mean(values >= x) for x in at]


@pytest.mark.parametrize("name", ["base", "new"])
def test_pauses_match_the_log(name):
    diff = pools()
    whole, dots = curve(plots.pauses(diff, Figure().subplots()), name)
    cycles = getattr(diff, name).shown.run.cycles
    stops = 1000 * np.concatenate(
        (cycles.sweep_termination_wall_us, cycles.mark_termination_wall_us)
    )
    assert whole.get_xdata().tolist() == np.unique(stops).tolist()
    assert whole.get_ydata() == pytest.approx(
        shares(stops, whole.get_xdata()), rel=1e-12
    )
    assert dots[0] == (stops.max(), np.mean(stops == stops.max()))
    ranked = np.sort(stops)
    assert dots[1] == (ranked[nearest(len(stops), 500)], 0.5)


def test_a_quantile_that_a_side_is_too_small_for_is_not_marked():
    """Of 128 pauses there is a 99th percentile, of 76 there is only the longest."""
    ax = plots.pauses(pools(), Figure().subplots())
    diff = pools()
    assert [len(curve(ax, name)[1]) for name in ("base", "new")] == [3, 2]
    assert curve(ax, "base")[1][-1] == (diff.base.whole.p99_pause_us * 1000, 0.01)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == [
        "main: 128 pauses, longest 1.50 ms",
        "pr: 76 pauses, longest 3.70 ms",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
@pytest.mark.parametrize("name", ["base", "new"])
def test_latencies_match_the_trace(story, name):
    diff = trace_diff(story)
    whole, dots = curve(plots.latency(diff, Figure().subplots()), name)
    side = getattr(diff, name)
    values = side.latencies_ns
    assert set(whole.get_xdata().tolist()) <= set(values.tolist())
    assert whole.get_ydata() == pytest.approx(
        shares(values, whole.get_xdata()), rel=1e-12
    )
    assert len(whole.get_xdata()) <= 600
    got = side.latency
    assert [x for x, _ in dots] == [got.max_ns, got.p50_ns, got.p99_ns]
    words = latency_in_words(diff)
    assert f"{got.count:,} waits" in words


def log_of(stops):
    """Return a log whose cycles stop the world for so many µs, twice each."""
    names = ("sweep_termination_wall_us", "mark_termination_wall_us")
    rows = [dict.fromkeys(names, us) | {"start_ms": i} for i, us in enumerate(stops)]
    return [Capture("x.log", "gctrace", GCLog((GCRun(cycles_of(rows), 0),)))]


@pytest.mark.slow
@pytest.mark.parametrize("stops", [[0], [0, 0, 0], [7], [10**9, 1], [5] * 500])
def test_few_equal_and_empty_pauses_are_drawn(stops):
    diff = compare_logs((("a", log_of(stops)), ("b", log_of([0]))))
    for chart in charts(diff, "x"):
        assert "NaN" not in chart.svg
        assert "inf" not in chart.svg
        assert chart.svg.count("<path") > 4


@pytest.mark.slow
def test_without_any_wait_there_is_no_chart():
    diff = trace_diff("zstd")
    assert "latency" in {chart.id for chart in charts(diff, "x")}
    none = replace(diff, base=Waitless(diff.base), new=Waitless(diff.new))
    assert "latency" not in {chart.id for chart in charts(none, "x")}
    ax = plots.latency(none, Figure().subplots())
    assert ax.get_legend().get_texts()[0].get_text() == "main: no waits"
    assert latency_in_words(none).endswith("main: 0 waits; pr: 0 waits.")


class Waitless:
    """A side whose every wait is cut by the trace's end."""

    def __init__(self, side):
        self._side = side
        self.latencies_ns = side.latencies_ns[:0]

    def __getattr__(self, name):
        return getattr(self._side, name)


@settings(derandomize=True)
@given(
    st.lists(st.integers(0, 10**12) | st.integers(0, 30), min_size=1, max_size=400),
    st.integers(2, 30),
)
def test_every_point_is_exact_and_the_ends_are_kept(values, columns):
    ranked = np.sort(np.array(values, np.int64))
    x, y = survival(ranked, columns)
    assert y == pytest.approx(shares(ranked, x), rel=1e-12)
    assert (x[0], x[-1], y[0]) == (ranked[0], ranked[-1], 1)
    assert (np.diff(x) > 0).all()
    distinct = len(np.unique(ranked))
    assert len(x) == distinct if distinct <= 2 * columns else len(x) <= 2 * columns + 2


@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
@pytest.mark.parametrize("size", [(400, 300), (680, 250)])
def test_nothing_is_drawn_through_the_words_of_quantiles(story, size):
    """Neither a curve nor the axis, near whose ends some of them stand."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rc("font", size=11)
        figure = Figure((size[0] / 72, size[1] / 72), dpi=72, layout=RoundedLayout())
        ax = plots.latency(trace_diff(story), figure.subplots())
        figure.draw_without_rendering()
        renderer = FigureCanvasAgg(figure).get_renderer()
        words = [text for text in ax.texts if text.get_text().startswith("p")]
        boxes = [Text.get_window_extent(text, renderer) for text in words]
        drawn = [
            line.get_path().transformed(line.get_transform())
            for line in ax.lines
            if len(line.get_xdata()) > 1
        ]
    assert len(words) == 4
    for box in boxes:
        assert ax.bbox.x0 <= box.x0 < box.x1 <= ax.bbox.x1
        assert box.y0 >= ax.bbox.y0 - 1
        # What is around letters is empty.
        inner = box.padded(-2)
        assert not any(path.intersects_bbox(inner, filled=False) for path in drawn)
