"""Lanes of the worst moments: both sides on one scale, bounded, with words that agree."""

from __future__ import annotations

import re

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from pprofdiff import palette
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.moments import MOMENTS, moment_pair
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.model.csr import offsets_of
from pprofdiff.model.traces.trace import Goroutines, Intervals, Series, State
from pprofdiff.plots.lanes import lanes_height, moment, moment_in_words
from pprofdiff.plots.layout import RoundedLayout
from pprofdiff.plots.pagecharts import charts
from pprofdiff.report.sections.traces.section import trace_parts
from pprofdiff.units import percent, scaled
from tests.analysis.traces.built import empty
from tests.examples import daily
from tests.plots.captured import STORIES, trace_diff
from tests.plots.test_overlaps import overlapping

CASES = [(story, which) for story in STORIES for which in MOMENTS]
SOME = daily(CASES, [case for case in CASES if case[0] in STORIES[1:3]])


def on_the_page(diff, which):
    """Return Axes drawn as on the page, in their figure."""
    pair = moment_pair(diff, which)
    height = lanes_height(pair)
    figure = Figure((270 / 72, height / 72), dpi=72, layout=RoundedLayout())
    return moment(pair, figure.subplots())


def crowded(processors=80, slices=2_000):
    """Return a trace in which each processor runs as many goroutines as short times."""
    counts = np.full(processors, 2 * slices)
    starts = np.arange(2 * slices, dtype=np.int64) * 1_000
    shift = np.arange(processors, dtype=np.int64)[:, np.newaxis] * 7
    rows = processors * 2 * slices
    state = np.resize(np.array([State.RUNNING, State.RUNNABLE], np.uint8), rows)
    none = np.zeros(rows, np.int32)
    n = np.zeros(processors, np.int64)
    return empty(
        start_ns=0,
        end_ns=2_000 * slices + 10_000,
        processors=np.arange(processors),
        gomaxprocs=Series(np.array([0]), np.array([processors])),
        goroutines=Goroutines(
            np.arange(processors) + 1, np.ones(processors, np.int32),
            np.ones(processors, np.bool_), n, n, n.astype(np.int32) - 1,
            n.astype(np.int32),
        ),
        intervals=Intervals(
            offsets_of(counts), (starts + shift).ravel(), state,
            np.zeros(rows, np.uint16), none,
            np.repeat(np.arange(processors, dtype=np.int16), 2 * slices), none, none - 1,
        ),
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("story", "which"), SOME)
def test_both_moments_are_bars_from_0_on_one_scale(story, which):
    diff = trace_diff(story)
    pair = moment_pair(diff, which)
    ax = on_the_page(diff, which)
    assert ax.get_xlim() == (pair.low_ns, pair.high_ns)
    for name, side in zip(("base", "new"), pair.sides, strict=True):
        (bar,) = [
            patch
            for patch in ax.patches
            if isinstance(patch, mpl.patches.Rectangle)
            and mpl.colors.to_hex(patch.get_facecolor()) == palette.colour(name)
        ]
        assert bar.get_x() == 0
        assert bar.get_width() == pytest.approx(side.duration_ns)
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    lanes = [lane for side in pair.sides for lane in side.lanes]
    assert labels == [x.label for x in lanes if x.kind != "gc" or len(x.slices)]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(("story", "which"), SOME)
def test_no_words_lie_on_others(story, which):
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rc("font", size=11)
        assert overlapping(on_the_page(trace_diff(story), which).figure) == []


@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_words_have_the_numbers_of_the_tables(story):
    diff = trace_diff(story)
    rows = {
        row.key: [cell.value for cell in row.cells]
        for part in trace_parts(diff)
        for row in getattr(part, "rows", ())
    }
    words = moment_in_words(moment_pair(diff, "wait"))
    for label, value in zip(("main", "pr"), rows["wait.longest"][1:3], strict=True):
        assert f"{label} {scaled(value, 'ns')} (" in words
    words = moment_in_words(moment_pair(diff, "mutator"))
    for label, value in zip(("main", "pr"), rows["mmu.10000000"][1:3], strict=True):
        assert f"{label} {percent(value, 1)} of 10.0 ms" in words
    stop = moment_pair(diff, "stop")
    for side in stop.sides:
        assert side.name in rows
        assert scaled(side.duration_ns, "ns") in moment_in_words(stop)


@pytest.mark.slow
def test_a_crowd_is_bounded_and_says_what_is_left_out():
    trace = crowded()
    diff = TraceDiff(*(TraceSide(x, x, trace) for x in ("main", "pr")), None)
    (chart,) = [chart for chart in charts(diff, "x") if chart.id == "wait"]
    assert len(chart.svg) <= 30_000
    assert len(set(re.findall(r">(P\d+)<", chart.svg))) == 12
    assert len(set(re.findall(r">(G\d+)<", chart.svg))) <= 4
    assert "fill-opacity" in chart.svg or "opacity" in chart.svg
    assert chart.words.endswith(
        "Shown are the busiest 12 of 80 processors of main and 12 of 80 processors of pr."
    )


def test_a_trace_without_any_has_no_chart():
    diff = TraceDiff(*(TraceSide(x, x, empty()) for x in ("main", "pr")), None)
    assert all(chart.id not in MOMENTS for chart in charts(diff, "x"))
