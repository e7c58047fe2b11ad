"""The charts of the HTML page: which ones, in which order, with their text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pprofdiff.analysis.bisection.result import Bisection, Curve
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.gclogs.compare import GCDiff
from pprofdiff.analysis.runs.headline import headline_runs
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.moments import MOMENTS, MomentPair, moment_pair
from pprofdiff.analysis.traces.waited import waited
from pprofdiff.palette import Theme
from pprofdiff.plots.commitplot import commits, commits_in_words
from pprofdiff.plots.drawing import Draw, svg
from pprofdiff.plots.durations import latency, latency_in_words, pauses, pauses_in_words
from pprofdiff.plots.heaps import heap_in_words, heaps_of
from pprofdiff.plots.lanes import (
    TITLES,
    lanes_height,
    moment,
    moment_in_short,
    moment_in_words,
)
from pprofdiff.plots.mutators import mmu, mmu_in_words
from pprofdiff.plots.runplot import runs_in_words, runs_of
from pprofdiff.plots.waitbars import waits, waits_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

Draws = Callable[[Any, "Figure | SubFigure", Theme], object]
ChartId = Literal[
    "heap", "pauses", "waits", "latency", "mmu", "runs", "wait", "stop", "mutator",
    "commits",
]  # fmt: skip

# Charts are as wide as a phone shows without shrinking their small text below 11 px;
# three fit side by side on a screen.
_SIZE = (270, 210)
# Height of each figure of the runs chart, in units.
_RUNS_HEIGHT = 130


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
    """How to make a chart of a comparison that `has_data`, and its text."""

    id: ChartId
    title: str
    words: Callable[[Any], str]
    draw: Draws
    has_data: Callable[[Any], object] = lambda _: True


def charts(diff: GCDiff | TraceDiff, prefix: str) -> tuple[Chart, ...]:
    """Return the charts of GC logs or traces that have something to show.

    Ids in the SVG begin with `prefix`, which is unique on the page.
    """
    drawn = tuple(_chart(kind, diff, prefix) for kind in chart_kinds(diff))
    if isinstance(diff, GCDiff):
        return drawn
    pairs = (moment_pair(diff, which) for which in MOMENTS)
    return (*drawn, *(_moment_chart(p, prefix) for p in pairs if p is not None))


def _moment_chart(pair: MomentPair, prefix: str) -> Chart:
    def draw(figure: Figure) -> None:
        moment(pair, figure.subplots())

    title, words, high = TITLES[pair.id], moment_in_words(pair), lanes_height(pair)
    chart = _drawn(pair.id, title, words, draw, f"{prefix}-{pair.id}", high)
    return chart._replace(brief=moment_in_short(pair))


def run_charts(comparison: Comparison) -> tuple[Chart, ...]:
    """Return the chart of both sides' runs if a side has several, else nothing."""
    figures = headline_runs(comparison)
    if not figures:
        return ()

    def draw(figure: Figure) -> None:
        runs_of(comparison, figure)

    high = _RUNS_HEIGHT * len(figures)
    words = runs_in_words(comparison)
    return (_drawn("runs", "Run by run", words, draw, "runs", high),)


def commit_charts(found: Bisection) -> tuple[Chart, ...]:
    """Return the curve of measured commits for each figure of a search."""

    def chart(number: int, curve: Curve) -> Chart:
        def draw(figure: Figure) -> None:
            commits(found, curve, figure.subplots())

        title, words = f"{curve.name} by commit", commits_in_words(found, curve)
        chart = _drawn("commits", title, words, draw, f"commits{number}")
        return chart._replace(words="")  # the table below has them

    return tuple(chart(*one) for one in enumerate(found.curves))


def chart_kinds(diff: GCDiff | TraceDiff) -> tuple[ChartKind, ...]:
    """Return the charts that a comparison has data for, in page order."""
    kinds = _OF_LOGS if isinstance(diff, GCDiff) else _OF_TRACES
    return tuple(kind for kind in kinds if kind.has_data(diff))


def _chart(kind: ChartKind, diff: GCDiff | TraceDiff, prefix: str) -> Chart:
    def draw(figure: Figure) -> None:
        kind.draw(diff, figure, "light")

    place = f"{prefix}-{kind.id}"
    return _drawn(kind.id, kind.title, kind.words(diff), draw, place)


def _drawn(
    id_: ChartId,
    title: str,
    words: str,
    draw: Draw,
    prefix: str,
    height: float = _SIZE[1],
) -> Chart:
    size = _SIZE[0], height
    made = svg(draw, title=title, description=words, prefix=prefix, size=size)
    return Chart(id_, title, words, made)


def _has_waits(diff: TraceDiff) -> bool:
    return any(len(side.latencies_ns) for side in diff.sides)


def _has_collections(diff: TraceDiff) -> bool:
    """Return whether GC ever took a P; the last row is the end of the trace."""
    return any((side.utilisation.share[:-1] < 1).any() for side in diff.sides)


def _has_heap(diff: TraceDiff) -> bool:
    return any(len(side.trace.heap_live_bytes.value) for side in diff.sides)


def _alone(plot: Callable[..., Axes]) -> Draws:
    """Return what draws a plot as the only one of a figure."""
    return lambda diff, figure, theme: plot(diff, figure.subplots(), theme=theme)


_OF_LOGS = (
    ChartKind("heap", "Heap over time", heap_in_words, heaps_of),
    ChartKind("pauses", "Stop-the-world pauses", pauses_in_words, _alone(pauses)),
)
_OF_TRACES = (
    ChartKind(
        "waits", "What goroutines waited for", waits_in_words, _alone(waits), waited
    ),
    ChartKind(
        "latency", "Scheduling latency", latency_in_words, _alone(latency), _has_waits
    ),
    ChartKind(
        "mmu",
        "Minimum mutator utilization",
        mmu_in_words,
        _alone(mmu),
        _has_collections,
    ),
    ChartKind("heap", "Heap over time", heap_in_words, heaps_of, _has_heap),
)
