"""Minimum mutator utilisation: the curve and its dots are the report's numbers."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from pprofdiff import palette, plots
from pprofdiff.analysis.traces.catalogue import MMU
from pprofdiff.analysis.traces.mutators import mmu
from pprofdiff.plots.mutators import mmu_in_words, windows
from tests.examples import daily
from tests.plots.captured import STORIES, trace_diff


@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_the_curve_is_the_mmu_of_each_window(story):
    diff = trace_diff(story)
    ax = plots.mmu(diff, Figure().subplots())
    for i, name in enumerate(("base", "new")):
        whole, *dots = [
            line for line in ax.lines if line.get_color() == palette.colour(name)
        ]
        series = diff.sides[i].utilisation
        wanted = [mmu(series, int(x)) for x in whole.get_xdata()]
        assert whole.get_ydata().tolist() == wanted
        marked = {dot.get_xdata()[0]: dot.get_ydata()[0] for dot in dots}
        assert marked == {window: pair[i] for window, pair in diff.mmu.items()}
        assert max(whole.get_xdata()) == diff.sides[i].wall_ns


def test_words_show_every_dot():
    words = mmu_in_words(trace_diff("health-check"))
    assert words.endswith(
        "1 ms: main 0%, pr 0%; 10 ms: main 48.3%, pr 20.1%; 100 ms: main 86.8%, pr 88.0%."
    )


@pytest.mark.parametrize("wall_ns", [0, 1, 99_999, 100_000, 200_000_000, 10**13])
def test_windows_rise_to_the_whole_trace(wall_ns):
    lengths = windows(wall_ns)
    assert lengths == sorted(set(lengths))
    assert lengths[0] == 100_000
    assert lengths[-1] == max(wall_ns, 100_000)
    assert len(lengths) < 80


def test_a_long_series_has_fewer_windows():
    few, many = windows(10**10, 10**6), windows(10**10, 1000)
    assert set(few) < set(many)
    assert {window for window in MMU if window <= 10**10} <= set(few)
    assert len(few) < 16
    assert len(many) > 40
