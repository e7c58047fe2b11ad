"""Benchmarks measured in turns: value *i* of base is adjacent to value *i* of new."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.analysis.benchmarks.times import (
    SECONDS,
    BenchmarkKey,
    is_time,
    key_of,
)
from pprofdiff.analysis.benchmarks.units import ALLOCATED
from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.figures.costs import CPU, TIME
from pprofdiff.analysis.judge.calibration import TURNS_TOGETHER
from pprofdiff.analysis.judge.samples import mann_whitney
from pprofdiff.analysis.judge.totals import InTurns
from pprofdiff.analysis.policy import MAJOR, MINOR, SIMILAR
from pprofdiff.model.benchmarks import Benchmarks, Result
from pprofdiff.model.side import Capture, Side

_TIME, _CPU = TIME.printed, CPU.printed

# The fewest values a side of one distribution whose ranges are seldom separate by
# chance: of four and four in 2 of 70 orders, of three and three in 2 of 20.
_KNOWN = 4
# Counts that share a range differ if the U test finds so at this level, far below that
# of an outcome: turns next to each other may be alike.
_BY_CHANCE = 1e-4
# Medians of two normal values a side are this many ranges apart in 3 of 1,000 draws,
# those of three in 8 of a million.
_FAR = 10

# Printed before results, with the number of turns per function layout.
_IN_TURNS = r"in turns(?:, (\d{1,6}) a layout)?"

# CPU times are used if the kernel counted some in this share of the turns.
_COUNTED = 0.75
# CPU time in time per op, as a multiple of GOMAXPROCS, that only a stopped timer
# explains: both are measured within a few percent.
_OUTSIDE = 1.2
# Most values of a side are between these quantiles.
_MOST = 0.1, 0.9

# Bytes that a process allocates whatever it benchmarks. Measured commits had B/op with
# 0 allocs/op on 22 sides: 0.2 to 5 KB a turn on five of them, else 28 KB or more.
_ONCE = 16 << 10

# A key of no unit that a benchmark may report.
_ITERATIONS = ""

Floats = NDArray[np.float64]
_Values = dict[BenchmarkKey, dict[str, list[float]]]


class Turns(Struct, frozen=True, eq=False):
    """Each benchmark's values of both sides, turn by turn.

    `names` are in the order of their first lines. `seconds` is time per op of (base,
    new): float64 of shape (turns, benchmarks); `cpu_seconds` is CPU time per op, NaN
    for benchmarks whose turns lack it, None if all do. `allocated` is the median bytes
    and objects per op of (base, new), float64 by benchmark, by sample type of an allocs
    profile; `varies` (bool) says whether both sides' counts share a range: what
    goroutines allocate may depend on when each runs. `apart` is by how much two turns,
    one of each side, differ (standard deviation). `together` consecutive turns make
    one observation; with `layouts` the function order changes after each of those.
    `rewritten` names benchmarks, or what they call in test files, whose code differs.
    """

    names: tuple[BenchmarkKey, ...]
    seconds: tuple[Floats, Floats]
    cpu_seconds: tuple[Floats, Floats] | None
    allocated: Mapping[str, tuple[Floats, Floats]]
    varies: Mapping[str, NDArray[np.bool_]]
    together: int = TURNS_TOGETHER
    layouts: bool = False
    rewritten: str = ""
    apart: Mapping[str, Floats] = {}

    def of(self, base: Sequence[float], new: Sequence[float]) -> InTurns:
        """Return a figure that is known for each turn."""
        return InTurns(base, new, self.together, self.layouts)

    @property
    def few(self) -> bool:
        """Whether turns are fewer than one observation: one lost slice shifts all."""
        return len(self.seconds[0]) < TURNS_TOGETHER

    @property
    def several(self) -> bool:
        """Whether there is more than one benchmark."""
        return len(self.names) > 1

    @property
    def cpu_of_all(self) -> tuple[Floats, Floats] | None:
        """CPU time per op, None unless each benchmark has it."""
        return self.cpu_seconds if self.has_cpu.all() else None

    @property
    def has_cpu(self) -> NDArray[np.bool_]:
        """Which benchmarks have CPU time per op (bool)."""
        if self.cpu_seconds is None:
            return np.zeros(len(self.names), np.bool_)
        known: NDArray[np.bool_] = ~np.isnan(self.cpu_seconds[0][0])
        return known

    def alike(self, kind: str) -> bool:
        """Return whether no benchmark's counts of a kind left their range."""
        return kind in self.varies and bool(self.varies[kind].all())

    def counts_exactly(self, kind: str) -> bool:
        """Return whether turns of one build differ by no more than 1% in their counts.

        What a pool holds that the collector empties is allocated again now and then.
        """
        most = np.maximum(*self.allocated[kind])
        apart = self.apart.get(kind, np.zeros(len(most)))
        return not bool((apart > MINOR * most).any())

    def outside_timer(self) -> Iterator[Caveat]:
        """Yield a caveat if CPU per op is more than fits in time per op.

        GOMAXPROCS limits CPU use, so a part of it is outside the timer.
        """
        if self.cpu_seconds is None:
            return
        sides = zip(self.cpu_seconds, self.seconds, strict=True)
        # Geometric means, as in the rows of both.
        times = np.array(
            [np.exp(np.log(cpu / time).mean(axis=0)) for cpu, time in sides]
        )
        most = np.array([procs or 1 for _, procs, _ in self.names])
        found = np.flatnonzero((times > _OUTSIDE * most).any(axis=0)).tolist()
        if found:
            low, high = times[:, found].min(), times[:, found].max()
            name, procs, _ = self.names[found[0]]
            between = " to ".join(dict.fromkeys((f"{low:.1f}", f"{high:.1f}")))
            more = f" (and of {len(found) - 1} more)" if len(found) > 1 else ""
            yield Caveat(
                "outside-timer",
                f"CPU/op of {name}{more} is {between} times its time/op "
                f"with GOMAXPROCS={procs or 1}: it includes work outside the timer: "
                "before b.ResetTimer or after b.StopTimer",
            )

    def each(self, figure: tuple[Floats, Floats]) -> list[InTurns]:
        """Return a figure of (base, new), benchmark by benchmark."""
        base, new = (side.T.tolist() for side in figure)
        return [self.of(*one) for one in zip(base, new, strict=True)]

    def geomeans(self, figure: tuple[Floats, Floats]) -> InTurns:
        """Return each turn's geometric mean of a figure over benchmarks."""
        base, new = (np.exp(np.log(side).mean(axis=1)).tolist() for side in figure)
        return self.of(base, new)


def measured_in_turns(base: Side, new: Side) -> Turns | None:
    """Return the turns of benchmarks that both sides have, None for other captures.

    ``pprofdiff measure`` writes a line ``measured: in turns`` before such results, and
    when the round began: turns of other rounds, or of one side, are not adjacent. A
    benchmark with another number of values than most, or an implausible time, is left
    out, so that a few lost values do not weaken the test of all others.
    """
    sides = [_values(side) for side in (base, new)]
    if None in sides or not _of_same_rounds(base, new):
        return None
    old, current = (side or {} for side in sides)
    lengths = {
        key: len(own[_TIME])
        for key, own in old.items()
        if key in current
        and _paired(own, current[key], _TIME)
        and all(
            is_time(value * SECONDS[_TIME])
            for value in (*own[_TIME], *current[key][_TIME])
        )
    }
    if not lengths:
        return None
    counts = list(lengths.values())
    usual = max(set(counts), key=lambda length: (counts.count(length), length))
    names = tuple(key for key, length in lengths.items() if length == usual)
    seconds = _columns(old, current, names, _TIME, SECONDS[_TIME])
    cpu = _cpu_seconds(old, current, names)
    allocated, varies, apart = {}, {}, {}
    for kind, unit in ALLOCATED.items():
        if all(_paired(old[key], current[key], unit) for key in names):
            both = _columns(old, current, names, unit, 1.0)
            allocated[kind] = np.median(both[0], axis=0), np.median(both[1], axis=0)
            varies[kind] = _overlap(*both)
            apart[kind] = np.hypot(*map(_deviation, both))
    if "alloc_space" in varies:
        varies["alloc_space"] |= [
            _once(old, current, key) or _is_remainder(old[key], current[key])
            for key in names
        ]
    together = max(map(_together, base.of("benchmark")), default=0)
    alike = together or TURNS_TOGETHER
    return Turns(
        *(names, seconds, cpu, allocated, varies, alike),
        layouts=together > 0,
        rewritten=_rewritten(base) or _rewritten(new),
        apart=apart,
    )


def _cpu_seconds(
    old: _Values, current: _Values, names: tuple[BenchmarkKey, ...]
) -> tuple[Floats, Floats] | None:
    """Return CPU times without zeros, NaN for benchmarks with too many of them.

    None if all benchmarks lack CPU times. If start-up took all CPU of a turn, its
    operations get the smallest other time.
    """
    counted = [_paired(old[key], current[key], _CPU) for key in names]
    some = tuple(key for key, has in zip(names, counted, strict=True) if has)
    if not some:
        return None
    known, sides = np.array(counted), []
    for side in _columns(old, current, some, _CPU, 1e-9):
        of_all = np.full((len(side), len(names)), np.nan)
        of_all[:, known] = side
        sides.append(of_all)
    known = np.all([(side > 0).mean(axis=0) >= _COUNTED for side in sides], axis=0)
    if not known.any():
        return None
    base, new = (
        np.where(side > 0, side, np.where(side > 0, side, np.inf).min(axis=0))
        for side in sides
    )
    base[:, ~known] = new[:, ~known] = np.nan
    return base, new


def _overlap(base: Floats, new: Floats) -> NDArray[np.bool_]:
    """Return for which benchmarks (columns) most values of both sides share a range.

    Values that are the same in all turns share a range only if the sides are equal.
    So few others that ranges are often separate by chance are taken to share one unless
    medians are `_FAR` ranges apart.
    """
    old, now = (np.quantile(side, _MOST, axis=0) for side in (base, new))
    found: NDArray[np.bool_] = (old[0] <= now[1]) & (now[0] <= old[1])
    middle = np.median(base, axis=0)
    apart = np.abs(np.median(new, axis=0) - middle)
    if len(base) >= _KNOWN:
        for column in np.flatnonzero(found & (apart > MINOR * middle)).tolist():
            p = mann_whitney(base[:, column].tolist(), new[:, column].tolist())
            found[column] = p is None or p >= _BY_CHANCE
        return found
    for side in (base, new):
        found |= side.max(axis=0) - side.min(axis=0) > apart / _FAR
    return found


def _once(base: _Values, new: _Values, key: BenchmarkKey) -> bool:
    """Return whether a benchmark allocates only what each process does once.

    Per op that is a remainder, which falls as iterations rise.
    """
    space, objects = ALLOCATED.values()
    return not any(
        any(own[key].get(objects, (1.0,)))
        or np.median(np.multiply(own[key][space], own[key][_ITERATIONS])) > _ONCE
        for own in (base, new)
    )


def _is_remainder(*sides: Mapping[str, Sequence[float]]) -> bool:
    """Return whether B/op may change only because a process allocates some once.

    That is divided by its iterations: next to another number of these it says nothing
    of an operation. It is all that a side without allocs/op has, and may be a little of
    as many objects where fewer iterations go with more bytes.
    """
    space, objects = ALLOCATED.values()
    done = [float(np.median(side[_ITERATIONS])) for side in sides]
    made = [float(np.median(side[space])) for side in sides]
    left = [
        size
        for size, side in zip(made, sides, strict=True)
        if not any(side.get(objects, (1.0,)))
    ]
    change = made[1] - made[0]
    alone = len(left) == 1 and abs(change) <= left[0]
    as_many = len({float(np.median(side.get(objects, (1.0,)))) for side in sides}) == 1
    little = as_many and abs(change) <= MAJOR * max(made)
    little &= change * (done[1] - done[0]) < 0
    return (alone or little) and max(done) > SIMILAR * min(done)


def _values(side: Side) -> _Values | None:
    found: _Values = {}
    for capture in _in_order(side):
        for result in capture.content.results:
            if not _in_turns(result):
                return None
            of_unit = found.setdefault(key_of(result), {})
            of_unit.setdefault(result.unit, []).extend(result.values)
            if result.unit == _TIME:
                of_unit.setdefault(_ITERATIONS, []).extend(result.iterations)
    return found or None


def _of_same_rounds(base: Side, new: Side) -> bool:
    """Return whether each round ran both sides, or rounds are not known."""
    old, now = (
        [one for capture in _in_order(side) for one in capture.content.rounds]
        for side in (base, new)
    )
    if not old or not now:
        return True
    return len(old) == len(now) and all(
        one.began == other.began and one.side != other.side
        for one, other in zip(old, now, strict=True)
    )


def _in_order(side: Side) -> list[Capture[Benchmarks]]:
    """Return the benchmark outputs of a side by run."""
    return sorted(side.of("benchmark"), key=lambda capture: capture.run)


def _deviation(values: Floats) -> Floats:
    """Return the standard deviation of each column, whatever its few extreme values.

    80% of normal values are within 2.56 standard deviations.
    """
    low, high = np.quantile(values, _MOST, axis=0)
    return np.asarray((high - low) / 2.56)


def _rewritten(side: Side) -> str:
    """Return what `pprofdiff measure` wrote of benchmarks whose code differs."""
    every = (
        dict(result.config).get("rewritten", "")
        for capture in side.of("benchmark")
        for result in capture.content.results
    )
    return next(filter(None, every), "")


def _in_turns(result: Result) -> re.Match[str] | None:
    return re.fullmatch(_IN_TURNS, dict(result.config).get("measured", ""))


def _together(capture: Capture[Benchmarks]) -> int:
    """Return how many consecutive turns of a run have one layout, 0 if not varied."""
    found = _in_turns(capture.content.results[0]) if capture.content.results else None
    return max(int(found[1]), 1) if found and found[1] else 0


def _paired(
    base: dict[str, list[float]], new: dict[str, list[float]], unit: str
) -> bool:
    """Return whether both sides have as many values of a unit as of the time."""
    count = len(base.get(_TIME, ()))
    return 0 < count == len(base.get(unit, ())) == len(new.get(unit, ()))


def _columns(
    base: _Values,
    new: _Values,
    names: tuple[BenchmarkKey, ...],
    unit: str,
    factor: float,
) -> tuple[Floats, Floats]:
    """Return (turns, benchmarks) arrays of both sides."""
    first, second = (
        np.array([side[key][unit] for key in names], np.float64).T * factor
        for side in (base, new)
    )
    return first, second
