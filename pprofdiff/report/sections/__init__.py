"""What a report shows: one table a concern says who makes it of each kind of evidence.

A new kind is an entry in each of them; what they name is imported when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.report.model import SCREEN, ReportModel, Scope
from pprofdiff.report.rows import Kind, Section, Tile

if TYPE_CHECKING:
    from pprofdiff.plots import Chart

__all__ = ["CHARTS", "JSON_ROWS", "SECTIONS", "TILES", "sections"]

JSONRow = dict[str, Any]


def _profile_sections(report: ReportModel, scope: Scope) -> Iterable[Section]:
    if not report.profiles:
        return ()
    from pprofdiff.report.sections.profiles.section import profile_sections

    return profile_sections(report, scope)


def _gc_sections(report: ReportModel, _scope: Scope) -> Iterable[Section]:
    if report.comparison.gc is None:
        return ()
    from pprofdiff.report.sections.gclogs import gc_section

    return (gc_section(report.comparison.gc),)


def _trace_sections(report: ReportModel, _scope: Scope) -> Iterable[Section]:
    if report.comparison.trace is None:
        return ()
    from pprofdiff.report.sections.traces.section import trace_section

    return (trace_section(report.comparison.trace),)


def _benchmark_sections(report: ReportModel, _scope: Scope) -> Iterable[Section]:
    if report.comparison.benchmarks is None:
        return ()
    from pprofdiff.report.sections.benchmarks import benchmark_section

    return (benchmark_section(report.comparison.benchmarks, report.labels),)


SECTIONS: dict[Kind, Callable[[ReportModel, Scope], Iterable[Section]]] = {
    "profile": _profile_sections,
    "gctrace": _gc_sections,
    "trace": _trace_sections,
    "benchmark": _benchmark_sections,
}
"""Who makes the sections on a kind, none where nothing of it is compared; in order."""


def _profile_rows(comparison: Comparison) -> list[JSONRow]:
    from pprofdiff.report.json.profiles import profile_row

    return [profile_row(d, comparison.modelled) for d in comparison.profiles]


def _gc_rows(comparison: Comparison) -> list[JSONRow]:
    if comparison.gc is None:
        return []
    from pprofdiff.report.json.gclogs import gc_row

    return [gc_row(comparison.gc)]


def _trace_rows(comparison: Comparison) -> list[JSONRow]:
    if comparison.trace is None:
        return []
    from pprofdiff.report.json.traces import trace_row

    return [trace_row(comparison.trace)]


def _benchmark_rows(comparison: Comparison) -> list[JSONRow]:
    if comparison.benchmarks is None:
        return []
    from pprofdiff.report.json.benchmarks import benchmark_row

    return [benchmark_row(comparison.benchmarks)]


JSON_ROWS: dict[Kind, Callable[[Comparison], list[JSONRow]]] = {
    "profile": _profile_rows,
    "gctrace": _gc_rows,
    "trace": _trace_rows,
    "benchmark": _benchmark_rows,
}
"""Who returns the entries of a kind in the JSON report's ``comparisons``; in order."""


def _profile_tiles(section: Section) -> Iterator[Tile]:
    from pprofdiff.report.sections.profiles.section import profile_tiles

    return profile_tiles(section)


def _gc_tiles(section: Section) -> Iterator[Tile]:
    from pprofdiff.report.sections.gclogs import gc_tiles

    return gc_tiles(section)


def _trace_tiles(section: Section) -> Iterator[Tile]:
    from pprofdiff.report.sections.traces.section import trace_tiles

    return trace_tiles(section)


def _benchmark_tiles(section: Section) -> Iterator[Tile]:
    from pprofdiff.report.sections.benchmarks import benchmark_tiles

    return benchmark_tiles(section)


TILES: dict[Kind, Callable[[Section], Iterator[Tile]]] = {
    "profile": _profile_tiles,
    "gctrace": _gc_tiles,
    "trace": _trace_tiles,
    "benchmark": _benchmark_tiles,
}
"""Who yields the tiles of a section: its totals at a glance."""


def _charts(section: Section) -> tuple[Chart, ...]:
    from pprofdiff.plots import charts

    return charts(section.compared, section.kind)


CHARTS: dict[Kind, Callable[[Section], tuple[Chart, ...]]] = {
    "gctrace": _charts,
    "trace": _charts,
}
"""Who draws the charts of a section on the page, for the kinds that have some."""


def sections(report: ReportModel, scope: Scope = SCREEN) -> Iterator[Section]:
    """Yield the sections of a report, in the order of reading."""
    for of_kind in SECTIONS.values():
        yield from of_kind(report, scope)
