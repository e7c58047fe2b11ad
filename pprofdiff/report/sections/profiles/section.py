"""Sections on profiles by sample type: groups, functions, call sites, who pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from pprofdiff.analysis.causes.finding import CHANGED_ALONE
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.control.totals import total_noise
from pprofdiff.analysis.figures.costs import CPU
from pprofdiff.analysis.outcome.by_unit import counts_alike
from pprofdiff.analysis.outcome.model import Unit
from pprofdiff.analysis.profiles.caveats import go_version
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.groups import groups_moved
from pprofdiff.analysis.profiles.kinds import is_heap, kind_name, sample_count
from pprofdiff.analysis.profiles.scaling import mode_in_words, scale_of
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.side import Capture
from pprofdiff.report.model import Input, ReportModel, Scope
from pprofdiff.report.rows import (
    Cell,
    Section,
    SectionPart,
    Sentence,
    Table,
    Tile,
    tables_of,
)
from pprofdiff.report.sections.account import of_single_benchmarks
from pprofdiff.report.sections.changes import total_change
from pprofdiff.report.sections.gc_price import gc_price_parts
from pprofdiff.report.sections.glance import counted_change
from pprofdiff.report.sections.profiles.call_sites import (
    counted_in_turns,
    sites_in_turns,
)
from pprofdiff.report.sections.profiles.cells import delta_cell
from pprofdiff.report.sections.profiles.functions import (
    moved_most,
    movers,
    owned_most,
    renamed,
)
from pprofdiff.report.sections.profiles.headline import headline, noise_sentence
from pprofdiff.report.sections.profiles.owners import group_table, payer_table

_OF_PROFILE = Sentence(
    "From one profile per side, which may include set-up outside the timer; B/op and "
    "allocs/op are exact.",
    "legend",
)


def profile_inputs(captures: Sequence[Capture[Profile]]) -> Iterator[Input]:
    """Yield what each profile says about itself; the Go version is of all of a side."""
    version = go_version(*(capture.content for capture in captures))
    for capture in captures:
        profile = capture.content
        name = kind_name(profile)
        samples = sample_count(profile)
        yield Input(
            capture.path,
            name,
            go_version=version,
            build_id=profile.mappings[0].build_id or None if profile.mappings else None,
            duration_ns=profile.duration_ns,
            time_ns=profile.time_ns,
            period=profile.period,
            saved_to=capture.saved_to,
            amount=f"{samples:,} samples" if name == "cpu" else "",
            counts={"samples": samples},
        )


def profile_sections(
    diffs: Sequence[ProfileDiff], report: ReportModel, scope: Scope
) -> Iterator[Section]:
    """Yield a section for each comparison of profiles, objects next to bytes in one."""
    of_bytes = {diff.name for diff in diffs if not _counts_objects(diff)}
    for diff in diffs:
        if _counts_objects(diff) and diff.name in of_bytes:
            continue
        counted = counted_in_turns(report.comparison, diff)
        if counted is not None and not any(counted):
            continue
        alone = is_of_units(report, diff)
        noise = total_noise(diff)
        if noise and counted_change(report, diff) is not None:
            # Samples may be within noise where benchmarks count every object.
            noise = None
        yield Section(
            kind="profile",
            id=f"{diff.name}/{diff.sample_type.type}",
            title=diff.title,
            measure="per op" if alone else f"in {scale_of(diff).unit}",
            mode="of each benchmark that changed" if alone else mode_in_words(diff),
            short=diff.name,
            # What benchmarks count and measure is in the outcome.
            lead=""
            if counted is not None or report.comparison.measured
            else headline(diff, noise=noise),
            noise=noise,
            unchanged=counted is not None and counts_alike(report.comparison),
            of_units=alone,
            compared=diff,
            build=partial(_parts, report, diff, scope),
            contents=_contents(diff),
            tops=_tops(diff),
            short_parts=partial(_short_parts, report, diff, scope),
        )


def _counts_objects(diff: ProfileDiff) -> bool:
    return is_heap(diff.new.profile) and diff.sample_type.type.endswith("_objects")


def _contents(diff: ProfileDiff) -> str:
    if is_heap(diff.new.profile):
        return "call sites"
    return "groups, functions, payers" if diff.grouped else "functions"


def _tops(diff: ProfileDiff) -> tuple[str, ...]:
    if is_heap(diff.new.profile):
        return ("call_sites",)
    return ("cum", "flat") if diff.is_cpu else ("cum",)


def _parts(
    report: ReportModel, diff: ProfileDiff, scope: Scope
) -> Iterator[SectionPart]:
    alone = is_of_units(report, diff)
    if is_heap(diff.new.profile):
        in_turns = partial(sites_in_turns, report.comparison, diff, report.labels)
        tables = list(of_units(report, diff) if alone else in_turns(scope.rows))
        yield from tables
        if tables and counted_in_turns(report.comparison, diff) is not None:
            yield _OF_PROFILE
    else:
        if not alone:
            yield from _of_stacks(report, diff, scope)
        yield from of_units(report, diff)
    if scope.joined:
        yield from renamed(diff)


def _of_stacks(
    report: ReportModel, diff: ProfileDiff, scope: Scope
) -> Iterator[SectionPart]:
    """Yield what is on the CPU or waits: groups, functions, who pays."""
    labels, rows, measured = report.labels, scope.rows, report.comparison.measured
    if diff.grouped:
        undecided = _undecided(report)
        yield group_table(diff, labels, undecided=undecided, timed=measured)
    show = partial(movers, diff, labels, granularity=scope.granularity, rows=rows)
    moved = list(show(column="cum", measured=measured))
    if diff.is_cpu:
        moved += show(column="flat", measured=measured)
    # Timed turns may decide on a cause that a few samples do not.
    caused = measured and any(one.claim for one in report.findings.causes)
    tables = list(tables_of(moved))
    owned = list[Table]()
    if diff.grouped and (scope.full or not tables):
        owned += owned_most(diff, labels, scope.granularity, measured=measured)
    yield from owned
    yield from tables if caused or owned else moved
    yield from _of_fleet(report, diff)
    if diff.grouped:
        yield from payer_table(diff, labels, rows)
        if diff is report.comparison.cpu:
            yield from gc_price_parts(report)
    if diff.is_cpu and diff.grouped:
        fleets = report.comparison.base.fleet, report.comparison.new.fleet
        hosts = [len(fleet.of(diff.name)) for fleet in fleets if fleet is not None]
        fewest = min(hosts, default=None)
        yield from noise_sentence(diff, fewest, measured=measured)


def _of_fleet(
    report: ReportModel, diff: ProfileDiff, most: int | None = None
) -> Iterator[Table | Sentence]:
    """Yield where functions of a fleet changed; loads code for fleets only for them."""
    if diff.is_cpu and report.comparison.new.fleet is not None:
        from pprofdiff.report.sections.profiles.groups import groups_of_fleet

        yield from groups_of_fleet(report, most)


def _undecided(report: ReportModel) -> bool | None:
    """Return whether turns do not decide on the change that a total shows.

    A total of several benchmarks decides nothing where their CPU/op did not change.
    None for one that has set-up outside the timer in it.
    """
    decided, work = report.outcome, report.comparison.work
    if work is not None and work.with_set_up:
        return None
    cpu = (one for one in decided.measures if one.id == CPU.id and decided.units)
    return report.comparison.measured and not (
        decided.decided and all(one.moved for one in cpu)
    )


def _short_parts(
    report: ReportModel, diff: ProfileDiff, scope: Scope, rows: int, categories: int
) -> Iterator[SectionPart]:
    """Yield the groups that matter, and what changed most.

    An average of all is left out where causes are of single benchmarks, CPU per op
    where work outside the timer costs an op less the more of them a side runs, and what
    changed in benchmarks where that is not tested.
    """
    # The causes of benchmarks say what they count.
    labels, brief = report.labels, report.comparison.measured
    outside = any(caveat.id == "outside-timer" for caveat in report.warnings)
    if brief and (outside or of_single_benchmarks(report)):
        return
    if is_heap(diff.new.profile):
        yield from sites_in_turns(report.comparison, diff, labels, rows)
    elif not (brief and diff.model is None):
        # The headline of measured benchmarks has the total.
        if diff.grouped and (not brief or groups_moved(diff)):
            yield group_table(
                diff,
                labels,
                categories,
                brief=brief,
                undecided=_undecided(report),
                timed=brief,
            )
        # The findings on benchmarks say where it changed, if that is known.
        if not brief or all(f.id == CHANGED_ALONE for f in report.findings.found):
            most = moved_most(diff, labels, scope.granularity, rows, brief=brief)
            if most is not None and (not brief or isinstance(most, Table)):
                yield most
        yield from _of_fleet(report, diff, rows)
    if scope.joined:
        yield from renamed(diff)


def profile_tiles(section: Section) -> Iterator[Tile]:
    """Yield a profile's total, marked like its tables; nothing for shares."""
    diff: ProfileDiff = section.compared
    scale, by = scale_of(diff), diff.normalization
    if (
        section.of_units
        or by.mode == "composition"
        or (is_heap(diff.new.profile) and not section.lead)
    ):
        return
    base, new = by.scaled(*diff.totals)
    name = f"{diff.title}, absolute" if by.mode == "absolute" else diff.title
    values = f"{scale.number(base)} → {scale.number(new)} {scale.unit}"
    change = total_change(base, new)
    noise = None if new == base else section.noise
    delta = delta_cell(diff, *diff.totals, noise=noise)
    words = f"{change}, within noise" if noise else change
    yield Tile(name, values, Cell(words, mark=delta.mark, tone=delta.tone))


# The size of each table; there may be several.
_CATEGORIES, _ROWS = 4, 6


def is_of_units(report: ReportModel, diff: ProfileDiff) -> bool:
    """Return whether tables are of the benchmarks that changed, one by one.

    With profiles of their own, a mean over several would be the cost of none.
    """
    return report.comparison.alone is not None and any(_samples(report, diff))


def of_units(report: ReportModel, diff: ProfileDiff) -> Iterator[Table]:
    """Yield tables of each benchmark that changed, per op of its own.

    Of CPU profiles groups and functions, of allocations the call sites.
    """
    cpu, kind = diff is report.comparison.cpu, diff.sample_type.type
    for of_samples, of_unit in _samples(report, diff):
        own = of_unit.cpu if cpu else of_unit.of_type(kind)
        if own is None:
            continue
        named = ", ".join(one.name for one in of_samples)
        if not cpu:
            for table in sites_in_turns(of_unit, own, report.labels, _ROWS):
                title = f"{named}, in {scale_of(own).unit}, by call site (flat)"
                yield replace(table, title=title)
        elif own.grouped:
            yield from _of_cpu(report, of_samples, own, named)


def _samples(
    report: ReportModel, diff: ProfileDiff
) -> Iterator[tuple[list[Unit], Comparison]]:
    """Yield the benchmarks that changed with their own samples, as `changed_units`."""
    outcome, alone = report.outcome, report.comparison.alone is not None
    units: tuple[Unit, ...] = ()
    if diff is report.comparison.cpu:
        units = outcome.moved
    elif alone and diff.sample_type.type == "alloc_space":
        units = tuple(dict.fromkeys((*outcome.moved, *outcome.allocating)))
    if units:
        from pprofdiff.analysis.causes.by_unit import changed_units

        yield from changed_units(report.comparison, units)


def _of_cpu(
    report: ReportModel, units: Sequence[Unit], own: ProfileDiff, named: str
) -> Iterator[Table]:
    measured = report.comparison.measured
    table = group_table(
        own,
        report.labels,
        _CATEGORIES,
        undecided=measured and not _of_turns(report.comparison, units),
        timed=measured,
    )
    unit = scale_of(own).unit
    yield replace(table, key="unit_groups", title=f"{named}, in {unit}")
    show = partial(movers, own, report.labels, "cum", rows=_ROWS)
    for table in tables_of(show(measured=measured)):
        yield replace(table, key="unit_cum", title=f"{named}: {table.title}")


def _of_turns(comparison: Comparison, units: Sequence[Unit]) -> bool:
    """Return whether turns show that the CPU/op of benchmarks changed."""
    benchmarks = comparison.benchmarks
    keys = {unit.key[:2] for unit in units if unit.key is not None}
    return benchmarks is not None and any(
        row.significant and row.unit == CPU.printed and (row.name, row.procs) in keys
        for row in benchmarks.rows
    )
