"""Rules on stop-the-world pauses: a percentile, from GC logs or execution traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.gate.measures import (
    Asked,
    Figure,
    Judged,
    Kind,
    Measured,
    Missing,
)
from pprofdiff.analysis.stats.durations import Durations, quantile
from pprofdiff.analysis.stats.judge import Judge
from pprofdiff.units import scale_for

if TYPE_CHECKING:
    from pprofdiff.analysis.gclogs.compare import GCSide
    from pprofdiff.analysis.traces.side import TraceSide

__all__ = ["PAUSE", "PERCENTILES"]

Column = NDArray[np.int64]

PERCENTILES = {"p50": 500, "p90": 900, "p99": 990, "p99.9": 999, "max": 1000}
"""Percentiles of pauses, in thousandths."""

_SOURCES = ("gctrace", "trace")


def _check(asked: Asked) -> None:
    """Refuse another percentile, limit or source than there is."""
    if asked.subject not in PERCENTILES:
        raise asked.wrong(
            f"there is no percentile {asked.subject}; there are: "
            f"{', '.join(PERCENTILES)}"
        )
    if not asked.limit.relative and not asked.limit.fits("ns"):
        raise asked.wrong("pauses are times; a limit is +10%, +100us or 1ms")
    if asked.source not in ("", *_SOURCES):
        raise asked.wrong("pauses are in gctrace or trace; type pause@trace:p99:+10%")


def _pauses(asked: Asked, judged: Judged) -> Measured:
    """Measure a percentile of the GC's pauses, wall time, nearest rank.

    The GC log is taken where both are there, as it tells of more cycles.
    """
    rank = PERCENTILES[asked.subject]
    sides = _sides(asked, judged)
    if sides is None:
        what = f"no {asked.source}" if asked.source else "neither GC log nor trace"
        return Missing(f"{what} is compared")
    base, new = sides
    if not len(base) or not len(new):
        return Missing("a side has no whole pause of the GC")
    judge = (
        Judge.of_quantile(rank)
        if asked.limit.sign
        else Judge.of_ceiling(rank, asked.limit.within("ns"))
    )
    change = judge.pair(Durations(base), Durations(new))
    quantiles = [quantile(side, rank) for side in (base, new)]
    return [
        Figure(
            what=f"{asked.subject} of {len(base):,} and {len(new):,} pauses",
            base=quantiles[0],
            new=quantiles[1],
            unit="ns",
            scale=scale_for(quantiles, "ns"),
            noise=change.noise,
            unsure="so few pauses cannot tell a change from chance",
        )
    ]


def _sides(asked: Asked, judged: Judged) -> tuple[Column, Column] | None:
    """Return base's and new's pauses from the source that is asked for or there."""
    gc, trace = judged.comparison.gc, judged.comparison.trace
    if gc is not None and asked.source != "trace":
        return _of_log(gc.base), _of_log(gc.new)
    if trace is not None and asked.source != "gctrace":
        return _of_trace(trace.base), _of_trace(trace.new)
    return None


def _of_log(side: GCSide) -> Column:
    """Return both pauses of each cycle that the report's figures are of, in ns."""
    cycles = side.cycles if side.asked else side.run.cycles
    both = (cycles.sweep_termination_wall_us, cycles.mark_termination_wall_us)
    return np.concatenate(both).astype(np.int64) * 1000


def _of_trace(side: TraceSide) -> Column:
    """Return the GC's stops of which begin and end are in the trace, in ns."""
    from pprofdiff.analysis.traces.interval_rows import ranges_of
    from pprofdiff.model.traces.timeline import RangeKind

    trace = side.trace
    stops, _ = ranges_of(trace, RangeKind.STOP_THE_WORLD)
    of_gc = np.array(["GC" in text for text in trace.strings], np.bool_)
    whole = of_gc[stops.name] & stops.seen & (stops.end_ns >= 0)
    return (stops.end_ns - stops.start_ns)[whole]


PAUSE = Kind(_check, _pauses)
