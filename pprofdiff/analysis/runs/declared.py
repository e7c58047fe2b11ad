"""Any figure that a kind declares, by its key: its estimate and its runs.

Gate rules and plots ask here, so that a figure needs nothing but its declaration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.figures.estimate import Estimate
from pprofdiff.analysis.figures.figure import Figure
from pprofdiff.analysis.gclogs.catalogue import BY_KEY as OF_LOGS

SourceId = Literal["gctrace", "trace"]
SOURCES: tuple[SourceId, ...] = ("gctrace", "trace")
"""The kinds that declare figures; of two with one key, the first is meant."""


class Known(NamedTuple):
    """A figure of a comparison, in `unit`.

    `runs` are the values of (base, new) in each run that has one.
    """

    source: SourceId
    figure: Figure[Any]
    unit: str
    estimate: Estimate
    runs: tuple[tuple[float, ...], tuple[float, ...]]


def declared(source: str = "") -> Mapping[str, Figure[Any]]:
    """Return all figures by key, or those of one of `SOURCES`."""
    from pprofdiff.analysis.traces.catalogue import BY_KEY as OF_TRACES

    of: dict[str, Mapping[str, Figure[Any]]]
    of = {"gctrace": OF_LOGS, "trace": OF_TRACES}
    return of[source] if source else {**OF_TRACES, **OF_LOGS}


def known(comparison: Comparison, key: str, source: str = "") -> Known | None:
    """Return a figure that both sides have; None if there is none with this key."""
    for one in (*_of_logs(comparison, key), *_of_traces(comparison, key)):
        both = one.estimate.base is not None and one.estimate.new is not None
        if both and source in ("", one.source):
            return one
    return None


def _of_logs(comparison: Comparison, key: str) -> Iterator[Known]:
    gc, figure = comparison.gc, OF_LOGS.get(key)
    if gc is not None and figure is not None:
        base, new = (_some(figure.of_runs(side)) for side in (gc.base, gc.new))
        yield Known("gctrace", figure, figure.unit, gc.estimates[key], (base, new))


def _of_traces(comparison: Comparison, key: str) -> Iterator[Known]:
    diff = comparison.trace
    if diff is None:
        return
    from pprofdiff.analysis.traces.catalogue import BY_KEY

    figure = BY_KEY.get(key)
    if figure is not None:
        base, new = (
            _some(diff.shown(figure, number, run) for run in side.parts)
            for number, side in enumerate(diff.sides)
        )
        yield Known("trace", figure, figure.shown, diff.estimate(figure), (base, new))


def _some(values: Iterable[float | None]) -> tuple[float, ...]:
    return tuple(value for value in values if value is not None)
