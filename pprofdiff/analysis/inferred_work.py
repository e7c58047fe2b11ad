"""Work that nobody had to type: a load generator or benchmark beside the profiles."""

from __future__ import annotations

from pprofdiff.analysis.profiles.kinds import is_cpu
from pprofdiff.analysis.side import Side
from pprofdiff.analysis.work import Work, possible, rated

__all__ = ["inferred_work"]

# In the stacks of a CPU profile that go test -bench -cpuprofile wrote.
_BENCHMARK_LOOP = "testing.(*B).runN"
_SECONDS = {"ns/op": 1e-9, "sec/op": 1.0}

_Name = tuple[str, int | None, str | None]


def inferred_work(base: Side, new: Side) -> Work | None:
    """Return the operations per second that the evidence itself tells, or None.

    A load generator's summary on both sides tells it; so does a benchmark, if it is
    the only one that both sides have and the CPU profiles are of it.
    """
    if len(base.loads) == 1 and len(new.loads) == 1:
        loads = base.loads[0].load, new.loads[0].load
        rates = loads[0].per_second, loads[1].per_second
        tools = " and ".join(dict.fromkeys(load.tool for load in loads))
        return rated(rates, tools) if possible(rates) else None
    sides = base, new
    if not all(side.benchmarks and _of_a_benchmark(side) for side in sides):
        return None
    old, fresh = (_seconds_per_operation(side) for side in sides)
    common = [name for name in old if name in fresh]
    if len(common) != 1:
        return None
    seconds = old[common[0]], fresh[common[0]]
    if not min(seconds) > 0:
        return None
    rates = 1 / seconds[0], 1 / seconds[1]
    return rated(rates, f"Benchmark{common[0][0]}") if possible(rates) else None


def _of_a_benchmark(evidence: Side) -> bool:
    """Return whether there is a CPU profile, and all of them are of benchmarks."""
    profiles = [run.profile for run in evidence.runs if is_cpu(run.profile)]
    return bool(profiles) and all(
        _BENCHMARK_LOOP in profile.function_names() for profile in profiles
    )


def _seconds_per_operation(evidence: Side) -> dict[_Name, float]:
    """Return the mean time of an operation, by benchmark, its -P, its package.

    Over all runs, each as long as it took: a CPU profile is of all of them.
    """
    held: dict[_Name, list[float]] = {}
    for run in evidence.benchmarks:
        for result in run.benchmarks.results:
            if result.unit in _SECONDS:
                name = result.name, result.procs, dict(result.config).get("pkg")
                sums = held.setdefault(name, [0.0, 0.0])
                for value, times in zip(result.values, result.iterations, strict=True):
                    sums[0] += value * _SECONDS[result.unit] * times
                    sums[1] += times
    return {name: took / times for name, (took, times) in held.items() if times}
