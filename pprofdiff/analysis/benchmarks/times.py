"""Time per op of each benchmark, run by run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from pprofdiff.analysis.benchmarks.units import ALLOCATED, tidy
from pprofdiff.analysis.figures.costs import TIME
from pprofdiff.model.side import Side

if TYPE_CHECKING:
    from pprofdiff.model.benchmarks import Result

SECONDS = {TIME.printed: 1e-9, tidy(TIME.printed).unit: 1.0}
"""Seconds per op for a value of 1 in each unit."""

# Plausible seconds per op: beyond them ratios overflow.
_SHORTEST, _LONGEST = 1e-15, 1e15

BenchmarkKey = tuple[str, int | None, str | None]
"""A benchmark's name, its -P or None, its package or None."""


def is_time(seconds: float) -> bool:
    """Return whether a time per op is plausible, so that ratios are finite."""
    return _SHORTEST <= seconds <= _LONGEST


def key_of(result: Result) -> BenchmarkKey:
    """Return which benchmark a result belongs to."""
    return result.name, result.procs, dict(result.config).get("pkg")


def results_of(side: Side) -> Iterator[tuple[int, BenchmarkKey, Result]]:
    """Yield (run, benchmark, result) of all benchmarks of a side."""
    for capture in side.of("benchmark"):
        for result in capture.content.results:
            yield capture.run, key_of(result), result


def times_by_run(side: Side) -> dict[BenchmarkKey, dict[int, list[float]]]:
    """Return each benchmark's seconds per op, by run number."""
    runs: dict[BenchmarkKey, dict[int, list[float]]] = {}
    for run, key, result in results_of(side):
        factor = SECONDS.get(result.unit)
        values = [value * factor for value in result.values if factor]
        if values and all(map(is_time, values)):
            runs.setdefault(key, {}).setdefault(run, []).extend(values)
    return runs


class Measured(NamedTuple):
    """All iterations of one benchmark on one side, and how long they took."""

    iterations: float = 0.0
    seconds: float = 0.0
    values: int = 0

    @property
    def per_second(self) -> float:
        """Iterations per second."""
        return self.iterations / self.seconds


def measured(side: Side) -> dict[BenchmarkKey, Measured]:
    """Return iterations and time of each benchmark, summed over all runs."""
    sums: dict[BenchmarkKey, Measured] = {}
    for _, name, result in results_of(side):
        if result.unit in SECONDS:
            pairs = zip(result.values, result.iterations, strict=True)
            took = sum(value * SECONDS[result.unit] * times for value, times in pairs)
            before = sums.get(name, Measured())
            sums[name] = Measured(
                before.iterations + sum(result.iterations),
                before.seconds + took,
                before.values + len(result.values),
            )
    return {name: one for name, one in sums.items() if min(one) > 0}


def source_of(names: Sequence[BenchmarkKey]) -> str:
    """Return, in words, what a figure of these benchmarks comes from."""
    if len(names) > 1:
        return f"the geometric mean of {len(names)} benchmarks"
    return f"Benchmark{names[0][0]}"


def written(key: BenchmarkKey) -> str:
    """Return a benchmark's name as printed, without its package."""
    name, procs, _ = key
    return name if procs is None else f"{name}-{procs}"


def unit_names(keys: Sequence[BenchmarkKey]) -> list[str]:
    """Return benchmarks' names, with package and -P where they distinguish some."""
    packages = len({package for _, _, package in keys}) > 1
    processors: dict[tuple[str, str | None], set[int | None]] = {}
    for name, procs, package in keys:
        processors.setdefault((name, package), set()).add(procs)
    names = []
    for key in keys:
        several = len(processors[key[0], key[2]]) > 1
        name = written(key) if several else key[0]
        names.append(f"{key[2]}.{name}" if packages and key[2] else name)
    return names


PROCS = "GOMAXPROCS"
"""The configuration key of GOMAXPROCS where it differs between the sides."""


def paired_processors(base: Side, new: Side) -> tuple[Side, Side]:
    """Return the sides with GOMAXPROCS as configuration if it alone differs in names.

    So it is where each side ran everything with one GOMAXPROCS, and not with the same.
    """
    both = [{r.procs for _, _, r in results_of(side)} for side in (base, new)]
    if both[0] == both[1] or any(len(side) != 1 for side in both):
        return base, new
    return _unnumbered(base), _unnumbered(new)


def _unnumbered(side: Side) -> Side:
    """Return a side whose benchmarks have ``-P`` as configuration, not in names."""
    captures = tuple(
        replace(
            one,
            content=one.content._replace(
                results=tuple(
                    # Without a suffix it is 1.
                    r._replace(
                        procs=None, config=(*r.config, (PROCS, str(r.procs or 1)))
                    )
                    for r in one.content.results
                )
            ),
        )
        if one.kind == "benchmark"
        else one
        for one in side.captures
    )
    return replace(side, captures=captures)


Allocated = dict[str, dict[BenchmarkKey, list[float]]]


def allocated_by_benchmark(side: Side) -> Allocated:
    """Return all values of B/op and of allocs/op, by benchmark."""
    found: Allocated = {unit: {} for unit in ALLOCATED.values()}
    for _, key, result in results_of(side):
        of_unit = found.get(tidy(result.unit).unit)
        if of_unit is not None and result.values:
            of_unit.setdefault(key, []).extend(result.values)
    return found
