"""Causes of the changes in interleaved benchmarks, with all amounts per op.

The operation count is known, and CPU per op as the kernel counts it; samples show where
it is spent, and every allocated object is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf, log, sqrt
from typing import NamedTuple

from msgspec.structs import replace

from pprofdiff.analysis.causes import place_words
from pprofdiff.analysis.causes.by_text import Texts, by_text
from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import OF_GC, CPUComparison, explained
from pprofdiff.analysis.causes.finding import (
    ALLOCS,
    Claim,
    Direction,
    Fact,
    Finding,
    Findings,
    Severity,
    severity_of,
)
from pprofdiff.analysis.causes.places import (
    Place,
    Program,
    called_on_one_side,
    disjoint,
    gives_to_caller,
    holding,
    holds_all,
    is_benchmark,
    moved_to_instances,
    operation,
    owned_by,
    places,
    takes_another_path,
    unclaimed,
    whole_of,
    with_callees,
    with_callers,
)
from pprofdiff.analysis.causes.sites import (
    BYTE,
    OBJECT,
    Allocated,
    Site,
    Sites,
    adding_up,
    against_all,
    allocated,
    amounts,
    exceeds,
    goes_both_ways,
    instances_together,
    is_large,
    is_part_of_blocks,
    needed,
    of_all_objects,
    part_of_all,
    replaced,
    resized,
    share_of_change,
    taken_back,
    within,
    without_moved,
)
from pprofdiff.analysis.causes.wording import (
    arrow,
    count,
    first_functions,
    joined,
    listed,
    others,
)
from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.analysis.policy import (
    COVERS,
    LITTLE,
    MAJOR,
    MINOR,
    MOST,
    MUCH,
    NAMED,
    SIMILAR,
)
from pprofdiff.analysis.profiles.own_code import FLAT_WITH_LIBRARY
from pprofdiff.goruntime.names import strip_type_arguments
from pprofdiff.goruntime.readable import distinct_names

# Of a function that allocated, and perhaps is not called any more.
_NOTHING = "no longer allocates:"


class _Runtime(NamedTuple):
    """Work of the runtime on its own goroutines: groups of the rules, and a label."""

    id: str
    label: str
    groups: tuple[str, ...]


_GC_WORK = "gc-work"
_RUNTIME = (
    _Runtime(_GC_WORK, "GC", OF_GC),
    _Runtime("scheduler", "The scheduler", ("sched",)),
)
# Groups that mix work per op with the process's own work.
_BY_ITSELF = (*OF_GC, "sched")
# The chance at which a place with nearly all of a known change has it by samples: few
# places can, so that of measured turns (99%) is enough.
_CHANCE = 0.01
# The chance at which a place has most of a known change by samples, however much runs
# differ: what slows a run down slows all of its functions.
_NO_CHANCE = 1e-6


class _View(NamedTuple):
    """The inputs of a sentence: CPU profiles, allocations per op and their sites."""

    cpu: CPUComparison | None
    program: Program | None
    totals: Allocated
    sites: Sites | None
    moved: bool
    texts: Texts | None
    of_unit: bool

    @property
    def every(self) -> Sequence[Site]:
        """All changed allocation sites."""
        return () if self.sites is None else self.sites.all


def causes_of_measured(case: Case, *, moved: bool, of_unit: bool = False) -> Findings:
    """Return what changed per op, the largest explanation first.

    Those `of_unit`, one of several benchmarks, have its counts, which no headline has.

    If the outcome `moved`, the tables' model finds the places. Otherwise a stricter
    model keeps an unchanged build free of chance causes.
    """
    cpu = case.cpu
    if cpu is not None and moved and cpu.diff.model is not None:
        cpu = replace(cpu, model=cpu.diff.model)
    program = None if cpu is None else Program(cpu, tests_apart=True)
    totals = allocated(case.comparison)
    of_sites = Sites.of(case.comparison) if totals.changed else None
    view = _View(cpu, program, totals, of_sites, moved, case.texts, of_unit)
    found = list(_ranked(view))
    if cpu is None:
        return Findings(tuple(found), None)
    claimed = cpu.of(()).plus_all(
        one.claim for one in found if one.claim and one.severity != "info"
    )
    explains = explained(cpu, claimed)
    of_operations = any(
        group.id not in _BY_ITSELF
        or not _of_process(
            view, cpu, cpu.of_groups(group.id), collected=group.id != "sched"
        )
        for group in explains.left
    )
    # List all that is unexplained, or nothing if it is the process's own work.
    left = explains.left if of_operations else ()
    return Findings(tuple(found), explains._replace(left=left))


def _ranked(view: _View) -> Iterator[Finding]:
    """Yield the causes, each followed by its consequences."""
    found: list[Finding] = []
    named: set[str] = set()
    claimed = word = None
    if view.cpu is not None and view.program is not None:
        claimed, word = _add_places(view, view.cpu, view.program, found, named)
    sites = _worth_reporting(view, named)
    for number in range(1, len(sites) + 1):
        finding = _of_site(view, sites, number, claimed)
        if claimed is not None and finding.claim is not None:
            claimed = claimed.plus(finding.claim)
        found.append(finding)
    if view.cpu is not None and claimed is not None:
        collects = False
        for what in _RUNTIME:
            work = _of_runtime(view, view.cpu, claimed, what, collects=collects)
            if work is not None:
                collects |= what.id == _GC_WORK
                found += _placed(view, work, found)
    causes = [one for one in found if one.parent is None]
    # What changed against the outcome does not explain it.
    causes.sort(key=lambda one: (_is_contrary(view, one), -one.weight))
    for cause in causes:
        below = [one for one in found if one.parent == cause.id]
        whole = sum((one.explains or 0.0 for one in below), cause.explains or 0.0)
        yield cause._replace(explains=whole) if below else cause
        yield from below
    # Next to a cause, a place that is not significant mostly has the cause in it. What
    # goes against the outcome alone would read as its cause.
    if word is not None and all(_is_contrary(view, one) for one in causes):
        yield word


def _is_contrary(view: _View, finding: Finding) -> bool:
    """Return whether a cause goes against a significant change of the CPU."""
    if not view.moved or view.cpu is None:
        return False
    whole = view.cpu.total_delta
    return finding.direction == ("worse" if whole < 0 else "better")


def _add_places(
    view: _View,
    cpu: CPUComparison,
    program: Program,
    causes: list[Finding],
    named: set[str],
) -> tuple[Claim, Finding | None]:
    """Add the places on the CPU to `causes`; return the samples that they claim.

    If no significant one goes the way of the total, also return the one with most of
    the change. `named` gets the sites of the significant ones.
    """
    claimed, word = cpu.of(()), None
    wholes = list[str]()

    def is_said(place: Place) -> bool:
        return _of_place(view, cpu, place, 1).severity != "info"

    found = _may_be_said(view, cpu, program, is_said)
    for place in unclaimed(cpu, program, found, is_said):
        if causes and view.moved and not _is_worth_it(cpu, place):
            continue
        finding = _of_place(view, cpu, place, len(causes) + 1)
        if finding.severity != "info":
            causes.append(finding)
            site, inside = _sites_of(view, cpu, place)
            if site is not None and _is_opposite(site, place.delta(cpu)):
                # What is not said with it, or is of code below it, is another change.
                moved = not place.whole and len(inside) > 1 + len(place.others)
                said = finding.counted and not moved
                named |= {finding.functions[0]} if said else set()
            else:
                named |= {finding.functions[0], *inside}
                wholes += [cpu.names[place.row]] if site and place.whole else []
            claimed = claimed.plus(place.claim)
        elif word is None and _is_most(view, cpu, place):
            word = finding
    if view.sites is not None:
        named |= view.sites.inside(wholes)
    explained = any(not _is_contrary(view, one) for one in causes)
    return claimed, None if explained else word


def _may_be_said(
    view: _View,
    cpu: CPUComparison,
    program: Program,
    is_said: Callable[[Place], bool],
) -> list[Place]:
    """Return the places to judge; if nothing changed surely, the whole operation."""
    found = _places(view, cpu, program)
    found = with_callers(cpu, program, found, total_known=view.moved)
    found = [one for one in found if not moved_to_instances(cpu, one)]
    known = view.moved and not cpu.cut_off
    if known:
        found = [_with_its_callees(cpu, one, found) for one in found]
    if view.texts is not None:
        found = by_text(cpu, program, found, view.texts, is_said)
    if known and not (any(map(is_said, found)) or _worth_reporting(view, set())):
        every = operation(cpu, program)
        found = found if every is None else [with_callees(cpu, program, every)]
    return found


def _is_worth_it(cpu: CPUComparison, place: Place) -> bool:
    """Return whether a further place has more of the outcome than chance moves.

    What other causes do to caches and to the collector changes unchanged code as much.
    """
    return abs(place.delta(cpu)) >= MAJOR * abs(cpu.total_delta)


def _places(view: _View, cpu: CPUComparison, program: Program) -> list[Place]:
    """Return the places that changed; if they do not explain the outcome, others too.

    One is the first by samples alone: profiled runs are few and may differ by more than
    an outcome that many timed turns show. `_is_sure` judges it. The other has nearly
    all samples of both sides, so that the outcome is its change. Where stacks lack
    their roots, places have no more than their own cost.
    """
    found = places(cpu, program)
    if cpu.cut_off:
        # Functions near the root have less of what is below them than is so.
        return [one for one in found if not one.whole]
    whole = cpu.total_delta
    explained = sum(one.delta(cpu) for one in found)
    if explained * whole > MOST * whole**2 or not view.moved:
        return found
    if not any(one.delta(cpu) * whole > 0 for one in found):
        first = places(replace(cpu, model=cpu.model.of_samples), program)[:1]
        known = {one.row for one in found}
        found = disjoint(cpu, [*found, *(one for one in first if one.row not in known)])
    all_of_it = holding(cpu, program, found)
    return (
        found if all_of_it is None else [*found, with_callees(cpu, program, all_of_it)]
    )


def _with_its_callees(
    cpu: CPUComparison, place: Place, found: Sequence[Place]
) -> Place:
    """Return a place; with all that it calls if these take back what is too much of it.

    A function saves no more than its benchmark: samples of a call's own cost moved to
    what it calls, such as without a deferred call.
    """
    delta, total = place.delta(cpu), cpu.total_delta
    whole = whole_of(cpu, place.row)
    partly = not (place.whole or place.others) and place.base and place.new
    if not partly or delta * total <= total**2:
        return place
    if not abs(whole.delta(cpu)) < abs(delta):
        return place
    others = (one for one in found if one is not place)
    apart = not any(any(cpu.sums(one.claim.within(whole.claim))) for one in others)
    return whole if apart and whole.delta(cpu) * total > 0 else place


def _is_most(view: _View, cpu: CPUComparison, place: Place) -> bool:
    """Return whether a place has most of a significant change, and no other has it."""
    delta = place.delta(cpu)
    whole = cpu.total_delta
    return (
        view.moved
        and MOST * whole**2 <= delta * whole <= whole**2 / MOST
        and not takes_another_path(cpu, place)
        and not gives_to_caller(cpu, place)
    )


def _placed(view: _View, work: Finding, found: Sequence[Finding]) -> list[Finding]:
    """Return runtime work as a consequence of the largest allocation cause, or a cause.

    The GC runs as often as the program allocates and wakes its workers through the
    scheduler. Without a verdict it is no cause: how much GC a run does varies with its
    length.
    """
    follows = any(
        abs(new - base) > MAJOR * max(base, new)
        and (new - base) * (work.explains or 0.0) > 0
        for base, new in view.totals.counted
    )
    rises = (work.explains or 0.0) > 0
    owners = [
        one
        for one in found
        if one.sure and one.severity != "info" and one.rises == rises
    ]
    if not follows or not owners:
        return [work] if view.moved else []
    if len(owners) > 1:
        many = "another" if len(owners) == 2 else f"{len(owners) - 1} others"
        way = "more" if rises else "less"
        title = f"{work.title}, since this cause and {many} allocate {way}"
        work = work._replace(title=title, several=True)
    return [work._replace(parent=max(owners, key=lambda one: one.weight).id)]


def _of_place(view: _View, cpu: CPUComparison, place: Place, number: int) -> Finding:
    """Return a place as a finding."""
    name, delta = cpu.names[place.row], place.delta(cpu)
    others = (*place.gone, *place.added, *place.others)
    named = [name, *(cpu.names[row] for row in others)]
    functions: tuple[str, ...] = (name,)
    if place.others:
        functions = tuple(cpu.names[row] for row in place.others)
        first = place_words.in_caller(cpu, place)
        functions = (name, *functions) if first else (*functions, name)
    site = _sites_of(view, cpu, place)[0]
    known = site is not None and site.agrees and is_large(view.totals, site)
    # Sites have the callees that other causes have.
    aside = place.whole and place.partial
    said = _said_of(view, site, name, delta)
    counted = amounts(view.totals, said) if known and said and not aside else ""
    sentences = place_words.sentences(cpu, place)
    if said is not None and " → " in counted:
        all_ = " cum" if place.whole and said is site else ""
        who = "They allocate" if len(place.callers) > 1 else "It allocates"
        counted = f"{counted}{all_}"
        left = _left_by_caller(view, cpu, place)
        sentences = [f"{who} {counted}", *left, *sentences]
    else:
        counted = ""
    share = abs(delta) / cpu.whole
    change = cpu.change(place.claim)
    has_all = place.whole and bool(holds_all(cpu)[place.row])
    has_all |= place.only_changed
    significant = view.moved and (change.significant or _is_sure(cpu, place) or has_all)
    significant &= not takes_another_path(cpu, place)
    significant &= (has_all and not place.partial) or _as_counted(cpu, place)
    significant &= not _by_chance(view, cpu, place, known=known)
    finding = Finding(
        "place" if number == 1 else f"place-{number}",
        "",
        "",
        place_words.facts(cpu, place),
        weight=share,
        names=frozenset(named),
        functions=functions,
    )
    if not significant:
        inside = place_words.inlining(cpu, place), place_words.callees(cpu, place)
        text = joined([sentence for sentence in inside if sentence])
        return finding._replace(title=_most(cpu, place), text=text)
    # Samples may miss what is known to allocate.
    side = 0 if place.new else 1
    runs = site is not None and site.space[side] >= BYTE
    return finding._replace(
        title=place_words.title(cpu, place, runs=runs),
        text=joined(sentences),
        amount=place_words.amount(cpu, place),
        counted=counted,
        severity=severity_of(share),
        direction=cpu.way(delta),
        claim=place.claim,
        explains=delta,
        own=delta,
        mark="more" if delta > 0 else "less",
        sure=known,
        rises=site.space[1] > site.space[0] if known and site and not aside else None,
    )


def _left_by_caller(view: _View, cpu: CPUComparison, place: Place) -> list[str]:
    """Return what the caller of a new function no longer allocates, as a sentence.

    Its code may have moved into the new one, which then costs less than it seems.
    """
    row = place_words.caller_of_new(cpu, place)
    site = None
    if row is not None and view.sites is not None:
        site = view.sites.together([cpu.names[row]])
    if row is None or site is None or not is_large(view.totals, site):
        return []
    if site.space[1] >= (1 - MUCH) * site.space[0]:
        return []
    caller = place_words.called(cpu.names[row])
    return [f"{caller} itself allocates {amounts(view.totals, site)}"]


def _said_of(view: _View, site: Site | None, name: str, delta: float) -> Site | None:
    """Return the site of a place that is said with it, None for none.

    If that changed against the place's cost, it is what the function allocates itself:
    the others are causes of their own.
    """
    if site is None or view.sites is None:
        return None
    if exceeds(view.totals, site) and not site.is_all:
        return None
    if not _is_opposite(site, delta):
        return site
    own = view.sites.together([name])
    contrary = own is not None and _is_opposite(own, delta)
    return own if own and contrary and is_large(view.totals, own) else None


def _is_opposite(site: Site, delta: float) -> bool:
    """Return whether a place allocates less but costs more, or the other way around.

    Its allocations are no reason for its cost.
    """
    return (site.space[1] - site.space[0]) * delta < 0


def _is_sure(cpu: CPUComparison, place: Place) -> bool:
    """Return whether samples alone show that a place changed significantly.

    Interleaved turns show that CPU per op changed; what remains is how well samples
    separate the place from the rest. That is enough if it has nearly all of the change,
    or if only one side runs it: no spread between runs removes a place.
    """
    whole, delta = cpu.total_delta, place.delta(cpu)
    p = cpu.model.of_samples.one(cpu.runs(place.claim)).p
    if p is None or p > _CHANCE:
        return False
    one_sided = delta * whole > 0 and not (place.base and place.new)
    if p <= _NO_CHANCE and MOST * whole**2 <= delta * whole <= whole**2:
        return True
    return one_sided or abs(delta - whole) <= (1 - COVERS) * abs(whole)


def _as_counted(cpu: CPUComparison, place: Place) -> bool:
    """Return whether samples per counted op show most of a place's change as well.

    Values are scaled to the CPU per op of timed turns. If samples per op disagree with
    it, each function changes by the difference, whether its own cost did or not. What
    one side alone runs is new or gone at any scale.
    """
    if not (place.base and place.new):
        return True
    by = cpu.diff.normalization
    base, new = by.scaled(place.base, place.new)
    apart, delta = sqrt(by.apart), new - base
    if abs(delta - cpu.total_delta) <= (1 - COVERS) * abs(cpu.total_delta):
        return True
    return (new * apart - base / apart) * delta >= MOST * delta**2


def _most(cpu: CPUComparison, place: Place) -> str:
    """Return the title for a place that has most of the change, but not for sure."""
    sure = cpu.change(place.claim).significant
    doubt = "" if sure else " (not significant on its own)"
    return f"{place_words.most(cpu, place)}{doubt}"


def _by_chance(view: _View, cpu: CPUComparison, place: Place, *, known: bool) -> bool:
    """Return whether a change is the cost of allocations that are known to be equal.

    GC cost, and which goroutine pays it, varies far more than sampling explains.
    """
    if known or not view.totals.counted or _may_allocate(view, cpu, place):
        return False
    whole = place.delta(cpu)
    paid = cpu.delta(place.claim.within(cpu.bookkeeping))
    return abs(paid) >= MOST * abs(whole)


def _may_allocate(view: _View, cpu: CPUComparison, place: Place) -> bool:
    """Return whether a place may have a change in allocations that its site lacks.

    Profiles do not count all tiny objects where they are made.
    """
    if not view.totals.changed:
        return False
    site = _sites_of(view, cpu, place)[0]
    delta = place.delta(cpu)
    same_way = any((new - base) * delta > 0 for base, new in view.totals.counted)
    # Whose bytes a place with callers has is unknown.
    return same_way and (bool(place.callers) or (site is not None and not site.exact))


def _sites_of(
    view: _View, cpu: CPUComparison, place: Place
) -> tuple[Site | None, frozenset[str]]:
    """Return a place's allocations, and the names of the sites in it."""
    name = cpu.names[place.row]
    if view.sites is None:
        return None, frozenset()
    if place.whole:
        return view.sites.under(
            *(cpu.names[row] for row in place.callers or [place.row])
        )
    if place.callers:
        # Other places may have some of the callers' samples: whose bytes is unknown.
        return None, frozenset()
    names = [name, *(cpu.names[row] for row in place.others)]
    return view.sites.together_with_moved(names)


def _worth_reporting(view: _View, named: set[str]) -> list[Site]:
    """Return the changed sites that no place covers."""
    if view.sites is None:
        return []
    large = any(is_large(view.totals, site) for site in view.every)
    if not (large or view.totals.changed):
        return []
    # The other half of a move may itself be too small to report, or amortized.
    unnamed = [s for s in without_moved(view.every) if s.name not in named]
    left = replaced(view.sites.with_callee(view.sites.with_helpers(unnamed)))
    left = view.sites.with_own_callees(instances_together(left))
    left = [one for one in left if _is_known(view, one) and is_large(view.totals, one)]
    found = view.sites.with_common_caller(
        [one for one in left if not is_part_of_blocks(one)]
    )
    kept = [s for s in found if not s.helpers or is_large(view.totals, s)]
    kept.sort(key=lambda site: -part_of_all(view.totals, site))
    known = [site for site in view.every if site.name in named]
    found = needed(view.totals, kept, known)[:NAMED]
    if known or adding_up(view.totals, found):
        return found
    # Joined, they do not add up to the change: perhaps as they are.
    may = [site for site in unnamed if _is_known(view, site)]
    return adding_up(view.totals, may) or found


def _is_work_of(view: _View, site: Site) -> bool:
    """Return whether what changed the other way calls a site, which does its work."""
    change = site.space[1] - site.space[0]
    others = [
        one.name for one in view.every if (one.space[1] - one.space[0]) * change < 0
    ]
    return view.sites is not None and site.name in view.sites.inside(others)


def _is_known(view: _View, site: Site) -> bool:
    """Return whether what is known of a site is a change in what code allocates.

    Fewer objects are maps and slices that grow now and then: how often depends on b.N
    and other code.
    """
    return (
        max(site.objects) >= OBJECT
        and " → " in amounts(view.totals, site)
        and not _is_data(site)
    )


def _is_data(site: Site) -> bool:
    """Return whether a benchmark itself makes as many objects, of another size.

    Its data differ from operation to operation, so that their mean depends on b.N.
    """
    base, new = site.objects
    return is_benchmark(site.name) and abs(new - base) <= max(OBJECT, MINOR * base)


def _of_site(
    view: _View, sites: Sequence[Site], number: int, claimed: Claim | None
) -> Finding:
    """Return the change in allocations of one of the sites, by number, as a finding."""
    site = sites[number - 1]
    counted = within(view.totals, site)
    space, objects = counted.space, counted.objects
    name = place_words.called(site.name)
    fewer = _falls(space, objects if site.exact else space)
    verb = _verb(counted, fewer=fewer)
    text = _share(view, counted, alone=len(sites) == 1)
    if site.helpers:
        verb, inside = _with_helpers(site, space, fewer=fewer)
        text = f"{text} {inside}".strip()
    elif not site.gone:
        text = f"{text} {resized(view.totals, site)}".strip()
    amount = amounts(view.totals, site)
    if view.sites is not None and _is_flat(view.sites, site):
        amount += f" {FLAT_WITH_LIBRARY}"
    elif site.is_cum:
        amount += " cum"
    everyone = site.everyone
    claim, said, cpu, covered = None, "", view.cpu, False
    if cpu is not None and claimed is not None:
        covered = _is_inside(
            cpu, owned_by(cpu, cpu.rows_of(everyone).tolist()), claimed
        )
    called = list[str]()
    if cpu is not None and claimed is not None and not _may_replace(site, sites):
        rows = _replacing(view, cpu, cpu.rows_of(everyone).tolist())
        # Others may have all their samples.
        rows = [r for r in rows if any(cpu.sums(owned_by(cpu, [r]).without(claimed)))]
        claim, said = _cost_of(view, cpu, site, claimed, rows, fewer=fewer)
        called = [cpu.names[row] for row in rows] if said else []
    # After another function's name, "it" would be that one, and after the time that
    # allocating takes, that: growing has more in it.
    whole = not site.helpers and not site.gone
    if whole and (below := [*_through(view, site), *_grows(cpu, site)]):
        text = f"{text} In it: {', '.join(below)}.".strip()
    text = f"{text} {said}".strip()
    if number == len(sites) and not (
        goes_both_ways(view.totals, view.every, site) or _is_work_of(view, site)
    ):
        text = f"{text} {taken_back(view.totals, sites, view.every)}".strip()
    explains = cpu.delta(claim) if cpu and claim else None
    part = part_of_all(view.totals, site)
    weight = 0.35 * part
    if cpu is not None:
        # Allocations are counted, CPU is sampled.
        weight = max(weight, abs(explains or 0.0) / cpu.whole)
    severity: Severity = "major" if part >= MUCH else "minor"
    facts = (
        Fact(f"{site.name}, bytes", ALLOCS, *space, "B"),
        Fact(f"{site.name}, objects", ALLOCS, *objects, "objects"),
    )
    return Finding(
        "allocation" if number == 1 else f"allocation-{number}",
        f"{_instead(site, fewer=fewer) if site.gone else f'{name} {verb}'} {amount}",
        text,
        facts,
        amount=amount,
        severity=severity if site.agrees else "info",
        direction=_direction(counted, fewer=fewer),
        claim=claim,
        explains=explains,
        own=explains,
        mark=cpu.mark(claim) if cpu and claim else None,
        inside=covered,
        weight=weight,
        sure=True,
        timed=bool(said),
        rises=not fewer,
        names=frozenset((*everyone, *called)),
        functions=everyone,
    )


def _share(view: _View, site: Site, *, alone: bool) -> str:
    """Return which part a site is of what changed, and the objects of all functions.

    Where others allocate more and less, parts of what is left read as no more than it.
    """
    text = ""
    if not goes_both_ways(view.totals, view.every, site):
        text = share_of_change(view.totals, site, alone=alone)
    if not view.of_unit:
        return text
    more = of_all_objects if text else against_all
    return f"{text} {more(view.totals, site)}".strip()


def _is_inside(cpu: CPUComparison, own: Claim, claimed: Claim) -> bool:
    """Return whether most of some samples are claimed already."""
    whole, part = cpu.sums(own), cpu.sums(own.within(claimed))
    return any(whole) and sum(part) >= MOST * sum(whole)


def _through(view: _View, site: Site) -> list[str]:
    """Return which functions of the standard library allocate for a site."""
    below = () if view.sites is None else view.sites.below(site)
    sizes = [arrow(*callee.space, "B") for callee in below]
    known = all("→" in size for size in sizes)
    if not known or any(exceeds(view.totals, callee) for callee in below):
        return []
    names = distinct_names([callee.name for callee in below])
    return [f"{name} {size}/op" for name, size in zip(names, sizes, strict=True)]


def _grows(cpu: CPUComparison | None, site: Site) -> list[str]:
    """Return what slices or maps that grow on one side only take of a site's CPU."""
    if cpu is None:
        return []
    return place_words.growth(cpu, owned_by(cpu, cpu.rows_of([site.name]).tolist()))


def _cost_of(
    view: _View,
    cpu: CPUComparison,
    site: Site,
    claimed: Claim,
    called: Sequence[int],
    *,
    fewer: bool,
) -> tuple[Claim | None, str]:
    """Return the samples of a site that changed as it did, and what is said of them.

    `called` are functions, as rows, whose samples count with them. Shares of the CPU
    say nothing of what allocating costs.
    """
    if cpu.in_shares:
        return None, ""
    rows = cpu.rows_of(site.everyone).tolist()
    own = owned_by(cpu, [*rows, *called]).without(claimed)
    delta, said = cpu.delta(own), ""
    # A function that one side has may do there what another one does elsewhere. What
    # allocates ran, with samples or without.
    ran = all(map(any, zip(cpu.sums(own), site.space, strict=True)))
    # A function saves no more than its benchmark: what took its place is elsewhere.
    gross = view.moved and abs(delta) > (1 + LITTLE) * abs(cpu.total_delta)
    alike = bool(delta) and (delta < 0) == fewer and ran and not gross
    if alike and _worth_saying(view, cpu, own, delta):
        whose = _whose(site, [cpu.names[row] for row in called])
        said = f"{whose}: {cpu.words(*cpu.sums(own))} {FLAT_WITH_LIBRARY}"
    if alike and cpu.mark(own) not in (None, "noise"):
        # What is claimed is no part of what follows, such as GC work.
        of = place_words.of_total(cpu, delta) if said and view.moved else ""
        return own, said and f"{said}{of and f', {of}'}."
    said = said and f"{said}."
    # Too few samples show what counted objects cost, or other code hides it.
    part = owned_by(cpu, rows).without(claimed).within(cpu.of_groups("alloc"))
    change = cpu.change(part)
    if not (
        alike and change.significant and delta * change.delta >= MOST * change.delta**2
    ):
        return None, said
    takes = f"Allocating there takes {cpu.words(*cpu.sums(part))} of {cpu.noun}."
    return part, f"{said} {takes}".strip()


def _replacing(view: _View, cpu: CPUComparison, rows: list[int]) -> list[int]:
    """Return what functions call that only one side has: it may do their work."""
    return called_on_one_side(cpu, view.program, rows) if view.program else []


def _whose(site: Site, called: list[str]) -> str:
    """Return whose CPU a site's is, with functions that it calls on one side only."""
    whose = "Their CPU" if site.helpers else "Its CPU"
    return f"{whose} and that of {first_functions(called)}" if called else whose


def _worth_saying(view: _View, cpu: CPUComparison, own: Claim, delta: float) -> bool:
    """Return whether the CPU of a site changed, and much.

    Most of a known change is no noise, however few its samples.
    """
    model = cpu.diff.model
    in_tables = model is not None and model.one(cpu.runs(own)).significant
    if not (in_tables or abs(delta) >= MUCH * cpu.whole):
        return False
    if view.moved and delta * cpu.total_delta >= MOST * cpu.total_delta**2:
        return True
    by_samples = cpu.model.of_samples.one(cpu.runs(own)).significant
    return by_samples or cpu.mark(own) not in (None, "noise")


def _is_flat(of: Sites, site: Site) -> bool:
    """Return whether functions below a site allocate as well, without being in it.

    Of functions that stopped, those that are named count.
    """
    if site.helpers:
        return False
    if site.is_of_instances:
        return of.under(*site.everyone)[0].space != site.space
    if site.gone:
        return any(of.under(name)[0].space[1] for name in site.gone[:NAMED])
    return of.under(site.name)[0].space != site.space


def _may_replace(site: Site, sites: Sequence[Site]) -> bool:
    """Return whether a site may do another one's work, or have lost its own to it.

    It may have, or have lost, the CPU of a third function with that.
    """
    fewer = site.space[1] < site.space[0]
    opposite = any((one.space[1] < one.space[0]) != fewer for one in sites)
    return bool(site.gone) or opposite


def _verb(site: Site, *, fewer: bool) -> str:
    """Return how what a site allocates changed, as a verb with a colon."""
    space, objects = site.space, site.objects
    if not space[1]:
        return _NOTHING
    if not space[0]:
        return "allocates now:"
    if site.exact and site.goes_both_ways:
        few = objects[1] < objects[0]
        return f"allocates {'fewer, larger' if few else 'more, smaller'} objects:"
    if site.goes_both_ways:
        # Profiles miss tiny objects: the number may change either way.
        return "allocates fewer bytes:" if fewer else "allocates more bytes:"
    return "allocates less:" if fewer else "allocates more:"


def _direction(site: Site, *, fewer: bool) -> Direction:
    """Return whether a site got better; fewer objects of more bytes are neither."""
    if site.exact and site.goes_both_ways:
        return "neutral"
    return "better" if fewer else "worse"


def _instead(site: Site, *, fewer: bool) -> str:
    """Return which functions allocate now in place of which others, with a colon.

    Instances of one generic function are no other function.
    """
    if site.is_of_instances:
        every = list(dict.fromkeys(map(strip_type_arguments, site.everyone)))
        s = "" if len(every) > 1 else "s"
        return f"{_first(every)} allocate{s} {'less' if fewer else 'more'}:"
    s = "s" if len(site.came) == 1 else ""
    return f"{_first(site.came)} allocate{s} now, {_first(site.gone)} did before:"


def _first(names: Sequence[str]) -> str:
    shown = [place_words.called(name) for name in names[:NAMED]]
    return listed([*shown, *others(len(names) - NAMED)])


def _with_helpers(
    site: Site, counted: tuple[float, float], *, fewer: bool
) -> tuple[str, str]:
    """Return the verb of a site with its helpers, and the sentence that names them.

    Or "" if the `counted` bytes are others: each alone has set-up as well.
    """
    first = max(site.helpers, key=lambda one: sum(one.space))
    verb = _verb(site, fewer=fewer)
    if site.is_cum:
        inside = (
            f"{place_words.called(one.name)} {arrow(*one.space, 'B')}/op"
            for one in site.helpers
        )
        return verb, f"In it: {', '.join(inside)}."
    side = "new" if first.space[1] > first.space[0] else "base"
    reads = _reads_as(counted, site.space)
    amount = f"{arrow(*first.space, 'B')}/op"
    called = place_words.called(first.name)
    if len(site.helpers) == 1:
        # What one has more of the other may have lost.
        base, new = (
            max(both - one, 0.0)
            for both, one in zip(site.space, first.space, strict=True)
        )
        outer = f"{place_words.called(site.name)} {arrow(base, new, 'B')}/op"
        alone = f"Each alone: {outer}, {called} {amount}." if reads else ""
        return f"with {called} {verb}", alone
    only = "almost only" if any(all(one.space) for one in site.helpers) else "only"
    who = (
        f"{count(len(site.helpers))} functions below it that allocate {only} in {side}"
    )
    largest = f"The largest of them is {called}: {amount}." if reads else ""
    return f"with {who} {verb}", largest


def _reads_as(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Return whether (base, new) pairs are the same to two digits."""
    sizes = zip(one, other, strict=True)
    return all(f"{mine:.2g}" == f"{its:.2g}" for mine, its in sizes)


def _falls(*pairs: tuple[float, float]) -> bool:
    """Return whether the (base, new) pair with the largest relative change fell."""
    known = [pair for pair in pairs if max(pair)]
    base, new = max(known, key=lambda pair: abs(pair[1] - pair[0]) / max(pair))
    return new < base


def _of_runtime(
    view: _View, cpu: CPUComparison, claimed: Claim, what: _Runtime, *, collects: bool
) -> Finding | None:
    """Return the change of runtime work outside places, or None within noise.

    With `collects`, GC work changed too and wakes its workers more or less often.
    Without, scheduling must change by more than the total: the longer an op takes, the
    more often it is preempted.
    """
    claim = cpu.of_groups(*what.groups).without(claimed)
    if not cpu.change(claim).significant:
        return None
    if not collects and _of_process(view, cpu, claim, collected=what.id == _GC_WORK):
        return None
    base, new = cpu.sums(claim)
    delta = cpu.delta(claim)
    share = abs(delta) / cpu.whole
    every = cpu.of_groups(*what.groups)
    # A write barrier of a place may be that of the next write elsewhere.
    moved = cpu.delta(every.within(claimed)) * delta < 0
    if share < MINOR or (moved and not cpu.change(every).significant):
        return None
    ratio = cpu.diff.normalization.ratio(base, new)
    total = cpu.diff.normalization.ratio(*cpu.diff.totals)
    if what.id != _GC_WORK and not collects and ratio and total:
        of_total = log(ratio) / log(total) if total != 1 else inf
        if 0 < of_total <= 1:
            return None
    amount = cpu.words(base, new)
    all_ = (base, new) == cpu.sums(every)
    label, several = what.label, False
    if what.id == _GC_WORK:
        label, several = cpu.gc_label(claim)
    who, s = f"{label}{'' if all_ else ' elsewhere'}", "" if several else "s"
    title = f"{who} now take{s} CPU: {amount}"
    if ratio is not None:
        title = f"{who} use{s} {place_words.by_factor(cpu, base, ratio)}: {amount}"
    if not new:
        title = f"{who} no longer take{s} CPU: {amount}"
    return Finding(
        what.id,
        title,
        "",
        (cpu.fact(who, base, new),),
        amount=amount,
        severity=severity_of(share),
        direction=cpu.way(delta),
        claim=claim,
        explains=delta,
        own=delta,
        mark=cpu.mark(claim),
        weight=share,
    )


def _of_process(
    view: _View, cpu: CPUComparison, claim: Claim, *, collected: bool
) -> bool:
    """Return whether a process may do the work, independent of its operations.

    A process collects at start-up, and its sweeper yields. If a side does more ops in a
    run, that is less per op without a change. GC work that counted allocations require
    (`collected`) belongs to operations.
    """
    objects = view.totals.objects
    if collected and (objects is None or max(objects) >= OBJECT):
        return False
    base, new = (1 / len(side.runs) for side in (cpu.diff.base, cpu.diff.new))
    of_op = cpu.diff.normalization.factors
    if abs(log(of_op[0] * new / (of_op[1] * base))) < log(SIMILAR):
        return False
    by = Normalization("absolute", base, new, "per run")
    return not cpu.model.scaled_by(by).one(cpu.runs(claim)).significant
