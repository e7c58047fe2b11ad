"""`SeriesReport`: everything that a writer of a series may show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.series.judged import JudgedSeries

# With fewer hosts, one outlier is over a tenth of all, as for two fleets.
_FEW = 10


class SeriesReport(NamedTuple):
    """A judged series, and what to know before trusting it."""

    judged: JudgedSeries
    warnings: tuple[Caveat, ...]


def series_report(judged: JudgedSeries, notes: Sequence[str] = ()) -> SeriesReport:
    """Return the report of a series; `notes` say what was left out."""
    caveats = [Caveat("input", note) for note in notes]
    return SeriesReport(judged, (*caveats, *_caveats(judged)))


def _caveats(judged: JudgedSeries) -> Iterator[Caveat]:
    series = judged.series
    hosts = min((step.hosts for step in series.steps if step.profiles), default=0)
    if hosts == 1:
        yield Caveat(
            "one-host",
            "there are steps of one host: how far hosts differ is unknown, so no "
            "change is reported there",
        )
    elif hosts < _FEW:
        yield Caveat(
            "few-hosts",
            f"there are steps of {hosts} hosts, too few to show how far hosts "
            f"differ; use {_FEW} or more",
        )
    if not judged.steps:
        return
    if series.width_s:
        yield Caveat(
            "load",
            "the load of an hour moves shares as a build does: what changed may be "
            "either",
        )
    if any(
        0 in (change.before, change.after)
        for changes in judged.steps.values()
        for _, _, change in changes
    ):
        yield Caveat(
            "names",
            "functions are followed by their names: one that was renamed is gone at a "
            "step, and another one is new there",
        )
