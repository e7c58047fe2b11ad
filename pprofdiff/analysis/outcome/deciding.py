"""The outcome of a comparison: which of its figures decides, and what they say."""

from __future__ import annotations

from math import log
from typing import Literal

import numpy as np

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.contention import busy
from pprofdiff.analysis.outcome.figures import Timed, cpu_of, measures, timed
from pprofdiff.analysis.outcome.model import Measure, Outcome, Verdict
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.stats.calibration import TOTAL_FREEDOM
from pprofdiff.analysis.stats.power import MOST_RUNS, times_as_many, wanted_runs
from pprofdiff.analysis.stats.scaled_alike import ScaledAlike, scaled_alike

__all__ = ["outcome"]

_MORE_RUNS = "measure each side several times, in turns (a folder a run)"
_WORK = (
    "the work is not known: --work BASE:NEW (operations while profiled), --rps "
    "BASE:NEW, a load generator's summary or bench.txt beside the profiles gives it"
)
_WORK_OF_FLEETS = (
    "the work is not known: --work BASE:NEW (operations of all hosts while profiled) "
    "gives what an operation costs"
)
_NOTHING = (
    "a benchmark, a load generator's summary or CPU profiles with --work tell what an "
    "operation costs"
)
_MACHINE = (
    "an operation took longer or shorter, and cost the same CPU in the same groups: "
    "the machine gave less or more, or the program waited for something outside; a "
    "trace of each side tells"
)
# From so many runs on they show how far runs differ.
_SEVERAL = 2
# Two busy processes beside the program, for each CPU of it, make it take so long.
_SLOWED = 3.0
# Figures of the wall clock.
_CLOCK = ("time", "task", "throughput")
# A factor that all groups share is worth a sentence from here on.
_WORTH = 1.10
# A function that moved by this share of all CPU, beyond noise, is a change of its own.
_OWN = 0.03


def outcome(comparison: Comparison) -> Outcome:
    """Return whether new is slower, and the figures that say so.

    The most direct figure decides: time per operation, then operations a second of a
    closed loop, then CPU per operation. The cost against unchanged code decides where
    nothing else does, and where its interval is the narrower one: it leaves out the
    machine. Where two figures contradict each other, nothing is decided. Of few runs on
    a busy machine, CPU per operation stands before all that the wall clock tells.
    """
    told = list(measures(comparison))
    diff = cpu_of(comparison)
    # How much work hosts get tells nothing of their build.
    alike = None if diff is None or comparison.of_fleets else scaled_alike(diff)
    speeds = [m for m in told if m.more_is]
    benchmarks = timed(comparison)
    factor = None if diff is None or alike is None else _factor(diff, alike)
    if not speeds:
        needs = _NOTHING if diff is None else _WORK
        if diff is not None and comparison.of_fleets:
            needs = _WORK_OF_FLEETS
        shares = diff is not None and diff.normalization.mode == "composition"
        return Outcome("unknown", tuple(told), (), factor, needs, shares)
    share = busy(comparison) if _by_prior(speeds[0]) else None
    if share is not None:
        # CPU time leaves out what other processes take.
        told.sort(key=lambda measure: measure.id != "cpu")
        speeds = [m for m in told if m.more_is]
    first, verdict = _decided(speeds)
    contrary = () if benchmarks is None else _contrary(benchmarks, verdict)
    needs = ""
    if contrary:
        verdict = "unknown"
        needs = "benchmarks moved both ways: each is told by itself"
    elif alike is not None and alike.alike and _machine(comparison, first, told):
        verdict, needs = "unknown", _MACHINE
    elif verdict == "unknown":
        needs = _more_runs(first, "hosts" if comparison.of_fleets else "runs")
    ordered = (first, *(m for m in told if m is not first))
    known = any(m.id in ("time", "cpu", "task") for m in told)
    return Outcome(
        verdict, ordered, contrary, None if known else factor, needs, busy=share
    )


def _by_prior(measure: Measure) -> bool:
    """Return whether a figure is of the wall clock, and of too few runs to tell."""
    freedom = sum(measure.runs) - len(measure.runs)
    return measure.id in _CLOCK and freedom < TOTAL_FREEDOM


def _more_runs(measure: Measure, noun: Literal["runs", "hosts"]) -> str:
    """Return what it takes to tell, from how far the runs that there are differ.

    An interval narrows with the square root of runs. It is to be as narrow as the
    change that was seen is large; or, of a change within `same_within`, as that.
    """
    have = min(measure.runs)
    if have < _SEVERAL:
        return _MORE_RUNS if noun == "runs" else "compare more hosts of each build"
    moved, same = abs(log(measure.ratio)), log(1 + measure.same_within)
    reach, goal = log(measure.high / measure.ratio), moved
    if moved < same:
        reach, goal = log(measure.narrow[1] / measure.ratio), same
    wanted = wanted_runs(have, times_as_many(reach, goal))
    turns = ", in turns" if noun == "runs" else ""
    if wanted is None:
        return f"{noun} differ too much: over {MOST_RUNS} a side would tell{turns}"
    turns = turns and f"{turns},"
    return f"about {wanted} {noun} a side{turns} would tell"


def _factor(diff: ProfileDiff, alike: ScaledAlike) -> float | None:
    """Return by how much all groups scaled, a second; None where they did not.

    Nor where a function did not scale as they did: most code is in one group.
    """
    base, new = diff.base.profile.duration_ns, diff.new.profile.duration_ns
    ratio = alike.ratio * (base / new if base and new else 1.0)
    if not alike.alike or abs(log(ratio)) <= log(_WORTH):
        return None
    if diff.normalization.mode != "composition":
        return ratio
    judged = diff.table("functions").judge("cum")
    if judged is None:
        return ratio
    large = np.abs(judged.delta) >= _OWN * diff.normalization.larger(*diff.totals)
    return None if (large & ~(judged.noise & judged.known)).any() else ratio


def _machine(comparison: Comparison, first: Measure, told: list[Measure]) -> bool:
    """Return whether another load of the machine explains a change of time as well.

    An operation costs the same CPU then. Where a trace shows that it waits longer, for
    a reason inside the program, the time is the program's.
    """
    cpu = next((m for m in told if m.id == "cpu"), None)
    if cpu is None or first.id not in _CLOCK:
        return False
    if cpu.verdict in ("slower", "faster") or comparison.trace is not None:
        return False
    moved = abs(log(first.ratio))
    return moved < log(_SLOWED) and abs(log(cpu.ratio)) < moved / 2


def _decided(speeds: list[Measure]) -> tuple[Measure, Verdict]:
    """Return the figure that decides, and its verdict.

    CPU an operation tells where time an operation does not. The cost against unchanged
    code stands in for figures whose intervals are wider. Neither does where the first
    figure points the other way: a program can wait less and compute more.
    """
    first = speeds[0]
    if first.verdict != "unknown":
        return first, first.verdict
    for measure in speeds[1:]:
        control = measure.id == "control"
        if control and measure.width >= first.width:
            continue
        told = measure.verdict in ("slower", "faster")
        if (told and _point_alike(first, measure)) or (control and not told):
            return measure, measure.verdict
    return first, "unknown"


def _point_alike(first: Measure, second: Measure) -> bool:
    """Return whether two figures moved the same way, or one did not move."""
    ways = [
        log(m.ratio) * (1 if m.more_is == "slower" else -1) for m in (first, second)
    ]
    return ways[0] * ways[1] > 0 or min(map(abs, ways)) < log(1 + first.same_within)


def _contrary(benchmarks: Timed, verdict: Verdict) -> tuple[str, ...]:
    """Return the benchmarks that are surely worse, or better, where all are not."""
    slower = tuple(name for name, r in benchmarks.each.items() if r.low > 1)
    faster = tuple(name for name, r in benchmarks.each.items() if r.high < 1)
    if verdict == "faster":
        return slower
    if verdict == "slower":
        return faster
    return (*slower, *faster) if slower and faster else ()
