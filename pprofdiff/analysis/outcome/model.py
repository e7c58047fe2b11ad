"""What an outcome is: a verdict, and the figures that it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Literal, NamedTuple

import numpy as np

from pprofdiff.analysis.benchmarks.times import BenchmarkKey
from pprofdiff.analysis.stats.judgement import Mark
from pprofdiff.analysis.stats.student import student

__all__ = [
    "ALIKE",
    "SAME_WITHIN",
    "TURNS_CONFIDENCE",
    "Counted",
    "LabelUnits",
    "Measure",
    "Outcome",
    "Together",
    "Unit",
    "Verdict",
    "contradict",
    "is_bounded",
    "off_cpu",
    "verdict_between",
    "verdict_of",
]

Verdict = Literal["slower", "faster", "same", "unknown"]
"""``same``: the ratio is as near to 1 as was asked; ``unknown``: nothing tells."""

SAME_WITHIN = 0.02
"""Builds whose figures differ by less are the same, unless another limit is given."""


ALIKE = 0.0005
"""Bytes that differ by a smaller part did not change: what a growing map allocates is
spread over iterations."""
TURNS_CONFIDENCE = 99
"""Percent of intervals of what was measured in turns: a verdict that one unchanged
build in a hundred gets is one that nobody checks in vain each week."""

# Haybittle (1971) and Peto et al. (1976): an early look decides at three standard
# errors or more, so that the last one keeps its level. Two-sided 0.1 %.
_THREE = 3.29
# How far intervals of so many percent reach.
_REACH = {95: 1.96, TURNS_CONFIDENCE: 2.576}
_REACH_90 = 1.645
# Bounds that are farther apart, such as a tenth and ten times, say nothing of a ratio.
_NO_BOUNDS = 100
# CPU that moved by this part of what time did explains it.
_EXPLAINS = 0.5


class Measure(NamedTuple):
    """One figure of a whole change, new against base.

    `id` is stable, `figure` says in words what is measured, `unit` its unit. `ratio` is
    new ÷ base, `low` and `high` bound it with `confidence` percent. `more_is` says
    what a larger figure means: ``slower``, ``faster``, or "" where it means neither.
    `narrow` bounds the ratio with 90 %, which is asked where builds are called the
    same: `same_within` is how far from 1 it may reach then. `wide` bounds it with 99 %,
    which is asked of a figure that moves alone. Where `in_turns` is set, a run of base
    is compared with the run of new beside it in time. `freedom` are the degrees of
    freedom of the deviation that bounds rest on, infinite where it is taken for known.
    """

    id: str
    figure: str
    unit: str
    base: float | None
    new: float | None
    ratio: float
    low: float
    high: float
    narrow: tuple[float, float]
    wide: tuple[float, float]
    more_is: Literal["slower", "faster", ""]
    source: str
    runs: tuple[int, int] = (1, 1)
    same_within: float = SAME_WITHIN
    in_turns: bool = False
    confidence: int = 95
    freedom: float = float("inf")

    @property
    def verdict(self) -> Verdict:
        """What this figure alone says."""
        return verdict_of(self)

    @property
    def sure(self) -> bool:
        """Whether the figure moved beyond its 99 % interval."""
        low, high = self.wide
        return low > 1 or high < 1

    @property
    def beyond_chance(self) -> bool:
        """Whether the verdict stays at 99.9 %, the level of an early look."""
        if self.verdict == "same":
            narrow = _wider(self.ratio, self.narrow, self._three_of(_REACH_90))
            return self._replace(narrow=narrow).verdict == "same"
        factor = self._three_of(_REACH[self.confidence])
        low, high = _wider(self.ratio, (self.low, self.high), factor)
        return self.verdict != "unknown" and (low > 1 or high < 1)

    def _three_of(self, reach: float) -> float:
        """Return how many times as far as `reach` an interval of 99.9 % reaches."""
        freedom = np.array([self.freedom])
        far, near = (float(student(z, freedom)[0]) for z in (_THREE, reach))
        return far / near

    @property
    def bounded(self) -> bool:
        """Whether the interval says something of the ratio."""
        return is_bounded(self.low, self.high)

    @property
    def width(self) -> float:
        """How far the interval reaches, as a ratio."""
        return self.high / self.low if self.low > 0 else float("inf")


def is_bounded(low: float, high: float) -> bool:
    """Return whether bounds of a ratio say something of it."""
    return low > 0 and high <= _NO_BOUNDS * low


def _wider(
    ratio: float, bounds: tuple[float, float], factor: float
) -> tuple[float, float]:
    """Return bounds that are as many times as far from a ratio."""
    if not (ratio > 0 and min(bounds) > 0 and max(bounds) < float("inf")):
        return 0.0, float("inf")
    low, high = (log(bound / ratio) * factor for bound in bounds)
    return ratio * exp(low), ratio * exp(high)


def verdict_of(measure: Measure) -> Verdict:
    """Return what a figure says of a change; unknown for one that is no speed."""
    if not measure.more_is:
        return "unknown"
    bounds = measure.low, measure.high
    more = verdict_between(measure.ratio, bounds, measure.narrow, measure.same_within)
    if measure.more_is == "slower" or more in ("same", "unknown"):
        return more
    return "faster" if more == "slower" else "slower"


def verdict_between(
    ratio: float,
    bounds: tuple[float, float],
    narrow: tuple[float, float],
    same_within: float,
) -> Verdict:
    """Return the verdict on a figure of which more is slower.

    Slower or faster where 1 is outside `bounds`, same where all of `narrow` is within
    `same_within` of 1; unknown otherwise, and where the ratio itself is within it.
    """
    if 1 - same_within <= narrow[0] and narrow[1] <= 1 + same_within:
        return "same"
    if abs(ratio - 1) <= same_within:
        return "unknown"
    if bounds[0] > 1:
        return "slower"
    return "faster" if bounds[1] < 1 else "unknown"


def off_cpu(time: float, cpu: float) -> bool:
    """Return whether CPU moved by less than half of what time did, given as ratios.

    What an operation waits for is in its time alone. Ratios are compared: next to other
    programs an operation of CPU alone takes longer than its CPU, on both sides.
    """
    return log(cpu) / log(time) < _EXPLAINS


def contradict(one: Measure, other: Measure) -> bool:
    """Return whether new is slower by one figure's ratio, faster by the other's."""
    ways = [
        log(m.ratio) * (1 if m.more_is == "slower" else -1)
        for m in (one, other)
        if m.more_is and m.ratio > 0
    ]
    return len(ways) > 1 and ways[0] * ways[1] < 0


class Counted(NamedTuple):
    """What an operation has by count: `unit` is B/op or allocs/op.

    `noise` tells that the counts of both sides vary from turn to turn, in one range.
    """

    unit: str
    base: float
    new: float
    noise: bool = False


class Unit(NamedTuple):
    """One of several units of work, such as a benchmark: what an operation of it costs.

    `ratio` is new ÷ base of `figure` (``time`` or ``cpu`` per operation); `low` and
    `high` bound it so that the bounds of all units hold together: of those that exclude
    1, no more than a few percent are expected to be wrong. `base` and `new` are in
    seconds, `counted` what an operation allocates, and `cpu_seconds` what it takes of
    the CPU profile, (base, new), about; None without one. `key` is which benchmark. It
    is `off_cpu` where its time moved, and its CPU by less than half of that.
    """

    name: str
    ratio: float
    low: float
    high: float
    figure: str = "time"
    base: float | None = None
    new: float | None = None
    verdict: Verdict = "unknown"
    counted: tuple[Counted, ...] = ()
    cpu_seconds: tuple[float, float] | None = None
    key: BenchmarkKey | None = None
    off_cpu: bool = False

    @property
    def moved(self) -> bool:
        """Whether the unit got slower or faster."""
        return self.verdict in ("slower", "faster")

    @property
    def mark(self) -> Mark:
        """The mark of the unit in tables."""
        if not self.moved:
            return "noise"
        return "more" if self.ratio > 1 else "less"


class LabelUnits(NamedTuple):
    """Units of work that a label of samples tells, by its key such as endpoint.

    Their `figure` is ``cpu``, of an operation of the whole program: how many operations
    were of which unit, samples do not say. Those of the key ``task`` or ``region`` may
    be of traces; their figure is then ``time``, of one task or region.
    """

    key: str
    units: tuple[Unit, ...]

    @property
    def moved(self) -> tuple[Unit, ...]:
        """The units that cost more or less, dearer ones and the largest first."""
        return _furthest_first(self.units)


class Together(NamedTuple):
    """Benchmarks that all moved one way by like factors, as another machine moves them.

    `low` and `high` are the least and the largest ratio of time, new ÷ base;
    `allocate_alike` tells that all of them count allocations, and none changed.
    """

    benchmarks: int
    low: float
    high: float
    allocate_alike: bool


@dataclass(frozen=True, eq=False)
class Outcome:
    """The answer of a whole comparison.

    Attributes
    ----------
    verdict
        Slower, faster, same, or unknown.
    measures
        The figures, the one that the verdict rests on first; none where the work is
        not known and nothing stands in for it.
    contrary
        Names of the units that moved, where some got slower and others faster.
    alike
        The factor by which all groups of the CPU profile scaled alike, None where they
        did not, did not move, or have too few samples to show it.
    cpu_a_second
        By how much the CPU a second changed, within its 95 % interval, where no group
        and no function has another share beyond noise, and `alike` is None; None
        where one has, where that is no change, or where a figure tells what it is.
    needs
        What would tell more, "" where nothing is needed.
    shares
        Whether shares of CPU are compared, for want of known work.
    busy
        The share of CPU samples which shows that the machine did other work too, where
        time would decide and too few runs show how far it differs then; else None.
    counted
        What an operation allocates, where benchmarks count it in turns; else empty.
    units
        What an operation of each of several benchmarks costs, in the order in which
        they ran; empty of one.
    rest
        The share of all CPU that is in none of `units`, (base, new): GC workers, the
        scheduler, goroutines that benchmarks did not begin. None without profiles.
    by_label
        What an operation costs by a label of samples; None where `units` tell, the work
        is not known, or no label tells units of work.
    together
        How the benchmarks moved that the verdict rests on, where a busy or throttled
        machine may have moved them as well; else None.

    """

    verdict: Verdict = "unknown"
    measures: tuple[Measure, ...] = ()
    contrary: tuple[str, ...] = ()
    alike: float | None = None
    needs: str = ""
    shares: bool = False
    busy: float | None = None
    cpu_a_second: tuple[float, float, float] | None = None
    together: Together | None = None
    counted: tuple[Counted, ...] = ()
    units: tuple[Unit, ...] = ()
    rest: tuple[float, float] | None = None
    by_label: LabelUnits | None = None

    @property
    def moved(self) -> tuple[Unit, ...]:
        """The units that got slower or faster, slower ones and the largest first."""
        return _furthest_first(self.units)

    @property
    def decided(self) -> bool:
        """Whether new is slower or faster, or some units are slower, others faster."""
        return self.verdict in ("slower", "faster") or bool(self.contrary)

    def mark_of(self, figure: str) -> Mark:
        """Return the mark of a figure in tables, by its id such as ``cpu``.

        It is noise where the verdict is not that new is slower or faster, "unknown"
        where there is no such figure.
        """
        measure = next((m for m in self.measures if m.id == figure), None)
        if measure is None:
            return "unknown"
        if not self.decided or measure.low <= 1 <= measure.high:
            return "noise"
        return "more" if measure.ratio > 1 else "less"

    @property
    def headline(self) -> Measure | None:
        """The figure that the verdict rests on."""
        return self.measures[0] if self.measures else None


def _furthest_first(units: Sequence[Unit]) -> tuple[Unit, ...]:
    """Return the units that moved: slower ones first, then those that moved most."""
    moved = (unit for unit in units if unit.moved)
    return tuple(sorted(moved, key=lambda u: (u.ratio < 1, -abs(log(u.ratio)))))
