"""Where functions changed: in each region, version or endpoint of a fleet."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.runs.groups import GroupDiff, group_diffs
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import Cell, Column, Row, Sentence, Table, name_column, sides
from pprofdiff.report.sections.named import row_cells
from pprofdiff.report.sections.profiles.cells import compared

# Functions shown group by group: a screenful with ten groups.
_FUNCTIONS = 3
# Groups of one function in a short report, for each row that its tables have.
_GROUPS = 2


def groups_of_fleet(
    report: ReportModel, most: int | None = None
) -> Iterator[Table | Sentence]:
    """Yield the functions that changed most, with values by group; short, only one."""
    fleet = report.comparison.new.fleet
    if fleet is None or not fleet.grouped_by:
        return
    groups = list(group_diffs(report.comparison))
    functions = _functions(groups)
    title = f"By {fleet.grouped_by} (flat, % of each group's CPU)"
    if not functions:
        yield Sentence(f"{title}: nothing beyond noise in any.", key="fleet_groups")
        return
    if most is not None:
        functions, groups = functions[:1], groups[: 1 + _GROUPS * most]
    rows = [_row(group, function) for function in functions for group in groups]
    columns = (
        *sides(report.labels),
        Column("Δ", "delta"),
        Column("hosts", "text"),
        name_column(fleet.grouped_by),
    )
    yield Table("fleet_groups", columns, tuple(rows), title=title, code=True)


def _functions(groups: list[GroupDiff]) -> list[str]:
    """Return the functions that changed in all groups together, then in one group."""
    names: dict[str, None] = {}
    for group in groups:
        names |= dict.fromkeys(group.moved(1 if group.name else _FUNCTIONS))
    return list(names)[:_FUNCTIONS]


def _row(group: GroupDiff, function: str) -> Row:
    """Return a group's row; the row of all groups has the function's name."""
    hosts = Cell(", ".join(f"{count:,}" for count in group.hosts))
    cells, name = (Cell(""), Cell(""), Cell("")), Cell(group.name)
    if group.diff is not None:
        value = group.value(function)
        cells = compared(group.diff, value.base, value.new, noise=value.noise)
        if not group.name:
            name = _named(group.diff, function)
    if not group.name:
        return Row(function, "function", (*cells, hosts, name))
    return Row(f"{function}/{group.name}", "figure", (*cells, hosts, name), level=1)


def _named(diff: ProfileDiff, function: str) -> Cell:
    table = diff.table("functions")
    if function not in table.names:
        return Cell(function)
    (cell,) = row_cells(table, [table.names.index(function)])
    return cell
