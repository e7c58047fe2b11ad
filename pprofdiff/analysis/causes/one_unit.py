"""What a function allocates per op of the only benchmark that runs it.

Per op of several benchmarks together, it is diluted by the operations of the others.
"""

from __future__ import annotations

from pprofdiff.analysis.benchmarks.times import BenchmarkKey, unit_names
from pprofdiff.analysis.causes.sites import Sites, allocated, amounts
from pprofdiff.analysis.causes.wording import arrow
from pprofdiff.analysis.comparison import Comparison


def in_one_unit(comparison: Comparison, name: str, *, cum: bool = False) -> str:
    """Return what a function allocates in the only benchmark with it, as a sentence.

    With `cum`, its callees' allocations count. "" if several have it, or if not all
    benchmarks have samples of their own.
    """
    turns, found = comparison.turns, _units_with(comparison, name)
    sites = Sites.of(found[0][1]) if len(found) == 1 else None
    if turns is None or sites is None:
        return ""
    site = sites.under(name)[0] if cum else sites.together([name])
    key, of_unit = found[0]
    totals = allocated(of_unit)
    if site is None or totals.space is None:
        return ""
    label = dict(zip(turns.names, unit_names(turns.names), strict=True))[key]
    own, whole = amounts(totals, site), f"{arrow(*totals.space, 'B')}/op"
    of_all = "which is all" if own.startswith(whole) else f"of {whole}"
    return f"It allocates only in {label}: {own}, {of_all}"


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
