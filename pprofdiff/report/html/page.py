"""The HTML page: one file that contains everything and makes no network requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from pprofdiff.analysis.profiles.scaling import in_words
from pprofdiff.errors import UsageError
from pprofdiff.plots.pagecharts import Chart, commit_charts, run_charts
from pprofdiff.report.html.account import account_steps
from pprofdiff.report.html.flame import address
from pprofdiff.report.html.graphs import flame_graphs, packed_chains
from pprofdiff.report.html.packing import embedded
from pprofdiff.report.html.parts import (
    Chunk,
    asked,
    drawn,
    has_changed,
    most_changed,
    reason_text,
    split,
    view_of,
)
from pprofdiff.report.html.room import WAITS, heights, opened, text_height
from pprofdiff.report.html.shell import shell, template
from pprofdiff.report.model import ReportModel, Scope
from pprofdiff.report.rows import Code, Row, Section
from pprofdiff.report.sections import charts, sections, tiles
from pprofdiff.report.sections.account import account_parts
from pprofdiff.report.sections.bisection import bisection_parts
from pprofdiff.report.sections.changed_lines import changed_parts
from pprofdiff.report.sections.changes import capitalized
from pprofdiff.report.sections.findings import answer, why
from pprofdiff.report.sections.inputs import cautions, inputs_table
from pprofdiff.report.sections.profiles.functions import renamed
from pprofdiff.report.sections.units import unit_parts
from pprofdiff.report.sections.verdict import rulings, unread_warnings
from pprofdiff.units import clipped, printable

MOST = 5 << 20
"""The largest page in bytes, limited by the reader's browser and mail."""

# Rows of a table of functions or call sites, ten of them visible at first. Names can be
# of any length, so fewer rows are tried if a page grows too large.
_ROWS = (100, 10, 3)
# Titles of further causes at the top; "findings" has all.
_ALSO = 2
# Bytes of a page that the flame graphs may take.
_FLAMES = MOST // 2
# Bytes that listings may take before escaping, and characters in one of their lines.
_LISTINGS = 1 << 18
_LONGEST_LINE = 400
# Height of a folded listing.
_LISTED = 32


# Tables that are visible at first in a section with a significant change. All others
# open with a click.
_SHOWN = frozenset(
    ("groups", "unit_groups", "cum", "call_sites", "rates", "states", "runs", "renamed")
)


class Comparison(NamedTuple):
    """One section: its anchor, title, mode, first sentence, and the rest.

    `short` is the text of links to it. Unless `is_open`, only the title and first
    sentence are visible at first. `view` is the address of its flame graph.
    """

    anchor: str
    short: str
    title: str
    mode: str
    lead: str
    chunks: list[Chunk]
    is_open: bool
    charts: tuple[Chart, ...] = ()
    folded: tuple[Chart, ...] = ()
    view: str = ""


class Waits(NamedTuple):
    """What goroutines waited for; `lanes` says whether there are moments to link to."""

    anchor: str
    mode: str
    charts: tuple[Chart, ...]
    chunks: list[Chunk]
    chains: Markup
    lanes: bool


def render(report: ReportModel) -> str:
    """Return the report as HTML, at most `MOST` bytes.

    Raises UsageError if the page is too large even with a few rows per table.
    """
    flames = flame_graphs(report, _FLAMES)
    for rows in _ROWS:
        text = _page(report, flames, rows)
        if len(text.encode()) <= MOST:
            return text
    raise UsageError(
        f"-o x.html: names are too long for {MOST >> 20} MB; -o x.json has all of them"
    )


class Listings(NamedTuple):
    """Source listings; `left` says if some are left out, `anchors` are by function."""

    of: str
    mode: str
    codes: tuple[Code, ...]
    left: bool
    anchors: dict[str, str]


def _listings(report: ReportModel) -> Listings | None:
    if report.sources is None or not report.profiles:
        return None
    from pprofdiff.report.sections.source import most_moved

    diff = report.profiles[0]
    causes = (finding.source for finding in report.findings.found)
    first = [lines.function for source in causes if source for lines in source.lines]
    kept: list[Code] = []
    anchors: dict[str, str] = {}
    room, left = _LISTINGS, False
    for code in most_moved(diff, report.sources, first):
        lines = tuple(
            line._replace(text=clipped(printable(line.text), _LONGEST_LINE))
            for line in code.lines
        )
        size = sum(len(line.text.encode(errors="replace")) for line in lines)
        if size > room:
            left = True
            continue
        room -= size
        anchor = f"source-{len(kept)}"
        anchors[code.key] = anchor
        kept.append(Code(anchor, printable(code.title), lines))
    of = diff.title, in_words(diff)
    return Listings(*of, tuple(kept), left, anchors) if kept else None


def _page(report: ReportModel, flames: list[Markup], rows: int) -> str:
    searched = report.bisection
    shown = list(sections(report, Scope(rows=rows)))
    explained = why(report)
    first = answer(report, explained, shown)
    others = [reason for reason in explained.reasons if reason is not first.reason]
    news = _with_news(shown)
    anchors = [f"part{number}" for number in range(len(shown))]
    listings = _listings(report)
    findings = drawn([*others, *explained.rest])
    changed = drawn(changed_parts(report))
    parts = [
        _comparison(section, anchor, is_open=section in news)
        for section, anchor in zip(shown, anchors, strict=True)
    ]
    waits = _waits(report, parts)
    if waits is not None:
        parts = list(map(_without_waits, parts))
    below = text_height([*findings, *changed]) + (0 if waits is None else WAITS)
    below += 0 if listings is None else _LISTED * (2 + len(listings.codes))
    text = template("page.html.j2").render(
        **shell(),
        labels=[printable(label) for label in report.labels],
        verdict=report.verdict,
        rulings=rulings(report.verdict),
        outcome=report.outcome.verdict,
        answer=printable(first.outcome).strip(),
        basis=[printable(sentence.text) for sentence in first.below],
        cause=printable(first.title).strip(),
        cause_below=() if first.reason is None else reason_text(first.reason),
        cause_view="" if first.reason is None else view_of(first.reason),
        also=[printable(one.title).strip() for one in others if not one.level][:_ALSO],
        account=account_steps(report),
        cautions=drawn([*unread_warnings(report.verdict), *explained.warnings]),
        search=() if searched is None else drawn(bisection_parts(searched)),
        search_charts=() if searched is None else commit_charts(searched),
        units=drawn(unit_parts(report, rows)),
        findings=findings,
        changed=changed,
        runs=run_charts(report.comparison),
        tiles=[t for section in shown if section in news for t in tiles(section)],
        parts=_with_room(parts, below),
        asked=list(asked(shown, anchors)),
        whole_account=drawn(account_parts(report)),
        flames=flames,
        waits=waits,
        listings=listings,
        listed={} if listings is None else listings.anchors,
        inputs=drawn([inputs_table(report, headed=True)]),
        files=_files(report),
        warnings=drawn(cautions(report)),
        joined=[
            (diff.name, [part._replace(title="") for part in drawn(renamed(diff))])
            for diff in (section.diff for section in shown)
            if diff is not None and any(diff.table().base_names)
        ],
        filters=printable(" ".join(report.filters)),
    )
    return text.lstrip() + "\n"


def _waits(report: ReportModel, parts: Sequence[Comparison]) -> Waits | None:
    diff = report.comparison.trace
    for part in parts:
        drawn = tuple(chart for chart in part.charts if chart.id == "waits")
        if diff is not None and drawn:
            chains = packed_chains(diff)
            of_waits = (chunk for chunk in part.chunks if chunk.key == "waits")
            return Waits(
                anchor=part.anchor,
                mode=chains["mode"],
                charts=drawn,
                chunks=[chunk._replace(shown=True) for chunk in of_waits],
                chains=embedded(chains),
                lanes=bool(part.folded),
            )
    return None


def _without_waits(part: Comparison) -> Comparison:
    return part._replace(
        charts=tuple(chart for chart in part.charts if chart.id != "waits"),
        chunks=[chunk for chunk in part.chunks if chunk.key != "waits"],
    )


def _with_room(parts: Sequence[Comparison], others: int) -> list[Comparison]:
    high = [heights(p.chunks, len(p.charts), len(p.folded)) for p in parts]
    answers = opened([part.is_open for part in parts], high, others)
    return [
        p._replace(is_open=is_open) for p, is_open in zip(parts, answers, strict=True)
    ]


def _with_news(shown: Sequence[Section]) -> list[Section]:
    news = [s for s in shown if any(map(has_changed, _rows(s)))]
    return news or list(shown[:1])


def _rows(section: Section) -> list[Row]:
    return [row for table in section.tables for row in table.rows]


def _files(report: ReportModel) -> str:
    return " and ".join(
        f"{len(side)} file{'' if len(side) == 1 else 's'} of {printable(label)}"
        for side, label in zip(report.inputs, report.labels, strict=True)
    )


def _comparison(section: Section, anchor: str, *, is_open: bool) -> Comparison:
    parts = drawn(section.parts)
    lead = printable(section.lead or section.instead)
    keys = _SHOWN
    every = charts(section)
    if section.kind in ("benchmark", "load"):
        keys = frozenset(table.key for table in section.tables)
    return Comparison(
        anchor=anchor,
        short=printable(section.short),
        title=printable(section.heading),
        mode=printable(section.mode),
        lead=capitalized(lead) or printable(_in_short(section)),
        chunks=split(parts, shown=keys, title=printable(section.measure)),
        is_open=is_open,
        charts=tuple(chart for chart in every if not chart.brief),
        folded=tuple(chart for chart in every if chart.brief),
        view="" if section.diff is None else address(section.diff),
    )


def _in_short(section: Section) -> str:
    totals = []
    for tile in tiles(section):
        change = f" ({tile.change.text})" if tile.change.text else ""
        totals.append(f"{tile.name} {tile.values}{change}")
    if totals:
        return f"{'; '.join(totals)}."
    rows = _rows(section)
    counted = f"{sum(map(has_changed, rows))} of {len(rows)} rows are marked as changed"
    most = next(filter(None, map(most_changed, section.tables)), "")
    return f"{counted}, most: {most}." if most else f"{counted}."
