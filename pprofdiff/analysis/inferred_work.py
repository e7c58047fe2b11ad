"""Work that nobody had to type: a load generator or benchmarks beside the profiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pprofdiff.analysis.benchmarks.times import (
    BenchmarkKey,
    Measured,
    key_of,
    measured,
)
from pprofdiff.analysis.profiles.caveats import Caveat
from pprofdiff.analysis.side import age_seconds, cpu_seconds, measure, of_benchmarks
from pprofdiff.analysis.work import Work, possible, rated
from pprofdiff.model.side import Side

__all__ = ["failed_requests", "inferred_work"]

# hey and wrk send the next request of a connection when its last one is answered.
_CLOSED = {"hey", "wrk"}
# Of the time of a CPU profile, the least and most that benchmarks beside it last.
_COVERS = 0.9, 1.1
# Of the age of a process, which had to start and to get warm.
_RAN = 0.5, 1.1
# What profiles and benchmarks count, and the unit in which benchmarks print it.
_ALLOCATED = {"alloc_space": "B/op", "alloc_objects": "allocs/op"}


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
        allocated={
            sample_type: (before, after)
            for sample_type, unit in _ALLOCATED.items()
            if (before := _by_operation(base, worth, unit)) is not None
            if (after := _by_operation(new, worth, unit)) is not None
        },
    )


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


def _by_operation(
    side: Side, worth: Mapping[BenchmarkKey, float], unit: str
) -> float | None:
    """Return how many of a unit an operation of the mix takes; None if not all tell."""
    done = measured(side)
    amount, told = 0.0, dict[BenchmarkKey, float]()
    for capture in side.of("benchmark"):
        for result in capture.content.results:
            name = key_of(result)
            if result.unit == unit and name in worth:
                times = result.iterations
                amount += sum(v * n for v, n in zip(result.values, times, strict=True))
                told[name] = told.get(name, 0.0) + sum(times)
    if any(told.get(name) != done[name].iterations for name in worth):
        return None
    return amount / sum(done[name].iterations * worth[name] for name in worth)


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
