"""Work that nobody had to type: from load generators or benchmarks in the inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.analysis.benchmarks.loads import outside
from pprofdiff.analysis.benchmarks.times import (
    SECONDS,
    BenchmarkKey,
    Measured,
    measured,
    results_of,
    unit_names,
)
from pprofdiff.analysis.benchmarks.turns import Turns
from pprofdiff.analysis.benchmarks.units import ALLOCATED
from pprofdiff.analysis.judge.calibration import (
    FEW_SIGMA,
    TOTAL_SIGMA,
    TURNS_TOGETHER,
)
from pprofdiff.analysis.judge.samples import median
from pprofdiff.analysis.ledger.units import UnitOfWork, in_profiles
from pprofdiff.analysis.policy import ENOUGH
from pprofdiff.analysis.side import (
    age_seconds,
    cpu_profiles,
    cpu_seconds,
    of_benchmarks,
)
from pprofdiff.analysis.work import Work, possible, rated
from pprofdiff.model.side import Side
from pprofdiff.units import percent

# Bounds of benchmark time ÷ CPU profile time if the profile is of the benchmarks.
_COVERS = 0.9, 1.1
# Likewise for the age of a process, which had to start and warm up.
_RAN = 0.5, 1.1

# Deviation of the CPU per op of one profiled run with the fewest samples judged.
_OF_A_RUN = hypot(TOTAL_SIGMA, ENOUGH**-0.5)


def inferred_work(base: Side, new: Side) -> Work | None:
    """Return the operations per second that the evidence itself gives, or None.

    They come from load generators' summaries on both sides, if profiles were taken
    during the load, or from a benchmark, if the CPU profiles are its own. Profiles of
    several benchmarks are split (`ledger.units`) or have no work.
    """
    if base.of("load") and new.of("load"):
        return _of_load(base, new)
    times = measured(base), measured(new)
    if len(times[0]) != 1 or times[0].keys() != times[1].keys():
        return None
    if not all(map(_of_the_profile, (base, new), times)):
        return None
    (name,) = times[0]
    rates = times[0][name].per_second, times[1][name].per_second
    if not possible(rates):
        return None
    return rated(rates, f"Benchmark{name[0]}", closed=True)._replace(
        by_run=(_by_run(base), _by_run(new)),
        allocated=_allocated(base, new),
    )


def _of_load(base: Side, new: Side) -> Work | None:
    """Return the rates of load generators, None where they are not of the profiles.

    With several runs a side, each with its own summary, they are medians.
    """
    captures = [*base.of("load"), *new.of("load")]
    by_run = [
        {c.run: c.content.per_second for c in side.of("load") if c.content.per_second}
        for side in (base, new)
    ]
    all_known = len(by_run[0]) + len(by_run[1]) == len(captures)
    if not all_known or outside(base) or outside(new):
        return None
    rates = [median(side.values()) for side in by_run]
    if not possible((rates[0], rates[1])):
        return None
    words = " and ".join(dict.fromkeys(c.content.tool for c in captures))
    closed = all(c.content.loop == "closed" for c in captures)
    work = rated((rates[0], rates[1]), words, closed=closed)
    several = len(captures) > len(by_run)
    return work._replace(by_run=(by_run[0], by_run[1])) if several else work


def work_in_turns(turns: Turns, mix: Mapping[str, int]) -> Work | None:
    """Return the work of benchmarks measured in turns, None if out of range.

    One op is a weighted mix: `mix` has how often each benchmark ran, by its name in
    profiles, and both sides ran the same multiple. All figures per op, of time, CPU and
    allocation, are sums over benchmarks with these weights.
    """
    weights = _weights(turns, mix)
    seconds = [side @ weights for side in turns.seconds]
    times = [float(np.exp(np.log(side).mean())) for side in seconds]
    rates = 1 / times[0], 1 / times[1]
    if not possible(rates):
        return None
    old, now = ((1e9 * side).tolist() for side in seconds)
    costs = {"time": turns.of(old, now)}
    allocated = {
        kind: (float(old @ weights), float(now @ weights))
        for kind, (old, now) in turns.allocated.items()
    }
    if turns.cpu_of_all is not None:
        old, now = ((1e9 * (side @ weights)).tolist() for side in turns.cpu_of_all)
        costs["cpu"] = turns.of(old, now)
        means = [float(np.exp(np.log(side).mean())) for side in (old, now)]
        # Outside the timer, CPU per op depends on how many ops a process does. Start-up
        # that varies may leave less of few ops' CPU than the samples show.
        if not any(turns.outside_timer()) and _is_steady((old, now)):
            allocated["cpu"] = means[0], means[1]
    reason = _mix_in_words(unit_names(turns.names), weights.tolist())
    return Work(None, rates, reason, closed=True, allocated=allocated, turns=costs)


def _is_steady(sides: tuple[Sequence[float], Sequence[float]]) -> bool:
    """Return whether means of turns are known as well as one profiled run is.

    Of that, the samples are few as well. A few turns differ by more.
    """
    few = len(sides[0]) < TURNS_TOGETHER
    most = FEW_SIGMA / len(sides[0]) ** 0.5 if few else _OF_A_RUN
    errors = [
        float(np.log(side).std(ddof=1)) / len(side) ** 0.5
        for side in sides
        if len(side) > 1
    ]
    return max(errors, default=0.0) <= most


def work_of_units(base: Side, new: Side, units: Sequence[UnitOfWork]) -> Work | None:
    """Return the work of benchmarks that share one profile per run, in their mix.

    One op is one of the mix that profiles are scaled to. None if benchmarks print times
    that give no ratio.
    """
    whole = sum(unit.operations for unit in units)
    weights = {
        key: unit.operations / whole * share
        for unit in units
        for key, share in zip(unit.benchmarks, unit.shares, strict=True)
    }
    sides = [_medians(side) for side in (base, new)]
    times = [_mixed(side, weights, "s/op") for side in sides]
    if times[0] is None or times[1] is None or min(times[0], times[1]) <= 0:
        return None
    rates = 1 / times[0], 1 / times[1]
    if not possible(rates):
        return None
    allocated = {}
    for sample_type, unit in ALLOCATED.items():
        costs = [_mixed(side, weights, unit) for side in sides]
        if costs[0] is not None and costs[1] is not None:
            allocated[sample_type] = costs[0], costs[1]
    reason = _mix_in_words([name for name, _, _ in weights], [*weights.values()])
    return Work(None, rates, reason, closed=True, allocated=allocated)


def _medians(side: Side) -> dict[tuple[BenchmarkKey, str], float]:
    """Return each benchmark's median by unit; times are in s/op."""
    values: dict[tuple[BenchmarkKey, str], list[float]] = {}
    for _, key, result in results_of(side):
        factor = SECONDS.get(result.unit)
        unit = result.unit if factor is None else "s/op"
        own = values.setdefault((key, unit), [])
        own += [value * (factor or 1.0) for value in result.values]
    return {key: median(own) for key, own in values.items() if own}


def _mixed(
    side: Mapping[tuple[BenchmarkKey, str], float],
    weights: Mapping[BenchmarkKey, float],
    unit: str,
) -> float | None:
    """Return the value per op of a mix in a unit, None if a benchmark lacks it."""
    if not all((key, unit) in side for key in weights):
        return None
    return sum(weight * side[key, unit] for key, weight in weights.items())


def _mix_in_words(names: Sequence[str], weights: Sequence[float]) -> str:
    """Return what one op is: a benchmark's, or a mix of several."""
    if len(names) == 1:
        return f"Benchmark{names[0]}"
    parts = sorted(zip(weights, names, strict=True), reverse=True)
    shown = [f"{name} {percent(weight, 1)}" for weight, name in parts[:3]]
    more = [f"{len(parts) - 3} more"] if len(parts) > 3 else []
    return (
        f"means over benchmarks, weighted by iterations: {', '.join([*shown, *more])}"
    )


def _weights(turns: Turns, mix: Mapping[str, int]) -> NDArray[np.float64]:
    """Return each benchmark's share of the operations in the mix."""
    names = [in_profiles(key) for key in turns.names]
    counts = np.array(
        [mix.get(full, mix.get(short, 0)) for full, short in names], np.float64
    )
    if not counts.all():
        counts = np.ones(len(names))
    weights: NDArray[np.float64] = counts / counts.sum()
    return weights


def _by_run(side: Side) -> dict[int, float]:
    """Return operations per second of each run that has the one benchmark."""
    rates = {}
    for run in sorted({capture.run for capture in side.of("benchmark")}):
        captures = tuple(c for c in side.captures if c.run == run)
        for one in measured(replace(side, captures=captures)).values():
            rates[run] = one.per_second
    return rates


def _allocated(base: Side, new: Side) -> dict[str, tuple[float, float]]:
    """Return what the one benchmark allocates per op, by sample type."""
    found = {}
    for sample_type, unit in ALLOCATED.items():
        means = [_mean(side, unit) for side in (base, new)]
        if means[0] is not None and means[1] is not None:
            found[sample_type] = means[0], means[1]
    return found


def _mean(side: Side, unit: str) -> float | None:
    """Return the mean of a unit over all iterations, None if some lack it."""
    times, amount = 0.0, 0.0
    for _, _, result in results_of(side):
        if result.unit == unit:
            pairs = zip(result.values, result.iterations, strict=True)
            amount += sum(value * count for value, count in pairs)
            times += sum(result.iterations)
    done = sum(one.iterations for one in measured(side).values())
    return amount / times if times and times == done else None


def _of_the_profile(side: Side, times: dict[BenchmarkKey, Measured]) -> bool:
    """Return whether a side's CPU profile is of its benchmarks.

    Either the benchmark loop is in its stacks, or a standalone program printed one line
    that covers the profiled time or, without a CPU profile, most of the time that its
    GC log says it ran.
    """
    if of_benchmarks(side):
        return True
    runs = len(cpu_profiles(side))
    lasted, covers = (cpu_seconds(side), _COVERS) if runs else (age_seconds(side), _RAN)
    if not lasted or len(times) != 1:
        return False
    (one,) = times.values()
    return one.values == max(runs, 1) and covers[0] <= one.seconds / lasted <= covers[1]
