"""What a report shows of each kind of evidence, in the order of `pprofdiff.kinds`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.kinds import KINDS, resolve
from pprofdiff.report.model import SCREEN, ReportModel, Scope
from pprofdiff.report.rows import Section, Tile

if TYPE_CHECKING:
    from pprofdiff.plots.pagecharts import Chart


def sections(
    report: ReportModel, scope: Scope = SCREEN, *, whole: bool = True
) -> Iterator[Section]:
    """Yield the sections of a report, in reading order.

    Raises ContradictionError for rows that contradict each other or a finding, if
    ``PPROFDIFF_CHECK`` is set and sections are shown `whole`.
    """
    if whole and os.environ.get("PPROFDIFF_CHECK"):
        from pprofdiff.report.checking import check, of_evidence, of_tables

        shown = tuple(_sections(report, scope))
        check([*of_tables(shown), *of_evidence(report.findings, shown)])
        return iter(shown)
    return _sections(report, scope)


def _sections(report: ReportModel, scope: Scope) -> Iterator[Section]:
    for kind in KINDS.values():
        result = report.comparison.results.get(kind.id)
        if kind.sections and result is not None:
            yield from resolve(kind.sections)(result, report, scope)


def tiles(section: Section) -> Iterator[Tile]:
    """Yield a section's totals at a glance."""
    make = KINDS[section.kind].tiles
    if make:
        yield from resolve(make)(section)


def charts(section: Section) -> tuple[Chart, ...]:
    """Return a section's charts for the page, drawn with matplotlib."""
    make = KINDS[section.kind].charts
    drawn: tuple[Chart, ...] = ()
    if make:
        drawn = resolve(make)(section.compared, section.kind)
    return drawn


def json_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the entries of ``comparisons`` in the JSON report."""
    for kind in KINDS.values():
        result = comparison.results.get(kind.id)
        if kind.json_row and result is not None:
            # Profiles are compared by sample type.
            diffs = result if isinstance(result, tuple) else (result,)
            yield from map(resolve(kind.json_row), diffs)
