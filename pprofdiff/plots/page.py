"""The charts of the HTML page: which there are, in which order, with their words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from pprofdiff.analysis.gclogs.compare import GCDiff
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.plots.drawing import svg
from pprofdiff.plots.heaps import heap_in_words, heaps_of
from pprofdiff.plots.mutators import mmu, mmu_in_words
from pprofdiff.plots.tails import latency, latency_in_words, pauses, pauses_in_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Chart", "charts", "charts_worth"]


class Chart(NamedTuple):
    """One chart: its id, its title, a sentence that tells its numbers, and the SVG."""

    id: str
    title: str
    words: str
    svg: str


class _Kind(NamedTuple):
    """How one chart is made of a comparison, and whether that has what it needs."""

    id: str
    title: str
    words: Callable[[Any], str]
    draw: Callable[[Any, Figure], object]
    worth: Callable[[Any], bool]


def charts(diff: GCDiff | TraceDiff, prefix: str) -> tuple[Chart, ...]:
    """Return the charts of a comparison that have something to show.

    Of GC logs: ``heap``, ``pauses``. Of traces: ``latency``, ``mmu``, ``heap``. Ids in
    the SVG begin with `prefix` and the chart's id.
    """
    kinds = _OF_LOGS if isinstance(diff, GCDiff) else _OF_TRACES
    return tuple(_chart(kind, diff, prefix) for kind in kinds if kind.worth(diff))


def charts_worth(diff: GCDiff | TraceDiff) -> tuple[str, ...]:
    """Return the ids of the charts that have something to show."""
    kinds = _OF_LOGS if isinstance(diff, GCDiff) else _OF_TRACES
    return tuple(kind.id for kind in kinds if kind.worth(diff))


def _chart(kind: _Kind, diff: GCDiff | TraceDiff, prefix: str) -> Chart:
    words = kind.words(diff)
    drawn = svg(
        lambda figure: kind.draw(diff, figure),
        title=kind.title,
        description=words,
        prefix=f"{prefix}-{kind.id}",
    )
    return Chart(kind.id, kind.title, words, drawn)


def _waits(diff: TraceDiff) -> bool:
    return any(len(side.waits.latencies_ns) for side in diff.sides)


def _collects(diff: TraceDiff) -> bool:
    """Return whether the GC ever took a processor; the last row is the end."""
    return any((side.utilisation.share[:-1] < 1).any() for side in diff.sides)


def _tells_heap(diff: TraceDiff) -> bool:
    return any(len(side.trace.heap_live_bytes.value) for side in diff.sides)


_OF_LOGS = (
    _Kind("heap", "Heap over time", heap_in_words, heaps_of, lambda _: True),
    _Kind(
        "pauses",
        "Stop-the-world pauses",
        pauses_in_words,
        lambda diff, figure: pauses(diff, figure.subplots()),
        lambda _: True,
    ),
)
_OF_TRACES = (
    _Kind(
        "latency",
        "Scheduling latency",
        latency_in_words,
        lambda diff, figure: latency(diff, figure.subplots()),
        _waits,
    ),
    _Kind(
        "mmu",
        "Minimum mutator utilisation",
        mmu_in_words,
        lambda diff, figure: mmu(diff, figure.subplots()),
        _collects,
    ),
    _Kind("heap", "Heap over time", heap_in_words, heaps_of, _tells_heap),
)
