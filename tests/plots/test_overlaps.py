"""No text of a plot is written over another one, whatever is drawn."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import matplotlib as mpl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from pprofdiff import plots
from pprofdiff.plots.layout import RoundedLayout
from tests.examples import daily
from tests.plots.captured import (
    PLOTS,
    STORIES,
    pools,
    profile_diff,
    story_logs,
    trace_diff,
)

pytestmark = pytest.mark.slow

PROFILES = ("cpu", "allocs", "heap", "mutex", "block", "goroutine")
# A chart of the page, one in a notebook next to another one, a strip of a picture.
SIZES = ((680, 250), (460, 345), (1000, 230))


def subjects():
    """Yield (plot, id, what makes its subject, options) of all captures."""
    for story in STORIES:
        for name in ("waterfall", "movers", "flamegraph"):
            for kind in PROFILES:
                yield name, f"{story}-{kind}", partial(profile_diff, story, kind), {}
        for name in ("latency", "mmu", "states", "waits", "flamegraph"):
            yield name, story, partial(trace_diff, story), {}
        yield "pauses", story, partial(story_logs, story), {}
    yield "pauses", "pools", pools, {}
    yield "curves", "functions", PLOTS["curves"], {}
    yield "curves", "groups", PLOTS["curves"], {"which": "groups"}
    yield "runs", "benchmark", PLOTS["runs"], {}


SUBJECTS = list(subjects())


def boxes(figure):
    """Return every text of a figure, with the rectangle that is drawn of it."""
    figure.draw_without_rendering()
    renderer = FigureCanvasAgg(figure).get_renderer()
    drawn = []
    for text in figure.findobj(mpl.text.Text):
        if not (text.get_visible() and text.get_text().strip()):
            continue
        # Of an annotation, which would have its arrow's extent too, the words alone.
        box = mpl.text.Text.get_window_extent(text, renderer)
        if text.get_clip_on() and text.axes is not None:
            box = Bbox.intersection(box, text.axes.bbox)
        if box is not None and box.width and box.height:
            drawn.append((text.get_text(), box))
    return drawn


def overlapping(figure):
    """Return the pairs of texts that have more than an edge in common."""
    return [
        (one, other)
        for (one, here), (other, there) in combinations(boxes(figure), 2)
        if here.fully_overlaps(there)
    ]


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("name", "of", "make", "options"), daily(SUBJECTS, SUBJECTS[::31])
)
def test_no_two_texts_overlap(name, of, make, options):
    compared = make()
    for width, height in SIZES:
        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rc("font", size=11)
            figure = Figure((width / 72, height / 72), dpi=72, layout=RoundedLayout())
            getattr(plots, name)(compared, figure.subplots(), **options)
            assert overlapping(figure) == []


LONG = "a-branch-with-long-name", "another-long-branch"


@pytest.mark.parametrize("name", ["latency", "mmu", "states"])
def test_two_plots_next_to_each_other_keep_apart(name):
    """As in a notebook, with labels as long as names of branches: legends wrap."""
    with mpl.rc_context():
        mpl.rcdefaults()
        figure = Figure((9, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        for ax in (left, right):
            getattr(plots, name)(trace_diff("zstd", LONG), ax)
            ax.set_title("")
        assert overlapping(figure) == []


def test_what_overlaps_is_seen():
    figure = Figure()
    ax = figure.subplots()
    ax.text(0.5, 0.5, "one")
    ax.text(0.51, 0.5, "other")
    assert overlapping(figure) == [("one", "other")]
