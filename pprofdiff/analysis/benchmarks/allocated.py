"""What each benchmark allocates per op, as -benchmem prints it."""

from __future__ import annotations

from pprofdiff.analysis.benchmarks.times import BenchmarkKey, key_of
from pprofdiff.analysis.benchmarks.units import ALLOCATED, tidy
from pprofdiff.model.side import Side

__all__ = ["allocated_by_benchmark"]

Allocated = dict[str, dict[BenchmarkKey, list[float]]]


def allocated_by_benchmark(side: Side) -> Allocated:
    """Return all values of B/op and of allocs/op, by benchmark."""
    found: Allocated = {unit: {} for unit in ALLOCATED.values()}
    for capture in side.of("benchmark"):
        for result in capture.content.results:
            of_unit = found.get(tidy(result.unit).unit)
            if of_unit is not None and result.values:
                of_unit.setdefault(key_of(result), []).extend(result.values)
    return found
