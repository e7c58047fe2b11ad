"""What the source tells of a finding, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.findings.cpu import words
from pprofdiff.analysis.findings.model import Finding
from pprofdiff.analysis.findings.wording import listed, short
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import SourceNote

__all__ = ["source_notes"]

# Commits of one place; a place that more of them made is told by the newest.
_COMMITS = 3


def source_notes(report: ReportModel, finding: Finding) -> Iterator[SourceNote]:
    """Yield a sentence for each place that changed, and one on what did not change."""
    source = finding.source
    if source is None:
        return
    for lines in source.lines:
        amount = words(report.profiles[source.diff], lines.base, lines.new)
        yield SourceNote(
            f" in {short(lines.function)}, {amount}",
            "No longer there: " if lines.gone else "Changed: ",
            lines._replace(commits=lines.commits[:_COMMITS]),
        )
    for lines in source.near:
        yield SourceNote(
            f" in {short(lines.function)}, though not where the cost is",
            "No longer there: " if lines.gone else "Changed: ",
            lines._replace(commits=lines.commits[:_COMMITS]),
        )
    if source.unchanged:
        named = listed([short(name) for name in source.unchanged])
        if source.lines or source.near:
            yield SourceNote(f"No line of {named} itself changed.")
        else:
            whose = "its" if len(source.unchanged) == 1 else "their"
            yield SourceNote(
                f"No line of {named} changed: look at {whose} callees or {whose} input."
            )
