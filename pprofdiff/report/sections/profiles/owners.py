"""Tables on who owns the CPU: the runtime's groups, and who pays for its work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pprofdiff.analysis.control.totals import total_noise
from pprofdiff.analysis.ledger.views import View, together
from pprofdiff.analysis.policy import MUCH
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.dimensions import paid_by_site
from pprofdiff.analysis.profiles.groups import (
    JudgedSum,
    judged_categories,
    judged_groups,
    judged_sums,
)
from pprofdiff.goruntime.rules import rules
from pprofdiff.report.rows import Cell, Column, Row, RowRole, Table, name_column
from pprofdiff.report.sections.named import call_site_cells, called_by, site_of
from pprofdiff.report.sections.profiles.cells import (
    compared,
    compared_columns,
    noise_of,
    share_cells,
    share_columns,
)

# A category gets its own row from this share of either total on.
_WORTH_A_LINE = 0.01
# In a short table, a group within noise gets a row from this share on.
_WORTH_ONE_OF_FEW = 0.03
# Names of groups that share a row.
_REST = ("other groups", "groups within noise")
# A group of work of many kinds.
_MIXED = "runtime"
_PAID = ("gc", "gc_tax", "alloc")
_ROWS = 8


def group_table(
    diff: ProfileDiff,
    labels: tuple[str, str],
    most: int | None = None,
    *,
    brief: bool = False,
    undecided: bool | None = False,
    timed: bool = False,
) -> Table:
    """Return the groups of runtime costs with their larger categories, and the total.

    The total's change is not significant if the outcome is `undecided`, and not tested
    if that is None; if it is `timed`, many turns decide, and the samples of a few runs
    test groups less well. With `most`, there are at most that many categories, those
    with the largest significant changes, and small groups within noise share one row,
    ``rest``; with 0, or in a `brief` table, all groups within noise do. A brief one
    leaves that row out if it is small. Other keys are written like rules of the gate:
    ``category:gc.mark.assist``.
    """
    rows: list[Row] = []
    (whole,) = judged_sums(diff, [("total", "total")], diff.whole)
    whole = whole._replace(noise=undecided)
    if undecided is False:
        whole = whole._replace(noise=total_noise(diff))
    every = judged_groups(diff)
    counting = None
    if timed and whole.noise is False and diff.model is not None:
        counting = diff.model.of_samples
        every = _without_doubt(every, judged_groups(diff, counting), whole)
    groups = [group for group in every if group.base or group.new]
    only = brief or most == 0
    parts_of = {group.id: judged_categories(diff, group.id) for group in groups}
    kept = None if most is None else _largest_changes(parts_of, most)
    few = [
        group
        for group in groups
        if kept is not None
        and not _worth_a_row(diff, group, only=only)
        and not any(part.id in kept for part in parts_of[group.id])
    ]
    rest = few if len(few) > 1 else []
    for group in groups:
        if group in rest:
            continue
        name = Cell(group.label, detail=_detail(group, parts_of[group.id]))
        rows.append(_row(diff, group, "group", name))
        parts = [p for p in parts_of[group.id] if _large(diff, p)]
        # A single part says what its group does, unless only the part changed.
        alone = group.noise is not False and any(p.noise is False for p in parts)
        if len(parts) > 1 or alone:
            rows += [
                _row(diff, part, "category", Cell(part.label))
                for part in parts
                if kept is None or part.id in kept
            ]
    if rest:
        places = [i for i, group in enumerate(every) if group in rest]
        runs = together(diff.ledger.every("group").runs, places)
        found = judged_sums(diff, names := [("rest", "")], runs)
        if counting is not None:
            counted = judged_sums(diff, names, runs, counting)
            found = _without_doubt(found, counted, whole)
        (one,) = found
        # Together they may have changed although none has by itself.
        noise = only and all(group.noise for group in (*rest, one))
        if (one.base or one.new) and (not brief or _large(diff, one)):
            name = Cell(f"{len(rest)} {_REST[noise]}")
            rows.append(_row(diff, one, "group", name))
    rows.append(_row(diff, whole, "total", Cell(whole.label)))
    columns = (name_column(""), *compared_columns(diff, labels), *share_columns(diff))
    return Table("groups", columns, tuple(rows), one_unit=True)


def _detail(group: JudgedSum, parts: Sequence[JudgedSum]) -> str:
    detail = next((one.detail for one in rules().groups if one.id == group.id), "")
    some = [part for part in parts if part.base or part.new]
    return some[0].label if group.id == _MIXED and len(some) == 1 else detail


def _without_doubt(
    groups: Sequence[JudgedSum], alone: Sequence[JudgedSum], whole: JudgedSum
) -> list[JudgedSum]:
    """Return groups; those that may well have the total's change are not tested.

    How far a few runs differ by chance is hardly known, and their samples `alone` show
    a change that is most of a significant one.
    """
    return [
        group._replace(noise=None)
        if group.noise
        and one.noise is False
        and group.delta * whole.delta > 0
        and abs(group.delta) >= MUCH * abs(whole.delta)
        else group
        for group, one in zip(groups, alone, strict=True)
    ]


def _large(diff: ProfileDiff, part: JudgedSum) -> bool:
    base, new = diff.totals
    return (
        part.base > _WORTH_A_LINE * base
        or part.new > _WORTH_A_LINE * new
        or part.noise is False
    )


def _worth_a_row(diff: ProfileDiff, group: JudgedSum, *, only: bool) -> bool:
    """Return whether a group changed or, unless `only` then, is a notable share.

    A large difference within noise has a row too: added up with others, it may vanish.
    """
    base, new = diff.totals
    if abs(group.delta) >= MUCH * max(map(abs, diff.normalization.scaled(base, new))):
        return True
    large = (
        group.base >= _WORTH_ONE_OF_FEW * base or group.new >= _WORTH_ONE_OF_FEW * new
    )
    return group.noise is False or (large and (not only or group.noise is None))


def _largest_changes(
    parts_of: Mapping[str, Sequence[JudgedSum]], most: int
) -> set[str]:
    moved = [p for parts in parts_of.values() for p in parts if p.noise is False]
    moved.sort(key=lambda part: -abs(part.delta))
    return {part.id for part in moved[:most]}


def _row(diff: ProfileDiff, judged: JudgedSum, role: RowRole, name: Cell) -> Row:
    cells = (
        name,
        *compared(diff, judged.base, judged.new, noise=judged.noise),
        *share_cells(diff, judged.base, judged.new),
    )
    key = judged.id if judged.id in ("total", "rest") else f"{role}:{judged.id}"
    return Row(key, role, cells, level=int(role == "category"))


def payer_table(
    diff: ProfileDiff, labels: tuple[str, str], rows: int | None = None
) -> Iterator[Table]:
    """Yield who pays for GC and allocation: up to `rows` call sites of user code."""
    shown = _payers(diff, _ROWS if rows is None else rows)
    if shown:
        columns = (
            *compared_columns(diff, labels),
            Column("mostly", "text", "<"),
            name_column("call site"),
        )
        yield Table(
            "payers",
            columns,
            shown,
            title="Pays for GC and allocation (by call site)",
            code=True,
            one_unit=True,
        )


def _payers(diff: ProfileDiff, most: int) -> tuple[Row, ...]:
    if not diff.classified:
        return ()
    paid = np.array([rules().groups[row].id in _PAID for row in rules().group_rows])
    sums = paid_by_site(diff.ledger)
    sums = sums.where(paid[sums["category"]])
    by_site = sums.by("site", "owner")
    base, new = by_site.base, by_site.new
    noise = noise_of(diff, by_site.runs)
    # Unknown significance ranks like a change; without a noise model, size decides.
    without = diff.model is None
    by_chance = np.array([without or chance is True for chance in noise], np.bool_)
    delta = np.abs(diff.normalization.delta(base, new))
    size = np.maximum(*diff.normalization.scaled(base, new))
    order = np.lexsort((-np.where(by_chance, size, delta), by_chance))[:most]
    names = diff.paired_functions.names
    chosen = [
        sums.where(
            (sums["site"] == by_site["site"][i])
            & (sums["owner"] == by_site["owner"][i])
        )
        for i in order
    ]
    called, owners = by_site["site"].tolist(), by_site["owner"].tolist()
    sites = [site_of(names, called[i], owners[i]) for i in order.tolist()]
    shown = []
    for i, blamed, site, name in zip(
        order.tolist(), chosen, sites, call_site_cells(sites), strict=True
    ):
        old, now = int(base[i]), int(new[i])
        cells = (*compared(diff, old, now, noise=noise[i]), Cell(_mostly(blamed)), name)
        shown.append(Row(called_by(site), "call_site", cells))
    return tuple(shown)


def _mostly(paid: View) -> str:
    category = paid["category"][np.maximum(paid.base, paid.new).argmax()]
    return rules().category_labels[rules().categories[int(category)]]
