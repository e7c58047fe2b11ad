"""The charts of the HTML page: which ones, in which order, with their text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.gclogs.compare import GCDiff
from pprofdiff.analysis.runs.headline import headline_runs
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.moments import MOMENTS, MomentPair, moment_pair
from pprofdiff.palette import Theme
from pprofdiff.plots.drawing import svg
from pprofdiff.plots.durations import (
    latency,
    latency_in_words,
    pauses,
    pauses_in_words,
)
from pprofdiff.plots.heaps import heap_in_words, heaps_of
from pprofdiff.plots.lanes import (
    TITLES,
    lanes_height,
    moment_in_short,
    moment_in_words,
    moment_of,
)
from pprofdiff.plots.mutators import mmu, mmu_in_words
from pprofdiff.plots.runplot import runs_in_words, runs_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

__all__ = ["Chart", "ChartId", "ChartKind", "chart_kinds", "charts", "run_charts"]

ChartId = Literal["heap", "pauses", "latency", "mmu", "runs", "wait", "stop", "mutator"]

# Charts are as wide as a phone shows without shrinking their small text below 11 px;
# three fit side by side on a screen.
_SIZE = (270, 210)
# Width of the runs chart, and height of each of its figures, in units.
_RUNS_WIDTH, _RUNS_HEIGHT = _SIZE[0], 130


class Chart(NamedTuple):
    """One chart: its id, its title, a sentence with its numbers, and the SVG.

    `brief` describes a chart that is only visible after a click, "" if it always is.
    """

    id: ChartId
    title: str
    words: str
    svg: str
    brief: str = ""


class ChartKind(NamedTuple):
    """How to make a chart from a comparison.

    `words` returns its text alternative. `draw` draws it on an empty figure. `has_data`
    reports whether the comparison has the data for it.
    """

    id: ChartId
    title: str
    words: Callable[[Any], str]
    draw: Callable[[Any, Figure | SubFigure, Theme], object]
    has_data: Callable[[Any], bool] = lambda _: True


def charts(diff: GCDiff | TraceDiff, prefix: str) -> tuple[Chart, ...]:
    """Return the charts of a comparison that have something to show.

    Parameters
    ----------
    diff
        Two GC logs compared (charts ``heap``, ``pauses``) or two execution traces
        (``latency``, ``mmu``, ``heap``, and the moments ``wait``, ``stop``,
        ``mutator``).
    prefix
        Prefix of ids in the SVG, before the chart's id; unique on the page.
    """
    drawn = tuple(_chart(kind, diff, prefix) for kind in chart_kinds(diff))
    if isinstance(diff, GCDiff):
        return drawn
    pairs = (moment_pair(diff, moment) for moment in MOMENTS)
    return (*drawn, *(_moment_chart(p, prefix) for p in pairs if p is not None))


def _moment_chart(pair: MomentPair, prefix: str) -> Chart:
    """Return the lanes of one moment, as high as the lanes need."""
    words = moment_in_words(pair)
    drawn = svg(
        lambda figure: moment_of(pair, pair.id, figure.subplots(), "light", {}),
        title=TITLES[pair.id],
        description=words,
        prefix=f"{prefix}-{pair.id}",
        size=(_SIZE[0], lanes_height(pair)),
    )
    return Chart(pair.id, TITLES[pair.id], words, drawn, moment_in_short(pair))


def run_charts(comparison: Comparison) -> tuple[Chart, ...]:
    """Return the chart of both sides' runs if a side has several, else nothing."""
    figures = headline_runs(comparison)
    if not figures:
        return ()
    words = runs_in_words(comparison)
    title = "Run by run"
    drawn = svg(
        lambda figure: runs_of(comparison, figure),
        title=title,
        description=words,
        prefix="runs",
        size=(_RUNS_WIDTH, _RUNS_HEIGHT * len(figures)),
    )
    return (Chart("runs", title, words, drawn),)


def chart_kinds(diff: GCDiff | TraceDiff) -> tuple[ChartKind, ...]:
    """Return the charts that a comparison has data for, in page order."""
    kinds = _OF_LOGS if isinstance(diff, GCDiff) else _OF_TRACES
    return tuple(kind for kind in kinds if kind.has_data(diff))


def _chart(kind: ChartKind, diff: GCDiff | TraceDiff, prefix: str) -> Chart:
    words = kind.words(diff)
    drawn = svg(
        lambda figure: kind.draw(diff, figure, "light"),
        title=kind.title,
        description=words,
        prefix=f"{prefix}-{kind.id}",
        size=_SIZE,
    )
    return Chart(kind.id, kind.title, words, drawn)


def _has_waits(diff: TraceDiff) -> bool:
    return any(len(side.waits.latencies_ns) for side in diff.sides)


def _has_collections(diff: TraceDiff) -> bool:
    """Return whether GC ever took a P; the last row is the end of the trace."""
    return any((side.utilisation.share[:-1] < 1).any() for side in diff.sides)


def _has_heap(diff: TraceDiff) -> bool:
    return any(len(side.trace.heap_live_bytes.value) for side in diff.sides)


_OF_LOGS = (
    ChartKind("heap", "Heap over time", heap_in_words, heaps_of),
    ChartKind(
        "pauses",
        "Stop-the-world pauses",
        pauses_in_words,
        lambda diff, figure, theme: pauses(diff, figure.subplots(), theme=theme),
    ),
)
_OF_TRACES = (
    ChartKind(
        "latency",
        "Scheduling latency",
        latency_in_words,
        lambda diff, figure, theme: latency(diff, figure.subplots(), theme=theme),
        _has_waits,
    ),
    ChartKind(
        "mmu",
        "Minimum mutator utilisation",
        mmu_in_words,
        lambda diff, figure, theme: mmu(diff, figure.subplots(), theme=theme),
        _has_collections,
    ),
    ChartKind("heap", "Heap over time", heap_in_words, heaps_of, _has_heap),
)
