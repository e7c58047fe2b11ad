"""Which changed lines carry the cost that a finding is about.

A sample belongs to the changed line nearest the leaf of its stack: code called from
there did not change, and changes in its callers did not change its cost. Lines are
reported if their samples changed significantly by the finding's noise model, in the
finding's direction, and by a part of it that matters; with their cum over all samples,
as ``pprof -list`` has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from pprofdiff.analysis.benchmarks.units import ALLOCATED
from pprofdiff.analysis.causes.carriers import Carriers, Chosen, Code, with_others
from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.changed_alone import (
    Ran,
    changed_alone,
    changed_types,
    moved_from,
    only_tests_changed,
)
from pprofdiff.analysis.causes.cpu import OF_GC, CPUComparison
from pprofdiff.analysis.causes.finding import Claim, Finding, Findings, only_counted
from pprofdiff.analysis.causes.place_words import called
from pprofdiff.analysis.causes.places import below, is_benchmark, owned_by
from pprofdiff.analysis.causes.sites import OBJECT
from pprofdiff.analysis.causes.wording import also_in_units
from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.outcome.model import Unit
from pprofdiff.analysis.policy import (
    GOOD_PART,
    MINOR,
    MOST,
    MUCH,
    NAMED,
    SEVERAL,
)
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.source.model import (
    ChangedLines,
    RelatedLines,
    SourceOfFinding,
)
from pprofdiff.goruntime.names import is_closure
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import sums

# Lines are reported from this part of the finding's change.
_PART = 0.1
_LISTED = 5
# Callers of callers to look for.
_UP = 3


class _Line(NamedTuple):
    """Changed lines of a function, a row of the union, and whether they hold most.

    They all carry an amount of the change, positive if it goes the same way.
    """

    lines: ChangedLines
    row: int
    holds: bool
    carries: float


class _Evidence(NamedTuple):
    """CPU profiles as rules read them, and the changed lines of all profiles."""

    cpu: CPUComparison | None
    carriers: list[Carriers]

    @property
    def of_cpu(self) -> list[Carriers]:
        """The changed lines of the CPU profiles; empty without."""
        return [c for c in self.carriers if self.cpu and c.diff is self.cpu.diff]


class Behind(NamedTuple):
    """What the source shows about a comparison.

    Attributes
    ----------
    findings
        The findings, each with the changed lines behind it.
    lines
        The changed lines whose samples changed significantly in the first comparison of
        profiles, over all samples, largest change first.
    unchanged
        Functions on both sides whose own cost changed most although their lines are the
        same, and their callers' too: those may call them more or less often.
    caveats
        Where the source is not what was profiled.
    same
        The test files that differ, if all functions with samples and the rest of their
        packages are the same. None if something else differs, or was not looked up.

    """

    findings: Findings
    lines: tuple[ChangedLines, ...] = ()
    unchanged: tuple[str, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    same: tuple[str, ...] | None = None


def with_source(
    comparison: Comparison,
    findings: Findings,
    code: Code,
    units: Sequence[Unit] = (),
    *,
    whole: bool,
) -> Behind:
    """Return the findings with the changed lines behind them, and the other lines.

    A finding about one of several `units` has the lines of that unit's own samples.
    Without a changed line behind the causes of some units, the functions that they ran
    and that changed become a finding. Whether all code is the same is only looked up
    for `whole`.
    """
    if not comparison.profiles:
        text = (
            "sources say nothing here: there is no profile, whose lines they would be"
        )
        return Behind(findings, caveats=(Caveat("source", text),))
    whole_program = _evidence(comparison, code)
    of_cpu, carriers = whole_program.of_cpu, whole_program.carriers
    of_unit = partial(_of_unit, comparison, units, code)
    carried = list(_with_lines(comparison, whole_program, findings.found, of_unit))
    carried = [_with_origin(one, of_cpu or carriers) for one in carried]
    carried = _changed_first(list(_unchanged_sites(carried)))
    every = replace((of_cpu or carriers)[0], least=0.0)
    same = only_tests_changed(every, measured=comparison.measured) if whole else None
    about = _without_lines(carried, units)
    # Code that changed is why a benchmark may have, judged or not.
    asked = not whole or comparison.measured or bool(units)
    if asked and same is None and about is not None:
        changed = changed_alone(every, _ran(comparison, about))
        if changed is not None:
            causes = any(one.severity != "info" for one in carried)
            carried.insert(len(carried) if causes else 0, changed)
    elif comparison.measured and same is None and only_counted(carried):
        # Time is open: what changed on the CPU may well be another place.
        named = {name for one in carried for name in _functions_of(one)}
        found = (
            changed_alone(replace(one, least=0.0), None, named)
            for one in carriers
            if one.diff.is_cpu
        )
        carried += [one for one in found if one is not None]
    first = carriers[0]
    movement = own_movement(first.diff)
    movers = np.argsort(-np.abs(movement), kind="stable")[:_LISTED].tolist()
    # A function that only one side calls did not change its own cost.
    cum = first.diff.paired_functions.raw("cum")
    movers = [row for row in movers if movement[row] and cum[0][row] and cum[1][row]]
    others = with_others(first, first.without_changed_callers(movers), ())
    return Behind(
        findings._replace(found=tuple(carried)),
        _all_lines(first),
        others.unchanged,
        tuple(_caveats(first)),
        same=same,
    )


def _with_lines(
    comparison: Comparison,
    whole: _Evidence,
    findings: Sequence[Finding],
    of_unit: Callable[[str], _Evidence | None],
) -> Iterator[Finding]:
    """Yield findings with the changed lines behind them, each related line once a unit.

    `whole` is the whole program's evidence; `of_unit` returns that of units by their
    names.
    """
    of_units, said = {"": whole}, set[tuple[str, str]]()
    for finding in findings:
        if finding.unit not in of_units:
            of_units[finding.unit] = of_unit(finding.unit) or whole
        own = of_units[finding.unit]
        claim = finding.of_unit if own is not whole else finding.claim
        source = None
        # CPU within noise gives no lines; allocation is counted by line.
        by_cpu = claim is not None and finding.mark != "noise"
        if by_cpu and own.of_cpu and not _allocates(finding):
            source = _of_claim(own, finding, claim)
            lacks = source and not (source.lines or source.related)
            if lacks and finding.sure and _by_allocation(own, claim):
                # Of exact counts, each line shows what it changed.
                source = _of_counted(finding, own.carriers) or source
        elif finding.names or finding.functions:
            source = _of_functions(finding, own.carriers)
        if source is not None:
            # Lines that cost something themselves are no reason for another cost.
            new = (
                one
                for one in source.related
                if (finding.unit, one.lines.place) not in said
            )
            source = source._replace(related=tuple(new))
            said |= {(finding.unit, one.place) for one in source.lines}
        # Measured work that follows from a cause has no lines but the cause's.
        is_cause = not (comparison.measured and finding.parent)
        if is_cause and source is not None and (any(source[:3]) or source.related):
            yield _where_lines_run(finding._replace(source=source), of_unit)
        else:
            yield finding


def _where_lines_run(
    finding: Finding, of_unit: Callable[[str], _Evidence | None]
) -> Finding:
    """Return a finding with lines of their own for units that do not run its lines.

    Without such lines, theirs has another reason, though the same function allocates.
    """
    source = finding.source
    if source is None or not finding.also:
        return finding
    related = (one.lines for one in source.related)
    changed = next((one.function for one in (*source.own, *related)), None)
    also, said, functions = list[str](), list[str](), set(finding.names)
    for names in finding.also:
        own, where = of_unit(names), ""
        if own and changed and not any(_runs(own.carriers, changed)):
            found = _of_functions(finding, own.carriers)
            lines = None if found is None else next(iter(found.own), None)
            if lines is None:
                continue
            functions.add(lines.function)
            where = f" ({lines.place} in {called(lines.function)})"
        also.append(names)
        said.append(f"{names}{where}")
    if said == [*finding.also]:
        return finding
    text = finding.text.removesuffix(also_in_units(finding.also).strip()).strip()
    text = f"{text}{also_in_units(said)}".strip()
    return finding._replace(text=text, also=tuple(also), names=frozenset(functions))


def _with_origin(finding: Finding, carriers: Sequence[Carriers]) -> Finding:
    """Return a finding on a new function with whose code it has.

    Not all that it costs is then new, whatever samples show of that function.
    """
    if finding.direction != "worse" or finding.parent or len(finding.functions) != 1:
        return finding
    own = carriers[0]
    names = own.diff.paired_functions.names
    for row in _named(own.diff, finding.functions):
        new = row in own.by_row and own.places_of(row).base is None
        origin = moved_from(own, row) if new else None
        if origin is not None and names[origin] not in finding.names:
            said = f"It has code that was in {called(names[origin])}."
            return finding._replace(text=f"{said} {finding.text}".strip())
    return finding


def _changed_first(found: Sequence[Finding]) -> list[Finding]:
    """Return findings; causes of a kind with changed lines before those without.

    Amounts of several benchmarks say nothing of which cause is the larger one. Of sites
    that allocate more and less, code that is unchanged does what changed code did, as
    append does without the room that was made before. Consequences stay below their
    cause.
    """
    ids = {one.id for one in found}
    groups = list[list[Finding]]()
    for one in found:
        if groups and one.parent in ids:
            groups[-1].append(one)
        else:
            groups.append([one])
    causes = [i for i, (one, *_) in enumerate(groups) if one.severity != "info"]
    of_units = [i for i in causes if groups[i][0].unit]
    sites = [i for i in causes if groups[i][0].site and not groups[i][0].unit]
    order = dict[int, int]()
    for at in (of_units, sites if _both_ways(groups[i][0] for i in sites) else []):
        first = sorted(at, key=lambda i: not _names_lines(groups[i][0]))
        order |= zip(at, first, strict=True)
    return [one for i in range(len(groups)) for one in groups[order.get(i, i)]]


def _both_ways(findings: Iterable[Finding]) -> bool:
    """Return whether sites without changed lines go against those with some."""
    ways = {one.direction: _names_lines(one) for one in findings}
    return set(ways.values()) == {True, False}


def _unchanged_sites(found: Sequence[Finding]) -> Iterator[Finding]:
    """Yield findings; a site that goes against changed code says that it is not."""
    sites = [one for one in found if one.site and one.severity != "info"]
    for one in found:
        against = any(
            site.unit == one.unit
            and site.direction != one.direction
            and _names_lines(site)
            for site in sites
        )
        source = one.source
        same = source is not None and set(one.functions) <= set(source.unchanged)
        if one in sites and against and same and not _names_lines(one):
            text = f"{one.text} Its code is unchanged.".strip()
            yield one._replace(text=text)
        else:
            yield one


def _evidence(comparison: Comparison, code: Code) -> _Evidence:
    """Return the CPU profiles of a comparison, and its changed lines."""
    cpu = Case(comparison).cpu
    return _Evidence(cpu, [code.of(diff) for diff in comparison.profiles])


def _of_unit(
    comparison: Comparison, units: Sequence[Unit], code: Code, names: str
) -> _Evidence | None:
    """Return the own samples of the units that `names` lists, None if unknown."""
    from pprofdiff.analysis.causes.by_unit import unit_named

    of_unit = unit_named(comparison, units, names)
    return _evidence(of_unit, code) if of_unit and of_unit.profiles else None


def _ran(comparison: Comparison, moved: Sequence[Unit]) -> Ran | None:
    """Return what ran in some benchmarks, None if these are all or it is unknown.

    It is known where each has profiles of its own.
    """
    turns = comparison.turns
    if comparison.alone is None or turns is None or len(moved) == len(turns.names):
        return None
    from pprofdiff.analysis.causes.by_unit import changed_units

    functions, benchmarks = set[str](), list[str]()
    for units, of_unit in changed_units(comparison, moved):
        if of_unit.cpu is not None:
            for diff in of_unit.profiles:
                functions.update(diff.paired_functions.names)
            benchmarks += (unit.name for unit in units)
    return Ran(frozenset(functions), tuple(benchmarks)) if benchmarks else None


def _is_of_any(finding: Finding, units: Sequence[Unit]) -> bool:
    """Return whether a finding is of one of some units, or of the whole."""
    every = (finding.unit, *finding.also, *finding.with_units)
    names = ", ".join(every).split(", ")
    return not (units and finding.unit) or any(unit.name in names for unit in units)


def _functions_of(finding: Finding) -> set[str]:
    """Return the functions that a finding names, itself or by their lines."""
    source = finding.source
    related = () if source is None else (one.lines for one in source.related)
    lines = () if source is None else (*source.own, *related)
    return {*finding.functions, *finding.names, *(one.function for one in lines)}


def _without_lines(
    findings: Sequence[Finding], units: Sequence[Unit]
) -> list[Unit] | None:
    """Return the units whose causes have no changed lines.

    They are those that moved, else those with causes, if no cause has any: perhaps
    none. Otherwise one that moved may have no cause at all. None if the lines of all
    are known.
    """
    moved = [unit for unit in units if unit.moved]
    with_causes = [unit for unit in units if _causes_of(findings, unit)]
    if not any(
        _names_lines(one) or (one.source and one.source.only)
        for one in findings
        if _is_of_any(one, moved)
    ):
        return moved or with_causes
    known = [one for one in findings if one.unit and _names_lines(one)]
    lacking = [
        unit
        for unit in units
        if (unit in moved or unit in with_causes)
        and not any(_is_of_any(one, [unit]) for one in known)
    ]
    return lacking or None


def _causes_of(findings: Sequence[Finding], unit: Unit) -> list[Finding]:
    """Return the causes of one unit of several."""
    return [
        one
        for one in findings
        if one.unit and one.severity != "info" and _is_of_any(one, [unit])
    ]


def _names_lines(finding: Finding) -> bool:
    """Return whether a finding names changed lines, not just what did not change."""
    source = finding.source
    return source is not None and bool(source.lines or source.near or source.related)


def _all_lines(carriers: Carriers) -> tuple[ChangedLines, ...]:
    """Return the changed lines with a significant change over all samples."""
    model = carriers.diff.model
    if model is None or not model.sound:
        return ()
    model = model.counting
    runs = carriers.sums(None)
    base, new = merged(runs)
    some = np.flatnonzero((base != 0) | (new != 0))
    judged = model.rows(runs.map(lambda run: run[some]))
    order = np.argsort(-np.abs(judged.delta), kind="stable")
    loud = some[order[~judged.noise[order]]][:_LISTED].tolist()
    cums = {i: carriers.cum(i) for i in loud if carriers.alike(i)}
    innermost = model.by.delta(base, new)
    return tuple(
        carriers.with_cost(i, *cum)
        for i, cum in cums.items()
        if float(model.by.delta(*cum)) * innermost[i] > 0
    )


def _caveats(carriers: Carriers) -> Iterator[Caveat]:
    """Yield caveats if the source has none of the functions, or not where profiles say.

    Neither matters if the build is known to be of this source.
    """
    if carriers.sources.as_built:
        return
    labels = carriers.diff.base.label, carriers.diff.new.label
    for side, label in enumerate(labels):
        known = [places.side(side) for places in carriers.places]
        texts = [one for one in known if one is not None and one.named]
        if not texts:
            yield Caveat(
                "source",
                f"no function of {label} is in the source that was named: is it that "
                "of this program?",
            )
            continue
        astray = [one for one in texts if one.astray]
        if astray:
            lines = astray[0].lines
            yield Caveat(
                "source",
                f"{len(astray)} of {len(texts)} functions of {label} do not stand "
                f"where its profile says, such as {lines.function} in "
                f"{astray[0].path}:{lines.start}: nothing is said of their lines; was "
                "another commit built, or are they generated?",
            )


def _of_claim(
    own: _Evidence, finding: Finding, claim: Claim | None
) -> SourceOfFinding | None:
    """Return the changed lines that carry the samples a finding claims."""
    cpu, all_carriers = own.cpu, own.carriers
    if claim is None or cpu is None:
        return None
    (carriers,) = own.of_cpu
    whole = cpu.relative.by.delta(*cpu.sums(claim))
    rows = _rows(carriers.diff, finding) or _owners(cpu, claim)
    lines = [
        one
        for one in _lines(carriers, cpu.relative, claim.sides, whole, rows)
        # A closure that one side alone runs may be another one's code on the other.
        if one.row in rows
        or all(cpu.cum_at(one.row))
        or not is_closure(one.lines.function)
    ]
    inside = _called(cpu, rows, claim)
    callers = [line for line in lines if line.row not in rows and not inside[line.row]]
    runs = any(line.row in rows for line in lines)
    if runs and (related := _no_longer_called(all_carriers, carriers, rows)):
        return SourceOfFinding(related=related, diff=all_carriers.index(carriers))
    if runs or sum(line.carries for line in callers) < MOST * abs(whole):
        # Their changed lines have what unchanged ones of the cause cost, or little.
        lines = [line for line in lines if line not in callers]
    if any(row in carriers.by_row for row in rows):
        # A new callee is what they do now; their own lines say that they call it.
        lines = [one for one in lines if one.row in rows or not one.lines.added]
    # What a callee returns may change a function's own cost; its callees are too far.
    flat = not any(cpu.sums(claim.without(owned_by(cpu, rows))))
    source = _source(carriers, rows, lines, cum=not flat)
    source = source._replace(diff=all_carriers.index(carriers))
    found = _with_related(all_carriers, source, through=not flat)
    if found.lines:
        return found
    if all(cpu.sums(claim)) and _by_allocation(own, claim):
        # What runs before a call that both sides make says little of what it allocates.
        kept = (one for one in found.related if one.ended or not one.before)
        found = found._replace(related=tuple(kept))
    # Larger values cost more wherever they are passed, and less of what callees do.
    types = changed_types(carriers, rows, "uses")
    related = (*types, *found.related) if flat else (*found.related, *types)
    return found._replace(related=related)


def _called(cpu: CPUComparison, rows: Sequence[int], claim: Claim) -> NDArray[np.bool_]:
    """Return which functions have claimed samples below those of `rows` (bool)."""
    functions = np.isin(np.arange(len(cpu.names)), rows)
    base, new = (below(cpu, functions, claim, side) for side in (0, 1))
    return np.asarray((base != 0) | (new != 0))


def _of_functions(
    finding: Finding, all_carriers: list[Carriers]
) -> SourceOfFinding | None:
    """Return the changed lines that carry the change of a finding's functions.

    It has no samples of its own: the first comparison in which changed lines of the
    functions changed significantly decides; for allocation, only allocs profiles.
    """
    allocates = _allocates(finding)
    counted = [
        (number, carriers)
        for number, carriers in enumerate(all_carriers)
        if allocates == (carriers.diff.sample_type.type in ALLOCATED)
    ]
    others = SourceOfFinding()
    for number, carriers in counted:
        rows = _rows(carriers.diff, finding)
        model = carriers.diff.model
        if model is None and not carriers.diff.has_every_object:
            continue
        if allocates and (related := _no_longer_called(all_carriers, carriers, rows)):
            return SourceOfFinding(related=related, diff=number)
        lines: list[_Line] = []
        for row in rows:
            lines += _of_function(finding, carriers, model and model.counting, row)
            if row not in carriers.by_row:
                lines += _of_closure(finding, carriers, row)
        source = _source(carriers, rows, lines, cum=not allocates)
        if lines:
            return _with_callers(all_carriers, source._replace(diff=number))
        if not any(others[:3]):
            others = source._replace(diff=number)
    if not others.lines:
        # As many objects of another size are of another type, whatever else changed.
        found = _of_made_types(finding, counted) if allocates else None
        if not found and not others.near:
            found = _of_callers(finding, counted, all_carriers)
        others = found or others
    # What a function allocates itself does not depend on what it calls, unless what it
    # passes to that escapes on one side only.
    callees = not allocates or (_as_benchmark(finding) and _one_sided(finding))
    return _with_related(all_carriers, others, callees=callees)


def _as_benchmark(finding: Finding) -> bool:
    """Return whether all functions of a finding are benchmarks or their closures."""
    return bool(finding.functions) and all(map(is_benchmark, finding.functions))


def _one_sided(finding: Finding) -> bool:
    """Return whether a site allocates on one side only."""
    site = finding.site
    return site is not None and bool(site.base) != bool(site.new)


def _by_allocation(own: _Evidence, claim: Claim | None) -> bool:
    """Return whether allocation and GC have most of what claimed samples changed by.

    Else lines that allocate are not why.
    """
    if own.cpu is None or claim is None:
        return False
    part = own.cpu.delta(claim.within(own.cpu.of_groups("alloc", *OF_GC)))
    return part * own.cpu.delta(claim) >= MOST * own.cpu.delta(claim) ** 2


def _of_counted(
    finding: Finding, all_carriers: Sequence[Carriers]
) -> SourceOfFinding | None:
    """Return the changed lines with most of what functions and their callees allocate.

    Of bytes, which profiles of every object count; None if no line has most.
    """
    for number, carriers in enumerate(all_carriers):
        diff = carriers.diff
        if diff.sample_type.type != "alloc_space" or not diff.has_every_object:
            continue
        rows = _rows(diff, finding)
        chosen = carriers.having(rows)
        pairs = zip(diff.values, chosen, strict=True)
        base, new = (int(values[kept].sum()) for values, kept in pairs)
        whole = float(diff.normalization.delta(base, new))
        lines = [
            one
            for one in _lines(carriers, None, chosen, whole, rows)
            if one.holds
            and not any(carriers.calls_nearby(one.row, row) for row in rows)
        ]
        if lines:
            return _source(carriers, rows, lines[:1])._replace(diff=number)
    return None


def _of_made_types(
    finding: Finding, numbered: Sequence[tuple[int, Carriers]]
) -> SourceOfFinding | None:
    """Return the types with other fields that a site makes as many values of."""
    for number, carriers in numbered if _as_many(finding) else ():
        if made := changed_types(carriers, _rows(carriers.diff, finding), "makes"):
            return SourceOfFinding(related=made, diff=number)
    return None


def _as_many(finding: Finding) -> bool:
    """Return whether a site makes as many objects as before, of another size."""
    counts = [(one.base, one.new) for one in finding.evidence if one.unit == "objects"]
    return bool(counts) and all(
        base and new and abs(new - base) <= max(OBJECT, MINOR * base)
        for base, new in counts
    )


def _no_longer_called(
    all_carriers: Sequence[Carriers], carriers: Carriers, rows: Sequence[int]
) -> tuple[RelatedLines, ...]:
    """Return the changed lines that called functions, if new has no sample of these.

    Their own changes did not run, as far as profiles of both builds show. Empty if new
    does not declare one, or nothing changed nearby that called them.
    """
    names = carriers.diff.paired_functions.names
    for row in rows:
        if not carriers.stays(row) or _runs(all_carriers, names[row])[1]:
            return ()
    found = _on_stacks(all_carriers, carriers, rows)
    return tuple(
        structs.replace(one, ended=True) for one in found if one.calls and not one.far
    )


def _on_stacks(
    all_carriers: Sequence[Carriers], carriers: Carriers, rows: Sequence[int]
) -> tuple[RelatedLines, ...]:
    """Return the changed lines of functions on stacks with others that run there.

    Where only one side has samples of a caller that both declare, its own callers call
    it no longer, or only now: theirs count.
    """
    for _ in range(_UP):
        found = carriers.on_stacks(rows)
        running = tuple(
            one
            for one in found
            if not one.calls
            or one.lines.added
            or one.lines.dropped
            or all(_runs(all_carriers, one.lines.function))
        )
        if running or not found:
            return running
        rows = _named(carriers.diff, [one.lines.function for one in found])
    return ()


def _runs(all_carriers: Sequence[Carriers], name: str) -> tuple[bool, bool]:
    """Return whether base has samples of a function, and new."""
    found = [False, False]
    for one in all_carriers:
        for row in _named(one.diff, [name]):
            for side, cum in enumerate(one.diff.paired_functions.raw("cum")):
                found[side] |= bool(cum[row])
    return found[0], found[1]


def _allocates(finding: Finding) -> bool:
    """Return whether a finding is about allocation, which allocs profiles count."""
    first = finding.evidence[0].source if finding.evidence else ""
    return finding.site is not None or first.endswith(" profile alloc_space")


def _of_function(
    finding: Finding, carriers: Carriers, model: CountModel | None, row: int
) -> list[_Line]:
    """Return the changed lines of a function that carry its change.

    For allocations, lines that allocate come before lines that call.
    """
    diff = carriers.diff
    for some in _samples_of(finding, diff, row):
        whole = _change(diff, some)
        if not _same_way(finding, whole):
            continue
        if lines := _lines(carriers, model, some, whole, [row], only=True):
            return lines
    return []


def _of_closure(finding: Finding, carriers: Carriers, row: int) -> list[_Line]:
    """Return the changed lines in a closure that one side alone runs.

    They are its function's: which closure of the other side is the same is unknown.
    """
    outer, hunks = carriers.declaring(row)
    (chosen, *_) = _samples_of(finding, carriers.diff, row)
    whole, by = _change(carriers.diff, chosen), carriers.diff.normalization
    held = {i: float(by.delta(*carriers.net(i, chosen))) for i in hunks}
    first = max(hunks, key=lambda i: held[i] * whole, default=-1)
    if first < 0 or not _same_way(finding, whole) or held[first] * whole <= 0:
        return []
    holds = abs(held[first]) >= MOST * abs(whole)
    lines = _with_amount(carriers, first, hunks, by)
    return [_Line(lines, outer, holds=holds, carries=abs(held[first]))]


def _samples_of(finding: Finding, diff: ProfileDiff, row: int) -> Iterator[Chosen]:
    """Yield the samples of a function, as (base, new) masks.

    If it allocates, samples of what it allocates itself come first, together with
    functions whose allocations the finding counts with it.
    """
    if _allocates(finding):
        others = finding.names.difference(finding.functions or finding.names)
        counted = _named(diff, sorted(others))
        base, new = diff.ledger.sides("owner")
        yield np.isin(base, [row, *counted]), np.isin(new, [row, *counted])
    yield diff.having(np.arange(len(diff.paired_functions.names)) == row)


def _change(diff: ProfileDiff, chosen: Chosen) -> float:
    """Return new − base of the chosen samples, scaled."""
    pairs = zip(diff.values, chosen, strict=True)
    base, new = (int(values[kept].sum()) for values, kept in pairs)
    return float(diff.normalization.delta(base, new))


def _of_callers(
    finding: Finding,
    numbered: Sequence[tuple[int, Carriers]],
    all_carriers: Sequence[Carriers],
) -> SourceOfFinding | None:
    """Return the changed lines that call a finding's unchanged functions.

    `numbered` are comparisons with their positions among all.
    """
    for number, carriers in numbered:
        model = carriers.diff.model
        if model is None or not model.sound:
            continue
        for row in _rows(carriers.diff, finding):
            # What it allocates itself is not what changed lines below it allocate.
            (chosen, *_) = _samples_of(finding, carriers.diff, row)
            whole = _change(carriers.diff, chosen)
            if not _same_way(finding, whole):
                continue
            lines = _lines(carriers, model.counting, chosen, whole, [])
            lines = [
                one
                for one in lines
                if _is_of(carriers, one, row, whole)
                and _stays(all_carriers, carriers, one)
            ]
            if lines and _are_most(finding, carriers, lines):
                return _source(carriers, [], lines)._replace(diff=number)
    return None


def _stays(all_carriers: Sequence[Carriers], carriers: Carriers, caller: _Line) -> bool:
    """Return whether a caller that both builds declare runs in both.

    Otherwise what calls it, or does not any more, is why. If none of that changed, it
    only has no samples on a side, as where it allocates nothing.
    """
    lines = caller.lines
    declared = not (lines.added or lines.dropped)
    return (
        not declared
        or all(_runs(all_carriers, lines.function))
        or bool(carriers.without_changed_callers([caller.row]))
    )


def _is_of(carriers: Carriers, line: _Line, row: int, whole: float) -> bool:
    """Return whether a caller's lines are about what the function `row` costs.

    Those far from it are if little else changed below them: a line near the root calls
    everything.
    """
    cum = float(carriers.diff.normalization.delta(line.lines.base, line.lines.new))
    return abs(whole) >= MOST * abs(cum) or carriers.calls_nearby(line.row, row)


def _are_most(finding: Finding, carriers: Carriers, found: Sequence[_Line]) -> bool:
    """Return whether lines of callers carry most of what a finding's sites allocate.

    Each site has callers of its own.
    """
    fact = finding.evidence[0] if _allocates(finding) else None
    if fact is None or fact.base is None or fact.new is None:
        return True
    by = carriers.diff.normalization
    carried = sum(float(by.delta(one.lines.base, one.lines.new)) for one in found)
    shown = any(one.lines.base or one.lines.new for one in found)
    return not shown or abs(carried) >= MOST * abs(fact.new - fact.base)


def _same_way(finding: Finding, moved: float) -> bool:
    """Return whether a function's figure changed in the finding's direction.

    A function that allocates more may take less CPU, on other lines.
    """
    if finding.direction not in ("worse", "better"):
        return True
    return (moved > 0) == (finding.direction == "worse")


def _lines(
    carriers: Carriers,
    model: CountModel | None,
    chosen: Chosen,
    whole: float,
    rows: Sequence[int],
    *,
    only: bool = False,
) -> list[_Line]:
    """Return the changed lines that carry part of the `whole` change, largest first.

    They are one place in each function, with the cum of all its changed lines. Those of
    the functions `rows` come first if they hold most of it; with `only`, they are all.
    Values without a `model` are exact counts.
    """
    if not whole or (model is not None and not model.sound):
        return []
    mine = np.array([not only or one.row in rows for one in carriers.changed], np.bool_)
    runs = carriers.sums(chosen).map(mine.__mul__)
    base, new = merged(runs)
    some = np.flatnonzero((base != 0) | (new != 0))
    by, way = carriers.diff.normalization if model is None else model.by, np.sign(whole)
    delta = by.delta(base[some], new[some])
    loud = _are_loud(model, by, runs.map(lambda run: run[some]), whole)
    # What one line of a function saves, another may cost.
    functions = np.array([carriers.changed[i].row for i in some.tolist()], np.int64)
    owners, owner = np.unique(functions, return_inverse=True)
    of_owner = runs.map(lambda run: sums(owner, run[some], len(owners)))
    loud |= _are_loud(model, by, of_owner, whole)[owner]
    order = np.argsort(-np.abs(delta), kind="stable")
    carrying = dict[int, int]()
    for hunk in some[order[loud[order]]].tolist():
        carrying.setdefault(carriers.changed[hunk].row, hunk)
    found = []
    for row in dict.fromkeys([*list(carrying)[:NAMED], *rows]):
        hunks = carriers.by_row.get(row, [])
        # A line of a recursive function that calls it has the cost of all others.
        own = only or (row in rows and bool(hunks) and carriers.is_recursive(row))
        held = {
            i: float(by.delta(*carriers.net(i, chosen, own=own)) * way) for i in hunks
        }
        first = max(hunks, key=held.__getitem__, default=-1)
        holds = first >= 0 and held[first] >= MOST * abs(whole)
        if not holds and row not in carrying:
            continue
        if held[first] <= 0:
            first = carrying[row]
        # What lines and all that they call cost as before has only moved among these.
        if float(by.delta(*carriers.cum(*hunks))) * way >= _PART * abs(whole):
            lines = _with_amount(carriers, first, hunks, by)
            if not lines.alone:
                first = _run(carriers, model, first, hunks)
                lines = _with_amount(carriers, first, hunks, by)
            carries = sum(held.values())
            found.append(_Line(lines, row, holds=holds, carries=carries))
    return sorted(found, key=lambda one: not (one.holds and one.row in rows))[:NAMED]


def _run(
    carriers: Carriers, model: CountModel | None, first: int, hunks: Sequence[int]
) -> int:
    """Return a hunk to name first: one that new runs, if it hardly does the `first`.

    Code that replaces costly lines may be of a case that no longer occurs. Of counted
    objects, another hunk does its work if that has a good part of the cost. Few samples
    do not show which lines run. Those that moved within the function cost the same.
    """
    by = carriers.diff.normalization if model is None else model.by
    old, now = carriers.cum(first)
    if not carriers.changed[first].hunk.new_count:
        return first
    counted = model is None or carriers.diff.sample_type.type in ALLOCATED
    least = GOOD_PART * by.scaled(old, 0)[0] if counted else 0.0
    running = {i: 0 if carriers.only_moved(i) else carriers.cum(i)[1] for i in hunks}
    best = max(running, key=running.__getitem__)
    # What took over the work of the first had no such cost in base.
    had = carriers.cum(best)[0] * (1.0 if now else MUCH)
    if max(now, had) >= MUCH * running[best]:
        return first
    few = 0.0 if model is None else SEVERAL * float(model.worth[1])
    does = running[best] >= few and by.scaled(0, running[best])[1] >= least
    return best if does else first


def _are_loud(
    model: CountModel | None, by: Normalization, runs: Runs[Column], whole: float
) -> NDArray[np.bool_]:
    """Return which rows carry a part of the `whole` change, beyond noise (bool).

    The whole is significant: of what has a good part of it, samples alone decide.
    """
    base, new = merged(runs)
    part = by.delta(base, new) * np.sign(whole) / abs(whole)
    if model is None or not len(base):
        return np.asarray(part >= _PART)
    loud = (part >= _PART) & ~model.rows(runs).noise
    loud |= (part >= GOOD_PART) & ~model.of_samples.rows(runs).noise
    return np.asarray(loud)


def _with_amount(
    carriers: Carriers, first: int, hunks: Sequence[int], by: Normalization
) -> ChangedLines:
    """Return the `first` of a function's hunks with what all of them cost together.

    What one line saves, another may cost. If the others change next to nothing, the
    cost is its own.
    """
    cum, own = carriers.cum(*hunks), carriers.cum(first)
    delta = float(by.delta(*cum))
    rest = abs(delta - float(by.delta(*own)))
    alone = len(hunks) > 1 and rest <= MINOR * abs(delta)
    shown = own if alone else cum
    if not carriers.alike(*hunks):
        shown = (0, 0)
    return carriers.with_cost(first, *shown)._replace(alone=alone)


def _source(
    carriers: Carriers, rows: list[int], found: Sequence[_Line], *, cum: bool = False
) -> SourceOfFinding:
    """Return changed lines with the others of their functions and of `rows`.

    With `cum`, those of closures that the functions call are among these.
    """
    lines = tuple(one.lines for one in found[:NAMED])
    source = with_others(carriers, rows, lines, cum=cum)
    holding = frozenset(one.lines.place for one in found if one.holds)
    return source._replace(holding=holding)


def _rows(diff: ProfileDiff, finding: Finding) -> list[int]:
    """Return a finding's functions as rows of the union."""
    return _named(diff, finding.functions or tuple(sorted(finding.names)))[:NAMED]


def _named(diff: ProfileDiff, wanted: Sequence[str]) -> list[int]:
    """Return the rows of the union with these names."""
    places = {name: row for row, name in enumerate(diff.paired_functions.names)}
    return [places[name] for name in wanted if name in places]


def _owners(cpu: CPUComparison, claim: Claim) -> list[int]:
    """Return the functions of the program with most of a claim's change."""
    own = cpu.diff.ledger.among(claim.sides).every("owner")
    delta = cpu.diff.normalization.delta(own.base, own.new)
    whole = cpu.delta(claim)
    order = np.argsort(-delta * np.sign(whole), kind="stable").tolist()[:NAMED]
    return [row for row in order if delta[row] * np.sign(whole) >= abs(whole) / 2]


def own_movement(diff: ProfileDiff) -> NDArray[np.float64]:
    """Return the scaled change in own cost of each function of the union.

    If samples are attributed, own cost includes the standard library below a function;
    otherwise it is flat. Changes within noise are 0.
    """
    if diff.attributions is None:
        runs = diff.paired_functions.runs("flat")
    else:
        runs = diff.ledger.every("owner").runs
    base, new = merged(runs)
    delta = diff.normalization.delta(base, new)
    some = np.flatnonzero((base != 0) | (new != 0))
    if diff.model is not None:
        judged = diff.model.counting.rows(runs.map(lambda run: run[some]))
        delta[some[judged.noise]] = 0
    return np.asarray(delta, np.float64)


def _with_callers(
    all_carriers: Sequence[Carriers], source: SourceOfFinding
) -> SourceOfFinding:
    """Return a source with the changed calls of its first function.

    These give it other values, where it only takes other ones, or do what it did.
    """
    (first, *_) = source.own
    own = all_carriers[source.diff]
    rows = _named(own.diff, [first.function])
    if not own.takes_others(rows):
        return source
    found = _on_stacks(all_carriers, own, rows)
    calls = tuple(one for one in found if one.calls and not (one.far or one.before))
    return source._replace(related=(*source.related, *calls))


def _with_related(
    all_carriers: list[Carriers],
    source: SourceOfFinding,
    *,
    callees: bool = True,
    through: bool = True,
) -> SourceOfFinding:
    """Return the source of unchanged functions with the changes nearest to them.

    These are in their callers, with `callees` in what they call on stacks and with
    `through` in what their callees call. Other changed functions are left out if they
    share stacks with another changed one, which may be the reason, unless exact counts
    show that what changed is all below them. A change in the same package that shares
    no stack with them is unrelated: it is named only if the package has hardly any
    other.
    """
    own = all_carriers[source.diff]
    if source.near and not (source.unchanged or source.lines):
        # What a function takes may be declared otherwise for what calls it.
        rows = _named(own.diff, list({one.function for one in source.near}))
        if callees and own.only_signatures(rows):
            related = _on_stacks(all_carriers, own, rows)
            return source._replace(near=(), related=related) if related else source
    if source.lines or source.near:
        return _with_callers(all_carriers, source)
    if not source.unchanged:
        return source
    rows = _named(own.diff, source.unchanged)
    for carriers in (own, *(one for one in all_carriers if one is not own)):
        theirs = _named(carriers.diff, source.unchanged)
        related = _on_stacks(all_carriers, carriers, theirs)
        paying = ""
        if any(one.through or one.far for one in related):
            callers = (one.lines.function for one in related if one.calls)
            pays = (one for one in callers if carriers.pays_all(one, theirs))
            paying = next(pays, "")
        related = tuple(
            one
            for one in related
            # What runs before a call changes what that costs, not what it allocates,
            # but for calls that do not happen any more, and if the caller is inlined.
            if not (
                one.before
                and not one.ended
                and own.diff.sample_type.type in ALLOCATED
                and not own.inlined_once(one.lines.function)
            )
            and (
                one.calls
                or (callees and (through or not (one.through or one.far)))
                or carriers.inlined_once(one.lines.function, theirs)
            )
            and not (
                (one.through or one.far)
                and any(of.shares_stacks(one.lines.function) for of in all_carriers)
                and one.lines.function != paying
            )
        )
        if related:
            return source._replace(related=related)
    if own.diff.sample_type.type in ALLOCATED:
        # What a function allocates itself, no other function's lines change.
        return source
    return source._replace(only=own.only(own.without_changed_callers(rows)))
