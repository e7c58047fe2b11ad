"""The flame graphs of a page: of each benchmark with a cause, then of all samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from markupsafe import Markup

from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.analysis.causes.frames import numbered, of_unit
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.report.html.flame import address, budgets, packed
from pprofdiff.report.html.packing import embedded
from pprofdiff.report.html.parts import profile_of
from pprofdiff.report.model import ReportModel
from pprofdiff.report.sections import sections
from pprofdiff.report.sections.findings import why


class _Graph(NamedTuple):
    """A comparison of profiles, the unit of work that it is of, causes by number."""

    diff: ProfileDiff
    unit: str
    causes: Mapping[int, Finding]


def flame_graphs(report: ReportModel, most: int) -> list[Markup]:
    """Return the documents of a page's flame graphs, with at most `most` bytes.

    Samples of several benchmarks are no one's: those that causes are of come first, so
    that frames have the amounts of the sentences.
    """
    graphs = list(_graphs(report))
    shares = budgets([graph.diff for graph in graphs])
    return [
        embedded(
            packed(
                graph.diff,
                budget=budget,
                cap=most // len(graphs),
                causes=graph.causes,
                unit=graph.unit,
            )
        )
        for graph, budget in zip(graphs, shares, strict=True)
    ]


def _graphs(report: ReportModel) -> Iterator[_Graph]:
    causes = numbered(why(report).causes)
    of_units: dict[str, list[Finding]] = {}
    for cause in causes.values():
        if cause.unit:
            of_units.setdefault(cause.unit, []).append(cause)
    for unit, own in of_units.items():
        shown = {profile_of(cause) for cause in own}
        for diff in report.profiles_of(own[0]):
            known = diff in report.profiles
            if not known and (diff.is_cpu or address(diff) in shown):
                yield _Graph(diff, unit, of_unit(diff, causes, unit))
    for section in sections(report):
        if section.diff is not None:
            yield _Graph(section.diff, "", causes)
