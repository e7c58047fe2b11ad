"""The answer to "why": what changed and why, the finding that explains most first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pprofdiff.analysis.findings.model import Explained, Finding, Findings
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import change_scale_of, scale_of
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import MARKS, Reason, Sentence, SourceNote
from pprofdiff.report.sections.changed_lines import source_notes

__all__ = ["Why", "why"]

# How many findings get a paragraph; the rest, and what is but info, get their title.
_SHOWN = 5
# Said before the others: it says how to read them.
_FIRST = "not-comparable"


class Why(NamedTuple):
    """Findings as the report tells them; all are empty where there is none.

    `warnings` say how to read the rest, `reasons` are told in full, `rest` names what
    else changed and how much all causes explain together.
    """

    warnings: tuple[Sentence, ...] = ()
    reasons: tuple[Reason, ...] = ()
    rest: tuple[Sentence, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is any finding."""
        return bool(self.warnings or self.reasons or self.rest)


def why(report: ReportModel, most: int = _SHOWN) -> Why:
    """Return what changed and why: up to `most` causes, the titles of what is left."""
    findings = report.findings
    cpu = next((d for d in report.profiles if d.is_cpu), None)
    told = [f for f in findings.found if f.id != _FIRST]
    shown = _shown(findings, told, most)
    rest = []
    others = [_clause(f) for f in told if f not in shown]
    if others:
        rest.append(Sentence(f"{'; '.join(others)}.", "also"))
    claimed = any(finding.explains for finding in shown)
    adds_up = cpu is not None and cpu.normalization.mode != "composition"
    if findings.explained is not None and cpu is not None and adds_up and claimed:
        whole = len(shown) == len(_shown(findings, told, len(told)))
        alone = _alone(shown, told)
        plural = "Together they" if whole else "All causes together"
        who = f"{alone} explains" if alone else f"{plural} explain"
        rest.append(Sentence(_together(findings.explained, cpu, who)))
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
    """Return a title as a part of a sentence; names keep their first letter."""
    first, _, rest = finding.title.partition(" ")
    names = (*finding.names, *finding.functions)
    if not first.isalpha() or not first.istitle() or first in names:
        return finding.title
    return f"{first.lower()} {rest}"


def _shown(findings: Findings, told: Sequence[Finding], most: int) -> list[Finding]:
    """Return the first causes with their consequences; what is but info is named."""
    matter = [f for f in told if f.severity != "info"] or list(told)
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
    """Yield findings with their places in the tree: causes are numbered."""
    number, levels, told = 0, dict[str, int](), set[object]()
    for finding in shown:
        level = levels.get(finding.parent or "", -1) + 1
        levels[finding.id] = level
        number += level == 0
        reason = _reason(number, finding, cpu, level)
        notes = [(_key(number, n), n) for n in source_notes(report, finding)]
        yield reason._replace(notes=tuple(n for key, n in notes if key not in told))
        told |= {key for key, _ in notes}


def _key(number: int, note: SourceNote) -> tuple[object, ...]:
    """Return what a note tells of which cause, to tell it once.

    Lines that carry a cause may carry another one too; what carries nothing is said
    once for all.
    """
    if note.lines is None or not (note.lines.base or note.lines.new):
        return note.said, note.lines
    return number, note.lines.place


def _reason(
    number: int, finding: Finding, cpu: ProfileDiff | None, level: int
) -> Reason:
    """Return one finding with its number and its part of the CPU profiles' change."""
    if not finding.explains or cpu is None:
        return Reason(number, finding, level=level)
    sign = MARKS["more" if finding.explains > 0 else "less"]
    # Without a space, so that no line ends between the sign and its number.
    amount = f"{sign}{change_scale_of(cpu).text(finding.explains, signed=True)}"
    if finding.beside and not level:
        amount = f"{amount} beside the above"
    return Reason(number, finding, amount, level)


def _alone(shown: Sequence[Finding], told: Sequence[Finding]) -> str:
    """Return the number of the one cause that explains anything; "" if more do."""
    ids = _ids(told)
    amounts = [f for f in told if f.explains and f.parent not in ids]
    causes = [f for f in shown if f.parent not in _ids(shown)]
    if len(amounts) != 1 or amounts[0] not in causes:
        return ""
    return f"Cause {causes.index(amounts[0]) + 1}"


def _together(explained: Explained, cpu: ProfileDiff, who: str) -> str:
    """Return how much of the change all findings explain; `who` says which they are.

    `who` is the sentence's subject with its verb.
    """
    scale = scale_of(cpu)
    told = scale.text(explained.explained, signed=True)
    total = scale.text(explained.total, signed=True)
    rest = scale.text(explained.total - explained.explained, signed=True)
    words = f"{who} {told}; in all the CPU changed by {total}."
    if not explained.left:
        return f"{words} The rest, {rest}, is within noise in every group."
    groups = "; ".join(
        f"{group.label} {scale.text(group.delta, signed=True)}"
        for group in explained.left
    )
    return f"{words} Not explained: {groups}."
