"""Tasks or regions of traces whose goroutines run for longer each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.finding import Fact, Finding, severity_of
from pprofdiff.analysis.causes.traces import beyond, direction, time_fact
from pprofdiff.analysis.causes.wording import arrow, count, counts, times
from pprofdiff.analysis.judge.calibration import BLOCKED
from pprofdiff.analysis.outcome.by_unit import user_times
from pprofdiff.analysis.policy import FEW_SAMPLES, MOST
from pprofdiff.analysis.traces.unit_time import (
    UnitKind,
    running_ns,
    sampled,
    unit_kind,
)
from pprofdiff.goruntime.readable import short

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import TraceDiff

# As of waits: what explains the goroutines' time ranks above what it entails.
_WEIGHT = 10.0
_MOST, _SEVERAL = 3, 2


def running(case: Case) -> Iterator[Finding]:
    """Yield a finding for each name whose tasks last longer because goroutines run.

    A goroutine also runs where the operating system has taken its thread off the CPU,
    which few short tasks meet: the median has to change, and other tasks' must not. CPU
    profiles say more of the same.
    """
    diff = case.trace
    kind = None if diff is None else unit_kind(diff)
    if diff is None or kind is None or case.cpu is not None:
        return
    base, new = (running_ns(side, kind) for side in diff.sides)
    tasks = {
        one.name: _Tasks(base[one.name], new[one.name], *one.mean.means)
        for one in user_times(case.comparison, kind)
        if one.name in base and one.name in new
    }
    middle = _middle([one.factor for one in tasks.values()])
    if middle is None or beyond(diff, BLOCKED, (1.0, middle)):
        return
    whole = max(side.of_program("exec_ns") / side.wall_ns for side in diff.sides)
    walls = [side.wall_ns for side in diff.sides]
    found = []
    for name, one in tasks.items():
        old, now = one.medians
        if one.part >= MOST and all(
            beyond(diff, BLOCKED, both) for both in ((old, now), (old * middle, now))
        ):
            rate = min(n / ns for n, ns in zip(one.numbers, walls, strict=True))
            found.append((abs(now - old) * rate / max(whole, 1e-9), name))
    for share, name in sorted(found, reverse=True)[:_MOST]:
        where = _sampled_most(diff, tasks[name], kind, name)
        yield _finding(tasks[name], kind, name, share, where)


@dataclass(frozen=True, eq=False)
class _Tasks:
    """How long goroutines run in each task of a name (int64 ns).

    `base_s` and `new_s` are how long the tasks last on average, in seconds.
    """

    base: NDArray[np.int64]
    new: NDArray[np.int64]
    base_s: float
    new_s: float

    @property
    def numbers(self) -> tuple[int, int]:
        """How many tasks there are."""
        return len(self.base), len(self.new)

    @property
    def medians(self) -> tuple[float, float]:
        """The medians of running time, ns."""
        return float(np.median(self.base)), float(np.median(self.new))

    @property
    def factor(self) -> float:
        """By what the median changed, 0 where it is not known."""
        base, new = self.medians
        return new / base if base > 0 else 0.0

    @property
    def part(self) -> float:
        """What part of the change in how long tasks last is running."""
        lasts = (self.new_s - self.base_s) * 1e9
        return float(self.new.mean() - self.base.mean()) / lasts if lasts else 0.0


def _middle(factors: list[float]) -> float | None:
    """Return the middle factor, of two in the middle the one nearer to 1."""
    if len(factors) < _SEVERAL or min(factors) <= 0:
        return None
    factors = sorted(factors)
    half = len(factors) // 2
    return min(factors[half - 1 + len(factors) % 2 : half + 1], key=_far)


def _far(factor: float) -> float:
    return abs(log(factor))


class _Sampled(NamedTuple):
    """How many CPU samples in tasks of a name are in a function, and in any."""

    function: str
    own: tuple[int, int]
    all: tuple[int, int]


def _sampled_most(
    diff: TraceDiff, tasks: _Tasks, kind: UnitKind, name: str
) -> _Sampled | None:
    """Return the function with most of the change in the traces' CPU samples per task.

    Traces have these if a CPU profile was taken meanwhile. None if they are too few.
    """
    sides = [
        Counter({f: n for (unit, f), n in sampled(side, kind).items() if unit == name})
        for side in diff.sides
    ]
    whole = sides[0].total(), sides[1].total()
    if max(whole) < FEW_SAMPLES:
        return None

    def change(counts: tuple[int, int]) -> float:
        base, new = (n / of for n, of in zip(counts, tasks.numbers, strict=True))
        return new - base

    counts = {f: (sides[0][f], sides[1][f]) for f in (*sides[0], *sides[1]) if f}
    sign = 1 if change(whole) > 0 else -1
    most = max(counts, key=lambda f: sign * change(counts[f]), default="")
    if not most or sign * change(counts[most]) < MOST * abs(change(whole)):
        return None
    same = (tasks.medians[1] > tasks.medians[0]) == (sign > 0)
    return _Sampled(most, counts[most], whole) if same else None


def _finding(
    tasks: _Tasks, kind: UnitKind, name: str, share: float, where: _Sampled | None
) -> Finding:
    """Return the finding on tasks that have a `share` of all running time.

    `where` is the function that has most of the CPU samples that it is more or less.
    """
    said, fact = "", list[Fact]()
    if where is not None:
        (old, now), (base, new) = where.own, where.all
        function = short(where.function)
        said = f"Of the traces' CPU samples in it, {function} has {count(old)} of "
        said += f"{count(base)} → {count(now)} of {count(new)}. "
        what = f"CPU samples of {kind} {name} in {function}"
        fact = [Fact(what, "trace", old, now, "samples")]
    lasts = arrow(tasks.base_s * 1e9, tasks.new_s * 1e9, "ns")
    return Finding(
        "unit-running",
        f"Goroutines run for {arrow(*tasks.medians, 'ns')} per {kind} (p50), "
        f"{times(tasks.factor)}",
        f"{said}Each lasts {lasts} on average: {counts(*tasks.numbers)} complete "
        f"{kind}s in the traces. That is wall time with a processor, not CPU time.",
        (
            time_fact(f"p50 of running time per {kind} {name}", *tasks.medians),
            Fact(f"complete {kind}s {name}", "trace", *tasks.numbers, f"{kind}s"),
            *fact,
        ),
        "A CPU profile of each side shows which functions take it.",
        severity=severity_of(share),
        direction=direction(*tasks.medians),
        weight=1 + _WEIGHT * share,
        label=(kind, name),
    )
