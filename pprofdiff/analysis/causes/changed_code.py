"""Where the program's code changed in cost, or in its share of the CPU."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.analysis.causes.cpu import OF_GC, CPUComparison
from pprofdiff.analysis.causes.finding import Claim
from pprofdiff.analysis.causes.places import (
    Place,
    Program,
    below,
    callers_of,
    deepest,
    holds,
    is_benchmark,
    moved_to_instances,
    own_caller,
    owned_by,
    owner_of_most,
    owners,
    places,
    takes_another_path,
    whole_of,
    with_callees,
    with_callers,
)
from pprofdiff.analysis.control.estimate import control
from pprofdiff.analysis.control.totals import total_noise
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.policy import (
    CLEARLY,
    COVERS,
    LITTLE,
    MAJOR,
    MOST,
    MUCH,
    NEARLY_ALL,
)

# A share matters if it changed by this factor: that all other code fell to less than a
# third is unlikely.
_TIMES = 3.0
_SHARES = 2


def changed_code(cpu: CPUComparison) -> list[Place]:
    """Return the places that changed beyond the load, largest change first.

    Where the Go release differs, these are only functions that one side has.
    """
    program = Program(cpu)
    if cpu.in_shares:
        found = sorted(_of_shares(cpu, program), key=lambda one: -abs(one.delta(cpu)))
    else:
        relative = replace(cpu, model=cpu.relative)
        benchmarks = np.array(list(map(is_benchmark, cpu.names)), np.bool_)
        found = _changed(relative, program.among(program.own & ~benchmarks))
        whole = cpu.total_delta
        explained = sum(one.delta(cpu) for one in found)
        most = bool(found) and explained * whole >= MOST * whole * whole
        if benchmarks.any() and not most:
            # A benchmark has the cost of all that it calls.
            found = _changed(relative, program) or found
    if not cpu.other_release:
        return found
    own = program.own
    return [one for one in found if own[one.row] and not (one.base and one.new)]


def _changed(cpu: CPUComparison, program: Program) -> list[Place]:
    return [
        place
        for place in with_callers(cpu, program, places(cpu, program))
        if not moved_to_instances(cpu, place)
        and not takes_another_path(cpu, place)
        and cpu.change(place.claim).significant
        and not _is_of_gc(cpu, place)
        and _is_clear(cpu, place)
    ]


def is_undecided(cpu: CPUComparison, place: Place) -> bool:
    """Return whether a place is most of both sides, whose change is within noise.

    The machine's speed shifts it as it does the total: it is no surer than that, unless
    it runs other code.
    """
    if place.gone or place.added or place.others:
        return False
    pairs = zip((place.base, place.new), cpu.sums(cpu.all), strict=True)
    most = all(part >= MOST * whole for part, whole in pairs)
    return most and total_noise(cpu.diff) is True


def _is_clear(cpu: CPUComparison, place: Place) -> bool:
    """Return whether a cost differs clearly, or what runs in it does.

    Against that of unchanged code, where the outcome is.
    """
    ratio = cpu.diff.normalization.ratio(place.base, place.new)
    if place.gone or place.added or place.others or not ratio or ratio <= 0:
        return True
    by = control(cpu.diff)
    if by is not None and by.shows_work:
        old, now = cpu.diff.normalization.factors
        ratio /= by.work.ratio * now / old
    return max(ratio, 1 / ratio) >= CLEARLY


def _is_of_gc(cpu: CPUComparison, place: Place) -> bool:
    """Return whether a place changed mostly by the GC work that it has to do.

    How much that is depends on what all others allocate.
    """
    of_gc = cpu.delta(place.claim.within(cpu.of_groups(*OF_GC)))
    whole = place.delta(cpu)
    return of_gc * whole > MOST * whole * whole


def of_one_side(cpu: CPUComparison, found: list[Place]) -> Claim:
    """Claim the samples of places that only one side has, or whose callees it has."""
    claim = cpu.of(())
    for place in found:
        if not (place.base and place.new):
            claim = claim.plus(place.claim)
        elif callees := [*place.gone, *place.added]:
            under = cpu.under(cpu.only(*callees))
            claim = claim.plus(place.claim.within(under))
    return claim


def _of_shares(cpu: CPUComparison, program: Program) -> Iterator[Place]:
    """Yield the places whose share changed beyond what changed elsewhere.

    One that calls another one has the cost of that on both sides.
    """
    found = list(_alone_or_loud(cpu, program))
    both = [whole_of(cpu, one.row) for one in found if all(cpu.cum_at(one.row))]
    for place in found:
        whole = next((one for one in both if one.row == place.row), None)
        others = [one for one in found if one.row != place.row]
        change = place
        if whole and any(holds(cpu, whole.claim, one) for one in others):
            change = with_callees(cpu, program, whole)
        inside = any(
            one.row != place.row and holds(cpu, one.claim, change) for one in both
        )
        large = abs(change.delta(cpu)) >= MAJOR * cpu.whole
        if not large or inside or _may_be_displaced(cpu, change):
            continue
        if not program.own[change.row] and _only_named_otherwise(cpu, change):
            continue
        if not _only_moved(cpu, program, change):
            yield change


def _alone_or_loud(cpu: CPUComparison, program: Program) -> Iterator[Place]:
    """Yield what is new or gone, and then what takes many times as much of the rest.

    The shares of all code fall where some code costs more, and say nothing of a cost.
    """
    (base, new), totals = cpu.cum, cpu.diff.totals
    alone = (base == 0) != (new == 0)
    alone[program.closures] = False
    # What all stacks of a side begin with, as perf's with the name of the process, may
    # have another name on the other side.
    alone &= (base < totals[0]) & (new < totals[1])
    # Code without names takes shares as well, whichever it is.
    left = cpu.all if cpu.of_go else cpu.under(program.own).without(cpu.nameless)
    for mask in (lambda _: alone, lambda left: _loud(cpu, left)):
        for _ in range(_SHARES):
            inner = mask(left) & program.code
            place = deepest(cpu, program.among(inner), left) if inner.any() else None
            if place is None:
                break
            left = left.without(cpu.under(cpu.only(place.row)))
            yield place if program.own[place.row] else _running(cpu, program, place)


def _running(cpu: CPUComparison, program: Program, place: Place) -> Place:
    """Return the program's function that a library's function runs, if it has its cost.

    A sort or an executor costs what the code costs that it calls back.
    """
    side = 1 if place.new else 0
    inside = below(cpu, cpu.only(place.row), place.claim, side)
    inside[~program.own] = 0
    row = int(np.argmax(inside))
    if inside[row] < COVERS * cpu.sums(place.claim)[side]:
        return place
    return whole_of(cpu, row).having(cpu, place.claim.within(cpu.under(cpu.only(row))))


def _only_moved(cpu: CPUComparison, program: Program, place: Place) -> bool:
    """Return whether a function does what its caller or callee did itself before.

    Measured by other functions' code: where a function costs more, the share of its
    caller falls as theirs do.
    """
    rows = callers_of(cpu, program, place, [place.row])
    if not place.whole:
        below = cpu.under(cpu.only(place.row)).without(place.claim)
        inside = cpu.diff.ledger.among(below.sides).every("owner").runs
        taken = cpu.diff.normalization.delta(*merged(inside)) * place.delta(cpu)
        rows = (*rows, int(np.argmin(taken)))
    return any(_took_from(cpu, place, row) for row in rows)


def _only_named_otherwise(cpu: CPUComparison, place: Place) -> bool:
    """Return whether the other side has as much library code below the same caller.

    Builds inline libraries differently, so that one side alone may have a function.
    """
    caller, calls = own_caller(cpu, place)
    if not calls:
        return False
    library = [
        (owner == caller) & (ends.leaf != ends.owner)
        for owner, ends in zip(owners(cpu), cpu.sides, strict=True)
    ]
    delta = place.delta(cpu)
    return cpu.delta(Claim(*library)) * delta < MOST * delta * delta


def _took_from(cpu: CPUComparison, place: Place, row: int) -> bool:
    """Return whether a function lost most of what a place gained, or the reverse."""
    own = owned_by(cpu, [row]).without(place.claim)
    others = Claim(*(side >= 0 for side in owners(cpu)))
    rest = cpu.sums(others.without(own).without(place.claim))
    if (np.array(rest) < np.multiply(MUCH, cpu.diff.totals)).any():
        return False
    by_rest = [np.divide(cpu.sums(one), rest) for one in (own, place.claim)]
    lost, change = (float(new - base) for base, new in by_rest)
    return lost * change <= -MOST * change * change


def _may_be_displaced(cpu: CPUComparison, place: Place) -> bool:
    """Return whether a share may have changed because another function's did.

    A function that changed as much the other way makes room for it, or takes it; none
    falls to nothing, or rises from it, by that. So does one that changed nearly as much
    with all that it calls, unless the place runs other code.
    """
    delta, totals = place.delta(cpu), cpu.diff.totals
    shares = [place.base / totals[0], place.new / totals[1]]
    if min(shares) < LITTLE * max(shares):
        return False
    by, way = cpu.diff.normalization, -np.sign(delta)
    own = by.delta(*merged(cpu.diff.ledger.every("owner").runs)) * way
    if float(own.max(initial=0.0)) >= COVERS * abs(delta):
        return True
    if place.gone or place.added:
        return False
    apart = cpu.diff.paired_functions.own.copy()
    for side in (0, 1):
        apart &= cpu.cum_of(side, place.claim) == 0
    whole = by.delta(*cpu.cum)[apart] * way
    return float(whole.max(initial=0.0)) >= NEARLY_ALL * abs(delta)


def share_that_rose(cpu: CPUComparison) -> Place | None:
    """Return the function of both sides whose share rose most, None if by little.

    It may cost more, or all others less. In CPU time of Go, whose GC may cost less, it
    has to be many times the share.
    """
    program = Program(cpu)
    # A helper that others call as well has not risen with one of its callers.
    rises = cpu.diff.normalization.delta(*cpu.cum) >= MAJOR * cpu.whole
    for place in (
        owner_of_most(cpu, program, cpu.all),
        deepest(cpu, program.among(program.own & rises), cpu.all),
    ):
        if place is None or not (place.base and place.new):
            continue
        delta = place.delta(cpu)
        ratio = cpu.diff.normalization.ratio(place.base, place.new)
        if cpu.of_go and cpu.diff.is_cpu and (ratio or 0.0) < _TIMES:
            continue
        displaced = delta * cpu.delta(cpu.nameless) < 0
        large = delta >= MAJOR * cpu.whole
        if not large or displaced or takes_another_path(cpu, place):
            continue
        if not _only_moved(cpu, program, place):
            return place
    return None


def _loud(cpu: CPUComparison, left: Claim) -> NDArray[np.bool_]:
    """Return which functions take many times as much, or as little, of what is left."""
    totals = cpu.sums(left)
    if min(totals) <= 0:
        return np.zeros(len(cpu.names), np.bool_)
    base, new = (cpu.cum_of(side, left) / total for side, total in enumerate(totals))
    whole = cpu.diff.normalization.delta(*cpu.cum)
    loud = np.maximum(base, new) >= _TIMES * np.minimum(base, new)
    return loud & ((new - base) * whole > 0) & cpu.diff.paired_functions.own
