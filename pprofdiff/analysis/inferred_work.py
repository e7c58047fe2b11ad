"""Work that nobody had to type: a load generator or benchmark beside the profiles."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.profiles.caveats import Caveat
from pprofdiff.analysis.profiles.kinds import is_cpu
from pprofdiff.analysis.work import Work, possible, rated
from pprofdiff.model.side import Side

__all__ = ["failed_requests", "inferred_work"]

# In the stacks of a CPU profile that go test -bench -cpuprofile wrote.
_BENCHMARK_LOOP = "testing.(*B).runN"
_SECONDS = {"ns/op": 1e-9, "sec/op": 1.0}

_Name = tuple[str, int | None, str | None]


def inferred_work(base: Side, new: Side) -> Work | None:
    """Return the operations per second that the evidence itself tells, or None.

    A load generator's summary on both sides tells it; so does a benchmark, if it is
    the only one that both sides have and the CPU profiles are of it.
    """
    summaries = base.of("load"), new.of("load")
    if len(summaries[0]) == len(summaries[1]) == 1:
        both = summaries[0][0].content, summaries[1][0].content
        rates = both[0].per_second, both[1].per_second
        tools = " and ".join(dict.fromkeys(summary.tool for summary in both))
        return rated(rates, tools) if possible(rates) else None
    sides = base, new
    if not all(side.of("benchmark") and _of_a_benchmark(side) for side in sides):
        return None
    times = [_seconds_per_operation(side) for side in sides]
    common = [name for name in times[0] if name in times[1]]
    if len(common) != 1:
        return None
    seconds = times[0][common[0]], times[1][common[0]]
    if not min(seconds) > 0:
        return None
    rates = 1 / seconds[0], 1 / seconds[1]
    return rated(rates, f"Benchmark{common[0][0]}") if possible(rates) else None


def _of_a_benchmark(side: Side) -> bool:
    """Return whether there is a CPU profile, and all of them are of benchmarks."""
    contents = [capture.content for capture in side.of("profile")]
    profiles = [profile for profile in contents if is_cpu(profile)]
    return bool(profiles) and all(
        _BENCHMARK_LOOP in profile.function_names() for profile in profiles
    )


def _seconds_per_operation(side: Side) -> dict[_Name, float]:
    """Return the mean time of an operation, by benchmark, its -P, its package.

    Over all runs, each as long as it took: a CPU profile is of all of them.
    """
    sums: dict[_Name, list[float]] = {}
    for capture in side.of("benchmark"):
        for result in capture.content.results:
            if result.unit in _SECONDS:
                name = result.name, result.procs, dict(result.config).get("pkg")
                entry = sums.setdefault(name, [0.0, 0.0])
                for value, times in zip(result.values, result.iterations, strict=True):
                    entry[0] += value * _SECONDS[result.unit] * times
                    entry[1] += times
    return {name: took / times for name, (took, times) in sums.items() if times}


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
