"""What a reader sees first: the sentence that answers, and each profile's totals."""

from __future__ import annotations

from pprofdiff.report.model import ReportModel
from pprofdiff.report.sections.benchmarks import benchmark_headline
from pprofdiff.report.text.layout import Stanza, Words
from pprofdiff.report.text.report import Section

__all__ = ["answer", "title_and_mode"]


def answer(
    report: ReportModel, stanzas: list[Stanza], held: list[Section]
) -> list[Words]:
    """Return the first finding in full, or what stands in for it.

    `stanzas` are the findings, `held` the sections of the report.
    """
    matters = any(f.severity != "info" for f in report.findings.found)
    lead = held[0].lead if held else ""
    if stanzas and (matters or not lead):
        title, *rest = stanzas[0].words
        plain = [Words(words.text, "", words.lead.strip()) for words in rest]
        return [Words(title.text, "strong"), *plain]
    if not lead and report.comparison.benchmarks is not None:
        lead = benchmark_headline(report.comparison.benchmarks)
    return [Words(lead or "No finding: the figures are in the tables.", "strong")]


def title_and_mode(report: ReportModel, section: Section) -> tuple[str, str]:
    """Return a section's title without the labels, which a heading has; its mode."""
    base, new = report.labels
    title = section.title.removeprefix(f"{base} → {new}").strip()
    if section.diff is None or not title.endswith(")"):
        return title, ""
    name, _, mode = title.rpartition(" (")
    return name, mode.removesuffix(")")
