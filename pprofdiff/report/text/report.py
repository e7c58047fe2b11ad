"""The report as blocks: what changed, how much of it is the runtime, who pays."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.kinds import is_heap
from pprofdiff.analysis.profiles.scaling import in_words
from pprofdiff.report.model import Input, ReportModel
from pprofdiff.report.sections.findings import finding_blocks
from pprofdiff.report.sections.profiles.functions import joined_names, movers
from pprofdiff.report.sections.profiles.groups import group_grid, payers
from pprofdiff.report.sections.profiles.headline import headline
from pprofdiff.report.sections.profiles.notes import next_steps, noise_note
from pprofdiff.report.sections.verdict import verdict_blocks
from pprofdiff.report.text.layout import Block, Cell, Grid, Lines, Words
from pprofdiff.units import scaled

__all__ = ["Section", "blocks", "cautions", "inputs_grid", "sections"]

# Of the table of inputs.
_HEADINGS = ("side", "file", "kind", "Go", "length", "holds")
# What a kind of input is called; every other one is a profile.
_NOUNS = {"gctrace": " log", "benchmark": " output", "load": " summary"}


def blocks(
    report: ReportModel, *, joined: bool = False, granularity: str = "functions"
) -> Iterator[Block]:
    """Yield the whole report; `joined` lists functions paired under two names.

    `granularity` is that of the rows: functions, lines or files.
    """
    for number, section in enumerate(sections(report, granularity, joined=joined)):
        yield Words(section.title, "strong")
        if number == 0:
            yield inputs_grid(report)
            if report.filters:
                yield Words(f"only: {' '.join(report.filters)}")
            yield from verdict_blocks(report.verdict)
        if section.lead:
            yield Words(section.lead)
        if number == 0:
            yield from finding_blocks(report)
        yield from section.body
    yield from cautions(report)
    steps = next_steps(report)
    if steps:
        yield Lines(tuple(Cell(step, "faint") for step in steps))


class Section(NamedTuple):
    """One comparison: its kind, title, first sentence or "", and the rest.

    `kind` is profile, gctrace, trace or benchmark; `diff` is a profile's, else None.
    """

    kind: str
    title: str
    lead: str
    body: Iterator[Block]
    diff: ProfileDiff | None = None


def sections(
    report: ReportModel,
    granularity: str = "functions",
    *,
    joined: bool = False,
    rows: int | None = None,
) -> Iterator[Section]:
    """Yield the comparisons in the order of the report; objects are with bytes.

    Tables of functions and call sites get up to `rows` rows, None for a screen's worth.
    """
    comparison = report.comparison
    for diff in report.profiles:
        heap = is_heap(diff.new.profile)
        if heap and diff.sample_type.type.endswith("_objects"):
            continue
        body = _body(report, diff, granularity, {} if rows is None else {"rows": rows})
        if joined:
            body = chain(body, joined_names(diff))
        yield Section("profile", _title(report, diff), headline(diff), body, diff)
    if comparison.gc is not None:
        from pprofdiff.report.sections.gclogs import gc_blocks, gc_title

        yield Section("gctrace", gc_title(comparison.gc), "", gc_blocks(comparison.gc))
    if comparison.trace is not None:
        from pprofdiff.report.sections.traces.section import trace_blocks, trace_title

        title = trace_title(comparison.trace)
        yield Section("trace", title, "", trace_blocks(comparison.trace))
    if comparison.benchmarks is not None:
        from pprofdiff.report.sections.benchmarks import benchmark_blocks

        base, new = report.labels
        title = f"{base} → {new}   benchmarks, medians ± 95% interval"
        found = benchmark_blocks(comparison.benchmarks, report.labels)
        yield Section("benchmark", title, "", iter(found))


def _title(report: ReportModel, diff: ProfileDiff) -> str:
    base, new = report.labels
    return f"{base} → {new}   {diff.title}, {in_words(diff)}"


def inputs_grid(
    report: ReportModel, *, copies: bool = True, headed: bool = False
) -> Grid:
    """Return one row a file; `copies` tells where those of fetched files are."""
    rows = [
        _input(label, entry if copies else entry._replace(saved_to=None))
        for label, entries in zip(report.labels, report.inputs, strict=True)
        for entry in entries
    ]
    used = [i for i in range(len(rows[0])) if any(row[i] for row in rows)]
    cells = tuple([Cell(row[i]) for i in used] for row in rows)
    align = "".join("<<<<>>"[i] for i in used)
    headings = tuple(_HEADINGS[i] if headed else "" for i in used)
    return Grid(headings, align, cells, used.index(1))


def _input(label: str, entry: Input) -> list[str]:
    span = "" if entry.duration_ns is None else _span(entry.duration_ns)
    samples = _held(entry)
    copy = f" (copy: {entry.saved_to})" if entry.saved_to else ""
    version = entry.go_version or ""
    return [f"  {label}", f"{entry.path}{copy}", entry.kind, version, span, samples]


def _span(duration_ns: int) -> str:
    """Return a duration in seconds, in a smaller unit where it is shorter than one."""
    whole = duration_ns >= 1_000_000_000
    return f"{duration_ns / 1e9:.1f} s" if whole else scaled(duration_ns, "ns")


def _held(entry: Input) -> str:
    """Return how much an input holds, where that says something."""
    if entry.kind == "cpu":
        return f"{entry.samples:,} samples"
    if entry.cycles is not None:
        whole = entry.cycles == entry.expected
        return f"{entry.cycles:,}{'' if whole else f' of {entry.expected:,}'} cycles"
    if entry.events is not None:
        return f"{entry.events:,} events"
    if entry.results is not None:
        return f"{entry.results:,} benchmark{'' if entry.results == 1 else 's'}"
    return "" if entry.per_second is None else f"{entry.per_second:,.6g} a second"


def _body(
    report: ReportModel, diff: ProfileDiff, granularity: str, limit: dict[str, int]
) -> Iterator[Block]:
    """Yield what is said of one kind of profile."""
    if diff.is_cpu:
        yield group_grid(diff, report.labels)
        yield from movers(diff, report.labels, "cum", granularity, **limit)
        yield from movers(diff, report.labels, "flat", granularity, **limit)
        yield from payers(diff, report.labels, report.comparison.modelled, **limit)
        yield from noise_note(diff)
    elif is_heap(diff.new.profile):
        from pprofdiff.report.sections.profiles.call_sites import call_sites

        yield from call_sites(report, diff, **limit)
    elif diff.classified:
        yield group_grid(diff, report.labels)
        yield from movers(diff, report.labels, "cum", granularity, **limit)
        yield from payers(diff, report.labels, None, **limit)
    else:
        yield from movers(diff, report.labels, "cum", granularity, **limit)


def cautions(report: ReportModel) -> Iterator[Block]:
    """Yield what was not compared, and what to know before trusting the rest."""
    for kind, label in report.comparison.lonely:
        what = _NOUNS.get(kind, " profile")
        yield Words(f"Only {label} has a {kind}{what}: not compared.")
    for warning in report.warnings:
        yield Words(warning.text, "warn", "! ")
