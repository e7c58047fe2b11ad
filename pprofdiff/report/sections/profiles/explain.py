"""``--explain REGEX``: which stacks a function or category stands for, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.attribution import Attribution
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.graph import walk
from pprofdiff.analysis.profiles.scaling import in_words, scale_of
from pprofdiff.errors import UsageError
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.csr import sums, unique_rows
from pprofdiff.report.model import ReportModel
from pprofdiff.report.sections.profiles.cells import delta_cell, value_cells
from pprofdiff.report.text.layout import Block, Cell, Grid, Lines, Words
from pprofdiff.units import percent

__all__ = ["explain"]

_STACKS = 3


def explain(report: ReportModel, pattern: str) -> Iterator[Block]:
    """Yield what a pattern stands for: categories and rules, leaves, costliest stacks.

    Stacks are those of the side where it costs more. The pattern is searched for in
    group and category ids, and in function names where no id matches; a whole id is
    that one alone. Raises UsageError where it is no regular expression, matches
    nothing, or where no profile is CPU time or time in a state.
    """
    diff = next((d for d in report.profiles if d.classified), None)
    if diff is None:
        raise UsageError(
            "--explain needs a CPU profile, or a trace and --state: "
            "nothing else has categories"
        )
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"--explain {pattern}: not a pattern: {error}") from error
    found = [_matching(diff, i, wanted) for i in (0, 1)]
    if not any(len(rows) for rows in found):
        raise UsageError(f"--explain {pattern}: no stack, function or category matches")
    yield Words(f"{pattern}: what it stands for, {in_words(diff)}", "strong")
    yield _breakdown(diff, report.labels, found)
    side = _dearer_side(diff, found)
    yield _leaves(diff, side, found[side])
    yield from _stacks(diff, side, found[side])


def _dearer_side(diff: ProfileDiff, found: list[NDArray[np.int64]]) -> int:
    """Return the side on which what matches costs more: 0 base, 1 new."""
    by = diff.normalization
    base, new = (
        int(values[rows].sum()) for values, rows in zip(diff.values, found, strict=True)
    )
    return int(new * by.new_factor >= base * by.base_factor)


def _attribution(diff: ProfileDiff, side: int) -> Attribution:
    """Return a side's attribution, which every CPU comparison has."""
    if diff.attributions is None:
        raise UsageError(
            "--explain needs a CPU profile, or a trace and --state: "
            "nothing else has categories"
        )
    return diff.attributions[side]


def _matching(
    diff: ProfileDiff, side: int, wanted: re.Pattern[str]
) -> NDArray[np.int64]:
    """Return the samples of a side that match."""
    chosen = _categories(wanted)
    hits = chosen[_attribution(diff, side).category]
    rows = diff.paired_functions.levels[side]
    matches = np.array([bool(wanted.search(name)) for name in rows.names], bool)
    if matches.any() and not chosen.any():
        profile = (diff.base, diff.new)[side].profile
        for start, _, frames in walk(profile):
            inside = matches[rows.ids[frames.line]]
            counts = np.append(0, np.cumsum(inside))
            some = counts[frames.offsets[1:]] > counts[frames.offsets[:-1]]
            hits[start : start + len(some)] |= some
    return np.flatnonzero(hits & (diff.values[side] != 0))


def _categories(wanted: re.Pattern[str]) -> NDArray[np.bool_]:
    """Return which categories a pattern names; a whole id names just its own."""
    table = rules()
    exact = {
        c for g in table.groups for c in g.categories if wanted.pattern in (g.id, c)
    }
    found = exact or {
        c
        for g in table.groups
        for c in g.categories
        if wanted.search(g.id) or wanted.search(c)
    }
    return np.array([c in found for c in table.categories], bool)


def _breakdown(
    diff: ProfileDiff, labels: tuple[str, str], found: list[NDArray[np.int64]]
) -> Grid:
    """Return what matches by category and rule."""
    table, scale = rules(), scale_of(diff)
    size = len(table.rules)
    base, new = (
        sums(_attribution(diff, i).rule[rows], diff.values[i][rows], size).tolist()
        for i, rows in enumerate(found)
    )
    shown = [i for i in range(size) if base[i] or new[i]]
    judged = diff.judge([base[i] for i in shown], [new[i] for i in shown])
    cells = [
        [
            *value_cells(diff, scale, base[i], new[i]),
            delta_cell(diff, scale, base[i], new[i], noise=noise),
            Cell(table.rules[i].category),
            Cell(table.rules[i].id),
            Cell(table.rules[i].why),
        ]
        for i, noise in zip(
            shown,
            [None] * len(shown) if judged is None else judged.noise.tolist(),
            strict=True,
        )
    ]
    cells.sort(key=lambda row: row[3].text)
    headings = (*labels, "Δ", "category", "rule", "why")
    return Grid(headings, ">>><<<", tuple(cells), 5)


def _leaves(diff: ProfileDiff, side: int, rows: NDArray[np.int64]) -> Words:
    """Return what the leaves of these stacks do, whoever owns the cost."""
    kinds = rules().leaf_kinds
    held = _attribution(diff, side).leaf_kind[rows]
    cost = sums(held, diff.values[side][rows], len(kinds))
    whole = int(cost.sum())
    named = [i for i in np.argsort(-cost, kind="stable").tolist() if i and cost[i] > 0]
    label = (diff.base, diff.new)[side].label
    parts = [f"{kinds[i].label} {percent(int(cost[i]), whole)}" for i in named]
    own = percent(int(cost[0]), whole)
    return Words(f"The leaves of {label}: {', '.join([*parts, f'other work {own}'])}.")


def _stacks(diff: ProfileDiff, side: int, rows: NDArray[np.int64]) -> Iterator[Block]:
    """Yield one side's stacks, the costliest first."""
    scale, total = scale_of(diff), diff.totals[side]
    by, what = diff.normalization, (diff.base, diff.new)[side]
    factor = by.new_factor if side else by.base_factor
    values = diff.values[side][rows]
    whole = int(values.sum())
    functions = diff.paired_functions.levels[side]
    frames = what.profile.take(rows).frames()
    first, group = unique_rows(frames.offsets, functions.ids[frames.line])
    cost = sums(group, values, len(first))
    order = np.argsort(-cost, kind="stable")[:_STACKS].tolist()
    yield Words(
        f"{what.label}: {scale.number(whole * factor)} {scale.unit}, "
        f"{percent(whole, total)} of the total, {len(first):,} stacks; "
        f"the costliest {len(order)}, leaf first:",
        "strong",
    )
    for i in order:
        head = f"{scale.number(int(cost[i]) * factor)} {scale.unit}"
        share = percent(int(cost[i]), total)
        yield _stack(diff, side, int(rows[first[i]]), f"{head}  {share}")


def _stack(diff: ProfileDiff, side: int, row: int, head: str) -> Lines:
    """Return one stack, leaf first, with the deciding frame marked."""
    held = _attribution(diff, side)
    table = rules()
    rule = table.rules[int(held.rule[row])]
    names = diff.paired_functions.levels[side]
    profile = (diff.base, diff.new)[side].profile
    frames = profile.take(np.array([row])).frames()
    stack = names.ids[frames.line].tolist()
    kind = table.leaf_kinds[int(held.leaf_kind[row])]
    category = table.categories[int(held.category[row])]
    lines = [Cell(f"{head}  {category}, by rule {rule.id}", "strong")]
    marked = payer = False
    for position, function in enumerate(stack):
        mark = ""
        if function == held.anchor[row] and not marked:
            mark, marked = "  ← decides", True
        elif function == held.payer[row] and not payer and category != "user":
            mark, payer = "  ← pays", True
        if position == 0 and kind.id:
            mark += f"  ({kind.label})"
        lines.append(Cell(f"    {names.names[function]}{mark}"))
    return Lines(tuple(lines))
