"""Causes of each benchmark's change, from its own samples and operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pprofdiff.analysis.causes.measured import causes_of_measured
from pprofdiff.analysis.comparison import Comparison, compare_sides
from pprofdiff.analysis.findings.case import Case
from pprofdiff.analysis.findings.model import Finding
from pprofdiff.analysis.ledger.units import UnitOfWork
from pprofdiff.analysis.outcome.model import Unit
from pprofdiff.analysis.settings import DEFAULTS

__all__ = ["causes_of_units"]

# The most units to explain: readers open no more.
_MOST = 5
# Causes per unit: the first ones have most of its change.
_CAUSES = 2
_ABOUT = "CPU per op is by about the iterations that ran."


def causes_of_units(comparison: Comparison, moved: Sequence[Unit]) -> Iterator[Finding]:
    """Yield the causes of each changed unit, followed by their consequences.

    Findings have no claim, since their samples are those of one unit alone.
    """
    apart = comparison.apart or comparison.alone
    if apart is None:
        return
    settings = replace(
        DEFAULTS,
        identity=comparison.identity,
        same_within=comparison.same_within,
        pairs=comparison.pairs,
    )
    about = _ABOUT if comparison.alone is None else ""
    for number, (unit, names) in enumerate(_of(apart.units, moved), 1):
        base, new = apart.of(unit)
        if not (base.of("profile") and new.of("profile")):
            continue
        case = Case(compare_sides(base, new, settings))
        found = causes_of_measured(case, moved=True)
        kept = {cause.id for cause in found.causes[:_CAUSES]}
        for finding in found.found:
            if finding.id in kept or finding.parent in kept:
                yield _named(finding, names, number, about)


def _of(
    units: Sequence[UnitOfWork], moved: Sequence[Unit]
) -> list[tuple[UnitOfWork, str]]:
    """Return the changed units of work with their display names, largest first."""
    found = []
    for unit in units:
        names = [one.name for one in moved if one.key in unit.benchmarks]
        if names:
            first = next(i for i, one in enumerate(moved) if one.name == names[0])
            found.append((first, unit, ", ".join(names)))
    found.sort(key=lambda one: one[0])
    return [(unit, names) for _, unit, names in found[:_MOST]]


def _named(finding: Finding, names: str, number: int, about: str) -> Finding:
    """Return a finding under its unit's name, with an id unique among units."""

    def of_unit(id_: str) -> str:
        return id_ if number == 1 else f"unit-{number}-{id_}"

    return finding._replace(
        id=of_unit(finding.id),
        parent=None if finding.parent is None else of_unit(finding.parent),
        title=f"{names}: {finding.title}",
        unit=names,
        text=f"{finding.text} {about}".strip()
        if about and not finding.parent
        else finding.text,
        claim=None,
        explains=None,
        own=None,
        mark=None,
    )
