"""The comment on a pull request: the answer in sight, tables folded, never too long.

The tables are those of the text report, so that the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple
from urllib.parse import quote

from pprofdiff.analysis.profiles.kinds import is_heap
from pprofdiff.report.markdown import markup
from pprofdiff.report.model import ReportModel
from pprofdiff.report.sections.answer import answer, title_and_mode
from pprofdiff.report.sections.findings import finding_blocks
from pprofdiff.report.sections.profiles.functions import movers
from pprofdiff.report.sections.verdict import summary, verdict_blocks, verdict_lines
from pprofdiff.report.text.layout import Block, Cell, Grid, Stanza, Words
from pprofdiff.report.text.report import Section, cautions, inputs_grid, sections
from pprofdiff.units import printable

__all__ = ["MOST", "render"]

# GitHub refuses comments of more than 65,536 characters.
MOST = 60_000
# Of these, so many are kept for saying what was left out.
_FOR_NOTE = 3_000
_NAMED = 6
_LONGEST_NAME = 60
_ROWS = 5
_LONGEST_LABEL = 100
_LONGEST_LINE = 1_000


class _Part(NamedTuple):
    """What is shown or left out as a whole: its fold ("" for none), its name, itself.

    Parts of a lower `rank` are kept first.
    """

    fold: str
    name: str
    text: str
    rank: int
    opened: bool = False


def render(report: ReportModel) -> str:
    """Return the comment as Markdown, of `MOST` characters or fewer."""
    parts = list(_parts(report))
    kept: set[int] = set()
    for i in sorted(range(len(parts)), key=lambda i: parts[i].rank):
        trial = [part for j, part in enumerate(parts) if j in kept or j == i]
        if len(_page(report, trial)) <= MOST - _FOR_NOTE:
            kept.add(i)
    shown = [part for i, part in enumerate(parts) if i in kept]
    left = [part for i, part in enumerate(parts) if i not in kept]
    return _page(report, shown) + _left_out(left)


def _parts(report: ReportModel) -> Iterator[_Part]:
    """Yield the comment in the order of reading."""
    held = list(sections(report))
    found = list(finding_blocks(report))
    stanzas = [block for block in found if isinstance(block, Stanza)]
    first = answer(report, stanzas, held)
    told = {words.text for words in first}
    yield from _verdict(report)
    before = filter(_warns, found)
    yield _Part("", "the answer", _drawn([*before, *first]), 0)
    totals = _totals(report, held, told)
    if totals:
        yield _Part("", "totals", totals, 0)
    others = [stanza for stanza in stanzas if stanza.words[0].text not in told]
    short = _in_short(found, told)
    if short:
        heading = [Words("Other findings", "strong")] if others else []
        yield _Part("", "other findings", _drawn([*heading, *short]), 0)
    for blocks in _tops(report, held):
        yield _Part("", _name_of(blocks), _drawn(blocks), 0)
    if any(len(stanza.words) > 1 for stanza in others):
        yield _Part("The other findings in full", "", _drawn(others), 2)
    for number, section in enumerate(held):
        title = title_and_mode(report, section)[0] + _held_by(section)
        alone = number == 0 and section.diff is None
        for blocks in _cut(section.body):
            name = _name_of(blocks)
            yield _Part(title, name, _drawn(blocks), 3, opened=alone)
    if report.verdict.rules:
        yield _Part("Rules of the gate", "", _drawn(verdict_blocks(report.verdict)), 2)
    yield _inputs(report)


def _page(report: ReportModel, parts: Iterable[_Part]) -> str:
    """Return these parts under the marker, those of one fold together."""
    base, new = report.labels
    title = markup.inline(f"{base} → {new}", _LONGEST_LABEL * 2)
    pieces = [_marker(report), f"### {title}"]
    fold = ""
    for part in parts:
        if part.fold != fold:
            if fold:
                pieces.append("</details>")
            if part.fold:
                tag = "details open" if part.opened else "details"
                words = markup.summary(part.fold)
                pieces.append(f"<{tag}>\n<summary>{words}</summary>")
            fold = part.fold
        pieces.append(part.text)
    if fold:
        pieces.append("</details>")
    return "\n\n".join(pieces) + "\n"


def _marker(report: ReportModel) -> str:
    """Return the hidden line by which a workflow finds its comment again.

    It depends on the two labels alone. Quoted, they cannot end an HTML comment.
    """
    words = [quote(printable(label)[:_LONGEST_LABEL]) for label in report.labels]
    return f"<!-- pprofdiff {' '.join(words)} -->"


def _left_out(parts: list[_Part]) -> str:
    """Return which parts did not fit, and where they are; "" where all did."""
    if not parts:
        return ""
    names = [": ".join(filter(None, (part.fold, part.name))) for part in parts]
    listed = [
        f"- {markup.inline(' '.join(name.split()), _LONGEST_NAME)}"
        for name in names[:_NAMED]
    ]
    if len(names) > _NAMED:
        listed.append(f"- and {len(names) - _NAMED} more")
    lines = "\n".join(listed)
    return (
        f"\nLeft out, as a comment has room for {MOST:,} characters:\n\n{lines}\n\n"
        "`pprofdiff … -o report.json` has all of it.\n"
    )


def _drawn(blocks: Iterable[Block]) -> str:
    """Return blocks as Markdown; findings of one line stand close together."""
    text, close = "", False
    for block in blocks:
        line = isinstance(block, Stanza) and len(block.words) == 1
        gap = "\n" if close and line else "\n\n"
        text += f"{gap if text else ''}{markup.render(block)}"
        close = line
    return text


def _verdict(report: ReportModel) -> Iterator[_Part]:
    """Yield the gate's verdict, with each rule that did not pass."""
    if report.verdict.rules:
        told = f"**Verdict** {markup.inline(summary(report.verdict))}\n\n"
        told += "\n".join(
            f"- {markup.inline(rule, _LONGEST_LINE)}"
            for rule in verdict_lines(report.verdict)
        )
        yield _Part("", "verdict", told.rstrip(), 0)


def _totals(report: ReportModel, held: list[Section], told: set[str]) -> str:
    """Return one line a profile: its totals, and its mode where that is new."""
    lines = []
    said = ""
    for section in held:
        if section.diff is not None:
            title, mode = title_and_mode(report, section)
            line = f"- {markup.emphasis(title, 2 * _LONGEST_LABEL)}"
            if mode not in ("", said):
                line += f" ({markup.inline(mode, 2 * _LONGEST_LABEL)})"
            if section.lead and section.lead not in told:
                line += f": {markup.inline(section.lead, _LONGEST_LINE)}"
            lines.append(line)
            said = mode
    if report.filters:
        lines.append(
            f"- only: {markup.inline(' '.join(report.filters), _LONGEST_LINE)}"
        )
    return "\n".join(lines)


def _in_short(found: list[Block], told: set[str]) -> list[Block]:
    """Return the findings, each by its title; what is told already is left out."""
    short: list[Block] = []
    # The first block is the heading.
    for block in found[1:]:
        if isinstance(block, Stanza):
            title = block.words[0]
            if title.text not in told:
                short.append(Stanza((Words(title.text, "", title.lead),)))
        elif not _warns(block):
            short.append(block)
    return short


def _warns(block: Block) -> bool:
    """Return whether a block says how to read the rest: it comes before the answer."""
    return isinstance(block, Words) and block.style == "warn"


def _tops(report: ReportModel, held: list[Section]) -> Iterator[list[Block]]:
    """Yield what moved most in the first comparison, if that is of profiles."""
    diff = held[0].diff if held else None
    if diff is None:
        return
    if is_heap(diff.new.profile):
        blocks = list(islice(next(sections(report)).body, 2))
        yield [
            b._replace(rows=b.rows[:_ROWS]) if isinstance(b, Grid) else b
            for b in blocks
        ]
        return
    for column in ("cum", "flat") if diff.is_cpu else ("cum",):
        # Dearer ones come first; cheaper ones are for where there are none.
        yield list(islice(movers(diff, report.labels, column, rows=_ROWS), 2))


def _held_by(section: Section) -> str:
    """Return what tables a profile's section has."""
    if section.diff is None:
        return ""
    if is_heap(section.diff.new.profile):
        return ": call sites"
    return ": groups, functions, payers" if section.diff.classified else ": functions"


def _cut(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Yield the pieces of a section: a table with the words around it."""
    piece: list[Block] = []
    tabled = False
    for block in blocks:
        titled = isinstance(block, Words) and block.style == "strong"
        if piece and tabled and (titled or isinstance(block, Grid)):
            yield piece
            piece, tabled = [], False
        piece.append(block)
        tabled = tabled or isinstance(block, Grid)
    if piece:
        yield piece


def _name_of(blocks: list[Block]) -> str:
    """Return what to call a piece: its title, or its table's."""
    for block in blocks:
        if isinstance(block, Words) and block.style == "strong":
            return block.text
        if isinstance(block, Grid):
            return block.headings[0] or "the first table"
    return "notes"


def _inputs(report: ReportModel) -> _Part:
    """Return what went in and what to know of it; copies are on this machine alone."""
    grid = inputs_grid(report, copies=False, headed=True)
    rows = [[Cell(cell.text.strip()) for cell in row] for row in grid.rows]
    blocks = [grid._replace(rows=tuple(rows)), *cautions(report)]
    warned = len(report.warnings)
    more = f" and {warned} warning{'' if warned == 1 else 's'}" if warned else ""
    return _Part(f"Inputs{more}", "", _drawn(blocks), 1)
