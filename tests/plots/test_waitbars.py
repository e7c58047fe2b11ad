"""Waits by end: the bars are the report's times, each end in its fill."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from pprofdiff import palette, plots
from pprofdiff.analysis.traces.waited import by_end, waited
from pprofdiff.plots.waitbars import END_STYLES
from tests.traces.captured import PAIRS, trace_pair


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("theme", palette.THEMES)
def test_bars_are_the_times_of_ends(name, theme):
    diff = trace_pair(name)
    ax = plots.waits(diff, Figure().subplots(), theme=theme)
    meant, drawn, others = defaultdict(float), defaultdict(float), 0.0
    for end, times in by_end(waited(diff)).items():
        fill = palette.group(END_STYLES[end.kind].group, theme)
        for side, time in enumerate(diff.normalization.scaled(*times)):
            meant[side, fill] += time
    rest = palette.colour("neutral", theme)
    for bar in ax.patches:
        side, fill = (
            round(bar.get_x() + bar.get_width() / 2),
            to_hex(bar.get_facecolor()),
        )
        drawn[side, fill] += bar.get_height()
        others += bar.get_height() * (fill == rest)
    for side in (0, 1):
        whole = sum(time for (of, _), time in meant.items() if of == side)
        shown = sum(time for (of, _), time in drawn.items() if of == side)
        assert shown == pytest.approx(whole, rel=1e-12)
    for key, time in meant.items():
        assert time - others <= drawn[key] * (1 + 1e-12)
        assert drawn[key] <= time * (1 + 1e-12)
    tops = [bar.get_y() + bar.get_height() for bar in ax.patches]
    assert np.max(tops) <= ax.get_ylim()[1]
