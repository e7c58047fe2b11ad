"""The outcome of a comparison: which of its figures decides, and what they say."""

from __future__ import annotations

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.outcome.figures import Timed, cpu_of, measures, timed
from pprofdiff.analysis.outcome.model import Measure, Outcome, Verdict
from pprofdiff.analysis.stats.control import scaled_alike

__all__ = ["outcome"]

_MORE_RUNS = "measure each side several times, in turns (a folder a run)"
_WORK = (
    "the work is not known: --work BASE:NEW (operations while profiled), --rps "
    "BASE:NEW, a load generator's summary or bench.txt beside the profiles gives it"
)


def outcome(comparison: Comparison) -> Outcome:
    """Return whether new is slower, and the figures that say so.

    The most direct figure decides: time per operation, then operations a second of a
    closed loop, then CPU per operation. The cost against unchanged code decides where
    nothing else does, and where its interval is the narrower one: it leaves out the
    machine. Where two figures contradict each other, nothing is decided.
    """
    told = list(measures(comparison))
    alike = _alike(comparison)
    speeds = [m for m in told if m.more_is]
    benchmarks = timed(comparison)
    if not speeds:
        return Outcome("unknown", tuple(told), (), alike, _WORK)
    first, verdict = _decided(speeds)
    contrary = () if benchmarks is None else _contrary(benchmarks, verdict)
    needs = ""
    if contrary:
        verdict = "unknown"
        needs = "benchmarks moved both ways: each is told by itself"
    elif verdict == "unknown":
        needs = _MORE_RUNS
    ordered = (first, *(m for m in told if m is not first))
    return Outcome(verdict, ordered, contrary, alike, needs)


def _decided(speeds: list[Measure]) -> tuple[Measure, Verdict]:
    """Return the figure that decides, and its verdict.

    CPU an operation tells where time an operation does not. The cost against unchanged
    code stands in for figures whose intervals are wider.
    """
    first = speeds[0]
    if first.verdict != "unknown":
        return first, first.verdict
    control = speeds[-1] if speeds[-1].id == "control" else None
    for measure in speeds[1:]:
        if measure.verdict in ("slower", "faster") and measure is not control:
            return measure, measure.verdict
    if control is not None and control.width < first.width:
        return control, control.verdict
    return first, "unknown"


def _contrary(benchmarks: Timed, verdict: Verdict) -> tuple[str, ...]:
    """Return the benchmarks that are surely worse, or better, where all are not."""
    slower = tuple(name for name, r in benchmarks.each.items() if r.low > 1)
    faster = tuple(name for name, r in benchmarks.each.items() if r.high < 1)
    if verdict == "faster":
        return slower
    if verdict == "slower":
        return faster
    return (*slower, *faster) if slower and faster else ()


def _alike(comparison: Comparison) -> float | None:
    """Return the factor that all groups of CPU scaled by, None where they did not."""
    diff = cpu_of(comparison)
    return None if diff is None else scaled_alike(diff)
