"""The report as text: what fits a screen, or all of it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from pprofdiff.analysis.causes.finding import CHANGED_ALONE
from pprofdiff.analysis.gate.model import Outcome
from pprofdiff.analysis.policy import GOOD_PART, NAMED, SEVERAL
from pprofdiff.analysis.profiles.groups import judged_groups
from pprofdiff.report.model import SCREEN, ReportModel, Scope
from pprofdiff.report.rows import (
    Heading,
    Part,
    Reason,
    Rulings,
    Section,
    SectionPart,
    Sentence,
    Table,
    tables_of,
)
from pprofdiff.report.sections import sections
from pprofdiff.report.sections.account import account_parts, of_other_ops
from pprofdiff.report.sections.changed_lines import changed_in_short, changed_parts
from pprofdiff.report.sections.changes import marks_legend
from pprofdiff.report.sections.findings import Why, why
from pprofdiff.report.sections.gc_price import gc_price_brief
from pprofdiff.report.sections.glance import at_a_glance
from pprofdiff.report.sections.inputs import cautions, inputs_in_short, inputs_table
from pprofdiff.report.sections.outcome import outcome_text
from pprofdiff.report.sections.units import ROWS, covered_by_units, unit_parts
from pprofdiff.report.sections.verdict import rulings
from pprofdiff.report.text.layout import (
    Block,
    Close,
    Paragraph,
    flags_to_try,
    laid_out,
    sentence_block,
)
from pprofdiff.report.text.lines import PAGE, Page, lines


def report_parts(
    report: ReportModel, scope: Scope = SCREEN, page: Page | None = None
) -> Iterable[Part | Block]:
    """Return the report, for a file without a `page`; a short one unless it is full."""
    return _whole(report, scope) if scope.full else short_parts(report, scope, page)


def _whole(report: ReportModel, scope: Scope) -> Iterator[Part | Block]:
    outcome = outcome_text(report.outcome)
    base, new = report.labels
    yield Sentence(f"{base} → {new}   {outcome.headline}", "outcome")
    yield from outcome.below
    if report.filters:
        yield Sentence(f"only: {' '.join(report.filters)}")
    verdict = rulings(report.verdict)
    if verdict is not None:
        yield verdict
    yield from unit_parts(report)
    yield from account_parts(report)
    yield from _why(report)
    yield from changed_parts(report)
    for section in sections(report, scope):
        yield Heading(f"{base} → {new}   {section.whole_heading}")
        if section.lead:
            yield Sentence(section.lead)
        yield from section.parts
    yield from cautions(report)
    yield inputs_table(report, folders=True)
    yield _next_steps(report)


def _why(report: ReportModel) -> Iterator[Part]:
    explained = why(report)
    if explained:
        yield Heading(explained.heading)
        yield from explained.warnings
        yield from explained.reasons
        yield from explained.rest


MOST = 60
"""Maximum lines of the report, however wide they are."""


class _Room(NamedTuple):
    causes: int = 3
    numbers: int = 2
    title: int = 2
    advice: bool = True
    units: int = ROWS
    account: int = 6
    changed: int = 3
    categories: int = 4
    rows: int = 5
    gc: bool = True
    others: int = 8
    warnings: int = 8
    rules: int = 6
    also: int = 2


_FIRST = _Room()
_IN_FULL = 6
# Warnings that say how to read values, and rarely change what they mean.
_MINOR = frozenset(
    ("input", "merged-input", "shared-units", "since-start", "trace-short")
)
_ORDER: tuple[Outcome, ...] = ("fail", "cannot tell", "no data", "pass")
# Applied in turn until the report fits: what a reader misses least goes first.
_LESS: tuple[dict[str, Any], ...] = (
    {"gc": False},
    {"warnings": 4},
    {"also": 1, "title": 2},
    {"categories": 2, "warnings": 3},
    {"account": 4, "units": 5},
    {"changed": 1, "rules": 4, "categories": 0},
    {"warnings": 2},
    {"numbers": 1, "others": 6},
    {"advice": False, "others": 4},
    {"rows": 3, "account": 3, "others": 3, "units": 3},
    {"also": 0, "rules": 3},
    {"changed": 0, "warnings": 1},
    {"rows": 2, "others": 1, "units": 1},
    {"causes": 2},
    {"others": 0},
)


def short_parts(
    report: ReportModel, scope: Scope, page: Page | None = None
) -> list[Part | Block]:
    """Return the report in `MOST` lines: parts shrink, in turn, until it fits.

    Lines are for `page`, or for a file if None. The order is outcome, verdict of
    the gate, account, causes, what changed, the other sections at a glance, warnings,
    inputs, and what to type for the rest.
    """
    page = page or PAGE
    shown = list(sections(report, scope, whole=False))
    # A report of interleaved benchmarks is short: nothing in it needs to be cut.
    most = _FIRST
    if report.comparison.measured:
        most = _FIRST._replace(numbers=_IN_FULL, title=_IN_FULL, also=_IN_FULL)
    rooms = [*accumulate(_LESS, lambda room, less: room._replace(**less), initial=most)]

    def parts(room: _Room) -> list[Part | Block]:
        return list(_parts(report, shown, room, page))

    def spare(some: Sequence[Part | Block]) -> int:
        return MOST - sum(1 for _ in lines(laid_out(some), page))

    whole = parts(most)
    if spare(whole) >= 0:
        return whole
    # Each room leaves at least as many lines as the one before: few have to be tried.
    at = bisect_left(rooms, 0, lo=1, key=lambda room: spare(parts(room)))
    return parts(rooms[min(at, len(_LESS))])


def _parts(
    report: ReportModel, of_report: Sequence[Section], room: _Room, page: Page
) -> Iterator[Part | Block]:
    yield from _answer(report)
    verdict = rulings(report.verdict)
    if verdict is not None:
        yield from _verdict(verdict, room)
    of_report = [s for s in of_report if not covered_by_units(report, s)]
    units = list(unit_parts(report, room.units, brief=True))
    # Parts of a change that may be chance are chance as well.
    undecided = report.comparison.measured and report.outcome.verdict == "unknown"
    account = list[SectionPart]()
    if not (undecided or of_other_ops(report)):
        account = list(account_parts(report, room.account))
    explained = why(report, room.causes)
    averages = _averages(report, of_report, explained)
    below, tables = _measured(report, of_report, room, said=bool(averages))
    legend = list(marks_legend(tables_of((*units, *account, *tables))))
    yield from _with_legend(list(_close(units)), [] if tables else legend)
    yield from _close(account)
    yield from _causes(explained, averages, room, page)
    yield from _changed(report, room)
    yield from _with_legend(below, legend if tables else [])
    yield from _warnings(report, room)
    yield from _inputs(report)
    yield _next_steps(report, short=True)


def _averages(report: ReportModel, of_report: Sequence[Section], explained: Why) -> str:
    """Return what amounts of causes are, if they are scaled or averages of several."""
    turns = report.comparison.turns
    found = [reason.finding for reason in explained.reasons]
    first = report.profiles[0].normalization if report.profiles else None
    scaled = first is not None and first.mode in ("share", "about")
    if of_report and scaled and not all(one.unit for one in found):
        return f"Amounts: {of_report[0].mode}."
    amounts = any(f.evidence and f.id != CHANGED_ALONE for f in found)
    of_all = amounts and not any(f.unit for f in found)
    if not (of_report and of_all and turns is not None and turns.several):
        return ""
    return f"Per-op amounts are {of_report[0].mode}."


def _measured(
    report: ReportModel, of_report: Sequence[Section], room: _Room, *, said: bool
) -> tuple[list[Block], list[Table]]:
    """Return the first section and the others at a glance, and the tables in both.

    `said` is whether the causes say how numbers were made comparable.
    """
    if not of_report:
        return [], []
    moved = list(of_report[0].short_parts(room.rows, room.categories))
    # What measured benchmarks and allocs profiles say is in the headline.
    rest = [] if report.comparison.measured else of_report[1:]
    preferred = sorted(rest, key=lambda section: not section.instead)[: room.others]
    others = [section for section in rest if section in preferred]
    glance = list(at_a_glance(report, others))
    gc = list(gc_price_brief(report)) if room.gc else []
    blocks = [
        *_first_section(report, of_report[0], moved, said=said),
        *_close(gc),
        *_close(glance),
    ]
    return blocks, tables_of((*moved, *gc, *glance))


def _answer(report: ReportModel) -> Iterator[Part | Block]:
    outcome = outcome_text(report.outcome)
    headline = f"{' → '.join(report.labels)}   {outcome.headline}"
    below = [sentence_block(sentence) for sentence in outcome.below]
    if report.filters:
        below.append(Paragraph(f"only: {' '.join(report.filters)}"))
    yield Close((Paragraph(headline, "strong"), *below))


def _verdict(verdict: Rulings, room: _Room) -> Iterator[Block]:
    rules = sorted(verdict.verdict.rules, key=lambda rule: _ORDER.index(rule.outcome))
    few = verdict.verdict._replace(rules=tuple(rules[: room.rules]))
    blocks = list(laid_out([verdict._replace(verdict=few)]))
    if left := Counter(rule.outcome for rule in rules[room.rules :]):
        left_over = ", ".join(f"{count} {outcome}" for outcome, count in left.items())
        blocks.append(Paragraph(f"and {left_over}, with --full", "faint"))
    yield Close(tuple(blocks))


def _close(parts: Iterable[Part | Block]) -> Iterator[Block]:
    blocks = list(laid_out(parts))
    if blocks:
        yield Close(tuple(blocks))


def _causes(explained: Why, averages: str, room: _Room, page: Page) -> Iterator[Block]:
    paragraphs = [Paragraph(explained.heading, "strong")] if explained else []
    paragraphs += [Paragraph(averages, "faint")] if averages else []
    paragraphs += [sentence_block(sentence, most=2) for sentence in explained.warnings]
    reasons = explained.reasons
    firsts = [i for i, reason in enumerate(reasons) if not reason.level]
    for first, end in pairwise((*firsts, len(reasons))):
        paragraphs += _cause(reasons[first], reasons[first + 1 : end], room, page)
    if room.also:
        paragraphs += [sentence_block(rest, most=room.also) for rest in explained.rest]
    yield from _close(paragraphs)


def _cause(
    cause: Reason, below: Sequence[Reason], room: _Room, page: Page
) -> Iterator[Paragraph]:
    lead = f"{cause.lead} "
    indent = " " * len(lead)
    finding = cause.finding
    yield Paragraph(cause.title, cause.style, lead, most=room.title, title=True)
    follows = _follows(below, indent)
    # What a cause does itself is half of what is said of it.
    left = max(room.numbers - len(list(lines(follows, page))), room.numbers // 2)
    if finding.text and left > 0:
        yield Paragraph(finding.text, "", indent, most=left)
    yield from follows
    # Functions that changed have lines of their own each.
    shown = cause.sentences[: NAMED if finding.id == CHANGED_ALONE else 1]
    if finding.id != CHANGED_ALONE:
        # Lines that hold the change may be in several functions.
        _, title = cause.finding.said_of
        shown += tuple(
            note for note in cause.sentences[1:2] if note.amount or note.is_of(title)
        )
    for note in shown:
        yield Paragraph(note.text, "", indent, most=3)
    if finding.advice and room.advice:
        yield Paragraph(finding.advice, "faint", f"{indent}→ ", most=1)


def _follows(below: Sequence[Reason], indent: str) -> list[Paragraph]:
    """Return the largest consequences of a cause, and the number of others."""
    if not below:
        return []
    whole = sum(abs(one.finding.explains or 0.0) for one in below)
    large = [
        one
        for one in below[1:SEVERAL]
        if abs(one.finding.explains or 0.0) >= GOOD_PART * whole > 0
    ]
    shown = [below[0], *large]
    left = [one for one in below if one not in shown]
    if len(left) == 1 and left[0].finding.mark != "noise":
        shown, left = list(below), []
    texts = [
        f"{one.finding.title} ({one.amount})" if one.amount else one.finding.title
        for one in shown
    ]
    if left:
        texts[-1] += f" (+{len(left)} smaller)"
    return [Paragraph(one, "", f"{indent}↳ ", most=2, title=True) for one in texts]


def _changed(report: ReportModel, room: _Room) -> Iterator[Block]:
    parts: list[Part] = []
    for part in changed_in_short(report):
        if not isinstance(part, Table):
            parts.append(part)
        elif room.changed:
            parts.append(part.first(room.changed))
    yield from _close(parts)


def _with_legend(
    blocks: Sequence[Block], legend: Sequence[Sentence]
) -> Iterator[Block]:
    """Yield blocks, with the meaning of their marks right below the last one."""
    yield from blocks[:-1]
    yield from _close([*blocks[-1:], *map(sentence_block, legend)] if blocks else [])


def _first_section(
    report: ReportModel, section: Section, parts: Sequence[SectionPart], *, said: bool
) -> Iterator[Block]:
    """Yield the title and parts of the first section; `said` is as for `_measured`."""
    head: list[Part] = [Heading(section.heading if said else section.whole_heading)]
    matters = any(f.severity != "info" for f in report.findings.found)
    if section.lead and not matters:
        head.append(Sentence(section.lead))
    elif report.comparison.measured and not tables_of(parts):
        # There is nothing that the heading would be the unit of.
        yield from _close(parts)
        return
    yield from _close([*head, *parts[:1]])
    for part in parts[1:]:
        yield from _close([part])


def _warnings(report: ReportModel, room: _Room) -> Iterator[Block]:
    ranked = sorted(report.warnings, key=lambda caveat: caveat.id in _MINOR)
    every = list(cautions(report._replace(warnings=tuple(ranked))))
    shown = [sentence_block(sentence, most=2) for sentence in every[: room.warnings]]
    if left := len(every) - len(shown):
        shown.append(sentence_block(Sentence(f"{left} more with --full.", "warning")))
    yield from _close(shown)


def _inputs(report: ReportModel) -> Iterator[Block]:
    listed = list(inputs_in_short(report))
    wide = max((len(label) for label, _ in listed), default=0)
    yield from _close(
        [
            Paragraph(text, "faint", f"{label.ljust(wide)}  ", most=1)
            for label, text in listed
        ]
    )


def _next_steps(report: ReportModel, *, short: bool = False) -> Block:
    """Return flags that show more of what this report is about."""
    first = report.profiles[0] if report.profiles else None
    flags = {"--full": "all tables"} if short else {}
    if first is not None and first.is_cpu:
        groups = judged_groups(first) if first.grouped else []
        moved = [one for one in groups if one.noise is False and one.id != "user"]
        if moved:
            top = max(moved, key=lambda group: abs(group.delta))
            flags[f"--explain {top.id}"] = "its stacks"
        if first.normalization.mode == "per_second":
            flags["--rps BASE:NEW"] = "cost per op"
    if report.comparison.trace is not None:
        flags["--state runnable"] = "or blocked, syscall, running"
    return flags_to_try(flags | {"-o diff.json": "every row"})
