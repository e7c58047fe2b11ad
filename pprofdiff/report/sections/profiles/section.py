"""Sections on profiles, one a sample type: groups, functions, call sites, who pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.kinds import is_heap
from pprofdiff.analysis.profiles.scaling import mode_in_words, scale_of
from pprofdiff.analysis.profiles.totals import total_noise
from pprofdiff.report.model import ReportModel, Scope
from pprofdiff.report.rows import Cell, Section, SectionPart, Sentence, Table, Tile
from pprofdiff.report.sections.changes import total_change
from pprofdiff.report.sections.gc_price import gc_price_parts
from pprofdiff.report.sections.profiles.call_sites import call_sites
from pprofdiff.report.sections.profiles.cells import delta_cell
from pprofdiff.report.sections.profiles.functions import (
    moved_most,
    movers,
    owned_most,
    renamed,
)
from pprofdiff.report.sections.profiles.headline import headline
from pprofdiff.report.sections.profiles.noise import noise_sentence
from pprofdiff.report.sections.profiles.owners import group_table, payer_tables

__all__ = ["profile_sections", "profile_tiles"]


def profile_sections(
    diffs: Sequence[ProfileDiff], report: ReportModel, scope: Scope
) -> Iterator[Section]:
    """Yield a section for each comparison of profiles.

    Objects stand beside bytes in one section, where bytes are compared too.
    """
    beside = {diff.name for diff in diffs if not _counts_objects(diff)}
    for diff in diffs:
        if _counts_objects(diff) and diff.name in beside:
            continue
        unit = scale_of(diff).unit
        yield Section(
            kind="profile",
            id=f"{diff.name}/{diff.sample_type.type}",
            title=diff.title,
            measure=f"in {unit}",
            mode=mode_in_words(diff),
            short=diff.name,
            unit=unit,
            lead=headline(diff),
            compared=diff,
            build=partial(_parts, report, diff, scope),
            contents=_contents(diff),
            tops=_tops(diff),
            short_parts=partial(_short_parts, report, diff, scope),
        )


def _counts_objects(diff: ProfileDiff) -> bool:
    return is_heap(diff.new.profile) and diff.sample_type.type.endswith("_objects")


def _contents(diff: ProfileDiff) -> str:
    """Return what tables there are, in words."""
    if is_heap(diff.new.profile):
        return "call sites"
    return "groups, functions, payers" if diff.grouped else "functions"


def _tops(diff: ProfileDiff) -> tuple[str, ...]:
    """Return which tables answer in short what moved."""
    if is_heap(diff.new.profile):
        return ("call_sites",)
    return ("cum", "flat") if diff.is_cpu else ("cum",)


def _hosts(report: ReportModel, diff: ProfileDiff) -> int | None:
    """Return how many hosts the smaller fleet has, None where there are no fleets."""
    fleets = report.comparison.base.fleet, report.comparison.new.fleet
    counts = [len(fleet.of(diff.name)) for fleet in fleets if fleet is not None]
    return min(counts, default=None)


def _parts(
    report: ReportModel, diff: ProfileDiff, scope: Scope
) -> Iterator[SectionPart]:
    """Yield what is told of one kind of profile."""
    labels, rows = report.labels, scope.rows
    if is_heap(diff.new.profile):
        yield from call_sites(diff, report.profiles, labels, rows)
    else:
        if diff.grouped:
            yield group_table(diff, labels)
            if scope.full:
                yield from owned_most(diff, labels, scope.granularity)
        yield from movers(diff, labels, "cum", scope.granularity, rows)
        if diff.is_cpu:
            yield from movers(diff, labels, "flat", scope.granularity, rows)
        yield from _of_fleet(report, diff)
        if diff.grouped:
            modelled = report.comparison.modelled if diff.is_cpu else None
            yield from payer_tables(diff, labels, modelled, rows)
            if diff is report.comparison.cpu:
                yield from gc_price_parts(report)
        if diff.is_cpu and diff.grouped:
            yield from noise_sentence(diff, _hosts(report, diff))
    if scope.joined:
        yield from renamed(diff)


def _of_fleet(
    report: ReportModel, diff: ProfileDiff, most: int | None = None
) -> Iterator[Table | Sentence]:
    """Yield where functions of a fleet moved; code for fleets is loaded for them."""
    if diff.is_cpu and report.comparison.new.fleet is not None:
        from pprofdiff.report.sections.profiles.groups import groups_of_fleet

        yield from groups_of_fleet(report, most)


def _short_parts(
    report: ReportModel, diff: ProfileDiff, scope: Scope, rows: int, categories: int
) -> Iterator[SectionPart]:
    """Yield the groups that say something, and what moved most."""
    labels = report.labels
    if is_heap(diff.new.profile):
        yield from call_sites(diff, report.profiles, labels, rows)
    else:
        if diff.grouped:
            yield group_table(diff, labels, categories)
        # Causes of benchmarks say what they count.
        brief = report.comparison.measured
        yield moved_most(diff, labels, scope.granularity, rows, brief=brief)
        yield from _of_fleet(report, diff, rows)
    if scope.joined:
        yield from renamed(diff)


def profile_tiles(section: Section) -> Iterator[Tile]:
    """Yield a profile's total, marked as its tables are; of shares it says nothing."""
    diff: ProfileDiff = section.compared
    scale, by = scale_of(diff), diff.normalization
    if by.mode == "composition":
        return
    base, new = by.scaled(*diff.totals)
    name = f"{diff.title}, absolute" if by.mode == "absolute" else diff.title
    values = f"{scale.number(base)} → {scale.number(new)} {scale.unit}"
    change = total_change(base, new)
    noise = None if new == base else total_noise(diff)
    delta = delta_cell(diff, *diff.totals, noise=noise)
    words = f"{change}, within noise" if noise else change
    yield Tile(name, values, Cell(words, mark=delta.mark, tone=delta.tone))
