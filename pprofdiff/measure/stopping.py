"""Decide whether the verdict is firm enough to stop measuring."""

from __future__ import annotations

from pprofdiff.analysis.outcome.model import Outcome, off_cpu

FEWEST_ROUNDS = 5
"""With fewer runs, the spread between them is hardly known."""


def sure(outcome: Outcome) -> bool:
    """Return whether the verdict holds at the stricter level of an interim look.

    Testing after every round would cause several times as many false alarms.
    """
    first = outcome.headline
    decided = first is not None and outcome.verdict != "unknown"
    return decided and first is not None and first.beyond_chance


def unexplained(outcome: Outcome) -> bool:
    """Return whether CPU does not explain the change in time, so a trace is needed."""
    figures = {measure.id: measure for measure in outcome.measures}
    time, cpu = figures.get("time"), figures.get("cpu")
    if time is None or time.verdict not in ("slower", "faster"):
        return False
    return cpu is None or off_cpu(time.judged.ratio, cpu.judged.ratio)


def to_trace(outcome: Outcome) -> tuple[str, ...]:
    """Return which of several benchmarks are worth tracing, each once.

    Sub-benchmarks are left out, as their parents wait for them.
    """
    keys = (unit.key for unit in outcome.units if unit.off_cpu)
    names = (key[0] for key in keys if key is not None)
    return tuple(dict.fromkeys(name for name in names if "/" not in name))
