"""The answer to "why": what changed and why, the finding that explains most first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pprofdiff.analysis.causes.finding import Explained, Finding, Findings
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import change_scale_of, scale_of
from pprofdiff.model.source import Commit
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import MARKS, Reason, Sentence, SourceNote
from pprofdiff.report.sections.changed_lines import source_notes

__all__ = ["Why", "why"]

# Findings with a paragraph; the rest, and those of severity info, only have a title.
_SHOWN = 5
# Comes before the others: it says how to read them.
_FIRST = "not-comparable"


class Why(NamedTuple):
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


def why(report: ReportModel, most: int = _SHOWN) -> Why:
    """Return what changed and why: up to `most` causes, and the titles of the rest."""
    findings = report.findings
    cpu = report.comparison.cpu
    found = [f for f in findings.found if f.id != _FIRST]
    shown = _shown(findings, found, most)
    rest = []
    others = [_clause(f) for f in found if f not in shown]
    if others:
        rest.append(Sentence(f"{'; '.join(others)}.", "also"))
    claimed = any(f.explains for f in shown if f.severity != "info")
    adds_up = cpu is not None and cpu.normalization.mode != "composition"
    if findings.explained is not None and cpu is not None and adds_up and claimed:
        whole = len(shown) == len(_shown(findings, found, len(found)))
        ids = _ids(shown)
        causes = [f for f in shown if f.parent not in ids]
        alone = _alone(causes, found)
        they = whole and sum(bool(f.explains) for f in causes) > 1
        who = "Together they explain" if they else "All causes together explain"
        if alone is not None:
            who = f"Cause {causes.index(alone) + 1} explains"
        # A title has everything that its cause explains, including its consequences.
        seen = alone.explains if alone is not None and alone.mark is not None else None
        rest.append(Sentence(_together(findings.explained, cpu, who, seen)))
    return Why(
        warnings=tuple(
            Sentence(f"{finding.title}. {finding.advice}", "warning")
            for finding in findings.found
            if finding.id == _FIRST
        ),
        reasons=tuple(_reasons(report, shown, cpu)),
        rest=tuple(rest),
    )


def _clause(finding: Finding) -> str:
    """Return a title as part of a sentence; names keep their first letter."""
    first, _, rest = finding.title.partition(" ")
    names = (*finding.names, *finding.functions)
    if not first.isalpha() or not first.istitle() or first in names:
        return finding.title
    return f"{first.lower()} {rest}"


def _shown(findings: Findings, found: Sequence[Finding], most: int) -> list[Finding]:
    """Return the first causes with their consequences; severity info only if alone."""
    matter = [f for f in found if f.severity != "info"] or list(found)
    causes = [f for f in matter if f.parent is None or f.parent not in _ids(matter)]
    kept = _ids(causes[:most])
    for finding in findings.found:
        if finding.parent in kept and finding in matter:
            kept.add(finding.id)
    return [finding for finding in matter if finding.id in kept]


def _ids(findings: Iterable[Finding]) -> set[str]:
    return {finding.id for finding in findings}


def _reasons(
    report: ReportModel, shown: Sequence[Finding], cpu: ProfileDiff | None
) -> Iterator[Reason]:
    """Yield findings with their place in the tree; causes are numbered."""
    number, levels, printed = 0, dict[str, int](), set[object]()
    wholes, subjects = dict[str, float](), set[Commit]()
    for finding in shown:
        level = levels.get(finding.parent or "", -1) + 1
        levels[finding.id] = level
        cause = level == 0 and finding.severity != "info"
        number += cause
        amount = ""
        if cpu is not None:
            amount = _amount(finding, cpu, wholes.get(finding.parent or ""), level)
        # If a finding has no amount, its consequences are part of nothing.
        whole = finding.own if level else finding.explains
        wholes[finding.id] = (whole or finding.explains or 0.0) if amount else 0.0
        reason = Reason(number if cause or level else 0, finding, amount, level)
        notes = [(_key(number, n), n) for n in source_notes(report, finding)]
        kept = []
        for note in (note for key, note in notes if key not in printed):
            kept.append(note.without_subjects(subjects))
            # Short reports have the first note only.
            subjects |= set(kept[0].commits)
        yield reason._replace(notes=tuple(kept))
        printed |= {key for key, _ in notes}


def _key(number: int, note: SourceNote) -> tuple[object, ...]:
    """Return a key that is the same for notes to be shown only once.

    Lines that carry one cause may carry another; notes without a cost are shown once in
    all.
    """
    if note.lines is None or not (note.lines.base or note.lines.new):
        return note.said, note.lines
    return number, note.lines.place


def _amount(finding: Finding, cpu: ProfileDiff, whole: float | None, level: int) -> str:
    """Return a finding's part of the CPU profiles' delta, its consequences apart.

    `whole` is what it is part of and cannot exceed. Returns "" if there is nothing to
    show.
    """
    if not finding.explains or finding.mark is None:
        return ""
    own, amount = finding.own, _own(finding)
    if level and (whole is None or not 0 < amount / (whole or -amount) <= 1):
        return ""
    scale = change_scale_of(cpu)
    # No space, so that no line breaks between the sign and its number.
    mark = "" if finding.mark == "unknown" else MARKS[finding.mark]
    text = f"{mark}{scale.text(amount, signed=True)}"
    if level:
        return text
    if own is None:
        return f"{text} with what follows"
    family = scale.text(finding.explains, signed=True)
    follows = family != scale.text(own, signed=True)
    family = scale.number(finding.explains, signed=True)
    if finding.shared:
        text = f"{text} besides the above"
    return f"{text}, with what follows {family}" if follows else text


def _own(finding: Finding) -> float:
    """Return the amount in a finding's title, without its consequences."""
    return (finding.explains or 0.0) if finding.own is None else finding.own


def _alone(causes: Sequence[Finding], found: Sequence[Finding]) -> Finding | None:
    """Return the only finding that explains anything, if it is a cause, else None."""
    ids = _ids(found)
    amounts = [f for f in found if f.explains and f.parent not in ids]
    return amounts[0] if len(amounts) == 1 and amounts[0] in causes else None


def _together(
    explained: Explained, cpu: ProfileDiff, who: str, seen: float | None
) -> str:
    """Return how much of the change all findings explain, and what the rest is.

    `who` is the subject of the sentence with its verb. `seen` is the amount in the
    title of the only cause, which is not repeated.
    """
    scale = scale_of(cpu)
    amount = scale.text(explained.explained, signed=True)
    total = scale.text(explained.total, signed=True)
    # From the numbers as printed, so that the three add up for the reader.
    whole, part = map(scale.rounded, (explained.total, explained.explained))
    rest = scale.number(whole - part, signed=True)
    parts = f"{scale.number(explained.explained, signed=True)} of {total}"
    if whole == 0:
        parts = amount
    if explained.left:
        groups = "; ".join(
            f"{group.label} {scale.text(group.delta, signed=True)}"
            for group in explained.left
        )
        if abs(part) > abs(whole) > 0:
            parts = f"{amount}, the total is {total}"
        return f"{who} {parts}. Not explained: {groups}."
    if scale.rounded(whole - part) == 0:
        return f"{who} all of the {total}."
    # Only a total that is printed in the same unit compares with `seen`.
    if seen is not None and change_scale_of(cpu).text(seen, signed=True) == amount:
        return f"The rest of the {total} ({rest}) is within noise."
    if abs(part) > abs(whole) > 0:
        return f"{who} {amount}; with {rest} within noise the total is {total}."
    return f"{who} {parts}; the rest ({rest}) is within noise."
