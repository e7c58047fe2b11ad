"""The answer to "why": what changed and why, the finding that explains most first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from pprofdiff.analysis.causes.finding import (
    CHANGED_ALONE,
    Explained,
    Finding,
    Findings,
    only_counted,
)
from pprofdiff.analysis.causes.wording import listed
from pprofdiff.analysis.control.totals import total_noise
from pprofdiff.analysis.policy import COVERS, SEVERAL
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import change_scale_of, scale_of
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import MARKS, Reason, Section, Sentence, SourceNote
from pprofdiff.report.sections.changed_lines import source_notes
from pprofdiff.report.sections.outcome import outcome_text
from pprofdiff.units import Scale

if TYPE_CHECKING:
    from pprofdiff.model.source import Commit

# Findings with a paragraph; the rest, and any of severity info, only have a title.
_SHOWN = 5
_UNTIMED = "How much of the change in time these allocations explain is left open."
_NO_CAUSE = "No function or allocation site changed significantly by itself."
# Comes before the others: it says how to read them.
_FIRST = "not-comparable"


class Why(Struct, frozen=True):
    """Findings as the report shows them; all fields are empty if there are none.

    `warnings` say how to read the rest, `reasons` are shown in full, `rest` names what
    else changed and how much all causes explain together.
    """

    warnings: tuple[Sentence, ...] = ()
    reasons: tuple[Reason, ...] = ()
    rest: tuple[Sentence, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is any finding."""
        return bool(self.warnings or self.reasons or self.rest)

    @property
    def heading(self) -> str:
        """The heading: code that changed is no reason by itself."""
        alone = [one.finding.id == CHANGED_ALONE for one in self.reasons]
        return "Changed code" if alone and all(alone) else "Why"

    @property
    def causes(self) -> list[Finding]:
        """The numbered causes, in order."""
        return [one.finding for one in self.reasons if one.number and not one.level]


def why(report: ReportModel, most: int = _SHOWN) -> Why:
    """Return what changed and why: up to `most` causes, and the titles of the rest."""
    findings = report.findings
    cpu = report.comparison.cpu
    found = [f for f in findings.found if f.id != _FIRST]
    shown = _shown(findings, found, most)
    rest = []
    causes = (f for f in shown if f.severity != "info")
    claimed = any(f.explains and f.mark != "noise" for f in causes)
    added = cpu if claimed and cpu is not None and _adds_up(report, cpu) else None
    ids = _ids(found)
    others = [
        (_clause(report, f), "" if f.parent in ids else _part(f, added))
        for f in found
        if f not in shown
    ]
    if others:
        # A short report ends with the first ones: those of the sum.
        others.sort(key=lambda one: not one[1])
        clauses = (_with_part(*one) for one in others)
        rest.append(Sentence(f"{'; '.join(clauses)}.", "also"))
    if findings.explained is not None and added is not None:
        whole = len(shown) == len(_shown(findings, found, len(found)))
        # Of other captures, causes without an amount may have no CPU at all.
        counted = whole and report.comparison.measured
        who, alone, without = _subject(found, shown, whole=whole, counted=counted)
        # A title has everything that its cause explains, including its consequences.
        printed = alone is not None and alone.mark not in (None, "noise")
        seen = alone.explains if alone is not None and printed else None
        # The outcome next to it may be in time.
        of = " (CPU)" if report.comparison.measured else ""
        if text := _together(findings.explained, added, who, seen, without, of):
            rest.append(Sentence(text))
    elif _only_counts(report, shown):
        rest.append(Sentence(_UNTIMED))
    elif report.comparison.measured and report.outcome.decided and not found:
        rest.append(Sentence(_NO_CAUSE))
    warnings = (
        Sentence(f"{finding.title}. {finding.advice}", "warning")
        for finding in findings.found
        if finding.id == _FIRST
    )
    return Why(tuple(warnings), tuple(_reasons(report, shown, cpu)), tuple(rest))


def _only_counts(report: ReportModel, shown: Sequence[Finding]) -> bool:
    """Return whether benchmarks changed and all causes are allocations without CPU.

    More of them explain no less time, and the other way round.
    """
    way = {"slower": "worse", "faster": "better"}.get(report.outcome.verdict)
    return (
        report.comparison.measured
        and bool(way or report.outcome.moved)
        and only_counted(shown)
        and any(way in (None, one.direction) for one in shown if one.severity != "info")
    )


def _subject(
    found: Sequence[Finding], shown: Sequence[Finding], *, whole: bool, counted: bool
) -> tuple[str, Finding | None, list[str]]:
    """Return who explains, with the verb; the only one; the causes without an amount.

    The last are numbers, if `counted`: those causes are counted allocations, which cost
    CPU as well. `whole` says whether all findings are shown.
    """
    ids = _ids(shown)
    causes = [f for f in shown if f.parent not in ids]
    numbered = [f for f in causes if f.severity != "info"]
    having = [str(i) for i, f in enumerate(numbered, 1) if f.explains]
    # What another cause has of a function's CPU is no part of the rest.
    known = {name for f in numbered if f.explains for name in f.names}
    # A consequence of an allocation is no part of what it costs itself.
    without = [
        str(i)
        for i, f in enumerate(numbered, 1)
        if not (f.explains or f.inside or known.issuperset(f.functions))
        or (f.explains and f.own is None)
    ]
    alone, they = _alone(causes, found), whole and len(having) > 1
    below = False
    if len(causes) > 1 and alone is not None:
        # What follows from it may follow from the others too.
        below = any(f.several for f in found if f.parent == alone.id)
        if below or alone.own is None:
            alone, they = None, whole
    without = without if counted and having else []
    s, verb = ("s", "explain") if len(having) > 1 else ("", "explains")
    if without and set(having) <= set(without):
        return f"What follows from cause{s} {listed(having)} explains", None, without
    if alone is not None:
        return f"Cause {causes.index(alone) + 1} explains", alone, without
    if they and without:
        verb = "and what follows explain" if below else verb
        return f"Cause{s} {listed(having)} {verb}", None, without
    return "Together they explain" if they else "All causes together explain", None, []


def _adds_up(report: ReportModel, cpu: ProfileDiff) -> bool:
    """Return whether the CPU changed, and without set-up outside the timer."""
    if not report.comparison.measured:
        return cpu.normalization.mode != "composition"
    outside = any(caveat.id == "outside-timer" for caveat in report.warnings)
    return not (outside or report.outcome.verdict == "unknown" or total_noise(cpu))


def _clause(report: ReportModel, finding: Finding) -> str:
    """Return a title as part of a sentence; a function that changed has its lines."""
    title = finding.title
    if finding.counted:
        title = f"{title}; it allocates {finding.counted}"
    first, _, rest = title.partition(" ")
    names = (*finding.names, *finding.functions)
    if finding.id == CHANGED_ALONE:
        for note in source_notes(report, finding):
            if note.is_of(finding.title):
                return f"{first} ({note.place}{note.more}) {rest}"
    if not first.isalpha() or not first.istitle() or first in names:
        return title
    return f"{first.lower()} {rest}"


def _part(finding: Finding, cpu: ProfileDiff | None) -> str:
    """Return what a finding adds to what all explain, "" for about nothing."""
    if cpu is None or not finding.explains:
        return ""
    scale = change_scale_of(cpu)
    if not scale.rounded(finding.explains):
        return ""
    mark = finding.mark or "unknown"
    sign = "" if mark == "unknown" else MARKS[mark]
    return f"{sign}{scale.text(finding.explains, signed=True)}"


def _with_part(clause: str, part: str) -> str:
    if not part:
        return clause
    return f"{clause[:-1]}; {part})" if clause.endswith(")") else f"{clause} ({part})"


def _shown(findings: Findings, found: Sequence[Finding], most: int) -> list[Finding]:
    """Return the first causes, with consequences that matter or add to an amount."""
    by_id = {finding.id: finding for finding in found}
    matter = [f for f in found if f.severity != "info"] or list(found)
    causes = [f for f in matter if f.parent is None or f.parent not in _ids(matter)]
    kept = _ids(causes[:most])
    for finding in findings.found:
        cause = by_id.get(finding.parent or "")
        adds = finding.explains and cause and cause.mark and cause.own != cause.explains
        if finding.parent in kept and (adds or finding in matter):
            kept.add(finding.id)
    return [finding for finding in findings.found if finding.id in kept]


def _ids(findings: Iterable[Finding]) -> set[str]:
    return {finding.id for finding in findings}


def _reasons(
    report: ReportModel, shown: Sequence[Finding], cpu: ProfileDiff | None
) -> Iterator[Reason]:
    """Yield findings with their place in the tree; causes are numbered."""
    number, levels, printed = 0, dict[str, int](), set[SourceNote]()
    first, listed_in = dict[SourceNote, int](), dict[tuple[str, str, str], int]()
    wholes: dict[str, float] = {}
    subjects: set[Commit] = set()
    for finding in shown:
        level = levels.get(finding.parent or "", -1) + 1
        levels[finding.id] = level
        cause = level == 0 and finding.severity != "info"
        number += cause
        amount = ""
        if cpu is not None:
            apart = _without_several(finding, shown)
            amount = _amount(apart, cpu, wholes.get(finding.parent or ""), level)
        # If a finding has no amount, its consequences are part of nothing.
        whole = finding.own if level else finding.explains
        wholes[finding.id] = (whole or finding.explains or 0.0) if amount else 0.0
        reason = Reason(number if cause or level else 0, finding, amount, level)
        notes: list[SourceNote] = []
        found = list(source_notes(report, finding))
        _, title = finding.said_of
        held = finding.source.holding if finding.source else ()
        # Several functions that changed have lines of their own each.
        several = finding.id == CHANGED_ALONE and len(finding.functions) > 1
        # Lines of the function itself come first if they hold most of its change.
        own = {note for note in found if note.is_of(title) and note.holds(held)}
        for note in sorted(found, key=lambda note: note not in own):
            titled = not level and not notes and note in own and not several
            # Of places without a known cost, the first is no better than any.
            titled = titled and note.more.count(",") < SEVERAL
            titled &= not (finding.id == CHANGED_ALONE and note.several)
            known, costs = note in printed, bool(note.amount)
            printed.add(note)
            if note in first and not notes and not titled:
                notes.append(SourceNote(f"The same lines as in {first[note]}."))
            elif titled or not known:
                # The title of what changed alone says no more than its lines.
                alone = titled and finding.id == CHANGED_ALONE
                below = note._replace(said="") if alone else note
                below = _short_of(below, listed_in, number).without_subjects(subjects)
                # Short reports have the first note only.
                if not notes:
                    subjects |= set(note.commits)
                    if costs or titled:
                        first.setdefault(note, number)
                if titled:
                    reason = reason._replace(lines=note.lines, more=note.more)
                    below = below.below(title, titled=True, known=known)
                elif not level and note.is_of(title) and not several:
                    below = below.below(title, titled=False)
                notes.append(below)
        commits = notes[0].commits if notes and notes[0].named else ()
        yield reason._replace(notes=tuple(notes), commits=commits)


def _short_of(
    note: SourceNote, known: dict[tuple[str, str, str], int], number: int
) -> SourceNote:
    """Return a note of cause `number`, without other lines that an earlier one lists.

    `known` gets the cause that lists them.
    """
    key = note.place, note.more, note.said
    before = known.setdefault(key, number)
    if before == number or not any(key[1:]):
        return note
    return note._replace(
        more="", said=f" and the other lines of cause {before}", added=""
    )


def _without_several(finding: Finding, shown: Sequence[Finding]) -> Finding:
    """Return a finding that does not explain what follows from other causes as well."""
    below = (f for f in shown if f.several and f.parent == finding.id)
    apart = sum(f.explains or 0.0 for f in below)
    return finding._replace(explains=(finding.explains or 0.0) - apart)


def _amount(finding: Finding, cpu: ProfileDiff, whole: float | None, level: int) -> str:
    """Return a finding's part of the CPU profiles' delta, its consequences apart.

    `whole` is what it is part of and cannot exceed. Returns "" if there is nothing to
    show.
    """
    if not finding.explains or finding.mark is None:
        return ""
    if finding.mark == "noise" and finding.sure:
        # Counted objects show the change, samples do not.
        return ""
    own = finding.own
    amount = finding.explains if own is None else own
    if level and (whole is None or not 0 < amount / (whole or -amount) <= 1):
        return ""
    scale = change_scale_of(cpu)
    # No space, so that no line breaks between the sign and its number.
    mark = "" if finding.mark == "unknown" else MARKS[finding.mark]
    text = f"{mark}{scale.text(amount, signed=True)}"
    if level:
        return f"{text} on top" if finding.shared else text
    if own is None:
        return "" if finding.mark == "noise" else f"{text} with consequences"
    family = scale.text(finding.explains, signed=True)
    follows = family != scale.text(own, signed=True)
    family = scale.number(finding.explains, signed=True)
    if finding.shared:
        text = f"{text} on top of the above"
    return f"{text}, {family} with consequences" if follows else text


def _alone(causes: Sequence[Finding], found: Sequence[Finding]) -> Finding | None:
    """Return the only finding that explains anything, if it is a cause, else None."""
    ids = _ids(found)
    amounts = [f for f in found if f.explains and f.parent not in ids]
    return amounts[0] if len(amounts) == 1 and amounts[0] in causes else None


def _together(
    explained: Explained,
    cpu: ProfileDiff,
    who: str,
    seen: float | None,
    without: Sequence[str] = (),
    of: str = "",
) -> str:
    """Return how much of the change all findings explain, and what the rest is.

    `who` is the subject of the sentence with its verb. `seen` is the amount in the
    title of the only cause, which is not repeated. What the causes with the numbers in
    `without` cost is a part of the rest. `of` follows the total.
    """
    scale = scale_of(cpu)
    amount = scale.text(explained.explained, signed=True)
    total = f"{scale.text(explained.total, signed=True)}{of}"
    # From the numbers as printed, so that the three add up for the reader.
    whole, part = map(scale.rounded, (explained.total, explained.explained))
    rest = scale.number(whole - part, signed=True)
    against, beyond = part * whole < 0, abs(part) > abs(whole) > 0
    parts = f"{scale.number(explained.explained, signed=True)} of {total}"
    if whole == 0 or against or beyond:
        parts = f"{amount}, the total is {total}" if whole else amount
    nothing = scale.rounded(whole - part) == 0
    if without and not (against or beyond or nothing):
        s, cost, save = (
            ("s", "cost", "save") if len(without) > 1 else ("", "costs", "saves")
        )
        themselves = f"cause{s} {listed(without)} {cost} or {save} directly"
        return f"{who} {parts}; what {themselves} is in the rest."
    if explained.left and cpu.grouped:
        s = "s" if len(without) > 1 else ""
        own = f", cause{s} {listed(without)} in it" if without else ""
        text = f"{who} {parts}. The rest, by group{own}: {_groups(explained, scale)}."
    elif nothing:
        text = f"{who} all of the {total}."
    elif (
        against
        or not explained.quiet
        or abs(whole - part) > (1 - COVERS) * max(abs(whole), abs(part))
    ):
        if beyond:
            text = f"{who} {amount}; the rest is {rest}, the total {total}."
        elif against:
            text = f"{who} {parts}."
        else:
            text = f"{who} {parts}{_loud(rest, quiet=explained.quiet)}"
    # Only a total that is printed in the same unit compares with `seen`.
    elif seen is not None and change_scale_of(cpu).text(seen, signed=True) == amount:
        text = f"The rest, {rest} of {total}, is not significant."
    elif beyond:
        text = f"{who} {amount}; the rest, {rest} of {total}, is not significant."
    else:
        text = f"{who} {parts}; the rest ({rest}) is not significant."
    return text


def _loud(rest: str, *, quiet: bool) -> str:
    """Return the end of a sentence on a rest that is large or partly significant."""
    if quiet:
        return f". No group of the rest ({rest}) changed significantly by itself."
    return f"; the rest is {rest}."


def _groups(explained: Explained, scale: Scale) -> str:
    deltas = [(group.label, group.delta) for group in explained.left]
    other = explained.total - explained.explained - sum(one for _, one in deltas)
    if scale.rounded(other):
        deltas.append(("other groups", other))
    return "; ".join(
        f"{label} {scale.text(delta, signed=True)}" for label, delta in deltas
    )


class Answer(NamedTuple):
    """The outcome in a sentence, its caveats, and why, by which finding."""

    outcome: str
    below: tuple[Sentence, ...]
    title: str
    reason: Reason | None = None


def answer(report: ReportModel, explained: Why, sections: Sequence[Section]) -> Answer:
    """Return the outcome with the first cause that matters, or its stand-in."""
    outcome, below = outcome_text(report.outcome)
    matters = any(f.severity != "info" for f in report.findings.found)
    lead = sections[0].lead if sections else ""
    if explained.reasons and (matters or not lead):
        return Answer(outcome, below, explained.reasons[0].title, explained.reasons[0])
    instead = next((section.instead for section in sections if section.instead), "")
    instead = instead or "No finding: the figures are in the tables."
    return Answer(outcome, below, lead or instead)
