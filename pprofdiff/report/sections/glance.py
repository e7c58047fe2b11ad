"""Sections in one line each: their total, and what changed most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from pprofdiff.analysis.policy import MAJOR
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.kinds import counts_of
from pprofdiff.analysis.profiles.scaling import change_scale_of
from pprofdiff.goruntime.names import is_runtime_like
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import (
    Cell,
    Column,
    Row,
    Section,
    Sentence,
    Table,
    Tile,
    name_column,
)
from pprofdiff.report.sections import tiles
from pprofdiff.report.sections.changes import total_change
from pprofdiff.units import scale_for


def at_a_glance(
    report: ReportModel, sections: Sequence[Section]
) -> Iterator[Table | Sentence]:
    """Yield a row for each section: its total, and its row that changed most.

    A section with an `instead` sentence is shown as that sentence, below the table.
    """
    rows = [_row(report, section) for section in sections if not section.instead]
    if rows:
        yield _table(report, rows)
    for section in sections:
        if section.instead:
            yield Sentence(f"{section.title}: {section.instead}")


def _table(report: ReportModel, rows: Sequence[Row]) -> Table:
    columns = (
        Column(" → ".join(report.labels), "pair"),
        Column("Δ", "delta"),
        name_column("also compared; what changed most in it"),
    )
    return Table("glance", columns, tuple(rows), code=True).without_empty()


def _row(report: ReportModel, section: Section) -> Row:
    tile = next(iter(tiles(section)), Tile(section.title, "", Cell("")))
    values, change, name = Cell(tile.values), tile.change, tile.name
    diff, counted = section.diff, None
    if diff is not None:
        name = section.short
        mode, counted = diff.normalization.mode, counted_change(report, diff)
        if mode in ("share", "about"):
            name += f" ({diff.new.label} scaled)"
        sides = counted or diff.normalization.scaled(*diff.totals)
        change = replace(change, text=total_change(*sides))
        if mode in ("composition", "about"):
            # The totals that pprof shows are others.
            values = Cell("")
        if mode == "composition" or (mode == "about" and change.mark == "noise"):
            change = Cell("")
    way = 0.0 if counted is None else counted[1] - counted[0]
    moved = _moved_most(section, way)
    if diff is not None and _of_other_spans(report, diff):
        change, moved = Cell(""), None
    if moved is not None:
        label = replace(moved, text=name)
    elif not values.text and diff is not None and diff.model is not None:
        what = "share" if diff.normalization.mode == "composition" else "change"
        label = Cell(name, detail=f"no {what} beyond noise")
    else:
        label = Cell(name)
    return Row(section.id, "figure", (values, change, label))


def _of_other_spans(report: ReportModel, diff: ProfileDiff) -> bool:
    """Return whether a profile counts since the process began, for unlike times."""
    counts = counts_of(diff.new.profile, diff.sample_type)
    unlike = any(caveat.id == "duration" for caveat in report.warnings)
    return unlike and diff.normalization.mode == "absolute" and counts != "moment"


def counted_change(
    report: ReportModel, diff: ProfileDiff
) -> tuple[float, float] | None:
    """Return what benchmarks count of what a profile samples, None for no change."""
    work = report.comparison.work
    if work is None or diff.is_cpu or diff.normalization.mode != "per_work":
        return None
    base, new = work.allocated.get(diff.sample_type.type, (0.0, 0.0))
    return (base, new) if abs(new - base) > MAJOR * max(base, new) else None


def _moved_most(section: Section, way: float) -> Cell | None:
    """Return the row that changed most, of the top tables: its delta, then its name.

    It is within noise only if exact counts of the total changed the same `way`.
    """
    for key in section.tops:
        tables = [table for table in section.tables if table.key == key]
        moved = [
            (abs(cell.value or 0.0), cell, row)
            for table in tables
            for at in (table.place("delta"),)
            for row in table.rows
            if (value := (cell := row.cells[at]).value)
            and (cell.mark != "noise" or value * way > 0)
        ]
        if moved:
            if section.diff and section.diff.normalization.mode == "composition":
                # A share also falls as others rise.
                moved = [one for one in moved if (one[1].value or 0) > 0] or moved
            # The runtime is called by what changed; call sites are outside it.
            left = [
                one
                for one in moved
                if one[2].role != "function" or not is_runtime_like(one[2].key)
            ]
            _, cell, row = max(left or moved, key=lambda one: one[0])
            column = "flat" if key == "call_sites" else key
            amount = " ".join(filter(None, (cell.signed, _unit(section), column)))
            detail = f"{amount}  {row.cells[tables[0].names].label}"
            return Cell("", cell.value, mark=cell.mark, detail=detail)
    return None


def _unit(section: Section) -> str:
    """Return the unit of a delta, "" for counts, which the section's own row names."""
    diff = section.diff
    if diff is None:
        return ""
    absolute = diff.normalization.mode == "absolute"
    counted = absolute and not scale_for((), diff.unit).unit
    return "" if counted else change_scale_of(diff).unit
