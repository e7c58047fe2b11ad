"""Work that nobody had to type: a load generator or benchmarks beside the profiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.benchmarks.times import (
    BenchmarkKey,
    Measured,
    key_of,
    measured,
    written,
)
from pprofdiff.analysis.benchmarks.turns import Turns
from pprofdiff.analysis.profiles.caveats import Caveat
from pprofdiff.analysis.side import age_seconds, cpu_seconds, measure, of_benchmarks
from pprofdiff.analysis.work import Work, possible, rated
from pprofdiff.model.side import Side
from pprofdiff.units import percent

__all__ = ["failed_requests", "inferred_work", "work_in_turns"]

# hey and wrk send the next request of a connection when its last one is answered.
_CLOSED = {"hey", "wrk"}
# Of the time of a CPU profile, the least and most that benchmarks beside it last.
_COVERS = 0.9, 1.1
# Of the age of a process, which had to start and to get warm.
_RAN = 0.5, 1.1
# What profiles and benchmarks count, and the unit in which benchmarks print it.
_ALLOCATED = {"alloc_space": "B/op", "alloc_objects": "allocs/op"}
# Mixes are alike where they change by less what an operation allocates.
_ALIKE = 1.05


def inferred_work(base: Side, new: Side) -> Work | None:
    """Return the operations per second that the evidence itself tells, or None.

    A load generator's summary on both sides tells it; so do benchmarks, if the CPU
    profiles are of them. Of several benchmarks an operation is one of their mix, each
    as dear as it is for base.
    """
    summaries = base.of("load"), new.of("load")
    if len(summaries[0]) == len(summaries[1]) == 1:
        both = summaries[0][0].content, summaries[1][0].content
        rates = both[0].per_second, both[1].per_second
        tools = list(dict.fromkeys(summary.tool for summary in both))
        closed = _CLOSED.issuperset(tools)
        words = " and ".join(tools)
        return rated(rates, words, closed=closed) if possible(rates) else None
    times = measured(base), measured(new)
    names = [name for name in times[0] if name in times[1]]
    if not names or not all(map(_of_the_profile, (base, new), times)):
        return None
    if len(names) < max(map(len, times)):
        return None
    pairs = [(times[0][name], times[1][name]) for name in names]
    rates = _rates(pairs)
    if not possible(rates):
        return None
    listed = ", ".join(f"Benchmark{name[0]}" for name in names[:3])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    worth = dict(zip(names, _worth([base for base, _ in pairs]), strict=True))
    return rated(rates, listed + more, closed=True)._replace(
        by_run=(_by_run(base, worth), _by_run(new, worth)),
        **_allocated(base, new, names),
    )


def work_in_turns(
    turns: Turns, mix: tuple[Mapping[str, int], Mapping[str, int]]
) -> Work | None:
    """Return the work of benchmarks that were measured in turns, None for too little.

    An operation is one of their mix: `mix` has how often each ran, by its name in
    profiles, and both sides ran the same multiple. All figures per operation, of time,
    CPU and allocation, are sums over benchmarks with these weights.
    """
    weights = _weights(turns, mix[0])
    seconds = [side @ weights for side in turns.seconds]
    times = [float(np.exp(np.log(side).mean())) for side in seconds]
    rates = 1 / times[0], 1 / times[1]
    if not possible(rates):
        return None
    old, now = (tuple((1e9 * side).tolist()) for side in seconds)
    costs = {"time": (old, now)}
    allocated = {
        kind: (float(old @ weights), float(now @ weights))
        for kind, (old, now) in turns.allocated.items()
    }
    if turns.cpu_seconds is not None:
        old, now = (
            tuple((1e9 * (side @ weights)).tolist()) for side in turns.cpu_seconds
        )
        costs["cpu"] = old, now
        means = [float(np.exp(np.log(side).mean())) for side in (old, now)]
        allocated["cpu"] = means[0], means[1]
    reason = _mix_in_words(turns.shown, weights.tolist())
    return Work(None, rates, reason, closed=True, allocated=allocated, turns=costs)


def _mix_in_words(names: Sequence[str], weights: Sequence[float]) -> str:
    """Return what an operation is: of one benchmark, or of a mix of several."""
    if len(names) == 1:
        return f"Benchmark{names[0]}"
    parts = sorted(zip(weights, names, strict=True), reverse=True)
    shown = [f"{name} {percent(weight, 1)}" for weight, name in parts[:3]]
    more = [f"{len(parts) - 3} more"] if len(parts) > 3 else []
    return f"an operation is one of a mix: {', '.join([*shown, *more])}"


def _weights(turns: Turns, mix: Mapping[str, int]) -> NDArray[np.float64]:
    """Return the share of each benchmark among the operations of the mix."""
    # Names have the -P of GOMAXPROCS where -cpu was given.
    names = [
        (f"{key[2]} Benchmark{written(key)}", f"{key[2]} Benchmark{key[0]}")
        for key in turns.names
    ]
    counts = np.array(
        [mix.get(full, mix.get(short, 0)) for full, short in names], np.float64
    )
    if not counts.all():
        counts = np.ones(len(names))
    weights: NDArray[np.float64] = counts / counts.sum()
    return weights


def _by_run(side: Side, worth: Mapping[BenchmarkKey, float]) -> dict[int, float]:
    """Return operations of the mix a second in each run that has all benchmarks."""
    rates = {}
    for run in sorted({capture.run for capture in side.of("benchmark")}):
        captures = tuple(c for c in side.captures if c.run == run)
        done_by = measured(replace(side, captures=captures))
        if worth.keys() <= done_by.keys():
            done = sum(done_by[n].iterations * worth[n] for n in worth)
            rates[run] = done / sum(done_by[n].seconds for n in worth)
    return rates


def _allocated(
    base: Side, new: Side, names: Sequence[BenchmarkKey]
) -> Mapping[str, Any]:
    """Return what an operation of base's mix allocates: fields of `Work`.

    Profiles hold what each side's own mix allocates, which is not that where one of
    them ran a benchmark that allocates much more often than the other.
    """
    sides, allocated, mixed = (base, new), dict[str, tuple[float, float]](), False
    for sample_type, unit in _ALLOCATED.items():
        each = [_each(side, names, unit) for side in sides]
        if not all(each):
            continue
        both = [[_mean(values, mix) for values in each] for mix in each]
        allocated[sample_type] = both[0][0], both[0][1]
        mixed |= any(max(pair) > _ALIKE * min(pair) for pair in zip(*both, strict=True))
    return {"allocated": allocated, "mixed": mixed}


_Each = dict[BenchmarkKey, tuple[float, float]]


def _each(side: Side, names: Sequence[BenchmarkKey], unit: str) -> _Each:
    """Return each benchmark's iterations and units in all; empty if not all tell."""
    sums: _Each = {}
    for capture in side.of("benchmark"):
        for result in capture.content.results:
            if result.unit == unit:
                times = result.iterations
                amount = sum(v * n for v, n in zip(result.values, times, strict=True))
                before = sums.get(key_of(result), (0.0, 0.0))
                sums[key_of(result)] = before[0] + sum(times), before[1] + amount
    done = measured(side)
    told = all(sums.get(name, (0.0,))[0] == done[name].iterations for name in names)
    return {name: sums[name] for name in names} if told else {}


def _mean(values: _Each, mix: _Each) -> float:
    """Return the units of an operation, of benchmarks as often as in a mix."""
    whole = sum(times for times, _ in mix.values())
    return sum(
        mix[name][0] / whole * amount / times
        for name, (times, amount) in values.items()
    )


def _worth(base: list[Measured]) -> list[float]:
    """Return how many operations of the mix an iteration of each benchmark is.

    That is its price for base: over all, as many operations are done as iterations.
    """
    rate = sum(one.iterations for one in base) / sum(one.seconds for one in base)
    return [rate * one.seconds / one.iterations for one in base]


def _rates(pairs: list[tuple[Measured, Measured]]) -> tuple[float, float]:
    """Return operations a second of the mix, each counted at its price for base.

    Of one benchmark they are its own, whichever side is base.
    """
    if len(pairs) == 1:
        ((base, new),) = pairs
        return base.iterations / base.seconds, new.iterations / new.seconds
    worth = _worth([base for base, _ in pairs])
    done = [sum(one.iterations for one, _ in pairs)]
    done.append(
        sum(new.iterations * each for (_, new), each in zip(pairs, worth, strict=True))
    )
    took = [sum(side.seconds for side in sides) for sides in zip(*pairs, strict=True)]
    return done[0] / took[0], done[1] / took[1]


def _of_the_profile(side: Side, times: dict[BenchmarkKey, Measured]) -> bool:
    """Return whether a side's CPU profile is of its benchmarks.

    The benchmark loop is in its stacks; or a program of its own printed one line, of as
    long as it was profiled or, without a CPU profile, of most of the time that its GC
    log says it ran.
    """
    if of_benchmarks(side):
        return True
    runs = sum(measure(capture) == "cpu" for capture in side.of("profile"))
    lasted, covers = (cpu_seconds(side), _COVERS) if runs else (age_seconds(side), _RAN)
    if not lasted or len(times) != 1:
        return False
    (one,) = times.values()
    return one.values == max(runs, 1) and covers[0] <= one.seconds / lasted <= covers[1]


def failed_requests(base: Side, new: Side, _result: None) -> Iterator[Caveat]:
    """Yield which load generators had requests that failed: no work was done."""
    for side in (base, new):
        for capture in side.of("load"):
            summary = capture.content
            if summary.failed and summary.requests:
                yield Caveat(
                    "load-failed",
                    f"{capture.path}: {summary.failed:,} of {summary.requests:,} "
                    "requests failed; operations a second count them too",
                )
