"""Rules on stop-the-world pauses: a percentile, from GC logs or execution traces."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.gate.measures import (
    Asked,
    Figure,
    Found,
    Judged,
    Kind,
    Missing,
)
from pprofdiff.analysis.stats.samples import ALPHA
from pprofdiff.analysis.traces.quantiles import nearest
from pprofdiff.units import scale_for

if TYPE_CHECKING:
    from pprofdiff.analysis.gclogs.compare import GCSide
    from pprofdiff.analysis.traces.side import TraceSide

__all__ = ["PAUSE", "PERCENTILES"]

Column = NDArray[np.int64]

PERCENTILES = {"p50": 500, "p90": 900, "p99": 990, "p99.9": 999, "max": 1000}
"""Percentiles of pauses, in thousandths."""

# One side of a 95 % interval, as for benchmarks and latencies.
_CHANCE = ALPHA / 2
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


def _pauses(asked: Asked, judged: Judged) -> Found:
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
    held = [_quantile(side, rank) for side in (base, new)]
    noise = (
        _may_be_equal(*((new, base) if held[0] > held[1] else (base, new)), rank)
        if asked.limit.sign
        else _may_be_below(new, rank, asked.limit.within("ns"))
    )
    return [
        Figure(
            what=f"{asked.subject} of {len(base):,} and {len(new):,} pauses",
            base=held[0],
            new=held[1],
            unit="ns",
            scale=scale_for(held, "ns"),
            noise=noise,
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
    from pprofdiff.analysis.traces.spans import ranges_of
    from pprofdiff.model.traces.marks import RangeKind

    trace = side.trace
    stops, _ = ranges_of(trace, RangeKind.STOP_THE_WORLD)
    of_gc = np.array(["GC" in text for text in trace.strings], np.bool_)
    whole = of_gc[stops.name] & stops.seen & (stops.end_ns >= 0)
    return (stops.end_ns - stops.start_ns)[whole]


def _quantile(pauses: Column, rank: int) -> int:
    place = nearest(len(pauses), rank)
    return int(np.partition(pauses, place)[place])


def _may_be_equal(low: Column, high: Column, rank: int) -> bool | None:
    """Return whether low's percentile may be passed so often in high by chance.

    The exceedance test: how many of n values are greater than one of m whose j others
    are greater follows from counting orders alone, whatever the distribution. None
    where not even all of high would tell.
    """
    held = _quantile(low, rank)
    above, over = int((low > held).sum()), int((high > held).sum())
    m, n = len(low), len(high)
    passed = np.arange(n + 1)
    chance = np.exp(
        _choices(passed + above, above)
        + _choices(m - above - 1 + n - passed, n - passed)
        - _choices(np.array(m + n), n)
    )
    if chance[-1] > _CHANCE:
        return None
    return bool(chance[over:].sum() > _CHANCE)


def _may_be_below(new: Column, rank: int, limit_ns: float) -> bool:
    """Return whether so many pauses over a ceiling may be chance.

    Of n pauses whose quantile q is the ceiling, each is longer with probability 1 − q:
    the number that is follows the binomial distribution. A longest pause is a fact.
    """
    count, over, share = len(new), int((new > limit_ns).sum()), 1 - rank / 1000
    if not share:
        return False
    more = np.arange(over, count + 1)
    chance = _choices(np.array(count), more)
    chance = chance + more * log(share) + (count - more) * log(1 - share)
    return bool(np.exp(chance).sum() > _CHANCE)


def _choices(
    of: NDArray[np.integer], some: NDArray[np.integer] | int
) -> NDArray[np.float64]:
    """Return the logarithm of how many ways there are to choose `some` `of` many."""
    factorial = np.zeros(int(of.max()) + 1)
    factorial[1:] = np.cumsum(np.log(np.arange(1, len(factorial))))
    found: NDArray[np.float64] = factorial[of] - factorial[some] - factorial[of - some]
    return found


PAUSE = Kind(_check, _pauses)
