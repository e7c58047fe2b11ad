"""A comparison's call tree for the page's script; see `packing`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.call_tree import CallTree, Ends, call_tree, inclusive, needed
from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.analysis.causes.frames import functions_of, needed_next_to
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.labels import few_valued
from pprofdiff.analysis.profiles.scaling import in_words, scale_of
from pprofdiff.analysis.profiles.side import ProfileSide
from pprofdiff.goruntime.readable import distinct_names, short_before
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import distinct, sums
from pprofdiff.report.html.packing import (
    Category,
    Drawn,
    base64,
    document,
    embedded,
    quantum_of,
    varints,
    zigzag,
)

# Maximum label keys to filter by, values per key, and characters of a key and its
# values: more do not fit on a screen, and each key costs about a byte per node.
_KEYS = 3
_VALUES = 12
_LABEL_TEXT = 1000
# Steps per power of ten in which the change needed for significance is encoded.
_STEPS = 24
# Node budgets: for all trees of a page, and for one tree.
_OF_A_PAGE = 24_000
_OF_A_TREE = 10_000
# Functions that occur only in folded callees, per node of the budget: one of them takes
# about half the bytes of a node and its share of names.
_OUTSIDE = 2


def budgets(
    diffs: Sequence[ProfileDiff], total: int = _OF_A_PAGE, most: int = _OF_A_TREE
) -> list[int]:
    """Return each comparison's node budget: at most `total` in all, `most` for each.

    What one cannot use, as its stacks have fewer frames, goes to the others.
    """
    needs = [min(most, _frames(diff.base) + _frames(diff.new)) for diff in diffs]
    shares = [0] * len(diffs)
    modest_first = sorted(range(len(diffs)), key=needs.__getitem__)
    for done, i in enumerate(modest_first):
        shares[i] = min(needs[i], (total - sum(shares)) // (len(diffs) - done))
    return shares


def packed(
    diff: ProfileDiff,
    *,
    budget: int,
    cap: int | None = None,
    causes: Mapping[int, Finding] = MappingProxyType({}),
    unit: str = "",
) -> dict[str, Any]:
    """Return the call tree with at most `budget` functions as a JSON document.

    If it exceeds `cap` bytes, functions without a node are dropped first, then the
    budget is lowered until it fits: names can be of any length.

    ``nodes`` is base64 of five columns of `count` varints, in preorder: how many levels
    up the node's parent is (0: the node before it), twice the name's index (or twice
    the number of folded callees, plus 1), self values of base and new, zigzag, in units
    of `quantum`, and the category (0 for none, its index plus 1, or the number of
    categories plus 1 for several). For name i, `prefix` is the number of UTF-16 code
    units it shares with name i - 1, and `suffix` is the rest; `cut` is how many of them
    are not shown, unless `short` has, by index, what is shown instead. `was` says, by
    index, what differs in base's name.

    ``hidden`` is null if no callee is folded. Otherwise it is base64 of four columns of
    zigzag varints, one entry per name, in units of `quantum`: by how much the
    function's exact cum in base and new (each stack counted once) exceeds the sum over
    its outermost nodes, and its exact flat in both exceeds the self values of its
    nodes. Names then include the heaviest functions that occur only in folded callees,
    up to 2 × `budget`; `left` is the number of further ones.

    ``filters`` are label keys with few `values`, the first of them "" for samples
    without the key. `nodes` is base64 of varints: for each node, 1 + the position of
    the value that all its own samples have, 0 if it has none, or 1 + the number of
    values for several. For the nodes with several, base's sums by value follow, zigzag,
    in units of `quantum`, then new's.

    ``marks`` is base64 of varints, or null without a noise model: a mark for all
    samples, then one per node, each twice the mark of its inclusive change, plus 1 if
    its self change is significant. ``functions`` is base64 of the marks of each name's
    exact cum. A mark is 0 if significant, 1 if no change could be, else 2 + k: a delta
    of `reach` × 10^(k / 24) (rounded up) would be significant.

    ``causes`` are the functions of each of `causes` that has some with a node: its
    number, then indices of names. `unit` names the unit of work that the samples are
    of, "" for all.
    """
    tree, others = call_tree(diff, budget), _OUTSIDE * budget
    document = _document(diff, *tree, others, causes)
    while cap is not None and budget and (size := len(embedded(document))) > cap:
        if others:
            others //= 8
        else:
            budget = min(budget // 2, budget * cap // size)
            tree = call_tree(diff, budget)
        document = _document(diff, *tree, others, causes)
    if unit:
        document |= {"id": address(diff, unit), "title": f"{diff.title} of {unit}"}
    return document


def address(diff: ProfileDiff, unit: str = "") -> str:
    """Return the start of links to a comparison's flame graph, such as ``cpu``."""
    kind = diff.sample_type.type
    name = diff.name if diff.name == kind else f"{diff.name}/{kind}"
    return f"{unit}/{name}" if unit else name


def _document(
    diff: ProfileDiff,
    tree: CallTree,
    ends: tuple[Ends, Ends],
    others: int,
    causes: Mapping[int, Finding],
) -> dict[str, Any]:
    rows, left = _named(diff, tree, others)
    names = diff.paired_functions.names
    place = np.zeros(len(names) + 1, np.int64)
    place[rows] = np.arange(len(rows))
    hidden = _hidden(diff, tree, rows, place)
    labels = _labels(diff, tree, ends)
    mixed = (label.mixed for label in labels)
    sides = zip((tree.base_self, tree.new_self), *hidden, *mixed, strict=True)
    quantum = list(map(quantum_of, sides))
    shown = [names[row] for row in rows]
    known = rules()
    drawn = Drawn(
        address(diff),
        diff.title,
        (diff.base.label, diff.new.label),
        in_words(diff),
        scale_of(diff),
        diff.normalization,
        diff.totals,
        [(group.id, group.label) for group in known.groups],
        [
            Category(name, known.category_labels[name], known.group_rows[row])
            for row, name in enumerate(known.categories)
        ],
    )
    return {
        **document(drawn, tree, place, shown, distinct_names(shown), quantum),
        **_marks(diff, tree, rows, causes),
        "was": _base_names(diff, rows),
        "hidden": hidden.encoded(quantum) if tree.folded.any() else None,
        "left": left,
        "filters": [label.document(quantum) for label in labels],
        "causes": [
            [number, *place[functions].tolist()]
            for number, functions in functions_of(diff, tree, ends, causes)
        ],
    }


def _named(diff: ProfileDiff, tree: CallTree, most: int) -> tuple[list[int], int]:
    drawn = distinct(tree.name[tree.name >= 0])
    rows, left = drawn.tolist(), 0
    if tree.folded.any():
        scaled = diff.normalization.scaled(*diff.paired_functions.raw("cum"))
        weight = np.abs(scaled[0]) + np.abs(scaled[1])
        others = np.setdiff1d(diff.paired_functions.tabled, drawn)
        heaviest = others[np.argsort(-weight[others], kind="stable")]
        rows += heaviest[:most].tolist()
        left = max(len(others) - most, 0)
    rows.sort(key=diff.paired_functions.names.__getitem__)
    return rows, left


class _Hidden(NamedTuple):
    """What functions have beyond the tree's nodes: raw (base, new), one for each."""

    cum: tuple[Column, Column]
    flat: tuple[Column, Column]

    def encoded(self, quantum: Sequence[int]) -> str:
        return base64(
            b"".join(
                varints(zigzag(side // unit))
                for pair in self
                for side, unit in zip(pair, quantum, strict=True)
            )
        )


def _hidden(
    diff: ProfileDiff, tree: CallTree, rows: list[int], place: Column
) -> _Hidden:
    """Return what `rows` have beyond the tree's nodes; `place` numbers them."""
    drawn = np.flatnonzero(tree.name >= 0)
    own = place[tree.name[drawn]]
    below = merged(inclusive(tree).map(lambda run: run[1:]))
    outermost = _outermost(tree, place, below, len(rows))
    cum, flat = (diff.paired_functions.raw(column) for column in ("cum", "flat"))
    selves = [
        sums(own, side[drawn], len(rows)) for side in (tree.base_self, tree.new_self)
    ]
    return _Hidden(
        (cum[0][rows] - outermost[0], cum[1][rows] - outermost[1]),
        (flat[0][rows] - selves[0], flat[1][rows] - selves[1]),
    )


class _Label(NamedTuple):
    """How a label key's values divide the self values of nodes; see `packed`."""

    key: str
    values: tuple[str, ...]
    value: Column
    mixed: tuple[Column, Column]

    def document(self, quantum: Sequence[int]) -> dict[str, Any]:
        parts = zip(self.mixed, quantum, strict=True)
        columns = (self.value, *(zigzag(side // unit) for side, unit in parts))
        data = b"".join(varints(column) for column in columns)
        return {"key": self.key, "values": self.values, "nodes": base64(data)}


def _labels(diff: ProfileDiff, tree: CallTree, ends: tuple[Ends, Ends]) -> list[_Label]:
    labels = []
    for key, values, sides in few_valued(diff, _VALUES):
        if len(key) + sum(map(len, values)) > _LABEL_TEXT:
            continue
        chosen = [of[end.sample] for of, end in zip(sides, ends, strict=True)]
        node = np.concatenate([end.node for end in ends])
        each = np.concatenate(chosen) + 1
        value = np.zeros(len(tree), np.int64)
        value[node] = each
        value[node[value[node] != each]] = len(values) + 1
        several = np.flatnonzero(value > len(values))
        place = np.full(len(tree), -1)
        place[several] = np.arange(len(several))
        base, new = (
            sums(
                place[end.node[at]] * len(values) + of[at],
                end.value[at],
                len(several) * len(values),
            )
            for of, end in zip(chosen, ends, strict=True)
            for at in [np.flatnonzero(place[end.node] >= 0)]
        )
        labels.append(_Label(key, values, value, (base, new)))
    return labels[:_KEYS]


def _marks(
    diff: ProfileDiff, tree: CallTree, rows: list[int], causes: Mapping[int, Finding]
) -> dict[str, Any]:
    below = inclusive(tree)
    own = tree.self_runs.map(lambda run: np.append(0, run))
    of_names = diff.paired_functions.runs("cum").map(lambda run: run[rows])
    needs, beyond = [], []
    of_rows = np.array(rows, np.int64)
    for runs, need in (
        (below, needed_next_to(diff, causes.values(), np.append(-1, tree.name), below)),
        (own, needed(diff, own)),
        (of_names, needed_next_to(diff, causes.values(), of_rows, of_names)),
    ):
        if need is None:
            return {"marks": None, "functions": None, "reach": None}
        needs.append(need)
        delta = diff.normalization.delta(*merged(runs))
        beyond.append(np.abs(delta) >= need)
    within = [needs[i][~beyond[i]] for i in (0, 2)]
    reach = float(np.concatenate(within).min(initial=np.inf))
    nodes, names = (_coarse(needs[i], beyond[i], reach) for i in (0, 2))
    return {
        "marks": base64(varints(2 * nodes + beyond[1])),
        "functions": base64(varints(names)),
        "reach": reach if reach < np.inf else None,
    }


def _coarse(
    needs: NDArray[np.float64], beyond: NDArray[np.bool_], reach: float
) -> Column:
    """Return 0 if significant, 1 if no change could be, else 2 + k; see `packed`."""
    marks = (~beyond).astype(np.int64)
    some = ~beyond & np.isfinite(needs)
    steps = np.log10(needs[some] / reach) * _STEPS
    marks[some] = 2 + np.ceil(np.round(steps, 9)).astype(np.int64)
    return marks


def _outermost(
    tree: CallTree, place: Column, below: tuple[Column, Column], count: int
) -> tuple[Column, Column]:
    """Return each name's sums over its outermost nodes, whose values `below` has."""
    node = np.flatnonzero(tree.name >= 0)
    name = place[tree.name[node]]
    order = np.lexsort((node, name))
    node, name = node[order], name[order]
    # Nodes of one name are nested or disjoint: they are intervals of the preorder.
    span = len(tree) + 1
    ends = np.maximum.accumulate(name * span + node + tree.size[node])
    outermost = name * span + node >= np.append(-1, ends[:-1])[: len(node)]
    base, new = (sums(name[outermost], side[node[outermost]], count) for side in below)
    return base, new


def _frames(side: ProfileSide) -> int:
    """Return the number of frames in a side's stacks, inlined ones too, plus 1."""
    profile = side.profile
    lines = np.diff(profile.locations.line_offsets)
    return int(lines[profile.stack_locations].sum()) + 1


def _base_names(diff: ProfileDiff, rows: list[int]) -> dict[str, str]:
    functions = diff.paired_functions
    places = [np.full(len(functions.names), -1) for _ in functions.union]
    for place, union in zip(places, functions.union, strict=True):
        place[union] = np.arange(len(union))
    was = {}
    _, keys = diff.identity.sides
    for i, row in enumerate(rows):
        name, old, now = functions.names[row], int(places[0][row]), int(places[1][row])
        before = functions.sides[0].names[old]
        if min(old, now) < 0 or before == name:
            continue
        if before := short_before(before, name):
            verb = "probably was" if name in keys.probable else "was"
            was[str(i)] = f"{verb} {before}"
    return was
