"""Two GC logs compared: figures of both, and what changed the GC's CPU time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.figures.estimate import Estimate, of_ratio
from pprofdiff.analysis.gclogs.catalogue import FIGURES, LogFigure
from pprofdiff.analysis.gclogs.figures import scanned_mb
from pprofdiff.analysis.gclogs.side import GCSide, LoggedRun, side_of, unusable
from pprofdiff.analysis.judge.calibration import GC_WORK
from pprofdiff.analysis.judge.judge import change_of_means, judged_ratios
from pprofdiff.analysis.judge.judgement import Change, Runs
from pprofdiff.analysis.judge.totals import all_paired
from pprofdiff.analysis.policy import LEAST_LIVE_MB
from pprofdiff.analysis.settings import Settings, Span
from pprofdiff.analysis.side import cpu_seconds
from pprofdiff.analysis.work import Work
from pprofdiff.model.gclogs import GCLog
from pprofdiff.model.side import Capture, Side

_FIRST_MB, _DEFAULT = 4.0, 100.0
# Sizes are rounded down to whole MiB: on average they are half a MiB low.
_CUT = 0.5
# A goal within this factor of GOGC's own follows from GOGC.
_NEAR = 1.25
# The live heap varies if its deviation is twice what rounding down gives (0.29 MiB).
_VARIES_MB = 0.6
# Under GOGC goals vary at least as much as the live heap, under a limit by rounding.
_HELD, _FOLLOWS = 0.5, 1.0
# Fewest cycles that show a deviation.
_FEWEST = 5


class Pace(NamedTuple):
    """How far the goal is above the live heap, and the GOGC that implies, in percent.

    `effective` is the window's. At process start, GOGC was at least `low` and
    below `high`, if the log has the first cycle. `spread` is how much the goals lower
    than that vary, relative to their live heap, if that varies.
    """

    effective: float
    low: float | None
    high: float | None
    goal_mb: float
    live_mb: float
    spread: float | None = None

    @property
    def limited(self) -> bool:
        """Whether the goal is below GOGC's own, and not set by the program."""
        lower = self.low is not None and self.effective * _NEAR < self.low
        return lower and (self.spread is None or self.spread < _FOLLOWS)

    @property
    def held(self) -> bool:
        """Whether goals stay constant while the live heap varies."""
        return self.limited and self.spread is not None and self.spread <= _HELD

    @property
    def alone_mb(self) -> float | None:
        """The goal in MiB from GOGC alone; None if the first goal does not show GOGC.

        With GOGC=off the first goal is the limit's, as later ones are.
        """
        if self.low is None or self.low / 100 * _FIRST_MB * 2 > self.goal_mb:
            return None
        return self.live_mb * (1 + self.low_gogc / 100)

    @property
    def follows_gogc(self) -> bool:
        """Whether the GOGC at process start explains the goal."""
        if self.low is None or self.high is None:
            return False
        return self.low <= self.effective * _NEAR and self.effective < self.high * _NEAR

    @property
    def low_gogc(self) -> float:
        """The lowest GOGC that is possible, or the default if that is in range."""
        if self.low is None or self.low <= _DEFAULT <= (self.high or 0.0):
            return _DEFAULT
        return self.low

    @property
    def gogc(self) -> float:
        """The GOGC that explains the goal: the default, if that is near."""
        near_default = _DEFAULT / _NEAR < self.effective < _DEFAULT * _NEAR
        return _DEFAULT if near_default else self.effective


def pace_of(side: GCSide) -> Pace | None:
    """Return the pace in a side's window; None if heaps are too small to show it."""
    cycles = side.shown.cycles
    live, goal = cycles.heap_live_mb[:-1], cycles.goal_mb[1:]
    follows = np.diff(cycles.number) == 1
    live, goal = live[follows].astype(np.float64), goal[follows].astype(np.float64)
    if not len(live) or float(live.mean()) < LEAST_LIVE_MB:
        return None
    scanned = scanned_mb(cycles)[:-1][follows] + _CUT
    effective = 100 * float((goal - live).sum()) / float(scanned.sum())
    low, high = _at_the_start(side)
    means = float(goal.mean()) + _CUT, float(live.mean()) + _CUT
    lower = 100 * (goal - live) / scanned * _NEAR < (low or 0.0)
    return Pace(effective, low, high, *means, _spread(live[lower], goal[lower]))


def _spread(live: NDArray[np.float64], goal: NDArray[np.float64]) -> float | None:
    """Return how much goals vary relative to the live heap; None if it hardly does."""
    if len(live) < _FEWEST or float(live.std()) < _VARIES_MB:
        return None
    return float(goal.std() / live.std())


def _at_the_start(side: GCSide) -> tuple[float | None, float | None]:
    """Return the bounds of GOGC at process start, None without the first cycle."""
    cycles = side.shown.run.cycles
    if not len(cycles.number) or int(cycles.number[0]) != 1:
        return None, None
    first = float(cycles.goal_mb[0])
    return 100 * first / _FIRST_MB, 100 * (first + 1) / _FIRST_MB


class Factors(NamedTuple):
    """Ratios new ÷ base whose products explain the GC's CPU time.

    ``gc_cpu = cycles × cpu_per_cycle`` and ``cycles = allocation ÷ bytes_per_cycle``.
    Each is a ratio of rates or means in the window. `gc_cpu`, `cycles` and `allocation`
    are per second, or per op if both sides' operations are known.
    """

    gc_cpu: float
    cycles: float
    cpu_per_cycle: float
    allocation: float
    bytes_per_cycle: float


class Restored(NamedTuple):
    """The GOGC with which new allocates as many bytes between cycles as base.

    `gogc` is in percent. `heap_mb` is the size in MiB that the heap then grows to; a
    GOMEMLIMIT for it must add memory outside the heap, `outside_mb` of it known from
    the log (stacks and globals). Both are None before Go 1.18, which had no GOMEMLIMIT.
    """

    gogc: float
    heap_mb: float | None
    outside_mb: float | None


@dataclass(frozen=True, eq=False)
class GCDiff:
    """The GC cycles of base and new; `rates` are operations per second."""

    base: GCSide
    new: GCSide
    rates: tuple[float, float] | None
    in_turns: bool = False

    @property
    def per_work(self) -> bool:
        """Whether `factors` are per op."""
        return self.rates is not None

    @cached_property
    def factors(self) -> Factors | None:
        """What changed the GC's CPU time; None if a side has no rate or allocation."""
        rates = np.array(
            [
                [
                    side.steady.cycles_per_second or 0.0,
                    side.steady.gc_cpu_us_per_cycle,
                    side.steady.heap.per_cycle or 0.0,
                ]
                for side in (self.base, self.new)
            ]
        )
        if not (rates > 0).all():
            return None
        work = self.rates or (1.0, 1.0)
        cycles, cpu, size = (rates[1] / rates[0]).tolist()
        cycles /= work[1] / work[0]
        return Factors(cycles * cpu, cycles, cpu, cycles * size, size)

    @cached_property
    def restored(self) -> Restored | None:
        """The GOGC and heap that restore base's cadence, None if unknown or limited."""
        base, new = self.base.steady.heap, self.new.steady.heap
        if (
            base.per_cycle is None
            or new.per_cycle is None
            or min(base.per_cycle, new.per_cycle) <= 0
            or new.mean_live < 1
        ):
            return None
        pace = pace_of(self.new)
        if pace is not None and pace.held:
            return None
        cycles = self.new.shown.cycles
        outside = 0.0
        if cycles.stacks_mb is not None and cycles.globals_mb is not None:
            outside = float((cycles.stacks_mb + cycles.globals_mb).mean())
        gogc = 100 * base.per_cycle / (new.mean_live + outside)
        if cycles.stacks_mb is None:
            return Restored(gogc, None, None)
        return Restored(gogc, new.mean_live + base.per_cycle, outside)

    def estimate(self, figure: LogFigure) -> Estimate[float | None]:
        """Return a figure of both sides."""
        return self.estimates[figure.key]

    def by_run(self, figure: LogFigure) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return a figure's known values in the runs of (base, new)."""
        base, new = (
            tuple(value for value in figure.of_runs(side) if value is not None)
            for side in (self.base, self.new)
        )
        return base, new

    @cached_property
    def estimates(self) -> Mapping[str, Estimate[float | None]]:
        """Each figure of both sides, by its key, all judged as one table.

        Ratios and their 95% intervals are of geometric means over runs; each run is one
        observation, or each pair of runs taken in turns.
        """
        sides = self.base, self.new
        old, now = (tuple(map(_values_of, side.runs)) for side in sides)
        spreads = [figure.spread for figure in JUDGED if figure.spread is not None]
        judged = judged_ratios(spreads, Runs(old, now, self.in_turns))
        changes = {one.key: judged.change(row) for row, one in enumerate(JUDGED)}
        return {
            one.key: of_ratio(
                one.of_side(self.base), one.of_side(self.new), changes.get(one.key)
            )
            for one in FIGURES
        }

    @property
    def several_runs(self) -> bool:
        """Whether a side has more than one run, so that runs show how they differ."""
        return len(self.base.runs) + len(self.new.runs) > 2

    @cached_property
    def interval_change(self) -> Change:
        """How the mean time between cycles changed, ms; unknown for fewer than six."""
        return change_of_means(_intervals_ms(self.base), _intervals_ms(self.new))

    @cached_property
    def cycle_cpu_change(self) -> Change:
        """How the mean CPU time of a cycle changed, us; unknown for fewer than five."""
        return change_of_means(_cpu_us(self.base), _cpu_us(self.new))

    @cached_property
    def cadence_beyond_runs(self) -> bool:
        """Whether cycles per second, op or byte changed beyond run-to-run noise."""
        names = "cycles_per_second", "per_cycle"
        if any(self.estimates[name].significant for name in names):
            return True
        if self.factors is None or not self.per_work:
            return False
        sides = Runs.single(np.ones(1), np.array([self.factors.cycles]))
        return judged_ratios((GC_WORK,), sides).change().significant


def _intervals_ms(side: GCSide) -> NDArray[np.float64]:
    cycles = side.shown.cycles
    between_ms = np.diff(cycles.start_ms).astype(np.float64)
    return between_ms / np.maximum(np.diff(cycles.number), 1)


def _cpu_us(side: GCSide) -> NDArray[np.float64]:
    cycles = side.shown.cycles
    whole = (
        cycles.sweep_termination_cpu_us
        + cycles.assist_cpu_us
        + cycles.background_cpu_us
        + cycles.mark_termination_cpu_us
    )
    return whole.astype(np.float64)


def compare_sides(base: Side, new: Side, settings: Settings) -> GCDiff | None:
    """Compare the GC logs of two sides; None if a side has no intact line.

    Counted work is taken to span the sides' CPU profiles.
    """
    return compare_logs(
        ((base.label, base.of("gctrace")), (new.label, new.of("gctrace"))),
        settings.spans,
        settings.work,
        (cpu_seconds(base), cpu_seconds(new)),
        settings.pairs,
    )


def caveats(base: Side, new: Side, result: GCDiff | None) -> Iterator[Caveat]:
    """Yield caveats about logs that are compared, and about those that are not."""
    if result is not None:
        yield from result.base.caveats()
        yield from result.new.caveats()
    for side in (base, new):
        yield from unusable(side.of("gctrace"))


def compare_logs(
    sides: tuple[
        tuple[str, Sequence[Capture[GCLog]]], tuple[str, Sequence[Capture[GCLog]]]
    ],
    spans: tuple[Span | None, Span | None] = (None, None),
    work: Work | None = None,
    seconds: tuple[float | None, float | None] = (None, None),
    pairs: int = 0,
) -> GCDiff | None:
    """Compare both sides' GC logs; None if a side's logs have no cycle.

    `sides` are (label, logs), `spans` the seconds that the user asked for. In each run,
    the process with the most cycles is compared. `seconds` is how long counted `work`
    took on each side; if unknown, it is taken to be the span, or else the window of
    cycles. `pairs` is how many pairs runs make that were taken in turns. Raises
    UsageError if no cycle started within a span.
    """
    base, new = (
        side_of(label, logs, span)
        for (label, logs), span in zip(sides, spans, strict=True)
    )
    if base is None or new is None:
        return None
    rates = None
    # If a process allocated mostly at start-up, few of its operations were done while
    # its GC cycles ran.
    if work is not None and work.throughout:
        took = [
            known or _length(span, side)
            for known, span, side in zip(seconds, spans, (base, new), strict=True)
        ]
        rates = work.per_second((took[0], took[1]))
    return GCDiff(base, new, rates, all_paired(base.runs, new.runs, pairs))


def _length(span: Span | None, side: GCSide) -> float:
    """Return the length of a span in seconds; open ends are the window's."""
    start, end = span or (None, None)
    start = side.steady.start_s if start is None else start
    return (side.steady.end_s if end is None else end) - start


JUDGED = tuple(figure for figure in FIGURES if figure.spread is not None)
"""The judged figures, which are judged as one table."""


def _values_of(run: LoggedRun) -> NDArray[np.float64]:
    values = [figure.of(run) for figure in JUDGED]
    column = np.array([np.nan if v is None else v for v in values], np.float64)
    return np.maximum(column, [figure.least for figure in JUDGED])
