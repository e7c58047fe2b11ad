"""The table of rules, and whether anything changed at all.

A rule is a function of a `Case` that yields findings. A finding explains the CPU of the
samples that it claims; `causes` decides which one follows from which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.cpu import explained
from pprofdiff.analysis.causes.finding import (
    Direction,
    Finding,
    Findings,
    with_spans,
)
from pprofdiff.analysis.causes.labelled import with_labels
from pprofdiff.analysis.causes.rules import (
    allocation,
    code,
    comparability,
    contention,
    counted,
    gc,
    goroutine_time,
    goroutines,
    heap,
    inlining,
    leaks,
    marking,
    moves,
    runtime,
)
from pprofdiff.analysis.causes.tree import tree
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.outcome.model import Unit
from pprofdiff.analysis.outcome.model import Verdict as OutcomeVerdict
from pprofdiff.analysis.profiles.builds import instrumented
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.groups import judged_groups
from pprofdiff.goruntime.names import is_closure
from pprofdiff.goruntime.readable import short, short_before
from pprofdiff.identity.model import Identity

if TYPE_CHECKING:
    from pprofdiff.analysis.causes.carriers import Code

_NAMED = 2


def _with_former_names(finding: Finding, identity: Identity) -> Finding:
    """Return the finding with base's names for the functions in its title.

    Only for pairs that rest on samples alone, on the source, or on the user's word:
    others have the same name, and so have closures but for their number. A new function
    may have the name that another one has in base.
    """
    clauses = []
    for name in sorted({*finding.names, *finding.functions}):
        if short(name) not in finding.title:
            continue
        pair = identity.pairs.get(name)
        if pair is None:
            if now := identity.new_names.get(name):
                # Both builds have a function of this name, not the same one.
                clauses.append(f"Base's {short(name)} is {short(now)} now")
            continue
        renamed = pair.by == "source" and not is_closure(name)
        if pair.probability < 1 or pair.by == "given" or renamed:
            verb = "probably was" if pair.probability < 1 else "was"
            was = short_before(pair.base, name)
            # A receiver or a type argument alone is no function.
            was = short(pair.base) if was.startswith(("*", "[")) else was
            clauses.append(f"{short(name)} {verb} {was} in base")
    if not clauses:
        return finding
    text = f"{'; '.join(clauses[:_NAMED])}. {finding.text}".rstrip()
    return finding._replace(text=text)


# The direction of the findings that explain a verdict.
_WAYS: dict[str, Direction] = {"slower": "worse", "faster": "better"}

Rule = Callable[[Case], Iterable[Finding]]


def _of_traces(case: Case) -> tuple[Rule, ...]:
    """Return the rules on traces, which are imported only where there are any."""
    if case.trace is not None:
        from pprofdiff.analysis.causes.rules import (
            capacity,
            running,
            starts,
            waits,
        )

        return (
            capacity.overcommitted,
            capacity.utilisation,
            capacity.gc_capacity,
            waits.waits,
            running.running,
            starts.concurrency,
            starts.goroutine_starts,
        )
    return ()


def _rules(case: Case) -> tuple[Rule, ...]:
    """Return the table of rules."""
    return (
        comparability.upgrade,
        comparability.more_of_the_same,
        allocation.allocation,
        counted.allocated_by_benchmarks,
        heap.heap_growth,
        leaks.leaked,
        goroutines.goroutine_growth,
        goroutine_time.goroutine_time,
        gc.limit,
        gc.frequency,
        gc.pace,
        gc.dearer,
        gc.cpu_only,
        code.code,
        inlining.inlining,
        gc.assist,
        runtime.scheduler,
        runtime.locks,
        runtime.allocating,
        runtime.leaf_work,
        runtime.stack_growth,
        contention.contention,
        gc.forced,
        marking.busy,
        *_of_traces(case),
        comparability.unlike_load,
        comparability.processors,
        moves.package_moved,
    )


def _of_processes(case: Case) -> tuple[Rule, ...]:
    """Return rules on what all units of work share: one process on one machine."""
    return (
        comparability.upgrade,
        comparability.more_of_the_same,
        counted.allocated_by_benchmarks,
        heap.heap_growth,
        leaks.leaked,
        goroutines.goroutine_growth,
        gc.limit,
        gc.pace,
        gc.forced,
        *_of_traces(case),
        comparability.unlike_load,
        comparability.processors,
    )


def _waits(case: Case) -> list[Finding]:
    """Return what ops wait for."""
    if case.trace is None:
        return []
    from pprofdiff.analysis.causes.rules import waits

    return list(waits.waits(case))


def find(
    comparison: Comparison,
    verdict: OutcomeVerdict = "unknown",
    moved: Sequence[Unit] = (),
    allocating: Sequence[Unit] = (),
    code: Code | None = None,
) -> Findings:
    """Return the findings on a comparison, the one that explains most first.

    Among equally severe causes, those that explain the outcome's `verdict` come first.
    Where sides are split by unit of work, functions are searched in each unit that
    `moved`: over several units, a function has no cost per op. What other units that
    are `allocating` more or less allocate follows. With the `code` of both builds, an
    unchanged function is no cause where a changed one is behind it.
    """
    findings = _found(comparison, verdict, moved, code)
    if comparison.alone is not None and allocating:
        from pprofdiff.analysis.causes.by_unit import with_allocations

        if any(one.unit for one in findings.numbered):
            left = [one for one in allocating if one not in moved]
            every = with_allocations(comparison, left, findings.found)
            findings = findings._replace(found=tuple(every))
        elif verdict not in _WAYS or not findings.numbered:
            sites = with_allocations(comparison, allocating)
            # Counts that benchmarks average say less of the same sites, and what one
            # benchmark allocates elsewhere now reads as a change of all.
            gone = {one.id for one in findings.found if sites and one.sure}
            rest = tuple(
                one for one in findings.found if gone.isdisjoint((one.id, one.parent))
            )
            some = any(one.claim is not None for one in rest)
            findings = findings._replace(
                found=(*sites, *rest), explained=findings.explained if some else None
            )
    former = (_with_former_names(one, comparison.identity) for one in findings.found)
    found = with_labels(Case(comparison), tuple(former))
    return findings._replace(found=tuple(map(with_spans, found)))


def _found(
    comparison: Comparison,
    verdict: OutcomeVerdict,
    moved: Sequence[Unit],
    code: Code | None,
) -> Findings:
    """Return the findings with numbers still marked in their sentences."""
    case = Case(comparison, code)
    if comparison.measured:
        from pprofdiff.analysis.causes.by_unit import causes_of_units
        from pprofdiff.analysis.causes.measured import causes_of_measured

        waited, _ = tree(None, _waits(case), _WAYS.get(verdict))
        if comparison.alone is not None:
            # A mean over benchmarks is the cost of none of them.
            of_each = causes_of_units(comparison, moved, code)
            measured = Findings(tuple(of_each), None)
        else:
            measured = causes_of_measured(case, moved=verdict in _WAYS)
        return measured._replace(found=(*measured.found, *waited))
    rules = _rules(case) if comparison.split is None else _of_processes(case)
    drafts = [finding for rule in rules for finding in rule(case)]
    if (
        case.cpu is not None
        and case.cpu.in_shares
        and instrumented(comparison.base, comparison.new, comparison.cpu)
    ):
        # What that takes changes the shares of all else.
        drafts = [f for f in drafts if f.rises is None]
    if comparison.split is not None:
        from pprofdiff.analysis.causes.by_unit import causes_of_units

        of_units = causes_of_units(comparison, moved)
        shared, _ = tree(case.cpu, drafts, _WAYS.get(verdict))
        return Findings((*of_units, *shared), None)
    found, covered = tree(case.cpu, drafts, _WAYS.get(verdict))
    explains = None
    if case.cpu is not None and covered is not None:
        explains = explained(case.cpu, covered)
    return Findings(found, explains)


def _severe(findings: Findings) -> bool:
    return any(finding.severity != "info" for finding in findings.found)


def changed(comparison: Comparison, findings: Findings) -> bool:
    """Return whether anything changed significantly, for better or worse.

    That is a runtime group, a function by flat or cum, a benchmark, or a finding above
    info. Figures without a noise model, such as goroutine counts, do not count.
    """
    if _severe(findings):
        return True
    benchmarks = comparison.benchmarks
    if benchmarks is not None and any(
        row.significant and row.delta for row in benchmarks.rows
    ):
        return True
    # Of measured benchmarks, what changed is a finding: the rest is their harness.
    return not comparison.measured and any(map(_profile_moved, comparison.profiles))


def _profile_moved(diff: ProfileDiff) -> bool:
    if any(group.noise is False for group in judged_groups(diff)):
        return True
    table = diff.table()
    judged = (table.judge(column) for column in ("flat", "cum"))
    return any(not one.noise.all() for one in judged if one is not None)
