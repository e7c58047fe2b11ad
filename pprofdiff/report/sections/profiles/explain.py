"""``--explain REGEX``: which stacks a function or category covers, and why."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.ledger.codes import Attribution
from pprofdiff.analysis.ledger.graph import walk
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.regexp import Matches, matcher
from pprofdiff.analysis.profiles.scaling import in_words, scale_of
from pprofdiff.errors import UsageError
from pprofdiff.goruntime.readable import distinct_names
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.csr import sums, unique_rows
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import (
    Cell,
    Column,
    Heading,
    Part,
    Row,
    Sentence,
    Table,
    name_column,
)
from pprofdiff.report.sections.profiles.cells import (
    compared,
    compared_columns,
    noise_of,
)
from pprofdiff.report.text.layout import Block, Lines, Word
from pprofdiff.units import percent

_STACKS = 3
_INDENT = 4
_NEEDS = (
    "--explain needs a CPU profile, or a trace and --state: nothing else has categories"
)


def explain(report: ReportModel, pattern: str) -> Iterator[Part | Block]:
    """Yield what a pattern matches: categories and rules, leaves, costliest stacks.

    It is searched for in group and category ids, or in function names if no id matches;
    a full id matches only itself. Raises UsageError if it is no regular expression or
    matches nothing, or without profiles of CPU time or time in a state.
    """
    diff = next((d for d in report.profiles if d.classified), None)
    if diff is None:
        raise UsageError(_NEEDS)
    matches = matcher(pattern, "explain")
    chosen = _categories(pattern, matches)
    matching = [_matching(diff, i, chosen, matches) for i in (0, 1)]
    if not any(len(rows) for rows in matching):
        raise UsageError(f"--explain {pattern}: no stack, function or category matches")
    title = f"{pattern}: what it consists of, {in_words(diff)}"
    yield _breakdown(diff, report.labels, matching, title)
    side = _costlier_side(diff, matching)
    yield _leaves(diff, side, matching[side])
    yield from _stacks(diff, side, matching[side])


def _costlier_side(diff: ProfileDiff, matching: list[NDArray[np.int64]]) -> int:
    """Return the side on which what matches costs more: 0 base, 1 new."""
    base, new = (int(diff.values[i][matching[i]].sum()) for i in (0, 1))
    old, now = diff.normalization.scaled(base, new)
    return int(now >= old)


def _attribution(diff: ProfileDiff, side: int) -> Attribution:
    if diff.attributions is None:
        raise UsageError(_NEEDS)
    return diff.attributions[side]


def _matching(
    diff: ProfileDiff, side: int, chosen: NDArray[np.bool_], matches_name: Matches
) -> NDArray[np.int64]:
    """Return the samples of a side that match: by category, or else by function."""
    hits = chosen[_attribution(diff, side).category]
    rows = diff.paired_functions.sides[side]
    matches = np.array([matches_name(name) for name in rows.names], bool)
    if matches.any() and not chosen.any():
        profile = (diff.base, diff.new)[side].profile
        for start, _, frames in walk(profile):
            inside = matches[rows.ids[frames.line]]
            counts = np.append(0, np.cumsum(inside))
            some = counts[frames.offsets[1:]] > counts[frames.offsets[:-1]]
            hits[start : start + len(some)] |= some
    return np.flatnonzero(hits & (diff.values[side] != 0))


def _categories(pattern: str, matches: Matches) -> NDArray[np.bool_]:
    """Return which categories a pattern names; a full id names only its own."""
    ids = [(g.id, c) for g in rules().groups for c in g.categories]
    exact = {own[1] for own in ids if pattern in own}
    chosen = exact or {own[1] for own in ids if any(map(matches, own))}
    return np.array([c in chosen for c in rules().categories], bool)


def _breakdown(
    diff: ProfileDiff,
    labels: tuple[str, str],
    matching: list[NDArray[np.int64]],
    title: str,
) -> Table:
    table = rules()
    size = len(table.rules)
    rule_of = [np.full(len(values), -1, np.int64) for values in diff.values]
    for i, chosen in enumerate(matching):
        rule_of[i][chosen] = _attribution(diff, i).rule[chosen]
    runs = diff.runs_of((rule_of[0], rule_of[1]), size)
    base, new = (side.tolist() for side in merged(runs))
    shown = [i for i in range(size) if base[i] or new[i]]
    noise = noise_of(diff, runs.map(lambda run: run[shown]))
    ordered = sorted(
        zip(shown, noise, strict=True), key=lambda row: table.rules[row[0]].category
    )
    columns = (
        *compared_columns(diff, labels),
        Column("category", "text", "<"),
        Column("rule", "text", "<"),
        name_column("why"),
    )
    rows = []
    for i, chance in ordered:
        rule, sides = table.rules[i], compared(diff, base[i], new[i], noise=chance)
        cells = (*sides, Cell(rule.category), Cell(rule.id), Cell(rule.why))
        rows.append(Row(rule.id, "rule", cells))
    return Table("explain", columns, tuple(rows), title=title, one_unit=True)


def _leaves(diff: ProfileDiff, side: int, rows: NDArray[np.int64]) -> Sentence:
    """Return what the leaves of these stacks do, whoever owns the cost."""
    kinds = rules().leaf_kinds
    leaves = _attribution(diff, side).leaf_kind[rows]
    cost = sums(leaves, diff.values[side][rows], len(kinds))
    whole = int(cost.sum())
    named = [i for i in np.argsort(-cost, kind="stable").tolist() if i and cost[i] > 0]
    label = (diff.base, diff.new)[side].label
    parts = [f"{kinds[i].label} {percent(int(cost[i]), whole)}" for i in named]
    own = percent(int(cost[0]), whole)
    return Sentence(
        f"The leaves of {label}: {', '.join([*parts, f'other work {own}'])}."
    )


def _stacks(
    diff: ProfileDiff, side: int, rows: NDArray[np.int64]
) -> Iterator[Part | Block]:
    scale, total = scale_of(diff), diff.totals[side]
    what = (diff.base, diff.new)[side]
    values = diff.values[side][rows]
    whole = int(values.sum())
    functions = diff.paired_functions.sides[side]
    frames = what.profile.take(rows).frames()
    first, group = unique_rows(frames.offsets, (functions.ids[frames.line],))
    cost = sums(group, values, len(first))
    order = np.argsort(-cost, kind="stable")[:_STACKS].tolist()

    def written(raw: int) -> str:
        return f"{scale.number(diff.normalization.scaled(raw, raw)[side])} {scale.unit}"

    yield Heading(
        f"{what.label}: {written(whole)}, "
        f"{percent(whole, total)} of the total, {len(first):,} stacks; "
        f"the costliest {len(order)}, leaf first:"
    )
    for i in order:
        raw = int(cost[i])
        row = int(rows[first[i]])
        yield _stack(diff, side, row, (written(raw), percent(raw, total)))


def _stack(diff: ProfileDiff, side: int, row: int, cost: tuple[str, str]) -> Lines:
    """Return one stack, leaf first, with its formatted `cost` and share.

    It says which function decides the category, which pays, and what the leaf does.
    """
    owners = _attribution(diff, side)
    table = rules()
    names = diff.paired_functions.sides[side]
    profile = (diff.base, diff.new)[side].profile
    line = profile.take(np.array([row])).frames().line
    kind = table.leaf_kinds[int(owners.leaf_kind[row])]
    category = table.categories[int(owners.category[row])]
    rule = table.rules[int(owners.rule[row])].id
    head = f"{'  '.join(cost)}  {category}, by rule {rule}"
    words = [Word(head, "strong")]
    decided = paid = False
    functions = names.ids[line].tolist()
    texts = distinct_names(names.names[function] for function in functions)
    for position, (function, text) in enumerate(zip(functions, texts, strict=True)):
        role = ""
        if function == owners.anchor[row] and not decided:
            role, decided = "  ← decides", True
        elif function == owners.payer[row] and not paid and category != "user":
            role, paid = "  ← pays", True
        leaf = f"  ({kind.label})" if position == 0 and kind.id else ""
        words.append(Word(f"{text}{role}{leaf}", indent=_INDENT))
    return Lines(tuple(words), names=True)
