"""What a function allocates per op of one benchmark that runs it.

Per op of several benchmarks together, it is diluted by the operations of the others.
"""

from __future__ import annotations

from typing import NamedTuple

from pprofdiff.analysis.benchmarks.times import BenchmarkKey, unit_names
from pprofdiff.analysis.causes.sites import Sites, allocated, amounts
from pprofdiff.analysis.causes.wording import arrow
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.policy import MUCH


def in_one_unit(comparison: Comparison, name: str, *, cum: bool = False) -> str:
    """Return what a function allocates in the only benchmark with it, as a sentence.

    With `cum`, its callees' allocations count. "" if several have it, or if not all
    benchmarks have samples of their own.
    """
    found = _amounts(comparison, name, cum=cum)
    if len(found) != 1:
        return ""
    (one,) = found
    of_all = "which is all" if one.own.startswith(one.whole) else f"of {one.whole}"
    return f"It allocates only in {one.benchmark}: {one.own}, {of_all}"


def largest_in(comparison: Comparison, name: str) -> str:
    """Return what a function allocates where that changed most, as a sentence.

    "" if it changed alike in all benchmarks that have it, or in one alone.
    """
    found = _amounts(comparison, name, cum=False)
    found.sort(key=lambda one: -abs(one.delta))
    if len(found) < 2 or _alike(found[0].delta, found[-1].delta):
        return ""
    return f"Most in {found[0].benchmark}: {found[0].own}, of {found[0].whole}"


def _alike(first: float, last: float) -> bool:
    """Return whether the largest change and the smallest one are about the same."""
    return abs(first - last) <= MUCH * abs(first)


class _InUnit(NamedTuple):
    """What a function allocates in a benchmark, in words, and its change in bytes."""

    benchmark: str
    own: str
    whole: str
    delta: float


def _amounts(comparison: Comparison, name: str, *, cum: bool) -> list[_InUnit]:
    """Return what a function allocates in each benchmark that has it.

    Empty if not all benchmarks have samples of their own.
    """
    turns, found = comparison.turns, list[_InUnit]()
    if turns is None:
        return found
    labels = dict(zip(turns.names, unit_names(turns.names), strict=True))
    for key, of_unit in _units_with(comparison, name):
        sites, totals = Sites.of(of_unit), allocated(of_unit)
        if sites is None or totals.space is None:
            return []
        site = sites.under(name)[0] if cum else sites.together([name])
        if site is None:
            return []
        own, whole = amounts(totals, site), f"{arrow(*totals.space, 'B')}/op"
        found.append(_InUnit(labels[key], own, whole, site.space[1] - site.space[0]))
    return found


def only_varies(comparison: Comparison, name: str) -> bool:
    """Return whether all benchmarks with a function vary by what the sides differ.

    Their bytes per op vary from turn to turn: a pool is filled again after GC, whenever
    that runs.
    """
    turns, found = comparison.turns, _units_with(comparison, name)
    kind = "alloc_space"
    if turns is None or not found or kind not in turns.varies:
        return False
    by_chance = (turns.varies[kind] & turns.uneven[kind]).tolist()
    varies = dict(zip(turns.names, by_chance, strict=True))
    return all(varies[key] for key, _ in found)


def _units_with(
    comparison: Comparison, name: str
) -> list[tuple[BenchmarkKey, Comparison]]:
    """Return the benchmarks that allocate in a function, with their own samples.

    Empty if not all benchmarks have some.
    """
    split, turns = comparison.split or comparison.alone, comparison.turns
    if split is None or turns is None:
        return []
    units = [unit for unit in split.units if len(unit.benchmarks) == 1]
    if {unit.benchmarks[0] for unit in units} != set(turns.names):
        return []
    found = []
    for unit in units:
        of_unit = comparison.of_unit(unit)
        diff = None if of_unit is None else of_unit.of_type("alloc_space")
        if of_unit is None or diff is None:
            return []
        if name in diff.paired_functions.names:
            found.append((unit.benchmarks[0], of_unit))
    return found
