"""Units of work: the benchmarks in one profile, each with its own operations.

``go test -bench . -cpuprofile cpu.pb.gz`` runs all benchmarks in one process, each as
often as fits in its time. A build that makes one dearer runs that one less often, so
nothing in the profile may be divided by the operations of all. A sample belongs to the
benchmark whose function is nearest the root of its stack; samples without one, such as
GC workers and the scheduler, belong to no unit.

The operations that a profile covers are approximate: a benchmark that counts to b.N
runs with 1, 100, 10,000 … before the printed N, and once more if that was too few
(testing.(*B).launch). With b.Loop all are printed. Of 60 runs on a busy machine, 46
were known to 1%; the others ran once more, at most 1.8 times as often.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.analysis.benchmarks.times import (
    SECONDS,
    BenchmarkKey,
    is_time,
    key_of,
    results_of,
    written,
)
from pprofdiff.analysis.judge.samples import median
from pprofdiff.analysis.ledger.graph import walk
from pprofdiff.analysis.side import BENCHMARK_LOOPS, measure, runs_benchmarks
from pprofdiff.goruntime.names import package_of
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import last_in_row
from pprofdiff.model.profiles.profile import (
    Operations,
    Profile,
    operations_of,
    with_operations,
)
from pprofdiff.model.side import Capture, Side

REST = "outside the benchmarks"
"""The unit of samples outside any benchmark function."""

# The first run of a benchmark, the only one with b.Loop; runs with a larger b.N.
_FIRST, _LATER = "testing.(*B).run1.func1", "testing.(*B).launch"
# Kinds of profile that measure costs.
_COSTS = ("cpu", "allocs")
# testing.predictN: the most that iterations grow by from one run to the next.
_GROWTH = 100
# The least part of samples below benchmark loops that must have a known benchmark.
_KNOWN = 0.9
# A run that was too short had at least this part of the next one's iterations, which
# are 1.2 times as many as would have lasted; times differ less than twofold.
_ONCE_MORE = 0.5


class UnitOfWork(NamedTuple):
    """A function ``BenchmarkX`` of a package, with its sub-benchmarks.

    Samples do not distinguish sub-benchmarks: an op of the unit is one of their mix in
    base, given by `shares`. `operations` is the unit's count in the mix of all units
    that both sides are compared on.
    """

    name: str
    benchmarks: tuple[BenchmarkKey, ...]
    shares: tuple[float, ...]
    operations: float


class SplitByUnit(NamedTuple):
    """Both sides with their profiles split by unit, and the units that both have.

    `Capture.unit` is a unit's name or `REST`. `given` are the sides before the split.
    """

    base: Side
    new: Side
    units: tuple[UnitOfWork, ...]
    given: tuple[Side, Side]

    @property
    def shared(self) -> tuple[UnitOfWork, ...]:
        """The units of several benchmarks, which samples do not distinguish."""
        return tuple(unit for unit in self.units if len(unit.benchmarks) > 1)

    def rest(self) -> tuple[float, float] | None:
        """Return the share of all CPU outside the units; None without CPU profiles."""
        base, new = (_share_of_rest(side) for side in (self.base, self.new))
        return None if base is None or new is None else (base, new)

    def of(self, unit: UnitOfWork) -> tuple[Side, Side]:
        """Return (base, new) with the captures of one unit."""
        base, new = (_only(side, unit) for side in (self.base, self.new))
        return base, new


def _share_of_rest(side: Side) -> float | None:
    sums = {True: 0, False: 0}
    for capture in side.of("profile"):
        if capture.unit and measure(capture) == "cpu":
            sums[capture.unit == REST] += capture.content.total()
    whole = sums[True] + sums[False]
    return sums[True] / whole if whole else None


def executed(iterations: int) -> int:
    """Return how often a benchmark ran: the printed b.N and the smaller runs before it.

    Each of these is taken to be too short: 1, 100, 10,000 …
    """
    total, pilot = iterations, 1
    while pilot < iterations:
        total += pilot
        pilot *= _GROWTH
    return total


def with_own_profiles(
    base: Side, new: Side, keys: Sequence[BenchmarkKey]
) -> SplitByUnit | None:
    """Return both sides split by benchmark, if each has profiles of its own.

    Those state their benchmark and operation count, as ``pprofdiff measure`` writes
    them. None with fewer than two of `keys`.
    """
    folders = [_folders(side) for side in (base, new)]
    units = []
    for key in keys:
        names = [
            {own[name] for name in in_profiles(key) if name in own} for own in folders
        ]
        if names[0] != names[1] or len(names[0]) != 1:
            return None
        units.append(UnitOfWork(names[0].pop(), (key,), (1.0,), 1.0))
    if len(units) <= 1:
        return None
    return SplitByUnit(base, new, tuple(units), (base, new))


def in_profiles(key: BenchmarkKey) -> tuple[str, str]:
    """Return the names a benchmark may have in `model.profiles.operations`.

    The first has the -P suffix that -cpu adds, the second does not.
    """
    name, _, package = key
    return f"{package} Benchmark{written(key)}", f"{package} Benchmark{name}"


def _folders(side: Side) -> dict[str, str]:
    """Return the unit of each benchmark's profiles, by its name in them."""
    return {
        done.name: capture.unit
        for capture in side.of("profile")
        if capture.unit and (done := operations_of(capture.content)) is not None
    }


def by_unit(base: Side, new: Side) -> SplitByUnit | None:
    """Return both sides split by benchmark, or None if that is pointless or unreliable.

    It is unreliable if a profile covers other benchmarks than the output of its run.
    """
    sides = base, new
    if any(capture.unit for side in sides for capture in side.captures):
        return None
    names = [_functions(side) for side in sides]
    both = [name for name in names[0] if name in names[1]]
    shared = [key for name in both for key in names[0][name] if key in names[1][name]]
    if len(shared) <= 1:
        return None
    runs = [_runs(side, tuple(known)) for side, known in zip(sides, names, strict=True)]
    if not all(runs):
        return None
    units = [_unit(name, names[0][name], names[1][name], runs) for name in both]
    prices = {unit.name: _prices(unit, runs[0]) for unit in units}
    done = [[_done(run, units, prices) for run in side] for side in runs]
    if not all(count > 0 for side in done for run in side for count in run.values()):
        return None
    from statistics import fmean

    means = [{u.name: fmean(run[u.name] for run in s) for u in units} for s in done]
    units = [
        unit._replace(operations=min(side[unit.name] for side in means))
        for unit in units
    ]
    old, now = (
        _split_side(side, own, counts)
        for side, own, counts in zip(sides, runs, done, strict=True)
    )
    return SplitByUnit(old, now, tuple(units), sides)


def unnamed(side: Side) -> str:
    """Return a function that runs as a benchmark without a benchmark's name, or "".

    ``b.Run(name, benchmarkOf(size))`` runs a closure of `benchmarkOf`, whose samples
    belong to several benchmarks. Only if such functions have more than a little CPU.
    """
    benchmarks, costs, whole = _functions(side), dict[str, int](), 0
    if sum(map(len, benchmarks.values())) <= 1:
        return ""
    names = tuple(benchmarks)
    for capture in side.of("profile"):
        if measure(capture) != "cpu":
            continue
        profile = capture.content
        values = profile.values[:, profile.sample_index()]
        below = _below(profile, tuple(BENCHMARK_LOOPS)) >= 0
        whole += int(values[below].sum())
        lost = np.flatnonzero(below & (units_of_samples(profile, names) < 0))
        functions = profile.function_names()
        loops = [name in BENCHMARK_LOOPS for name in functions]
        for first, value in zip(
            _called_by(profile.take(lost), np.array([*loops, False], np.bool_)),
            values[lost].tolist(),
            strict=True,
        ):
            if first >= 0:
                name = functions[first]
                costs[name] = costs.get(name, 0) + value
    if sum(costs.values()) <= (1 - _KNOWN) * whole:
        return ""
    return max(costs, key=lambda name: (costs[name], name))


def _called_by(profile: Profile, callers: NDArray[np.bool_]) -> list[int]:
    """Return, for each stack, the function that the first caller calls; -1 for none."""
    found: list[int] = []
    for _, _, frames in walk(profile):
        functions = profile.locations.line_function[frames.line]
        last = last_in_row(callers[functions], frames.offsets)
        below = np.where(last > frames.offsets[:-1], last - 1, -1)
        found += np.where(below >= 0, np.append(functions, -1)[below], -1).tolist()
    return found


def units_of_samples(profile: Profile, names: Sequence[str]) -> Column:
    """Return the unit of each sample as its position in `names`, -1 for none.

    A name has a package, "" if unknown, and a benchmark's function: ``example.com/codec
    BenchmarkSum``. The function nearest the root of the stack decides.
    """
    place = {name: i for i, name in enumerate(names)}
    codes = [_position(name, place) for name in profile.function_names()]
    return _nearest_root(profile, np.array([*codes, -1], np.int64))


class _Run(NamedTuple):
    """One run of one side: its results by benchmark, and the units of its samples.

    `parts` are its profiles of costs with the unit of each sample. `nanoseconds` is the
    CPU time below each unit's loop by its caller (int64, (units, 2): the first run, or
    later ones with a larger b.N).
    """

    number: int
    results: Mapping[BenchmarkKey, tuple[tuple[int, ...], tuple[float, ...]]]
    parts: tuple[tuple[Capture[Profile], Column], ...]
    names: tuple[str, ...]
    nanoseconds: Column


def _functions(side: Side) -> dict[str, dict[BenchmarkKey, None]]:
    """Return the benchmarks of each function by its name, in the order they ran."""
    found: dict[str, dict[BenchmarkKey, None]] = {}
    for _, key, result in results_of(side):
        if result.unit in SECONDS:
            function = f"{key[2] or ''} Benchmark{key[0].partition('/')[0]}"
            found.setdefault(function, {})[key] = None
    return found


def _runs(side: Side, names: tuple[str, ...]) -> list[_Run]:
    """Return a side's runs; empty if a profile covers other benchmarks than its run."""
    profiles = [c for c in side.of("profile") if measure(c) in _COSTS]
    runs = []
    for number in sorted({capture.run for capture in profiles}):
        own = [c for c in profiles if c.run == number]
        if not all(runs_benchmarks(c.content) for c in own):
            return []
        parts = tuple((c, units_of_samples(c.content, names)) for c in own)
        if not all(_attributed(*part) for part in parts):
            return []
        results: dict[BenchmarkKey, tuple[tuple[int, ...], tuple[float, ...]]] = {}
        for run, key, result in results_of(side):
            factor = SECONDS.get(result.unit)
            if run == number and factor is not None:
                counts, times = results.get(key, ((), ()))
                times += tuple(value * factor for value in result.values)
                results[key] = counts + result.iterations, times
        of_run = (capture.run == number for capture in side.of("benchmark"))
        if not any(of_run) or not all(
            is_time(time) for _, times in results.values() for time in times
        ):
            return []
        runs.append(_Run(number, results, parts, names, _called(parts, len(names))))
    return runs


def _attributed(capture: Capture[Profile], unit: Column) -> bool:
    profile = capture.content
    below = _below(profile, tuple(BENCHMARK_LOOPS)) >= 0
    values = np.abs(profile.values[:, profile.sample_index()])
    return float(values[below & (unit >= 0)].sum()) >= _KNOWN * float(
        values[below].sum()
    )


def _called(parts: Sequence[tuple[Capture[Profile], Column]], units: int) -> Column:
    """Return the CPU time of each unit in its first run and in later ones."""
    total = np.zeros((units, 2), np.int64)
    for capture, unit in parts:
        if measure(capture) == "cpu":
            profile = capture.content
            how = _below(profile, (_FIRST, _LATER))
            values = profile.values[:, profile.sample_index()]
            kept = (how >= 0) & (unit >= 0)
            np.add.at(total, (unit[kept], how[kept]), values[kept])
    return total


def _below(profile: Profile, names: Sequence[str]) -> Column:
    """Return the position in `names` of each stack's function, -1 for none."""
    place = {name: i for i, name in enumerate(names)}
    codes = [place.get(name, -1) for name in profile.function_names()]
    return _nearest_root(profile, np.array([*codes, -1], np.int64))


def _nearest_root(profile: Profile, of_function: Column) -> Column:
    """Return the code of the function nearest the root with a code; -1 is none."""
    found = [np.zeros(0, np.int64)]
    for _, _, frames in walk(profile):
        codes = of_function[profile.locations.line_function[frames.line]]
        last = last_in_row(codes >= 0, frames.offsets)
        found.append(np.where(last >= 0, np.append(codes, -1)[last], -1))
    return np.concatenate(found)


def _position(name: str, place: Mapping[str, int]) -> int:
    """Return the benchmark that a function is or is a closure of, -1 for none."""
    at = name.find(".Benchmark")
    if at < 0:
        return -1
    function, package = name[at + 1 :].partition(".")[0], package_of(name)
    for one in (package, package.removesuffix("_test"), ""):
        if (row := place.get(f"{one} {function}")) is not None:
            return row
    return -1


def _unit(
    name: str,
    base: Mapping[BenchmarkKey, None],
    new: Mapping[BenchmarkKey, None],
    runs: Sequence[Sequence[_Run]],
) -> UnitOfWork:
    """Return the unit of a function, with the benchmarks that both sides have."""
    keys = tuple(key for key in base if key in new)
    counts = [
        sum(sum(run.results[key][0]) for run in runs[0] if key in run.results)
        for key in keys
    ]
    whole = sum(counts)
    return UnitOfWork(name, keys, tuple(c / whole if whole else 0.0 for c in counts), 0)


def _prices(unit: UnitOfWork, base: Sequence[_Run]) -> dict[BenchmarkKey, float]:
    """Return how many ops of the unit an op of each benchmark is worth, by base's time.

    Without a change, a unit then costs the same however often each benchmark ran.
    """
    times = {}
    for key in unit.benchmarks:
        values = [t for run in base for t in run.results.get(key, ((), ()))[1]]
        times[key] = median(values) if values else 0.0
    mean = sum(
        share * times[key]
        for key, share in zip(unit.benchmarks, unit.shares, strict=True)
    )
    return {key: one / mean if mean else 0.0 for key, one in times.items()}


def _done(
    run: _Run,
    units: Sequence[UnitOfWork],
    prices: Mapping[str, Mapping[BenchmarkKey, float]],
) -> dict[str, float]:
    """Return the approximate operations of each unit in a run."""
    done = {}
    for unit in units:
        row = run.names.index(unit.name)
        first, later = run.nanoseconds[row].tolist()
        # With b.Loop, a benchmark does everything in its first run.
        loops = first > later
        worth, seconds, printed, ran, values = 0.0, 0.0, 0, 0, 0
        for key in unit.benchmarks:
            counts, times = run.results.get(key, ((), ()))
            for count, time in zip(counts, times, strict=True):
                times_run = count if loops else executed(count)
                worth += times_run * prices[unit.name][key]
                seconds += times_run * time
                printed += count
                ran += times_run
                values += 1
        if not loops and seconds:
            # A goroutine's CPU time cannot exceed elapsed time, so it ran once more.
            more = (first + later) / 1e9 / seconds
            if more >= 1 + _ONCE_MORE / values:
                worth *= min(more, (ran + printed) / ran)
        done[unit.name] = worth
    return done


def _split_side(
    side: Side, runs: Sequence[_Run], done: Sequence[Mapping[str, float]]
) -> Side:
    """Return a side with the samples of each unit as separate captures."""
    separate: list[Capture[Profile]] = []
    known: set[int] = set()
    for run, counts in zip(runs, done, strict=True):
        for capture, unit in run.parts:
            known.add(id(capture))
            separate += _split_capture(capture, unit, run.names, counts)
    others = [capture for capture in side.captures if id(capture) not in known]
    return replace(side, captures=(*others, *separate))


def _split_capture(
    capture: Capture[Profile],
    unit: Column,
    names: Sequence[str],
    done: Mapping[str, float],
) -> Iterator[Capture[Profile]]:
    """Yield a profile's samples by unit: each is in exactly one of them."""
    for row in range(-1, len(names)):
        samples = np.flatnonzero(unit == row)
        name = REST if row < 0 else names[row]
        part = capture.content.take(samples)
        count = round(done.get(name, 0.0))
        if count > 0:
            part = with_operations(part, Operations(count, name))
        yield replace(capture, content=part, unit=name)


def _only(side: Side, unit: UnitOfWork) -> Side:
    captures: list[Capture[object]] = []
    for capture in side.captures:
        if capture.kind == "profile" and capture.unit == unit.name:
            captures.append(replace(capture, unit=""))
        elif capture.kind == "benchmark":
            results = tuple(
                r for r in capture.content.results if key_of(r) in unit.benchmarks
            )
            captures.append(
                replace(capture, content=capture.content._replace(results=results))
            )
    return replace(side, captures=tuple(captures))
