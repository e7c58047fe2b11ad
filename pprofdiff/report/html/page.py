"""The page: one file with everything in it, which asks the network for nothing."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.errors import UsageError
from pprofdiff.plots import Chart, charts
from pprofdiff.report.html.blocks import Drawn, drawn, split
from pprofdiff.report.html.flame import budgets, embedded, packed
from pprofdiff.report.html.glance import tiles
from pprofdiff.report.html.shell import shell, template
from pprofdiff.report.model import ReportModel
from pprofdiff.report.sections.answer import answer, title_and_mode
from pprofdiff.report.sections.findings import finding_blocks
from pprofdiff.report.sections.profiles.functions import joined_names
from pprofdiff.report.sections.verdict import summary
from pprofdiff.report.text.layout import Stanza, Words
from pprofdiff.report.text.report import Section, cautions, inputs_grid, sections
from pprofdiff.units import printable

__all__ = ["MOST", "render"]

MOST = 5 << 20
"""The largest page in bytes: what a reader's browser and mail can bear."""

# Rows of a table of functions or call sites, of which ten are in sight at first; names
# may be of any length, so that fewer are tried where a page grows too large.
_ROWS = (100, 10, 3)
# What of a page the flame graphs may take.
_FLAMES = MOST // 2
_SHORT = {"gctrace": "GC log", "trace": "trace", "benchmark": "benchmarks"}


class Part(NamedTuple):
    """One comparison: where links to it lead, title, mode, first sentence, the rest.

    `short` is what those links say.
    """

    anchor: str
    short: str
    title: str
    mode: str
    lead: str
    chunks: list[list[Drawn]]
    charts: tuple[Chart, ...] = ()


def render(report: ReportModel) -> str:
    """Return the report as HTML, the same bytes for the same report, `MOST` at most.

    Raises UsageError where even a few rows of its tables are longer than that.
    """
    diffs = [s.diff for s in sections(report) if s.diff is not None]
    cap = _FLAMES // max(len(diffs), 1)
    flames = [
        embedded(packed(diff, budget=budget, cap=cap))
        for diff, budget in zip(diffs, budgets(diffs), strict=True)
    ]
    for rows in _ROWS:
        text = _page(report, flames, rows)
        if len(text.encode()) <= MOST:
            return text
    raise UsageError(
        f"-o x.html: names are too long for {MOST >> 20} MB; -o x.json has all of them"
    )


def _page(report: ReportModel, flames: list[Markup], rows: int) -> str:
    held = list(sections(report, rows=rows))
    found = list(finding_blocks(report))
    stanzas = [block for block in found if isinstance(block, Stanza)]
    first = answer(report, stanzas, held)
    told = {words.text for words in first}
    labels = _labels(report)
    text = template("page.html.j2").render(
        **shell(),
        labels=labels,
        verdict=report.verdict,
        verdict_summary=summary(report.verdict),
        answer=[words.text.strip() for words in first],
        leads=[words.lead.strip() for words in first],
        cautions=drawn([b for b in found if _warns(b)], labels),
        findings=drawn([b for b in found[1:] if _untold(b, told)], labels),
        tiles=list(tiles(report, held)),
        parts=[_part(report, section, i) for i, section in enumerate(held)],
        flames=flames,
        inputs=drawn([inputs_grid(report)], labels),
        warnings=drawn(cautions(report), labels),
        joined=[
            (diff.name, drawn(joined_names(diff), labels)[1:])
            for diff in (section.diff for section in held)
            if diff is not None and any(diff.table().base_names)
        ],
        filters=printable(" ".join(report.filters)),
    )
    return text.lstrip() + "\n"


def _labels(report: ReportModel) -> tuple[str, str]:
    base, new = report.labels
    return printable(base), printable(new)


def _warns(block: object) -> bool:
    """Return whether a block says how to read the rest."""
    return isinstance(block, Words) and block.style == "warn"


def _untold(block: object, told: set[str]) -> bool:
    """Return whether a finding is told neither as the answer nor as a caution."""
    told_already = isinstance(block, Stanza) and block.words[0].text in told
    return not told_already and not _warns(block)


def _part(report: ReportModel, section: Section, number: int) -> Part:
    """Return one comparison as the template draws it."""
    diff = section.diff
    title, mode = title_and_mode(report, section)
    timed = {"gctrace": report.comparison.gc, "trace": report.comparison.trace}
    drawable = timed.get(section.kind)
    unit = "" if diff is None else scale_of(diff).unit
    return Part(
        anchor=f"part{number}",
        short=_SHORT.get(section.kind) or printable(diff.name if diff else title),
        title=printable(title),
        mode=printable(mode),
        lead=printable(section.lead),
        chunks=split(drawn(section.body, _labels(report), unit)),
        charts=() if drawable is None else charts(drawable, section.kind),
    )
