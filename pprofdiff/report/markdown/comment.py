"""The pull request comment: the answer, and folded tables, within GitHub's limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, takewhile
from typing import NamedTuple
from urllib.parse import quote

from msgspec.structs import replace

from pprofdiff.analysis.causes.table import changed
from pprofdiff.analysis.profiles.scaling import MODES
from pprofdiff.report.markdown import markup
from pprofdiff.report.markdown.links import flame_url, lines_of
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import (
    Reason,
    Section,
    SectionPart,
    Sentence,
    Table,
    pieces,
    tables_of,
)
from pprofdiff.report.sections import sections
from pprofdiff.report.sections.account import account_parts, of_other_ops
from pprofdiff.report.sections.bisection import bisection_parts
from pprofdiff.report.sections.changed_lines import changed_in_short
from pprofdiff.report.sections.changes import capitalized, marks_legend
from pprofdiff.report.sections.findings import Answer, Why, answer, why
from pprofdiff.report.sections.inputs import cautions, inputs_table
from pprofdiff.report.sections.units import unit_parts
from pprofdiff.report.sections.verdict import rulings, unread_warnings, verdict_lines
from pprofdiff.units import many, printable

# GitHub rejects comments of more than 65,536 characters.
MOST = 60_000
# Characters reserved for the list of what was left out.
_FOR_NOTE = 3_000
_NAMED = 6
_LONGEST_NAME = 60
_ROWS = 5
_UNITS = 20
_LONGEST_LABEL = 100
_LONGEST_LINE = 1_000


class _Piece(NamedTuple):
    """What is kept or left out as a whole: its fold ("" for none), name, and text.

    Lower ranks are kept first. `section` is what the name belongs to, if not the fold.
    """

    fold: str
    name: str
    text: str
    rank: int
    opened: bool = False
    section: str = ""


def render(report: ReportModel) -> str:
    """Return the comment as Markdown, at most `MOST` characters."""
    every = list(_pieces(report))
    kept: set[int] = set()
    for i in sorted(range(len(every)), key=lambda i: every[i].rank):
        trial = [piece for j, piece in enumerate(every) if j in kept or j == i]
        if len(_page(report, trial)) <= MOST - _FOR_NOTE:
            kept.add(i)
    shown = [piece for i, piece in enumerate(every) if i in kept]
    left = [piece for i, piece in enumerate(every) if i not in kept]
    return _page(report, shown) + _left_out(left)


def _pieces(report: ReportModel) -> Iterator[_Piece]:
    shown_sections = list(sections(report))
    explained = why(report)
    first = answer(report, explained, shown_sections)
    yield from _search(report)
    if _still(report, explained):
        yield from _quiet(report, shown_sections, explained, first)
        return
    yield _Piece("", "the labels", f"### {_title(report)}", 0)
    warnings = (*unread_warnings(report.verdict), *explained.warnings)
    strong = markup.emphasis(first.outcome, markup.LONGEST_PARAGRAPH)
    texts = (*map(markup.render, warnings), strong, *map(markup.render, first.below))
    yield _Piece("", "the outcome", "\n\n".join(texts), 0)
    if units := list(unit_parts(report, _UNITS)):
        yield _Piece("", "units", _drawn(units), 0)
    yield from _verdict(report)
    yield _Piece("", "the answer", _cause(first), 0)
    others = [reason for reason in explained.reasons if reason is not first.reason]
    if short := _in_short(others, explained.rest):
        yield _Piece("", "other findings", short, 0)
    if totals := _totals(report, shown_sections, first):
        yield _Piece("", "totals", totals, 0)
    yield from _support(report, shown_sections, first)
    said = filter(_says_more, others)
    if more := "\n\n".join(map(markup.rest_of, said)):
        yield _Piece("More on the other findings", "", more, 2)
    if of_other_ops(report):
        for parts in pieces(account_parts(report)):
            yield _Piece("What adds up, from one trace per side", "", _drawn(parts), 3)
    for number, (section, mode) in enumerate(_detailed(report, shown_sections, first)):
        contents = f": {section.contents}" if section.contents else ""
        alone = number == 0 and section.diff is None
        for at, parts in enumerate(pieces(section.parts)):
            above = [mode] if mode and not at else []
            drawn = (_linked(report, section, part) for part in parts)
            text = "\n\n".join((*above, *drawn))
            title = f"{section.heading}{contents}"
            yield _Piece(title, _name_of(parts), text, 3, opened=alone)
    yield from _rules(report, "Rules of the gate")
    title, inputs = _inputs(report)
    yield _Piece(title, "", inputs, 1)


def _search(report: ReportModel) -> Iterator[_Piece]:
    if report.bisection is not None:
        parts = list(bisection_parts(report.bisection))
        first = list(takewhile(lambda part: isinstance(part, Sentence), parts))
        yield _Piece("", "the commit", _drawn(first), 0)
        if rest := parts[len(first) :]:
            yield _Piece("The measured commits", "", _drawn(rest), 1)


def _still(report: ReportModel, explained: Why) -> bool:
    """Return whether all is read and nothing changed; noise alone is no change."""
    decided = report.outcome.verdict in ("same", "unknown")
    passed = not report.verdict.rules or report.verdict.outcome == "pass"
    if not decided or not passed or report.verdict.unread:
        return False
    if explained.warnings or report.outcome.contrary or any(changed_in_short(report)):
        return False
    return not changed(report.comparison, report.findings)


def _quiet(
    report: ReportModel,
    shown_sections: Sequence[Section],
    explained: Why,
    first: Answer,
) -> Iterator[_Piece]:
    """Yield the outcome, and below it one fold with everything that did not change."""
    strong = markup.emphasis(first.outcome, markup.LONGEST_PARAGRAPH)
    outcome, below = f"{_title(report)}: {strong}", first.below
    if report.outcome.verdict == "unknown" and below:
        # The last sentence says what would decide it.
        outcome, below = f"{outcome} {markup.render(below[-1])}", below[:-1]
    yield _Piece("", "the outcome", outcome, 0)
    passed = "Gate passed. " if report.verdict.rules else ""
    fold = f"{passed}{_nothing(shown_sections)}"
    totals = _totals(report, shown_sections, first._replace(title=""))
    for name, text in (("basis", _drawn(below)), ("totals", totals)):
        if text:
            yield _Piece(fold, name, text, 0)
    if explained.reasons:
        yield _Piece(fold, "findings", _listed(explained.reasons), 1)
    untitled = first._replace(title="")
    for section, mode in _detailed(report, shown_sections, untitled):
        heading = markup.emphasis(section.heading, 2 * _LONGEST_LABEL)
        heading = "\n\n".join(filter(None, (heading, mode)))
        for parts in pieces(section.parts):
            text = "\n\n".join(filter(None, (heading, _drawn(parts))))
            yield _Piece(fold, _name_of(parts), text, 3, section=section.heading)
            heading = ""
    yield from _rules(report, fold)
    inputs, text = _inputs(report)
    yield _Piece(fold, inputs, f"{markup.emphasis(inputs)}\n\n{text}", 1)


def _nothing(shown_sections: Sequence[Section]) -> str:
    """Return what did not change; without a noise model, what has no finding."""
    judged: dict[bool, list[str]] = {True: [], False: []}
    for section in shown_sections:
        known = section.diff is None or section.diff.model is not None
        for table in section.tables:
            at = table.place("delta")
            known &= at < 0 or not any(
                row.cells[at].mark in ("more", "less") for row in table.rows
            )
        name = section.short or section.title
        if name not in judged[known]:
            judged[known].append(name)
    said = ("Nothing changed beyond noise", judged[True]), ("no finding", judged[False])
    text = "; ".join(f"{words}: {', '.join(names)}" for words, names in said if names)
    return f"{capitalized(text)}."


def _rules(report: ReportModel, fold: str) -> Iterator[_Piece]:
    verdict = rulings(report.verdict)
    if verdict is not None:
        yield _Piece(fold, "", markup.render(verdict), 2)


def _title(report: ReportModel) -> str:
    base, new = report.labels
    return markup.inline(f"{base} → {new}", _LONGEST_LABEL * 2)


def _page(report: ReportModel, shown: Iterable[_Piece]) -> str:
    texts = [_marker(report)]
    for fold, some in groupby(shown, lambda piece: piece.fold):
        first, *rest = some
        if fold:
            tag = "details open" if first.opened else "details"
            texts.append(f"<{tag}>\n<summary>{markup.summary(fold)}</summary>")
        texts += (piece.text for piece in (first, *rest))
        if fold:
            texts.append("</details>")
    return "\n\n".join(texts) + "\n"


def _marker(report: ReportModel) -> str:
    """Return the hidden line by which a workflow finds its comment again."""
    words = [quote(printable(label)[:_LONGEST_LABEL]) for label in report.labels]
    return f"<!-- pprofdiff {' '.join(words)} -->"


def _left_out(left: list[_Piece]) -> str:
    """Return which pieces did not fit and where to find them, "" if all did."""
    if not left:
        return ""
    names = [
        ": ".join(filter(None, (piece.section or piece.fold, piece.name)))
        for piece in left
    ]
    listed = [
        f"- {markup.inline(' '.join(name.split()), _LONGEST_NAME)}\n"
        for name in names[:_NAMED]
    ]
    if len(names) > _NAMED:
        listed.append(f"- and {len(names) - _NAMED} more\n")
    return (
        f"\nLeft out, as a comment has room for {MOST:,} characters:\n\n"
        f"{''.join(listed)}\n"
        "`pprofdiff … -o report.json` has all of it.\n"
    )


def _drawn(parts: Iterable[SectionPart | Reason]) -> str:
    return "\n\n".join(map(markup.render, parts))


def _cause(first: Answer) -> str:
    texts = [markup.emphasis(first.title, markup.LONGEST_PARAGRAPH)]
    if first.reason is not None:
        texts += markup.details(first.reason)
    return "\n\n".join(texts)


def _says_more(reason: Reason) -> bool:
    return bool(reason.finding.text or reason.finding.advice or reason.sentences)


def _listed(reasons: Sequence[Reason]) -> str:
    """Return findings in full; one-line findings have no blank line between them."""
    text, close = "", False
    for reason in reasons:
        line = not _says_more(reason)
        gap = "\n" if close and line else "\n\n"
        text += f"{gap if text else ''}{markup.render(reason)}"
        close = line
    return text


def _verdict(report: ReportModel) -> Iterator[_Piece]:
    verdict = rulings(report.verdict)
    if verdict is not None:
        failed = verdict_lines(report.verdict)
        rules = "\n".join(f"- {markup.inline(one, _LONGEST_LINE)}" for one in failed)
        text = f"**Verdict** {markup.inline(verdict.summary)}\n\n{rules}"
        yield _Piece("", "verdict", text.rstrip(), 0)


def _totals(
    report: ReportModel, shown_sections: Sequence[Section], first: Answer
) -> str:
    """Return one line per profile with totals, with its mode if not yet stated."""
    lines = []
    said = {""}
    for section in shown_sections:
        if not (lead := _lead(section, first)):
            continue
        line = f"- {markup.emphasis(section.heading, 2 * _LONGEST_LABEL)}"
        mode = _mode(report, section)
        if mode not in said:
            line += f" ({markup.inline(mode, 2 * _LONGEST_LABEL)})"
        lines.append(f"{line}: {markup.inline(lead, _LONGEST_LINE)}")
        said.add(mode)
    if report.filters:
        only = markup.inline(" ".join(report.filters), _LONGEST_LINE)
        lines.append(f"- only: {only}")
    return "\n".join(lines)


def _lead(section: Section, first: Answer) -> str:
    lead = "" if section.diff is None else section.lead
    return "" if lead == first.title else lead


def _detailed(
    report: ReportModel, shown_sections: Sequence[Section], first: Answer
) -> Iterator[tuple[Section, str]]:
    """Yield the sections to show in full, each with its mode if not yet stated."""
    said = {"", *(_mode(report, s) for s in shown_sections if _lead(s, first))}
    for section in shown_sections:
        if section.unchanged:
            continue
        mode = "" if section.diff is None else _mode(report, section)
        words = markup.paragraph(f"{capitalized(mode)}.")
        yield section, "" if mode in said else words
        said.add(mode)


def _in_short(others: Sequence[Reason], rest: Sequence[Sentence]) -> str:
    """Return the titles of findings other than the answer, and what is left."""
    texts = []
    if follows := list(takewhile(lambda reason: reason.level, others)):
        listed = [
            markup.in_short(reason._replace(level=reason.level - 1, number=0))
            for reason in follows
        ]
        texts += [markup.emphasis("Follows from it"), "\n".join(listed)]
    if rest_of := others[len(follows) :]:
        listed = [markup.in_short(reason) for reason in rest_of]
        texts += [markup.emphasis("Other findings"), "\n".join(listed)]
    return "\n\n".join([*texts, *map(markup.render, rest)])


def _mode(report: ReportModel, section: Section) -> str:
    """Return how the sides were made comparable, unless the outcome says why."""
    shares = report.outcome.compared == "shares"
    if shares and section.compared.normalization.mode == "composition":
        return MODES["composition"]
    return section.mode


def _support(
    report: ReportModel, shown_sections: Sequence[Section], first: Answer
) -> Iterator[_Piece]:
    """Yield account and changed lines; without a cause, what changed most."""
    account, lines = list(account_parts(report)), list(changed_in_short(report))
    if of_other_ops(report):
        account = []
    if account:
        yield _Piece("", "account", _drawn(account), 0)
    if lines:
        yield _Piece("", "changed lines", _drawn(lines), 1)
    above = tables_of([*account, *lines])
    if first.reason is None and shown_sections:
        for table in _tops(shown_sections[0]):
            above.append(table)
            text = _linked(report, shown_sections[0], table)
            yield _Piece("", _name_of([table]), text, 0)
    if legend := _drawn(marks_legend(above)):
        yield _Piece("", "what the marks mean", legend, 0)


def _tops(section: Section) -> Iterator[Table]:
    """Yield what changed most in a comparison of profiles: costlier, then cheaper."""
    for key in section.tops:
        moved = [table for table in section.tables if table.key == key]
        for table in moved:
            title = f"{table.title}, {section.measure}"
            yield replace(table.first(_ROWS), title=title)
        if moved:
            return


def _linked(report: ReportModel, section: Section, part: SectionPart) -> str:
    """Return a part of a section; functions lead to their lines, and to the page."""
    diff, page = section.diff, report.page_url
    if diff is None or not isinstance(part, Table) or part.key not in section.tops:
        return markup.render(part)
    names = [row.key for row in part.rows]
    lines, urls = lines_of(names, diff, report.sources), {}
    for name in names:
        if page or name in lines:
            view = flame_url(page, diff, name) if page else ""
            urls[name] = markup.Urls(lines.get(name, ""), view)
    return markup.table(part, urls)


def _name_of(parts: Iterable[SectionPart]) -> str:
    for table in tables_of(parts):
        return table.heading or table.columns[0].text or "the first table"
    return "notes"


def _inputs(report: ReportModel) -> tuple[str, str]:
    table = inputs_table(report, copies=False, headed=True)
    warned = len(report.warnings)
    more = f" and {many(warned, 'warning')}" if warned else ""
    return f"Inputs{more}", _drawn((table, *cautions(report)))
