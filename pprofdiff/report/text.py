"""The report as blocks: what changed, how much of it is the runtime, who pays."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.diff.compare import ProfileDiff
from pprofdiff.diff.kinds import is_heap
from pprofdiff.diff.scaling import in_words
from pprofdiff.report.attribution import group_grid, payers
from pprofdiff.report.blocks import Block, Cell, Grid, Lines, Words
from pprofdiff.report.changes import joined_names, movers
from pprofdiff.report.headline import headline
from pprofdiff.report.model import Input, ReportModel
from pprofdiff.report.notes import next_steps, noise_note

__all__ = ["blocks"]


def blocks(
    report: ReportModel, *, joined: bool = False, granularity: str = "functions"
) -> Iterator[Block]:
    """Yield the whole report; `joined` lists functions paired under two names.

    `granularity` is that of the rows: functions, lines or files.
    """
    first = report.profiles[0]
    for diff in report.profiles:
        if is_heap(diff.new.profile) and diff.sample_type.type.endswith("_objects"):
            continue
        yield Words(_title(report, diff), "strong")
        if diff is first:
            yield _inputs(report)
            if report.filters:
                yield Words(f"only: {' '.join(report.filters)}")
        yield Words(headline(diff))
        yield from _body(report, diff, granularity)
        if joined:
            yield from joined_names(diff)
    yield from _foot(report)


def _title(report: ReportModel, diff: ProfileDiff) -> str:
    base, new = report.labels
    kind = diff.sample_type.type
    name = diff.name if diff.name == kind else f"{diff.name} ({kind})"
    return f"{base} → {new}   {name}, {in_words(diff)}"


def _inputs(report: ReportModel) -> Grid:
    """Return one row a file."""
    rows = [
        _input(label, entry)
        for label, entries in zip(report.labels, report.inputs, strict=True)
        for entry in entries
    ]
    used = [i for i in range(len(rows[0])) if any(row[i] for row in rows)]
    cells = tuple([Cell(row[i]) for i in used] for row in rows)
    align = "".join("<<<<>>"[i] for i in used)
    return Grid(("",) * len(used), align, cells, used.index(1))


def _input(label: str, entry: Input) -> list[str]:
    span = "" if entry.duration_ns is None else f"{entry.duration_ns / 1e9:.1f} s"
    samples = f"{entry.samples:,} samples" if entry.kind == "cpu" else ""
    copy = f" (copy: {entry.saved_to})" if entry.saved_to else ""
    version = entry.go_version or ""
    return [f"  {label}", f"{entry.path}{copy}", entry.kind, version, span, samples]


def _body(report: ReportModel, diff: ProfileDiff, granularity: str) -> Iterator[Block]:
    """Yield what is said of one kind of profile."""
    if diff.is_cpu:
        yield group_grid(diff, report.labels)
        yield from movers(diff, report.labels, "cum", granularity)
        yield from movers(diff, report.labels, "flat", granularity)
        yield from payers(diff, report.labels, report.bundle.modelled)
        yield from noise_note(diff)
    elif is_heap(diff.new.profile):
        from pprofdiff.report.heap import call_sites

        yield from call_sites(report, diff)
    else:
        yield from movers(diff, report.labels, "cum", granularity)


def _foot(report: ReportModel) -> Iterator[Block]:
    for kind, label in report.bundle.lonely:
        yield Words(f"Only {label} has a {kind} profile: not compared.")
    for warning in report.warnings:
        yield Words(warning.text, "warn", "! ")
    steps = next_steps(report)
    if steps:
        yield Lines(tuple(Cell(step, "faint") for step in steps))
