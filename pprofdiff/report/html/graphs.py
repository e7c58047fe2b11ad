"""Which flame graphs there are: of a page, of waits, of a notebook's frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.analysis.causes.frames import numbered, of_unit
from pprofdiff.analysis.causes.traces import per
from pprofdiff.analysis.chain_tree import KINDS, chain_tree
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.model.csr import distinct
from pprofdiff.plots.waitbars import END_STYLES
from pprofdiff.report.html.flame import address, budgets, packed
from pprofdiff.report.html.packing import (
    Category,
    Drawn,
    document,
    embedded,
    quantum_of,
)
from pprofdiff.report.html.parts import profile_of
from pprofdiff.report.html.shell import shell, template
from pprofdiff.report.model import ReportModel
from pprofdiff.report.sections import sections
from pprofdiff.report.sections.findings import why
from pprofdiff.units import printable, scale_for


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


VIEW = "waits"
"""The address of the tree on the page, as of a flame graph."""

# Nodes that a page has room for: about 40 kB, and more than chains mostly have.
_BUDGET = 3_000


def packed_chains(diff: TraceDiff, *, budget: int = _BUDGET) -> dict[str, Any]:
    """Return the chains, grouped by kind of end, as the document of `flame.packed`."""
    chains = chain_tree(diff, budget)
    tree, totals = chains.tree, chains.totals
    styles = [END_STYLES[kind] for kind in KINDS]
    quantum = [quantum_of([own]) for own in (tree.base_self, tree.new_self)]
    drawn = Drawn(
        VIEW,
        "what goroutines waited for",
        (diff.base.label, diff.new.label),
        f"{per(diff)} of wall time" if diff.rates is None else per(diff),
        scale_for(diff.normalization.scaled(*totals), "ns"),
        diff.normalization,
        totals,
        [(style.group, style.words) for style in styles],
        [
            Category(kind, style.words, row)
            for row, (kind, style) in enumerate(zip(KINDS, styles, strict=True))
        ],
    )
    rows = distinct(tree.name[tree.name >= 0])
    place = np.zeros(len(chains.names) + 1, np.int64)
    place[rows] = np.arange(len(rows))
    names, texts = ([of[row] for row in rows] for of in (chains.names, chains.texts))
    return {
        **document(drawn, tree, place, names, texts, quantum),
        **dict.fromkeys(("marks", "functions", "reach", "hidden")),
        "was": {},
        "left": 0,
        "filters": [],
        "causes": [],
        "waits": True,
    }


# Maximum bytes of the tree: a notebook holds several.
_CAP = 20_000


def flame_page(
    diff: ProfileDiff | TraceDiff, budget: int = 1_500, causes: Sequence[Finding] = ()
) -> str:
    """Return a self-contained page with one comparison's flame graph; of traces, waits.

    `budget` limits its functions. Functions of `causes` have their numbers.
    """
    if isinstance(diff, TraceDiff):
        name, flame = VIEW, packed_chains(diff, budget=budget)
    else:
        name = diff.name
        flame = packed(diff, budget=budget, cap=_CAP, causes=numbered(causes))
    text: str = template("flame.html.j2").render(
        **shell(notebook=True),
        labels=[printable(side.label) for side in (diff.base, diff.new)],
        name=printable(name),
        flames=[embedded(flame)],
    )
    return text.lstrip() + "\n"
