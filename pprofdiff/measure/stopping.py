"""Whether a verdict is sure enough to measure no longer."""

from __future__ import annotations

from pprofdiff.analysis.outcome.model import Outcome, off_cpu

__all__ = ["FEWEST_ROUNDS", "sure", "to_trace", "unexplained"]

FEWEST_ROUNDS = 5
"""With fewer runs the spread between them is hardly known."""


def sure(outcome: Outcome) -> bool:
    """Return whether the verdict would stay with the interval of an early look.

    To look after every round and stop at the first verdict would make false alarms
    several times as frequent.
    """
    first = outcome.headline
    decided = first is not None and outcome.verdict != "unknown"
    return decided and first is not None and first.beyond_chance


def unexplained(outcome: Outcome) -> bool:
    """Return whether CPU does not explain how time moved: a trace shows what does."""
    figures = {measure.id: measure for measure in outcome.measures}
    time, cpu = figures.get("time"), figures.get("cpu")
    if time is None or time.verdict not in ("slower", "faster"):
        return False
    return cpu is None or off_cpu(time.ratio, cpu.ratio)


def to_trace(outcome: Outcome) -> tuple[str, ...]:
    """Return the benchmarks of several of which a trace would tell most.

    Sub-benchmarks are none: those above them wait for them. A benchmark with several
    GOMAXPROCS is one.
    """
    keys = (unit.key for unit in outcome.units if unit.off_cpu)
    names = (key[0] for key in keys if key is not None)
    return tuple(dict.fromkeys(name for name in names if "/" not in name))
