"""The types of an outcome: a verdict, and the figures that it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, isfinite, log
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from msgspec import Struct

from pprofdiff.analysis.benchmarks.times import BenchmarkKey
from pprofdiff.analysis.figures.costs import Cost
from pprofdiff.analysis.figures.estimate import Estimate
from pprofdiff.analysis.judge.judgement import Mark
from pprofdiff.analysis.judge.student import student
from pprofdiff.analysis.judge.totals import Ratio
from pprofdiff.analysis.policy import MINOR, MOST, SAME_WITHIN

if TYPE_CHECKING:
    import pandas as pd

Compared = Literal["", "ops", "shares", "counts", "goroutines"]
"""What profiles compare where nothing measures speed: costs per op, shares of CPU as
the operation count is unknown, counts of samples without times, or goroutines added up,
idle ones too; "" if none of these."""

Verdict = Literal["slower", "faster", "same", "unknown"]
"""``same``: the ratio is close enough to 1; ``unknown``: not significant."""

ALIKE = 0.0005
"""The relative difference up to which allocations count as equal: map growth is
amortized over iterations."""
TURNS_CONFIDENCE = 99
"""Confidence of intervals over interleaved turns, in percent: at most one unchanged
build in a hundred gets a verdict, so weekly runs seldom raise a false alarm."""
_TURNS_BEYOND = 0.005


def beyond_turns(low: float, high: float) -> tuple[float, float]:
    """Return an interval over turns, widened by half a percent that turns do not show.

    Of 94 measured refactorings, one had a false verdict by an interval, which ended
    0.04% from 1; of ten planted +5%, none ended within 0.6%.
    """
    return low * (1 - _TURNS_BEYOND), high * (1 + _TURNS_BEYOND)


BEYOND_CHANCE, BEYOND_CONFIDENCE = 3.29, 99.9
"""The normal deviate of two-sided 0.1%, and its confidence in percent. Haybittle
(1971), Peto et al. (1976): an early look needs three standard errors or more, so that
the last one keeps its level."""

# Normal quantiles of two-sided intervals, by confidence in percent.
_REACH = {95: 1.96, TURNS_CONFIDENCE: 2.576}
_REACH_90 = 1.645
# Bounds that differ by a larger factor, such as 0.1× to 10×, say nothing about a ratio.
_NO_BOUNDS = 100


class Measure(NamedTuple):
    """One figure for the whole change, new against base.

    `judged` is new ÷ base, which is known also if `base` and `new` are not; its `low`
    and `high` are at `confidence` percent. The builds are the same if its 90% interval
    stays within `same_within` of 1; a figure that changes alone needs the 99% one. With
    `in_turns`, runs of base are paired with the runs of new next to them in time.
    """

    cost: Cost
    base: float | None
    new: float | None
    judged: Ratio
    source: str
    runs: tuple[int, int] = (1, 1)
    same_within: float = SAME_WITHIN
    in_turns: bool = False
    confidence: int = 95

    @property
    def id(self) -> str:
        """The stable id of what is measured."""
        return self.cost.id

    @property
    def of_turns(self) -> bool:
        """Whether benchmarks were run in interleaved turns."""
        return self.confidence == TURNS_CONFIDENCE

    @property
    def verdict(self) -> Verdict:
        """The verdict by this figure alone; unknown if it does not measure speed."""
        if not self.cost.more_is:
            return "unknown"
        by = self.judged
        more = verdict_between(by.ratio, by.bounds, by.narrow, self.same_within)
        if self.cost.more_is == "slower" or more in ("same", "unknown"):
            return more
        return "faster" if more == "slower" else "slower"

    @property
    def moved(self) -> bool:
        """Whether new is slower or faster by this figure alone."""
        return self.verdict in ("slower", "faster")

    @property
    def slowdown(self) -> float:
        """The logarithm of the ratio, above 0 if new is slower."""
        return log(self.judged.ratio) * (1 if self.cost.more_is == "slower" else -1)

    @property
    def beyond_chance(self) -> bool:
        """Whether the verdict holds at 99.9%, the level of an early look."""
        by = self.judged
        if self.verdict == "same":
            narrow = _wider(by.ratio, by.narrow, self._three_of(_REACH_90))
            return _within(narrow, self.same_within)
        low, high = self.widest
        return self.verdict != "unknown" and (low > 1 or high < 1)

    @property
    def widest(self) -> tuple[float, float]:
        """The ratio's 99.9% interval."""
        by, factor = self.judged, self._three_of(_REACH[self.confidence])
        return _wider(by.ratio, by.bounds, factor)

    def _three_of(self, reach: float) -> float:
        """Return the reach of a 99.9% interval as a multiple of `reach`."""
        freedom = np.array([self.judged.freedom])
        far, near = (float(student(z, freedom)[0]) for z in (BEYOND_CHANCE, reach))
        return far / near


def is_judged(low: float, high: float) -> bool:
    """Return whether turns are enough for bounds at all, see `Ratio.without_bounds`."""
    return low * high > 0 and isfinite(high / low)


def is_bounded(low: float, high: float) -> bool:
    """Return whether the bounds of a ratio are narrow enough to be informative."""
    return low > 0 and high <= _NO_BOUNDS * low


def _wider(
    ratio: float, bounds: tuple[float, float], factor: float
) -> tuple[float, float]:
    """Return the bounds with their distance from the ratio, in logs, times `factor`."""
    if not (ratio > 0 and min(bounds) > 0 and max(bounds) < float("inf")):
        return 0.0, float("inf")
    low, high = (log(bound / ratio) * factor for bound in bounds)
    return ratio * exp(low), ratio * exp(high)


def verdict_between(
    ratio: float,
    bounds: tuple[float, float],
    narrow: tuple[float, float],
    same_within: float,
) -> Verdict:
    """Return the verdict on a figure that grows as a program slows down.

    Same if `narrow` lies within `same_within` of 1; otherwise slower or faster if
    `bounds` lie on one side of 1 and the ratio itself is not within `same_within`; else
    unknown.
    """
    if _within(narrow, same_within):
        return "same"
    if abs(ratio - 1) <= same_within:
        return "unknown"
    if bounds[0] > 1:
        return "slower"
    return "faster" if bounds[1] < 1 else "unknown"


def _within(bounds: tuple[float, float], same_within: float) -> bool:
    """Return whether a ratio's bounds are close enough to 1 to count as the same."""
    return 1 - same_within <= bounds[0] and bounds[1] <= 1 + same_within


def off_cpu(time: float, cpu: float) -> bool:
    """Return whether CPU changed by less than half as much as time, given as ratios.

    Waiting shows up in time alone. Ratios are compared because, next to other programs,
    even pure computation takes longer than its CPU time on both sides.
    """
    return log(cpu) / log(time) < MOST


def contradict(one: Measure, other: Measure) -> bool:
    """Return whether new is slower by one figure's ratio and faster by the other's."""
    both = all(m.cost.more_is and m.judged.ratio > 0 for m in (one, other))
    return both and one.slowdown * other.slowdown < 0


class Counted(NamedTuple):
    """Allocations per op: `unit` is B/op or allocs/op; `noise`: counts vary as much.

    They are not `exact` if turns of one build differ by more than 1%.
    """

    unit: str
    base: float
    new: float
    noise: bool = False
    exact: bool = True


_MARKS: dict[Verdict, Mark] = {"slower": "more", "faster": "less"}


class Unit(NamedTuple):
    """The cost per op of one of several units of work, such as a benchmark.

    `cost` is `figure` (``time`` or ``cpu``) per op in seconds. Its interval holds for
    all units together: of those that exclude 1, a few percent are expected to be wrong.
    `counted` are allocations per op, and `cpu_seconds` is the approximate CPU per op by
    the profile, (base, new), or None. `key` identifies the benchmark. `off_cpu` is set
    if time changed significantly, and CPU by less than half as much. `running_s` is how
    long the goroutines of a task or region run, (base, new), None if unknown. One that
    is `rewritten` may do other work in new, so it decides nothing next to others.
    `other` is the change of time or CPU per op that is not `figure`, where that alone
    is significant.
    """

    name: str
    figure: str
    cost: Estimate[float]
    verdict: Verdict
    counted: tuple[Counted, ...] = ()
    cpu_seconds: tuple[float, float] | None = None
    key: BenchmarkKey | None = None
    off_cpu: bool = False
    running_s: tuple[float, float] | None = None
    rewritten: bool = False
    other: Estimate[float] | None = None

    @classmethod
    def of(
        cls,
        name: str,
        figure: str,
        cost: Estimate[float],
        narrow: tuple[float, float],
        same_within: float,
    ) -> Unit:
        """Return a unit with the verdict on its cost; `narrow` is its 90% interval."""
        bounds = cost.low, cost.high
        verdict = verdict_between(cost.ratio, bounds, narrow, same_within)
        mark = _MARKS.get(verdict, "noise")
        return cls(name, figure, cost._replace(mark=mark), verdict)

    def undecided(self) -> Unit:
        """Return the unit as one whose code differs, so that its change says little."""
        cost = self.cost._replace(mark="unknown")
        return self._replace(cost=cost, verdict="unknown", rewritten=True)

    @property
    def objects(self) -> Counted | None:
        """Objects per op if their exact counts differ, else None."""
        return self.differing("allocs/op")

    def differing(self, unit: str) -> Counted | None:
        """Return allocations in a unit if their exact counts differ, else None."""
        for one in self.counted:
            if one.unit == unit and not one.noise and one.base != one.new:
                return one
        return None

    @property
    def moved(self) -> bool:
        """Whether the unit is slower or faster."""
        return self.cost.significant


class LabelUnits(NamedTuple):
    """Units of work by the values of a sample label, such as endpoint.

    Their `figure` is ``cpu`` per op of the whole program, since samples do not count
    operations by label. With the key ``task`` or ``region`` they may come from traces;
    `figure` is then the ``time`` of one task or region.
    """

    key: str
    units: tuple[Unit, ...]

    @property
    def moved(self) -> tuple[Unit, ...]:
        """The changed units: slower ones first, then by size of change."""
        return _furthest_first(self.units)


class Together(NamedTuple):
    """Benchmarks that changed one way by similar factors, as on a different machine.

    `low` and `high` are the extreme time ratios, new ÷ base. `allocate_alike`: none
    changed what it allocates.
    """

    benchmarks: int
    low: float
    high: float
    allocate_alike: bool


class Outcome(Struct, frozen=True, eq=False, dict=True):
    """The result of a whole comparison.

    `measures` are the figures, the one that the verdict rests on first. `contrary`
    names the changed units if some are slower and others faster. `needs` is what it
    takes to decide.

    `alike` is the factor by which all groups of the CPU profile scaled, if they did.
    `cpu_a_second` is the ratio of CPU per second with its 95% interval, if no group's
    or function's share changed significantly and no other figure explains it.
    `compared` is what profiles show if there is no figure of speed. `busy` is the share
    of CPU samples that shows the machine to be busy, if time would decide and too few
    runs show how much it varies then.
    `together` is how the benchmarks behind the verdict changed, if a busy or throttled
    machine may be the cause.

    `counted` are allocations per op of interleaved benchmarks. `units` are the cost per
    op of each of several benchmarks, in the order in which they ran; `rest` is the
    share of all CPU outside them, (base, new): GC workers, the scheduler, goroutines
    not started by benchmarks. `by_label` is the cost per op by sample label, if no
    `units` have it. `builds` says in phrases how the builds differ apart from sources.
    """

    verdict: Verdict = "unknown"
    measures: tuple[Measure, ...] = ()
    contrary: tuple[str, ...] = ()
    alike: float | None = None
    needs: str = ""
    compared: Compared = ""
    busy: float | None = None
    cpu_a_second: tuple[float, float, float] | None = None
    together: Together | None = None
    counted: tuple[Counted, ...] = ()
    units: tuple[Unit, ...] = ()
    rest: tuple[float, float] | None = None
    by_label: LabelUnits | None = None
    builds: tuple[str, ...] = ()

    @property
    def moved(self) -> tuple[Unit, ...]:
        """The changed units: slower ones first, then by size of change."""
        return _furthest_first(self.units)

    @property
    def allocating(self) -> tuple[Unit, ...]:
        """The units with more or fewer objects or bytes per op, largest change first.

        Those with other numbers of objects come first. Bytes alone that change by less
        than 1% are maps and slices that grow now and then.
        """
        found = dict[Unit, tuple[bool, float]]()
        for unit in self.units:
            objects, size = unit.objects, unit.differing("B/op")
            one = objects or size
            if one is None:
                continue
            part = abs(one.new - one.base) / max(one.new, one.base)
            if objects or part > MINOR:
                found[unit] = objects is None, -part
        return tuple(sorted(found, key=found.__getitem__))

    @property
    def decided(self) -> bool:
        """Whether new is slower or faster, or units contradict each other."""
        return self.verdict in ("slower", "faster") or bool(self.contrary)

    @property
    def headline(self) -> Measure | None:
        """The figure that the verdict rests on, or None."""
        return self.measures[0] if self.measures else None


def _furthest_first(units: Sequence[Unit]) -> tuple[Unit, ...]:
    """Return the changed units: slower ones first, then by size of change."""
    moved = (unit for unit in units if unit.moved)
    return tuple(
        sorted(moved, key=lambda u: (u.cost.ratio < 1, -abs(log(u.cost.ratio))))
    )


def units_frame(outcome: Outcome) -> pd.DataFrame:
    """Return one row per unit: benchmarks in the order in which they ran, or labels."""
    import pandas as pd

    units, key = outcome.units, None
    if outcome.by_label is not None:
        key, units = outcome.by_label
    columns: dict[str, object] = {
        "label": pd.Series([key] * len(units), dtype="string"),
        "unit": pd.Series([unit.name for unit in units], dtype="string"),
        "figure": pd.Categorical([u.figure for u in units], ["time", "cpu"]),
    }
    for name in ("base", "new", "ratio", "low", "high"):
        values = [getattr(unit.cost, name) for unit in units]
        columns[name] = pd.Series(values, dtype="float64")
    verdicts = ["slower", "faster", "same", "unknown"]
    columns["verdict"] = pd.Categorical([u.verdict for u in units], verdicts)
    columns["mark"] = pd.Categorical(
        [u.cost.mark for u in units], ["more", "less", "noise", "unknown"]
    )
    return pd.DataFrame(columns)
