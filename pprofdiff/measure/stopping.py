"""Whether a verdict is sure enough to measure no longer."""

from __future__ import annotations

from math import exp, log

from pprofdiff.analysis.outcome.model import TURNS_CONFIDENCE, Outcome

__all__ = ["FEWEST_ROUNDS", "sure", "to_trace", "unexplained"]

FEWEST_ROUNDS = 5
"""With fewer runs the spread between them is hardly known."""

# To look after every round and stop at the first verdict would make false alarms
# several times as frequent. Haybittle (1971) and Peto et al. (1976): an early look
# decides at three standard errors or more, so that the last one keeps its level.
# Two-sided 0.1 % against the 99 or 95 % and the 90 % that the intervals are of.
_EARLY = {95: 3.29 / 1.96, TURNS_CONFIDENCE: 3.29 / 2.576}
_EARLY_NARROW = 3.29 / 1.645
_HALF = 0.5


def sure(outcome: Outcome) -> bool:
    """Return whether the verdict would stay with the interval of an early look."""
    first = outcome.headline
    if first is None or outcome.verdict == "unknown":
        return False
    if outcome.verdict == "same":
        narrow = _wider(first.ratio, first.narrow, _EARLY_NARROW)
        return first._replace(narrow=narrow).same
    early = _EARLY[first.confidence]
    low, high = _wider(first.ratio, (first.low, first.high), early)
    return low > 1 or high < 1


def unexplained(outcome: Outcome) -> bool:
    """Return whether CPU per operation explains less than half of how time moved.

    What an operation waits for is in its time alone; a trace shows it.
    """
    figures = {measure.id: measure for measure in outcome.measures}
    time, cpu = figures.get("time"), figures.get("cpu")
    if time is None or time.verdict not in ("slower", "faster"):
        return False
    if None in (time.base, time.new):
        return False
    moved = (time.new or 0.0) - (time.base or 0.0)
    if cpu is None or cpu.base is None or cpu.new is None:
        return True
    return (cpu.new - cpu.base) / moved < _HALF


def to_trace(outcome: Outcome) -> tuple[str, ...]:
    """Return the benchmarks of several of which a trace would tell most.

    Sub-benchmarks are none: those above them wait for them. A benchmark with several
    GOMAXPROCS is one.
    """
    names = (unit.name for unit in outcome.units if unit.off_cpu)
    found = (name.partition("-")[0] for name in names if "/" not in name)
    return tuple(dict.fromkeys(found))


def _wider(
    ratio: float, bounds: tuple[float, float], factor: float
) -> tuple[float, float]:
    """Return bounds that are as many times as far from a ratio."""
    if not (ratio > 0 and min(bounds) > 0 and max(bounds) < float("inf")):
        return 0.0, float("inf")
    low, high = (log(bound / ratio) * factor for bound in bounds)
    return ratio * exp(low), ratio * exp(high)
