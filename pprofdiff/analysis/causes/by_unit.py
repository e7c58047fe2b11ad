"""Causes of each benchmark's change, from its own samples and operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from math import log
from typing import TYPE_CHECKING

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import OF_GC, CPUComparison
from pprofdiff.analysis.causes.finding import Direction, Finding
from pprofdiff.analysis.causes.measured import causes_of_measured
from pprofdiff.analysis.causes.place_words import amount, of_total
from pprofdiff.analysis.causes.places import Place, owned_by, whole_of
from pprofdiff.analysis.causes.sites import Sites, allocated
from pprofdiff.analysis.causes.wording import also_in_units
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.outcome.model import Unit
from pprofdiff.analysis.policy import COVERS, GOOD_PART, MAJOR, MOST, MUCH
from pprofdiff.analysis.profiles.own_code import FLAT_WITH_LIBRARY

if TYPE_CHECKING:
    from pprofdiff.analysis.causes.carriers import Code

# The most units to explain: readers open no more.
_MOST = 5
# Causes per unit: the first ones have most of its change.
_CAUSES = 2
# Allocation sites of units whose time did not change.
_SITES = 3
# The functions of a finding and its direction: what is one cause of several units.
_Change = tuple[tuple[str, ...], Direction]
_ABOUT = "CPU per op is approximate: it rests on estimated iterations."


def causes_of_units(
    comparison: Comparison, moved: Sequence[Unit], code: Code | None = None
) -> Iterator[Finding]:
    """Yield the causes of each changed unit, followed by their consequences.

    A function that changed the same way in several units is a cause once, with the
    amounts of the others; so is one that covers what changed in those. Findings have no
    claim, since they have one unit's samples.
    """
    about = _ABOUT if comparison.alone is None else ""
    found: list[Finding] = []
    # By whether it is an allocation site: next to one, CPU would read as less of it.
    first = dict[tuple[_Change, bool], int]()
    cases = (
        (units, Case(of_unit, code))
        for units, of_unit in changed_units(comparison, moved)
    )
    explained = [
        (units, case, causes_of_measured(case, moved=True, of_unit=True))
        for units, case in cases
    ]
    known = {
        name
        for *_, of_unit in explained
        for cause in of_unit.numbered
        for name in cause.functions
    }
    for number, (units, case, why) in enumerate(explained, 1):
        of_unit, cpu = case.comparison, case.cpu
        names = ", ".join(unit.name for unit in units)
        causes = _of_operations(cpu, why.numbered) if about else why.numbered
        if _explains_little(of_unit, causes, units):
            continue
        if not causes and known.isdisjoint(_sampled(of_unit)):
            # Otherwise a cause of other units runs here too: nothing else is likelier.
            causes = why.causes
        covering = None if cpu is None else _covering(cpu, causes, found, case)
        if covering is not None:
            at, cause = covering
            found[at] = _also_in(found[at], names, cause)
            causes = _outside(of_unit, causes, cause)
        begun, elsewhere = len(found), covering is not None
        causes = tuple(_chosen(of_unit, causes))
        for cause in causes:
            change, is_site = (cause.functions, cause.direction), cause.site is not None
            if is_site and (change, False) in first:
                # A cause by CPU may say what its function allocates as well.
                is_site = not found[first[change, False]].sure
            at = first.get((change, is_site), len(found))
            if not _changes_alike(cpu, found[at:], cause):
                at = len(found)
            first[change, is_site] = at
            if at < len(found) and cause.functions:
                alike = _measured_as(cpu, cause, found[at])
                found[at] = _also_in(found[at], names, alike)
                elsewhere = True
                continue
            found += (
                _named(finding, names, number, about)
                for finding in (
                    _with_part(cpu, cause),
                    *why.consequences(cause.id),
                )
            )
        if begun < len(found):
            below = (one for cause in causes for one in why.consequences(cause.id))
            at = max(i for i in range(begun, len(found)) if not found[i].parent)
            # What other causes' texts have of this unit, nobody adds up.
            said = "" if elsewhere else _rest(cpu, [*causes, *below])
            found[at] = found[at]._replace(text=f"{found[at].text} {said}".strip())
    yield from found


def _of_operations(
    cpu: CPUComparison | None, causes: tuple[Finding, ...]
) -> tuple[Finding, ...]:
    """Return causes but what takes a process as long on both sides.

    ``go test`` runs a benchmark's set-up a few times, however many iterations it picks:
    where these are more, set-up is less per op. What is most of both sides is not that:
    the iterations are so many that they take as long.
    """
    if cpu is None:
        return causes
    left = []
    for cause in causes:
        base, new = (0, 0) if cause.claim is None else cpu.sums(cause.claim)
        ratio = cpu.diff.normalization.ratio(base, new) if min(base, new) > 0 else None
        pairs = zip((base, new), cpu.sums(cpu.all), strict=True)
        is_most = all(part >= MOST * whole for part, whole in pairs)
        if not ratio or is_most or abs(log(new / base)) > GOOD_PART * abs(log(ratio)):
            left.append(cause)
    return tuple(left)


def _chosen(of_unit: Comparison, causes: Sequence[Finding]) -> list[Finding]:
    """Return the first causes, and the first that allocate as the benchmark does.

    Bytes and objects may go different ways, and against the time. Next to causes by
    samples, the first allocation site is no substitute for one.
    """
    of_cpu = [one for one in causes if one.site is None][:_CAUSES]
    sites = [one for one in causes if one.site is not None][: _CAUSES - bool(of_cpu)]
    chosen = [one for one in causes if one in of_cpu or one in sites]
    for base, new in allocated(of_unit).counted:
        if abs(new - base) < MAJOR * max(base, new):
            continue
        rises = new > base
        alike = (one for one in causes if one.sure and one.rises == rises)
        first = next(alike, None)
        if first is not None and first not in chosen:
            known = any(one.sure and one.rises == rises for one in chosen)
            chosen += [] if known else [first]
    return chosen


def _rest(cpu: CPUComparison | None, known: Sequence[Finding]) -> str:
    """Return which runtime work has most of what causes leave of a unit's change.

    "" if they leave little, or it is the program's own.
    """
    claims = [one.claim for one in known if one.claim is not None]
    # Next to bytes, a rest in time would be of what nobody said.
    open_ = any(one.site and not one.timed for one in known)
    if cpu is None or not claims or open_:
        return ""
    functions = {name for one in known for name in one.functions}
    left = cpu.all.without(cpu.of(()).plus_all(claims))
    rest, total = cpu.delta(left), cpu.total_delta
    if rest * total < (1 - COVERS) * total**2:
        return ""
    gc, scheduler = (
        left.within(cpu.of_groups(*groups)) for groups in (OF_GC, ("sched",))
    )
    for claim, label in (
        (gc, "GC work"),
        (scheduler, "the scheduler"),
        (gc.plus(scheduler), "GC work and the scheduler"),
    ):
        if MOST * rest**2 <= cpu.delta(claim) * rest <= (1 + MUCH) * rest**2:
            size = cpu.words(*cpu.sums(claim))
            noise = " (within noise)" if cpu.mark(claim) in (None, "noise") else ""
            inside = cpu.under(cpu.only(*cpu.rows_of([*functions]).tolist()))
            apart = not any(cpu.sums(claim.within(inside)))
            where = " elsewhere" if apart else ""
            return f"Most of the rest is {label}{where}: {size}{noise}."
    return ""


def _with_part(cpu: CPUComparison | None, cause: Finding) -> Finding:
    """Return a cause with which part of its unit's change it is, unless nearly all."""
    if cpu is None or cause.own is None or cause.site is not None:
        return cause
    part = of_total(cpu, cause.own)
    if not part or abs(cause.own) >= COVERS * abs(cpu.total_delta):
        return cause
    return cause._replace(text=f"That is {part} (CPU). {cause.text}".strip())


def _changes_alike(
    cpu: CPUComparison | None, known: Sequence[Finding], cause: Finding
) -> bool:
    """Return whether the first known cause is the same change as another, if any.

    A function that one unit no longer calls, and another calls at less cost, changed
    twice. So did one whose own cost rises where that of its callees falls.
    """
    if cpu is not None and cause.site is None and known and known[0].site is None:
        rows = cpu.rows_of(cause.functions[:1]).tolist()
        places = (_alike(cpu, row, known[0]) for row in rows)
        if any(cpu.way(one.delta(cpu)) != cause.direction for one in places):
            return False
    timed = [one for one in (*known[:1], cause) if one.site is None and one.evidence]
    pairs = [(one.evidence[0].base, one.evidence[0].new) for one in timed]
    # A cause without CPU, or the first one, has nothing to be set against.
    return all(
        own[side] or (other[side] or 0.0) <= MUCH * (other[1 - side] or 0.0)
        for own, other in permutations(pairs, 2)
        for side in (0, 1)
    )


def _covering(
    cpu: CPUComparison,
    causes: Sequence[Finding],
    known: Sequence[Finding],
    case: Case,
) -> tuple[int, Finding] | None:
    """Return the `known` cause that covers the CPU of a unit's own, with its amount.

    One change is a cause once, though samples of two units lead to different functions
    in it. A callee that changed itself is a change of its own, unless the known cause
    has its callees.
    """
    rows = cpu.rows_of(name for one in causes for name in one.functions[:1]).tolist()
    own_change = case.texts is not None and bool(case.texts.changed[rows].any())
    own = sum(one.explains or 0.0 for one in causes)
    changes = {(one.functions, one.direction) for one in known}
    if any((one.functions, one.direction) in changes for one in causes):
        return None
    # What is new does work that others did: it may cost more than the unit.
    if own * cpu.total_delta <= 0:
        return None
    least = min(abs(own), abs(cpu.total_delta))
    for at, one in enumerate(known):
        rows = cpu.rows_of(one.functions[:1]).tolist()
        if not rows or one.parent is not None or one.site is not None:
            continue
        place = _alike(cpu, rows[0], one)
        alike = place.delta(cpu) * own
        if not own_change:
            place = whole_of(cpu, rows[0])
        delta = place.delta(cpu)
        # What it is about may go the other way, with callees that have another cause.
        covers = alike >= 0 and delta * own > 0 and abs(delta) >= COVERS * least
        # As sure as the unit's own causes are: it has most of their samples.
        if covers and one.direction == cpu.way(delta):
            return at, one._replace(amount=amount(cpu, place), counted="")
    return None


def _outside(
    of_unit: Comparison, causes: Sequence[Finding], covering: Finding
) -> tuple[Finding, ...]:
    """Return allocation sites that are no part of a function that covers the CPU."""
    sites = Sites.of(of_unit)
    inside = frozenset() if sites is None else sites.inside(covering.functions[:1])
    return tuple(one for one in causes if one.site and inside.isdisjoint(one.functions))


def _explains_little(
    of_unit: Comparison, causes: Sequence[Finding], units: Sequence[Unit]
) -> bool:
    """Return whether causes have less than half of what benchmarks changed by.

    They would read as the reason. Samples per counted op may have changed by less.
    Counted allocations may have no CPU of their own.
    """
    cpu = of_unit.cpu
    if cpu is None or not causes or any(one.sure for one in causes):
        return False
    base, _ = cpu.normalization.scaled(*cpu.totals)
    ratios = [unit.cost.ratio for unit in units]
    ratios += [ratio * cpu.normalization.apart for ratio in ratios]
    least = min((ratio - 1 for ratio in ratios), key=abs)
    found = sum(one.explains or 0.0 for one in causes)
    return found * least < MOST * base * least**2


def _sampled(comparison: Comparison) -> Sequence[str]:
    """Return the functions in the CPU profiles of either side."""
    return () if comparison.cpu is None else comparison.cpu.paired_functions.names


def with_allocations(
    comparison: Comparison, units: Sequence[Unit], known: Sequence[Finding] = ()
) -> list[Finding]:
    """Return `known` causes of other units, then the allocation sites of `units`.

    A site is reported for the first unit that it changed in, or if none moved and it
    changed far more in another, for that one. A known cause that has its allocations
    gets the amounts of the others. They are listed if it is known of all `units`.
    """
    causes = list(known)
    # A cause by CPU alone says nothing of what its function allocates.
    has = {
        name: at
        for at, one in enumerate(causes)
        if one.sure and one.severity != "info"
        for name in (*one.names, *one.functions)
    }
    found = list[tuple[bool, str, Finding]]()
    for places, of_unit in changed_units(comparison, units, most=None):
        names = ", ".join(unit.name for unit in places)
        why = causes_of_measured(Case(of_unit), moved=False, of_unit=True)
        sure = (one for one in why.found if one.sure and one.severity != "info")
        found += ((i >= _CAUSES, names, one) for i, one in enumerate(sure))
    sites = dict[_Change, list[tuple[str, Finding]]]()
    # The last ones of a unit give way to the first ones of others.
    for _, names, finding in sorted(found, key=lambda one: one[0]):
        change = finding.functions, finding.direction
        at = next((has[name] for name in finding.functions if name in has), None)
        if at is not None and (
            (own := _also_in(causes[at], names, finding)) is not causes[at]
        ):
            causes[at] = own
        elif change in sites or len(sites) < _SITES:
            sites.setdefault(change, []).append((names, finding))
    for number, of_units in enumerate(sites.values(), 1 + (_MOST if known else 0)):
        # The outcome begins with the unit whose time changed most, if any did.
        first, most = of_units[0], max(of_units, key=_bytes_changed)
        moved = any(unit.moved for unit in units)
        if moved or _bytes_changed(first) >= MOST * _bytes_changed(most):
            most = first
        also = tuple(names for names, one in of_units if one is not most[1])
        finding = _named(most[1], most[0], number, "")
        text = f"{finding.text}{also_in_units(also)}".strip()
        causes.append(finding._replace(text=text, also=also))
    return causes


def _bytes_changed(of_unit: tuple[str, Finding]) -> float:
    """Return by how many bytes per op a unit's site changed, 0 for no site."""
    site = of_unit[1].site
    if site is None or site.base is None or site.new is None:
        return 0.0
    return abs(site.new - site.base)


def _measured_as(cpu: CPUComparison | None, cause: Finding, known: Finding) -> Finding:
    """Return a cause with its CPU as a `known` one of the same function has it.

    With callees if that has them: flat, the work of a callee would be missing. Of an
    allocation site, the CPU is added if it changed significantly.
    """
    rows = [] if cpu is None else cpu.rows_of(cause.functions[:1]).tolist()
    if cpu is None or not rows or known.site is not None:
        return cause
    place = _alike(cpu, rows[0], known)
    flat = not place.whole
    if cpu.way(place.delta(cpu)) != cause.direction:
        return cause
    size = amount(cpu, place)
    if cause.site is None:
        apart = cause.amount.endswith(FLAT_WITH_LIBRARY) and not flat
        # What it allocates is that of the other amount.
        return cause._replace(amount=size, counted="") if apart else cause
    sure = cpu.mark(place.claim) not in (None, "noise")
    return cause._replace(amount=f"{size}, {cause.amount}") if sure else cause


def _alike(cpu: CPUComparison, row: int, known: Finding) -> Place:
    """Return a function as a place, with its callees if a `known` cause has them."""
    place = whole_of(cpu, row)
    if known.amount.endswith(" cum"):
        return place
    return place._replace(whole=False).having(cpu, owned_by(cpu, [row]))


def _also_in(cause: Finding, names: str, finding: Finding) -> Finding:
    """Return a cause with the amount of the same change in other benchmarks."""
    if cause.functions != finding.functions or cause.direction != finding.direction:
        return cause
    # What a site allocates is its amount.
    amounts = finding.amount
    if finding.counted:
        both = finding.counted.endswith(" cum")
        amounts = f"{amounts.removesuffix(' cum') if both else amounts}, "
        amounts += finding.counted
    text = f"{cause.text} In {names}: {amounts}.".strip()
    return cause._replace(text=text, with_units=(*cause.with_units, names))


def changed_units(
    comparison: Comparison, moved: Sequence[Unit], *, most: int | None = _MOST
) -> Iterator[tuple[list[Unit], Comparison]]:
    """Yield changed units with their own samples per op, largest change first.

    Units that share samples come together. Those without samples are left out, and all
    after the first `most`.
    """
    split = comparison.split or comparison.alone
    if split is None:
        return
    found = []
    for unit in split.units:
        places = [i for i, one in enumerate(moved) if one.key in unit.benchmarks]
        if places:
            found.append((places, unit))
    found.sort(key=lambda one: one[0])
    for places, unit in found[:most]:
        of_unit = comparison.of_unit(unit)
        if of_unit is not None:
            yield [moved[i] for i in places], of_unit


def unit_named(
    comparison: Comparison, units: Sequence[Unit], names: str
) -> Comparison | None:
    """Return the own samples of the units that a finding names, None if unknown."""
    split = comparison.split or comparison.alone
    wanted = {unit.key for unit in units if unit.name in names.split(", ")}
    for one in () if split is None or not wanted else split.units:
        if wanted.issubset(one.benchmarks):
            return comparison.of_unit(one)
    return None


def _named(finding: Finding, names: str, number: int, about: str) -> Finding:
    """Return a finding under its unit's name, with an id unique among units."""

    def of_unit(id_: str) -> str:
        return id_ if number == 1 else f"unit-{number}-{id_}"

    return finding._replace(
        id=of_unit(finding.id),
        parent=None if finding.parent is None else of_unit(finding.parent),
        title=f"{names}: {finding.title}",
        unit=names,
        of_unit=finding.claim,
        text=f"{finding.text} {about}".strip()
        if about and not finding.parent
        else finding.text,
        claim=None,
        explains=None,
        own=None,
        mark=None,
    )
