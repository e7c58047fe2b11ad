"""Tables of single benchmarks, from profiles of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.figures.costs import CPU
from pprofdiff.analysis.outcome.model import Unit
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import Table, tables_of
from pprofdiff.report.sections.profiles.call_sites import sites_in_turns
from pprofdiff.report.sections.profiles.functions import movers
from pprofdiff.report.sections.profiles.owners import group_table

# The size of each table; there may be several.
_CATEGORIES, _ROWS = 4, 6


def is_of_units(report: ReportModel, diff: ProfileDiff) -> bool:
    """Return whether tables are of the benchmarks that changed, one by one.

    With profiles of their own, a mean over several would be the cost of none.
    """
    return report.comparison.alone is not None and any(_samples(report, diff))


def of_units(report: ReportModel, diff: ProfileDiff) -> Iterator[Table]:
    """Yield tables of each benchmark that changed, per op of its own.

    Of CPU profiles groups and functions, of allocations the call sites.
    """
    cpu, kind = diff is report.comparison.cpu, diff.sample_type.type
    for of_samples, of_unit in _samples(report, diff):
        own = of_unit.cpu if cpu else of_unit.of_type(kind)
        if own is None:
            continue
        named = ", ".join(one.name for one in of_samples)
        if not cpu:
            for table in sites_in_turns(of_unit, own, report.labels, _ROWS):
                title = f"{named}, in {scale_of(own).unit}, by call site (flat)"
                yield replace(table, title=title)
        elif own.grouped:
            yield from _of_cpu(report, of_samples, own, named)


def _samples(
    report: ReportModel, diff: ProfileDiff
) -> Iterator[tuple[list[Unit], Comparison]]:
    """Yield the benchmarks that changed with their own samples, as `changed_units`."""
    outcome, alone = report.outcome, report.comparison.alone is not None
    units: tuple[Unit, ...] = ()
    if diff is report.comparison.cpu:
        units = outcome.moved
    elif alone and diff.sample_type.type == "alloc_space":
        units = tuple(dict.fromkeys((*outcome.moved, *outcome.allocating)))
    if units:
        from pprofdiff.analysis.causes.by_unit import changed_units

        yield from changed_units(report.comparison, units)


def _of_cpu(
    report: ReportModel, units: Sequence[Unit], own: ProfileDiff, named: str
) -> Iterator[Table]:
    measured = report.comparison.measured
    table = group_table(
        own,
        report.labels,
        _CATEGORIES,
        undecided=measured and not _of_turns(report.comparison, units),
        timed=measured,
    )
    unit = scale_of(own).unit
    yield replace(table, key="unit_groups", title=f"{named}, in {unit}")
    show = partial(movers, own, report.labels, "cum", rows=_ROWS)
    for table in tables_of(show(measured=measured)):
        yield replace(table, key="unit_cum", title=f"{named}: {table.title}")


def _of_turns(comparison: Comparison, units: Sequence[Unit]) -> bool:
    """Return whether turns show that the CPU/op of benchmarks changed."""
    benchmarks = comparison.benchmarks
    keys = {unit.key[:2] for unit in units if unit.key is not None}
    return benchmarks is not None and any(
        row.significant and row.unit == CPU.printed and (row.name, row.procs) in keys
        for row in benchmarks.rows
    )
