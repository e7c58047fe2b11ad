"""The table of rules, and the order of what they find.

A rule is a function of a `Case` that yields findings. What a finding explains is the
CPU of the samples it claims; findings are ordered by how much each explains that those
before it do not, so that a detail never stands before its cause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.findings import (
    allocation,
    comparability,
    dearer,
    functions,
    gc,
    runtime,
)
from pprofdiff.analysis.findings.case import Case
from pprofdiff.analysis.findings.cpu import CPUComparison
from pprofdiff.analysis.findings.model import (
    SEVERITIES,
    Claim,
    Explained,
    Finding,
    Findings,
    Severity,
)
from pprofdiff.analysis.profiles.groups import JudgedSum, judged_sums

__all__ = ["find"]

Rule = Callable[[Case], Iterator[Finding]]

# A finding is major, or minor, from these shares of the larger side's CPU on.
_MAJOR, _MINOR = 0.05, 0.01
# A finding is a detail if it adds less than this part of what it explains.
_OWN = 0.1


def _rules(case: Case) -> tuple[Rule, ...]:
    """Return the table; few runs have traces, whose rules take a while to import."""
    of_traces: tuple[Rule, ...] = ()
    if case.trace is not None:
        from pprofdiff.analysis.findings import blocking, capacity, lifetime, waiting

        of_traces = (
            waiting.latency,
            lifetime.life_waiting,
            lifetime.life_lost,
            capacity.overcommitted,
            capacity.utilisation,
            capacity.gc_capacity,
            blocking.blocked,
            blocking.system_calls,
        )
    return (
        comparability.upgrade,
        allocation.allocation,
        gc.frequency,
        gc.dearer,
        gc.cpu_only,
        functions.functions,
        dearer.own_cost,
        gc.assist,
        runtime.scheduler,
        runtime.locks,
        runtime.leaf_work,
        runtime.contention,
        gc.forced,
        *of_traces,
        comparability.throughput,
        comparability.unlike_load,
        comparability.processors,
    )


def find(comparison: Comparison) -> Findings:
    """Return what the rules say of a comparison, what explains most first."""
    case = Case(comparison)
    drafts = [finding for rule in _rules(case) for finding in rule(case)]
    cpu = case.cpu
    if cpu is None:
        return Findings(tuple(sorted(drafts, key=_importance)), None)
    claims = [(_judged(cpu, f, f.claim), f.claim) for f in drafts if f.claim]
    ordered, covered = _ordered(cpu, claims)
    others = sorted((f for f in drafts if f.claim is None), key=_importance)
    return Findings((*ordered, *others), _explained(cpu, covered))


def _importance(finding: Finding) -> tuple[int, float]:
    return -SEVERITIES.index(finding.severity), -finding.weight


def _judged(cpu: CPUComparison, finding: Finding, claim: Claim) -> Finding:
    """Return the finding with what it explains, and how much that matters."""
    base, new = cpu.sums(claim)
    explains = cpu.scaled_delta(base, new)
    share = abs(explains) / cpu.whole if cpu.change(base, new).told else 0.0
    matters: Severity = "info"
    if share >= _MINOR:
        matters = "major" if share >= _MAJOR else "minor"
    return finding._replace(explains=explains, severity=matters)


def _ordered(
    cpu: CPUComparison, claims: list[tuple[Finding, Claim]]
) -> tuple[list[Finding], Claim]:
    """Return findings by what each adds to those before it, and the union of claims."""
    waiting, covered = list(claims), cpu.of(())
    ordered: list[Finding] = []

    def adds(entry: tuple[Finding, Claim]) -> tuple[float, float]:
        return abs(cpu.delta(entry[1].without(covered))), entry[0].weight

    while waiting:
        best = max(waiting, key=adds)
        waiting.remove(best)
        finding, claim = best
        own = abs(finding.explains or 0.0)
        ordered.append(finding._replace(detail=adds(best)[0] < _OWN * own))
        covered = covered.plus(claim)
    return ordered, covered


def _explained(cpu: CPUComparison, covered: Claim) -> Explained:
    """Return how much the findings explain together, and which groups are left."""
    total = cpu.scaled_delta(*cpu.diff.totals)
    return Explained(total, cpu.delta(covered), tuple(_left(cpu, covered)))


def _left(cpu: CPUComparison, covered: Claim) -> list[JudgedSum]:
    """Return the groups that moved beyond noise where no finding speaks of it."""
    rest = Claim(~covered.base, ~covered.new)
    rows = [
        (group.id, group.label, *cpu.sums(cpu.of_groups(group.id).within(rest)))
        for group in cpu.groups.values()
    ]
    left = [row for row in judged_sums(cpu.diff, rows) if row.noise is False]
    return sorted(left, key=lambda row: -abs(row.delta))
