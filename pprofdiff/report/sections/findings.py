"""The answer to "why": findings as paragraphs, and as rows of the JSON report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pprofdiff.analysis.findings.model import Explained, Finding, Findings
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.report.model import ReportModel
from pprofdiff.report.text.layout import Block, Stanza, Words

__all__ = ["finding_blocks", "finding_rows", "unexplained_row"]

# How many findings get a paragraph; the rest, and what is but info, get their title.
_SHOWN = 5
# Said before the others: it says how to read them.
_FIRST = "not-comparable"
_STYLES = {"worse": "worse", "better": "better", "neutral": "strong"}

Row = dict[str, Any]


def finding_blocks(report: ReportModel) -> Iterator[Block]:
    """Yield what changed and why, the finding that explains most first."""
    findings = report.findings
    cpu = next((d for d in report.profiles if d.is_cpu), None)
    if not findings.found:
        return
    told = [f for f in findings.found if f.id != _FIRST]
    matter = [f for f in told if f.severity != "info"]
    shown = (matter or told)[:_SHOWN]
    yield Words("Why", "strong")
    for finding in findings.found:
        if finding.id == _FIRST:
            yield Words(f"{finding.title}. {finding.advice}", "warn", "! ")
    for number, finding in enumerate(shown, 1):
        yield _stanza(number, finding, cpu)
    rest = [f.title for f in told if f not in shown]
    if rest:
        yield Words(f"{'; '.join(rest)}.", "faint", "Also: ")
    claimed = any(finding.explains for finding in shown)
    if findings.explained is not None and cpu is not None and matter and claimed:
        yield Words(_rest(findings.explained, cpu))


def _stanza(number: int, finding: Finding, cpu: ProfileDiff | None) -> Stanza:
    """Return one finding: its title, the numbers behind it, what to do."""
    lead = f"{number}. "
    indent = " " * len(lead)
    words = [Words(_title(finding, cpu), _STYLES[finding.direction], lead)]
    if finding.text:
        words.append(Words(finding.text, "", indent))
    if finding.advice:
        words.append(Words(finding.advice, "faint", f"{indent}→ "))
    return Stanza(tuple(words))


def _title(finding: Finding, cpu: ProfileDiff | None) -> str:
    """Return the sentence, and by how much it moves the CPU profiles."""
    if finding.explains is None or cpu is None:
        return f"{finding.title}."
    amount = scale_of(cpu).text(finding.explains, signed=True)
    mark = "▲" if finding.explains > 0 else "▼"
    part = ", part of the above" if finding.detail else ""
    # Without a space, so that no line ends between the mark and its number.
    return f"{finding.title}. {mark}{amount}{part}"


def _rest(explained: Explained, cpu: ProfileDiff) -> str:
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


def finding_rows(findings: Findings) -> list[Row]:
    """Return the findings as JSON has them, in order."""
    return [
        {
            "id": finding.id,
            "severity": finding.severity,
            "direction": finding.direction,
            "title": finding.title,
            "text": finding.text,
            "advice": finding.advice or None,
            "explains_scaled": finding.explains,
            "detail": finding.detail,
            "evidence": [fact._asdict() for fact in finding.evidence],
        }
        for finding in findings.found
    ]


def unexplained_row(findings: Findings) -> Row | None:
    """Return what the findings leave of the CPU profiles' delta, scaled."""
    explained = findings.explained
    if explained is None:
        return None
    return {
        "total_scaled": explained.total,
        "explained_scaled": explained.explained,
        "left": [
            {"group": m.id, "base": m.base, "new": m.new, "delta_scaled": m.delta}
            for m in explained.left
        ],
    }
