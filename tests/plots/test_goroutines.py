"""Goroutine states: bars are the report's times, base above new."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from pprofdiff import plots
from pprofdiff.goruntime.readable import distinct_names
from pprofdiff.plots.goroutines import states_in_words
from tests.examples import daily
from tests.plots.captured import STORIES, trace_diff

COLUMNS = ("exec_ns", "sched_wait_ns", "syscall_ns", "syscall_block_ns")


@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_bars_are_the_times_of_the_first_pairs(story):
    diff = trace_diff(story)
    ax = plots.states(diff, Figure().subplots(), n=5)
    shown = [text.get_text() for text in ax.get_yticklabels()]
    drawn = {}
    for bar in ax.patches:
        row = round(bar.get_y() + bar.get_height() / 2)
        side = bar.get_y() + bar.get_height() / 2 > row
        drawn.setdefault((row, side), []).append(bar.get_width())
    pairs = [
        pair
        for pair in diff.groups
        if not any(
            row >= 0 and side.groups.tracing[row]
            for side, row in zip(diff.sides, (pair.base, pair.new), strict=True)
        )
    ]
    assert shown
    got = distinct_names(pair.name for pair in pairs[: len(shown)])
    assert [name[:10] for name in shown] == [name[:10] for name in got]
    for row in range(len(shown)):
        pair = pairs[row]
        for i, place in enumerate((pair.base, pair.new)):
            groups = diff.sides[i].groups
            times = [
                0 if place < 0 else int(getattr(groups, c)[place]) for c in COLUMNS
            ]
            times.append(0 if place < 0 else int(groups.block_ns[place].sum()))
            wanted = [ns * diff.factors[i] for ns in times]
            assert drawn[row, bool(i)] == pytest.approx(wanted, rel=1e-12, abs=1e-6)


def test_words_show_the_first():
    words = states_in_words(trace_diff("node-pool"))
    assert words.startswith("Goroutine time per second, main above pr. ")
    assert "runtime.gcBgMarkWorker: running 121 ms → 2.04 ms" in words
