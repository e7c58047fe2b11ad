"""The table of rules.

A rule is a function of a `Case` that yields findings. What a finding explains is the
CPU of the samples it claims; `causes` tells which follows from which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pprofdiff.analysis.causes.by_unit import causes_of_units
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.findings import (
    allocation,
    comparability,
    contention,
    counted,
    covering,
    dearer,
    functions,
    gc,
    goroutines,
    heap,
    inlining,
    marking,
    moved,
    releases,
    runtime,
    splits,
)
from pprofdiff.analysis.findings.case import Case
from pprofdiff.analysis.findings.causes import tree
from pprofdiff.analysis.findings.explained import explained
from pprofdiff.analysis.findings.formerly import with_former_names
from pprofdiff.analysis.findings.model import (
    Direction,
    Finding,
    Findings,
)
from pprofdiff.analysis.outcome.model import Unit
from pprofdiff.analysis.outcome.model import Verdict as OutcomeVerdict

__all__ = ["find"]

# Which way findings go that explain a verdict.
_WAYS: dict[str, Direction] = {"slower": "worse", "faster": "better"}

Rule = Callable[[Case], Iterator[Finding]]


def _of_traces(case: Case) -> tuple[Rule, ...]:
    """Return the rules of traces; few runs have any, and the rules are much code."""
    if case.trace is not None:
        from pprofdiff.analysis.findings import (
            begun,
            blocking,
            capacity,
            concurrency,
            lifetime,
            waiting,
        )

        return (
            waiting.latency,
            lifetime.life_waiting,
            lifetime.life_lost,
            capacity.overcommitted,
            capacity.other_processes,
            capacity.utilisation,
            capacity.gc_capacity,
            blocking.off_cpu,
            concurrency.concurrency,
            begun.begun,
        )
    return ()


def _rules(case: Case) -> tuple[Rule, ...]:
    """Return the table."""
    return (
        releases.upgrade,
        comparability.more_of_the_same,
        allocation.allocation,
        counted.allocated_by_benchmarks,
        heap.heap_growth,
        goroutines.goroutine_growth,
        gc.limit,
        gc.frequency,
        gc.pace,
        gc.dearer,
        gc.cpu_only,
        functions.functions,
        splits.splits,
        dearer.own_cost,
        covering.below,
        inlining.inlining,
        gc.assist,
        runtime.scheduler,
        runtime.locks,
        runtime.leaf_work,
        runtime.stack_growth,
        contention.contention,
        gc.forced,
        marking.busy,
        *_of_traces(case),
        comparability.unlike_load,
        comparability.processors,
        moved.package_moved,
    )


def _of_processes(case: Case) -> tuple[Rule, ...]:
    """Return the rules of what all units of work share: one process on one machine."""
    return (
        releases.upgrade,
        comparability.more_of_the_same,
        counted.allocated_by_benchmarks,
        heap.heap_growth,
        goroutines.goroutine_growth,
        gc.limit,
        gc.pace,
        gc.forced,
        *_of_traces(case),
        comparability.unlike_load,
        comparability.processors,
    )


def _waits(case: Case) -> list[Finding]:
    """Return what operations wait for; one traced run says little about the scheduler.

    How long goroutines wait for a processor differs between runs of one build.
    """
    if case.trace is None:
        return []
    from pprofdiff.analysis.findings import blocking

    return list(blocking.off_cpu(case))


def _some(comparison: Comparison, moved: Sequence[Unit]) -> bool:
    """Return whether benchmarks moved otherwise than others did.

    The cost of their mix is that of none of them then. Where all moved one way, it is
    the sum of what each costs.
    """
    benchmarks = () if comparison.turns is None else comparison.turns.names
    ways = {unit.ratio > 1 for unit in moved}
    return len(ways) > 1 or 0 < len(moved) < len(benchmarks)


def find(
    comparison: Comparison,
    verdict: OutcomeVerdict = "unknown",
    moved: Sequence[Unit] = (),
) -> Findings:
    """Return what the rules say of a comparison, what explains most first.

    Of equally severe causes those stand first that explain the outcome's `verdict`.
    Where sides are apart by unit of work, places are looked for in the units that
    `moved`, each with its own operations: of units together a place has no cost.
    """
    case = Case(comparison)
    if comparison.measured:
        from pprofdiff.analysis.causes.measured import causes_of_measured

        waited, _ = tree(None, _waits(case), _WAYS.get(verdict))
        if comparison.alone is not None and _some(comparison, moved):
            return Findings((*causes_of_units(comparison, moved), *waited), None)
        measured = causes_of_measured(case, moved=verdict in _WAYS)
        return measured._replace(found=(*measured.found, *waited))
    rules = _rules(case) if comparison.apart is None else _of_processes(case)
    drafts = [
        with_former_names(finding, comparison.identity)
        for rule in rules
        for finding in rule(case)
    ]
    if comparison.apart is not None:
        of_units = causes_of_units(comparison, moved)
        shared, _ = tree(case.cpu, drafts, _WAYS.get(verdict))
        return Findings((*of_units, *shared), None)
    found, covered = tree(case.cpu, drafts, _WAYS.get(verdict))
    told = None
    if case.cpu is not None and covered is not None:
        told = explained(case.cpu, covered)
    return Findings(found, told)
