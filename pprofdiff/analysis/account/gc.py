"""GC CPU per op as bytes allocated times GC CPU per byte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.rules.marking import cycle_cpu_us
from pprofdiff.analysis.causes.sites import BYTE
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.ledger.gc_price import Cycle, GCPrice, Pair, gc_price
from pprofdiff.analysis.outcome.by_unit import counts_alike
from pprofdiff.analysis.policy import LEAST_LIVE_MB, MAJOR, MINOR
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.groups import judged_groups
from pprofdiff.goruntime.rules import rules

if TYPE_CHECKING:
    from pprofdiff.analysis.gclogs.compare import GCDiff

_MIB = 1 << 20
_GC = "gc", "gc_tax"
# An allocs profile is of the operations that B/op counts if it differs by no more.
_NEAR = 0.1


class GCAccount(NamedTuple):
    """GC CPU by quantity and price, with the evidence for each.

    `source` names the evidence for (CPU, bytes). `major` is set if marking in the CPU
    profile changed significantly and GC by 5% of all CPU, `forced` if runtime.GC ran
    most cycles of a side.
    """

    split: GCPrice
    source: tuple[str, str]
    major: bool
    forced: bool


def gc_account(comparison: Comparison) -> GCAccount | None:
    """Return GC CPU per op split by quantity and price, None if too little is known."""
    if _too_little_gc(comparison):
        return None
    cpu, gc, case = comparison.cpu, comparison.gc, Case(comparison)
    logged = None if gc is None else _logged(case, gc)
    allocs = case.comparison.of_type("alloc_space")
    if allocs is not None and not _per_op(allocs):
        allocs = None
    found = _allocated(comparison, allocs, logged)
    if found is None:
        return None
    allocated, bytes_from = found
    places = {} if allocs is None or bytes_from != "allocs" else _places(allocs)
    cycle = None if logged is None else logged.cycle
    is_forced = gc is not None and _forced(gc)
    split = None
    if cpu is not None and _per_op(cpu):
        split = _split_profile(cpu, allocated, cycle, places)
    elif cpu is None and logged is not None:
        split = gc_price(logged.cpu, allocated, cycle=cycle, places=places)
    if split is None:
        return None
    source = "GC log" if cpu is None else "CPU profile"
    major = cpu is not None and _is_major(cpu, split)
    return GCAccount(split, (source, bytes_from), major, is_forced)


def _too_little_gc(comparison: Comparison) -> bool:
    cpu, work = comparison.cpu, comparison.work
    if cpu is None or work is None or not comparison.measured:
        return False
    counted = work.allocated.get("alloc_space")
    if counted is not None and max(counted) < BYTE:
        return True
    of_gc = _raw(cpu, "group", *_GC)
    return all(
        own < MINOR * total for own, total in zip(of_gc, cpu.totals, strict=True)
    )


def _raw(cpu: ProfileDiff, dimension: str, *names: str) -> tuple[int, int]:
    ids: dict[str, Sequence[str]] = {
        "category": rules().categories,
        "group": [group.id for group in rules().groups],
    }
    sums = cpu.ledger.every(dimension)
    rows = [ids[dimension].index(name) for name in names]
    return int(sums.base[rows].sum()), int(sums.new[rows].sum())


def _allocated(
    comparison: Comparison, allocs: ProfileDiff | None, logged: _Logged | None
) -> tuple[Pair, str] | None:
    """Return bytes/op as (base, new) with their source, or None if unknown.

    None also if a side allocates under a byte per op, which gives no price.
    """
    known = comparison.work and comparison.work.allocated.get("alloc_space")
    if known and min(known) < BYTE:
        return None
    held = None if allocs is None else allocs.normalization.scaled(*allocs.totals)
    counted = known if comparison.measured else None
    if held is not None and not (counted and _other(comparison, held, counted)):
        return held, "allocs"
    if known:
        return known, "B/op"
    return None if logged is None else (logged.allocated, "GC log")


def _split_profile(
    cpu: ProfileDiff,
    allocated: Pair,
    cycle: Cycle | None,
    places: Mapping[str, Pair],
) -> GCPrice | None:
    def of(dimension: str, *names: str) -> Pair:
        return cpu.normalization.scaled(*_raw(cpu, dimension, *names))

    whole = of("group", *_GC)
    # CPU per cycle by the log excludes idle marking too.
    other = {
        "sweeping": of("group", "gc_tax"),
        "idle": of("category", "gc.mark.idle"),
        # The world also stops for others, such as runtime.ReadMemStats.
        "parked": of("category", "gc.phase.parked"),
    }
    return gc_price(whole, allocated, other=other, cycle=cycle, places=places)


def _is_major(cpu: ProfileDiff, split: GCPrice) -> bool:
    """Return whether the GC group changed significantly, and all GC by `MAJOR`."""
    group = next(group for group in judged_groups(cpu) if group.id == "gc")
    whole = max(cpu.normalization.scaled(*cpu.totals))
    return group.noise is False and abs(split.delta) >= MAJOR * whole


class _Logged(NamedTuple):
    """GC logs' figures: GC CPU in ns/op, bytes/op, and both per cycle."""

    cpu: Pair
    allocated: Pair
    cycle: Cycle


def _logged(case: Case, gc: GCDiff) -> _Logged | None:
    """Return the GC logs' figures per op, or None if they are unreliable."""
    cost, sides = cycle_cpu_us(case, gc), (gc.base.steady, gc.new.steady)
    sizes = [side.heap.per_cycle or 0.0 for side in sides]
    often = [side.cycles_per_second or 0.0 for side in sides]
    if gc.rates is None or cost is None or min(*sizes, *often) <= 0:
        return None
    by_op = often[0] / gc.rates[0], often[1] / gc.rates[1]
    cpu = cost.base * 1e3, cost.new * 1e3
    allocated = sizes[0] * _MIB, sizes[1] * _MIB
    live = [side.heap.mean_live for side in sides]
    return _Logged(
        (cpu[0] * by_op[0], cpu[1] * by_op[1]),
        (allocated[0] * by_op[0], allocated[1] * by_op[1]),
        Cycle(
            cpu,
            allocated,
            (live[0] * _MIB, live[1] * _MIB) if min(live) >= LEAST_LIVE_MB else None,
        ),
    )


def _forced(gc: GCDiff) -> bool:
    """Return whether runtime.GC ran most cycles of a side, whatever the heap size."""
    return any(
        2 * side.steady.forced > side.steady.cycles for side in (gc.base, gc.new)
    )


def _per_op(diff: ProfileDiff) -> bool:
    return diff.normalization.mode == "per_work" and min(diff.totals) > 0


def _other(comparison: Comparison, held: Pair, counted: Pair) -> bool:
    """Return whether a profile's bytes/op differ from what benchmarks count.

    One profile per side shows no change that exact counts do not have, and with much
    set-up outside the timer it is of other operations.
    """
    pairs = zip(held, counted, strict=True)
    far = any(abs(own - said) > _NEAR * said for own, said in pairs)
    return far or counts_alike(comparison)


def _places(allocs: ProfileDiff) -> dict[str, Pair]:
    """Return bytes/op by the program's function that allocates, directly or in callees.

    Samples without a stack are under "". The values sum to the profile's totals.
    """
    sums, names = allocs.ledger.by("place"), allocs.paired_functions.names
    rows = zip(
        *(column.tolist() for column in (sums["place"], sums.base, sums.new)),
        strict=True,
    )
    found: dict[str, Pair] = {}
    for place, base, new in rows:
        # Several rows may have one name, such as closures of two builds.
        name = names[place] if place >= 0 else ""
        before, after = found.get(name, (0.0, 0.0))
        old, now = allocs.normalization.scaled(base, new)
        found[name] = before + old, after + now
    return found
