"""Any figure that a kind declares, by its key: its estimate and its runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.figures.estimate import Estimate
from pprofdiff.analysis.figures.figure import Figure
from pprofdiff.kinds import KindId

SOURCES: tuple[KindId, ...] = ("gctrace", "trace")
"""The kinds that declare figures; of two with one key, the first is meant."""


class Known(NamedTuple):
    """A figure of a comparison: its estimate, and (base, new) values of its runs."""

    figure: Figure[Any]
    estimate: Estimate[float | None]
    runs: tuple[tuple[float, ...], tuple[float, ...]]


def declared(source: str = "") -> Mapping[str, Figure[Any]]:
    """Return the figures of one of `SOURCES` by key, or of all."""
    from pprofdiff.analysis.gclogs.catalogue import BY_KEY as OF_LOGS
    from pprofdiff.analysis.traces.catalogue import BY_KEY as OF_TRACES

    of: dict[str, Mapping[str, Figure[Any]]]
    of = {"gctrace": OF_LOGS, "trace": OF_TRACES, "": {**OF_TRACES, **OF_LOGS}}
    return of[source]


def known(comparison: Comparison, key: str, source: str = "") -> Known | None:
    """Return a figure that both sides have; None if there is none with this key."""
    for kind in SOURCES:
        diff, figure = comparison.results.get(kind), declared(kind).get(key)
        if source in ("", kind) and diff is not None and figure is not None:
            estimate = diff.estimate(figure)
            if None not in estimate[:2]:
                return Known(figure, estimate, diff.by_run(figure))
    return None
