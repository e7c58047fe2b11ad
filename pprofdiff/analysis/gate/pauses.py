"""Rules on stop-the-world pauses: a percentile, from GC logs or execution traces."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.gate.measures import (
    Asked,
    Figure,
    Judged,
    Kind,
    Limit,
    Measured,
    Missing,
)
from pprofdiff.analysis.gclogs.side import mean_of_runs
from pprofdiff.analysis.judge.calibration import GC_PAUSES
from pprofdiff.analysis.judge.durations import (
    RANKS,
    CeilingModel,
    Durations,
    ExceedanceModel,
    quantile,
)
from pprofdiff.analysis.judge.judge import LevelModel, RatioModel
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.judge.totals import all_paired
from pprofdiff.units import scale_for

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.side import TraceSide

Column = NDArray[np.int64]

PERCENTILES = {**RANKS, "max": 1000}
"""Percentiles of pauses, in thousandths."""

_SOURCES = ("gctrace", "trace")
# The shortest pause that a log prints.
_LEAST_NS = 1000
# Cap on the logarithm of a ratio: larger ones are unreadable.
_FAR = 100.0
# Why a percentile above the limit may not be significant.
_FEW = "too few pauses to test"
_ONE = (
    "pauses of two runs of one build differ by as much: measure several runs per side"
)
_SEVERAL = "runs of one side differ by as much: measure more runs"


def _check(asked: Asked) -> None:
    """Reject an unknown percentile, limit or source."""
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
    """Measure a percentile of GC pauses (wall time, nearest rank).

    The GC log is preferred over a trace, as it covers more cycles. With several runs a
    side, the figure is the geometric mean over runs.
    """
    rank = PERCENTILES[asked.subject]
    sides = _sides(asked, judged)
    if sides is None:
        what = f"no {asked.source}" if asked.source else "neither GC log nor trace"
        return Missing(f"{what} is compared")
    base, new = ([run for run in side if len(run)] for side in sides)
    if not base or not new:
        return Missing("one side has no complete GC pause")
    quantiles = [
        mean_of_runs([quantile(run, rank) for run in side]) or 0.0
        for side in (base, new)
    ]
    in_turns = all_paired(base, new, judged.comparison.pairs)
    pauses = Runs(tuple(base), tuple(new), in_turns)
    chance = _chance(asked.limit, rank, pauses, (quantiles[0], quantiles[1]))
    return [
        Figure(
            what=f"{asked.subject} of {_counted(base)} and {_counted(new)} pauses",
            base=quantiles[0],
            new=quantiles[1],
            unit="ns",
            scale=scale_for(quantiles, "ns"),
            noise=chance.noise,
            unsure=chance.unsure,
            bounds=chance.bounds,
            by_ratio=True,
            runs=min(len(base), len(new)),
        )
    ]


class _Chance(NamedTuple):
    """Whether a change is within noise, why that is unknown, and its interval."""

    noise: bool | None
    unsure: str
    bounds: tuple[float, float] | None


def _counted(runs: Sequence[Column]) -> str:
    """Return a side's number of pauses, and of runs if there are several."""
    count = sum(map(len, runs))
    return f"{count:,}" + (f" (in {len(runs)} runs)" if len(runs) > 1 else "")


def _chance(
    limit: Limit,
    rank: int,
    sides: Runs[Column],
    quantiles: tuple[float, float],
) -> _Chance:
    """Return the noise and interval of the difference.

    Each run's quantile is one observation. Above the limit, `noise` is False if the
    whole 95% interval is above it and, with one run a side, a test on its pauses
    agrees. Otherwise it is None, and the interval includes the limit.
    """
    runs: Runs[NDArray[np.float64]] = Runs(
        _quantiles(sides.base, rank), _quantiles(sides.new, rank), sides.in_turns
    )
    base, new = (max(value, float(_LEAST_NS)) for value in quantiles)
    if limit.sign:
        highest = base + limit.allowed(base, "ns")
        change = RatioModel((GC_PAUSES,)).one(runs)
        level = base
    else:
        highest = limit.within("ns")
        level = max(highest, 1.0)
        change = LevelModel(GC_PAUSES, level).one(runs)
    if change.low is None or change.high is None:
        return _Chance(change.noise, _FEW, None)
    low, high = (
        level * exp(min(part, _FAR)) - base for part in (change.low, change.high)
    )
    if new <= highest:
        return _Chance(change.noise, "", (low, high))
    several = max(len(sides.base), len(sides.new)) > 1
    within = False if several else _within(limit, rank, sides)
    if within is None:
        return _Chance(None, _FEW, None)
    if low > highest - base and not within:
        return _Chance(noise=False, unsure="", bounds=(low, high))
    unsure = _SEVERAL if several else _ONE
    return _Chance(None, unsure, (min(low, highest - base), high))


def _quantiles(runs: Sequence[Column], rank: int) -> tuple[NDArray[np.float64], ...]:
    """Return each run's quantile, at least what a log can print."""
    return tuple(
        np.array([max(quantile(run, rank), _LEAST_NS)], np.float64) for run in runs
    )


def _within(limit: Limit, rank: int, sides: Runs[Column]) -> bool | None:
    """Return whether the change is within noise, from the pauses of one run a side."""
    model = (
        ExceedanceModel(rank) if limit.sign else CeilingModel(rank, limit.within("ns"))
    )
    return model.pair(Durations(sides.base[0]), Durations(sides.new[0])).noise


def _sides(
    asked: Asked, judged: Judged
) -> tuple[Sequence[Column], Sequence[Column]] | None:
    """Return base's and new's pauses by run, from the requested or available source."""
    gc, trace = judged.comparison.gc, judged.comparison.trace
    if gc is not None and asked.source != "trace":
        base, new = ([run.pauses_ns for run in s.runs] for s in (gc.base, gc.new))
        return base, new
    if trace is not None and asked.source != "gctrace":
        base, new = ([_of_trace(t) for t in s.parts] for s in trace.sides)
        return base, new
    return None


def _of_trace(side: TraceSide) -> Column:
    """Return the durations of GC pauses that lie wholly in the trace, in ns."""
    from pprofdiff.analysis.traces.interval_rows import ranges_of
    from pprofdiff.model.traces.timeline import RangeKind

    trace = side.trace
    stops, _ = ranges_of(trace, RangeKind.STOP_THE_WORLD)
    of_gc = np.array(["GC" in text for text in trace.strings], np.bool_)
    whole = of_gc[stops.name] & stops.seen & (stops.end_ns >= 0)
    return (stops.end_ns - stops.start_ns)[whole]


PAUSE = Kind(_check, _pauses)
