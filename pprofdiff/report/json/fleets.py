"""The fleet part of the JSON report: hosts and groups."""

from __future__ import annotations

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.runs.groups import GroupDiff, group_diffs, moved_in_any
from pprofdiff.report.json import Row


def fleet_row(comparison: Comparison) -> Row:
    """Return how many hosts are paired, and the functions that changed in each group.

    The group "" is all CPU. A function that changed significantly in one group has raw
    values in all.
    """
    fleet = comparison.new.fleet
    groups = list(group_diffs(comparison))
    names = moved_in_any(groups)
    return {
        "paired_hosts": comparison.same_hosts,
        "skipped": {
            word: dict(side.fleet.skipped)
            for word, side in (("base", comparison.base), ("new", comparison.new))
            if side.fleet is not None
        },
        "grouped_by": fleet.grouped_by or None if fleet is not None else None,
        "groups": [_group(group, names) for group in groups],
    }


def _group(group: GroupDiff, names: list[str]) -> Row:
    base, new = group.hosts
    row: Row = {
        "group": group.name,
        "hosts": {"base": base, "new": new},
        "total": None,
        "functions": [],
    }
    if group.diff is None:
        return row
    by, totals = group.diff.normalization, group.diff.totals
    row["total"] = {"base": totals[0], "new": totals[1]}
    for name in names:
        value = group.value(name)
        scaled = by.scaled(value.base, value.new)
        row["functions"].append(
            {
                "name": name,
                "base": value.base,
                "new": value.new,
                "base_scaled": scaled[0],
                "new_scaled": scaled[1],
                "delta_scaled": by.delta(value.base, value.new),
                "noise": value.noise,
            }
        )
    return row
