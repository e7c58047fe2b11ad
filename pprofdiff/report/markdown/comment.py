"""The comment on a pull request: the answer in sight, tables folded, never too long.

The tables are those of the text report, so that the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote

from pprofdiff.report.markdown import markup
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import Reason, Section, SectionPart, Sentence, Table
from pprofdiff.report.sections import sections
from pprofdiff.report.sections.account import account_parts
from pprofdiff.report.sections.answer import Answer, answer
from pprofdiff.report.sections.changed_lines import changed_parts
from pprofdiff.report.sections.findings import why
from pprofdiff.report.sections.inputs import cautions, inputs_table
from pprofdiff.report.sections.verdict import rulings, unread_warnings, verdict_lines
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


class _Piece(NamedTuple):
    """What is shown or left out as a whole: its fold ("" for none), its name, itself.

    Pieces of a lower `rank` are kept first.
    """

    fold: str
    name: str
    text: str
    rank: int
    opened: bool = False


def render(report: ReportModel) -> str:
    """Return the comment as Markdown, of `MOST` characters or fewer."""
    pieces = list(_pieces(report))
    kept: set[int] = set()
    for i in sorted(range(len(pieces)), key=lambda i: pieces[i].rank):
        trial = [piece for j, piece in enumerate(pieces) if j in kept or j == i]
        if len(_page(report, trial)) <= MOST - _FOR_NOTE:
            kept.add(i)
    shown = [piece for i, piece in enumerate(pieces) if i in kept]
    left = [piece for i, piece in enumerate(pieces) if i not in kept]
    return _page(report, shown) + _left_out(left)


def _pieces(report: ReportModel) -> Iterator[_Piece]:
    """Yield the comment in the order of reading."""
    shown_sections = list(sections(report))
    told = why(report)
    first = answer(report, told, shown_sections)
    yield from _verdict(report)
    warnings = (*unread_warnings(report.verdict), *told.warnings)
    before = [markup.render(warning) for warning in warnings]
    yield _Piece("", "the answer", "\n\n".join([*before, _answer(first)]), 0)
    totals = _totals(report, shown_sections, first)
    if totals:
        yield _Piece("", "totals", totals, 0)
    others = [reason for reason in told.reasons if reason is not first.reason]
    short = _in_short(others, told.rest)
    if short:
        yield _Piece("", "other findings", short, 0)
    account = list(account_parts(report))
    if account:
        yield _Piece("", "account", _drawn(account), 0)
    changed = list(changed_parts(report))
    if changed:
        yield _Piece("", "changed lines", _drawn(changed), 1)
    for top in _tops(shown_sections):
        yield _Piece("", _name_of([top]), markup.render(top), 0)
    if any(r.finding.text or r.finding.advice or r.notes for r in others):
        yield _Piece("The other findings in full", "", _listed(others), 2)
    for number, section in enumerate(shown_sections):
        contents = f": {section.contents}" if section.contents else ""
        alone = number == 0 and section.diff is None
        for parts in _cut(section.parts):
            text = _drawn(parts)
            title = f"{section.heading}{contents}"
            yield _Piece(title, _name_of(parts), text, 3, opened=alone)
    verdict = rulings(report.verdict)
    if verdict is not None:
        yield _Piece("Rules of the gate", "", markup.render(verdict), 2)
    yield _inputs(report)


def _page(report: ReportModel, pieces: Iterable[_Piece]) -> str:
    """Return these pieces under the marker, those of one fold together."""
    base, new = report.labels
    title = markup.inline(f"{base} → {new}", _LONGEST_LABEL * 2)
    texts = [_marker(report), f"### {title}"]
    fold = ""
    for piece in pieces:
        if piece.fold != fold:
            if fold:
                texts.append("</details>")
            if piece.fold:
                tag = "details open" if piece.opened else "details"
                words = markup.summary(piece.fold)
                texts.append(f"<{tag}>\n<summary>{words}</summary>")
            fold = piece.fold
        texts.append(piece.text)
    if fold:
        texts.append("</details>")
    return "\n\n".join(texts) + "\n"


def _marker(report: ReportModel) -> str:
    """Return the hidden line by which a workflow finds its comment again.

    It depends on the two labels alone. Quoted, they cannot end an HTML comment.
    """
    words = [quote(printable(label)[:_LONGEST_LABEL]) for label in report.labels]
    return f"<!-- pprofdiff {' '.join(words)} -->"


def _left_out(pieces: list[_Piece]) -> str:
    """Return which pieces did not fit, and where they are; "" where all did."""
    if not pieces:
        return ""
    names = [": ".join(filter(None, (piece.fold, piece.name))) for piece in pieces]
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


def _drawn(parts: Iterable[SectionPart | Reason]) -> str:
    return "\n\n".join(map(markup.render, parts))


def _answer(first: Answer) -> str:
    """Return the answer: a sentence, and what stands behind it."""
    texts = [markup.emphasis(first.outcome, markup.LONGEST_PARAGRAPH)]
    texts += [markup.render(sentence) for sentence in first.below]
    texts.append(markup.emphasis(first.title, markup.LONGEST_PARAGRAPH))
    if first.reason is not None:
        finding = first.reason.finding
        if finding.text:
            texts.append(markup.paragraph(finding.text))
        texts += map(markup.noted, first.reason.notes)
        if finding.advice:
            texts.append(markup.paragraph(finding.advice, "→"))
    return "\n\n".join(texts)


def _listed(reasons: Sequence[Reason]) -> str:
    """Return findings in full; those of one line stand close together."""
    text, close = "", False
    for reason in reasons:
        finding = reason.finding
        line = not (finding.text or finding.advice or reason.notes)
        gap = "\n" if close and line else "\n\n"
        text += f"{gap if text else ''}{markup.render(reason)}"
        close = line
    return text


def _verdict(report: ReportModel) -> Iterator[_Piece]:
    """Yield the gate's verdict, with each rule that did not pass."""
    verdict = rulings(report.verdict)
    if verdict is not None:
        told = f"**Verdict** {markup.inline(verdict.summary)}\n\n"
        told += "\n".join(
            f"- {markup.inline(rule, _LONGEST_LINE)}"
            for rule in verdict_lines(report.verdict)
        )
        yield _Piece("", "verdict", told.rstrip(), 0)


def _totals(
    report: ReportModel, shown_sections: Sequence[Section], first: Answer
) -> str:
    """Return one line a profile: its totals, and its mode where that is new."""
    lines = []
    said = ""
    for section in shown_sections:
        if section.diff is None:
            continue
        line = f"- {markup.emphasis(section.heading, 2 * _LONGEST_LABEL)}"
        if section.mode not in ("", said):
            line += f" ({markup.inline(section.mode, 2 * _LONGEST_LABEL)})"
        if section.lead and section.lead != first.title:
            line += f": {markup.inline(section.lead, _LONGEST_LINE)}"
        lines.append(line)
        said = section.mode
    if report.filters:
        lines.append(
            f"- only: {markup.inline(' '.join(report.filters), _LONGEST_LINE)}"
        )
    return "\n".join(lines)


def _in_short(others: Sequence[Reason], rest: Sequence[Sentence]) -> str:
    """Return findings that are not the answer, each by its title, and what is left."""
    texts = []
    if others:
        texts = [markup.emphasis("Other findings")]
        texts.append("\n".join(map(markup.in_short, others)))
    return "\n\n".join([*texts, *map(markup.render, rest)])


def _tops(shown_sections: Sequence[Section]) -> Iterator[SectionPart]:
    """Yield what moved most in the first comparison, if that is of profiles.

    Dearer ones come first of their key; cheaper ones are for where there are none.
    """
    if not shown_sections:
        return
    first = shown_sections[0]
    for key in first.tops:
        parts = (p for p in first.parts if isinstance(p, Table | Sentence))
        part = next((part for part in parts if part.key == key), None)
        if part is not None:
            yield part.first(_ROWS) if isinstance(part, Table) else part


def _cut(parts: Iterable[SectionPart]) -> Iterator[list[SectionPart]]:
    """Yield the pieces of a section: a table with the words around it."""
    piece: list[SectionPart] = []
    tabled = False
    for part in parts:
        if tabled and isinstance(part, Table):
            yield piece
            piece, tabled = [], False
        piece.append(part)
        tabled = tabled or isinstance(part, Table)
    if piece:
        yield piece


def _name_of(parts: Iterable[SectionPart]) -> str:
    """Return what to call a piece: its table's title, or that of its first column."""
    for part in parts:
        if isinstance(part, Table):
            return part.heading or part.columns[0].text or "the first table"
    return "notes"


def _inputs(report: ReportModel) -> _Piece:
    """Return what went in and what to know of it; copies are on this machine alone."""
    table = inputs_table(report, copies=False, headed=True)
    parts: list[SectionPart] = [table, *cautions(report)]
    warned = len(report.warnings)
    more = f" and {warned} warning{'' if warned == 1 else 's'}" if warned else ""
    return _Piece(f"Inputs{more}", "", _drawn(parts), 1)
