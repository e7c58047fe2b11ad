"""The answer to "why": what changed and why, the finding that explains most first."""

from __future__ import annotations

from typing import NamedTuple

from pprofdiff.analysis.findings.model import Explained, Finding
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import MARKS, Reason, Sentence

__all__ = ["Why", "why"]

# How many findings get a paragraph; the rest, and what is but info, get their title.
_SHOWN = 5
# Said before the others: it says how to read them.
_FIRST = "not-comparable"


class Why(NamedTuple):
    """Findings as the report tells them; all are empty where there is none.

    `warnings` say how to read the rest, `reasons` are told in full, `rest` names what
    else changed and how much all reasons explain together.
    """

    warnings: tuple[Sentence, ...] = ()
    reasons: tuple[Reason, ...] = ()
    rest: tuple[Sentence, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is any finding."""
        return bool(self.warnings or self.reasons or self.rest)


def why(report: ReportModel) -> Why:
    """Return what changed and why."""
    findings = report.findings
    cpu = next((d for d in report.profiles if d.is_cpu), None)
    told = [f for f in findings.found if f.id != _FIRST]
    matter = [f for f in told if f.severity != "info"]
    shown = (matter or told)[:_SHOWN]
    rest = []
    others = [f.title for f in told if f not in shown]
    if others:
        rest.append(Sentence(f"{'; '.join(others)}.", "also"))
    claimed = any(finding.explains for finding in shown)
    if findings.explained is not None and cpu is not None and matter and claimed:
        rest.append(Sentence(_together(findings.explained, cpu)))
    return Why(
        warnings=tuple(
            Sentence(f"{finding.title}. {finding.advice}", "warning")
            for finding in findings.found
            if finding.id == _FIRST
        ),
        reasons=tuple(
            _reason(number, finding, cpu) for number, finding in enumerate(shown, 1)
        ),
        rest=tuple(rest),
    )


def _reason(number: int, finding: Finding, cpu: ProfileDiff | None) -> Reason:
    """Return one finding with its number and its part of the CPU profiles' change."""
    if finding.explains is None or cpu is None:
        return Reason(number, finding)
    sign = MARKS["more" if finding.explains > 0 else "less"]
    # Without a space, so that no line ends between the sign and its number.
    amount = f"{sign}{scale_of(cpu).text(finding.explains, signed=True)}"
    return Reason(number, finding, amount, finding.detail)


def _together(explained: Explained, cpu: ProfileDiff) -> str:
    """Return how much of the change all findings explain together."""
    scale = scale_of(cpu)
    told = scale.text(explained.explained, signed=True)
    total = scale.text(explained.total, signed=True)
    rest = scale.text(explained.total - explained.explained, signed=True)
    words = f"Together they explain {told}; in all the CPU changed by {total}."
    if not explained.left:
        return f"{words} The rest, {rest}, is within noise in every group."
    groups = "; ".join(
        f"{group.label} {scale.text(group.delta, signed=True)}"
        for group in explained.left
    )
    return f"{words} Not explained: {groups}."
