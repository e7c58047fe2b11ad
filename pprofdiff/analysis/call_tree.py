"""The call tree of both sides, root first, folded to a budget of nodes.

A node is a path of functions from the root of a stack; paths of the two sides are one
node if their functions are paired. The heaviest nodes are kept. They form a tree, since
no node outweighs its caller; a node's other callees are folded into one leaf. So self
values add up to the totals for any budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.analysis.control.totals import total_noise
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.paths import Paths, Stacks, heaviest_paths
from pprofdiff.model.arrays import Column

# Stand-ins for a category if a node's own samples have none, or several.
NO_CATEGORY = -1
SEVERAL = -2

# How far (relative) the limit lies below the smallest significant |z|.
_ROUNDING = 1e-9


class Nodes(Struct, frozen=True, eq=False):
    """The nodes of a tree in preorder, one row each.

    Siblings are sorted by descending weight; the leaf for folded callees is last.

    - `depth` (int32) is 0 for functions without a caller.
    - `size` (int32) is the number of rows in a node's subtree, including its own.
    - `name` (int32) is a row of the names of all functions, or -1 for a leaf of folded
      callees.
    - `folded` (int32) is how many callees, each with its subtree, such a leaf stands
      for; 0 for functions.
    """

    depth: NDArray[np.int32]
    size: NDArray[np.int32]
    name: NDArray[np.int32]
    folded: NDArray[np.int32]

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.depth)


class CallTree(Nodes, frozen=True, eq=False):
    """The nodes, and what each has of both sides.

    - `base_self`, `new_self` (int64) are the raw sums of the samples that end in this
      node, or in what it stands for; `self_runs` are the same sums per run.
    - `category` (int16) is the index of the category that all these samples share, else
      `SEVERAL`, or `NO_CATEGORY` if there are none. Categories of a profile are those
      of `rules`, names those of ``ProfileDiff.paired_functions``.
    """

    base_self: Column
    new_self: Column
    self_runs: Runs[Column]
    category: NDArray[np.int16]


class Ends(Struct, frozen=True, eq=False):
    """Where one side's samples that have a value end, one row each (int64).

    `sample` is the index in the profile, `value` the raw value, and `node` the row of
    the tree that the sample ends in, or that stands for its end.
    """

    sample: Column
    value: Column
    node: Column


def call_tree(diff: ProfileDiff, budget: int) -> tuple[CallTree, tuple[Ends, Ends]]:
    """Return the union of both sides' call trees, and where each side's samples end.

    A node's weight is the sum of the scaled absolute values of its samples, base and
    new; samples of value 0 are ignored. At most `budget` functions are kept, heaviest
    first; ties go to the one nearer the root, then by name. All other callees of a node
    are folded into one leaf, and so is everything deeper than `paths.DEEPEST`.
    """
    names = diff.paired_functions.names
    rows = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
    sides = _stacks(diff, rows)
    base, new = diff.normalization.factors
    paths = heaviest_paths(sides, (abs(base), abs(new)), len(names), budget)
    nodes, ends = laid_out(paths, rows)
    rows_of = [np.full(len(values), -1) for values in diff.values]
    for of_sample, side, end in zip(rows_of, sides, ends, strict=True):
        of_sample[side.sample] = end
    self_runs = diff.runs_of((rows_of[0], rows_of[1]), len(nodes))
    tree = with_values(nodes, self_runs, ends, _categories(diff, sides))
    old, now = (
        Ends(side.sample, side.values, row)
        for side, row in zip(sides, ends, strict=True)
    )
    return tree, (old, now)


def with_values(
    nodes: Nodes,
    self_runs: Runs[Column],
    ends: Sequence[Column],
    categories: Sequence[Column] | None,
) -> CallTree:
    """Return nodes with the raw sums of the stacks that end in each.

    `ends` are the nodes of the stacks of (base, new), `categories` their categories.
    """
    shared = np.full(len(nodes), NO_CATEGORY, np.int16)
    if categories is not None:
        for row, category in zip(ends, categories, strict=True):
            shared[row] = category
        several = [
            row[shared[row] != category]
            for row, category in zip(ends, categories, strict=True)
        ]
        shared[np.concatenate(several)] = SEVERAL
    base, new = merged(self_runs)
    columns = nodes.depth, nodes.size, nodes.name, nodes.folded
    return CallTree(*columns, base, new, self_runs, shared)


def inclusive(tree: CallTree) -> Runs[Column]:
    """Return the exact sums of subtrees per run, raw int64: of all, then by node."""
    at = np.arange(len(tree))

    def whole(own: Column) -> Column:
        # Running sums may wrap around; their differences are still correct.
        until = np.append(0, np.cumsum(own))
        return np.append(until[-1], until[at + tree.size] - until[at])

    return tree.self_runs.map(whole)


def noise_limit(diff: ProfileDiff) -> float | None:
    """Return the |z| from which a node's inclusive change is significant.

    None if no function's change is, or without a noise model. The limit is the
    functions table's, by cum, so a node with all samples of a function is judged like
    its row, however many nodes are drawn. It is a billionth below the smallest
    significant |z|: a z computed in another order stays on its side.
    """
    judged = diff.table("functions").judge("cum")
    least = None if judged is None else judged.least
    return None if least is None else least * (1 - _ROUNDING)


def needed(
    diff: ProfileDiff, runs: Runs[Column], *, whole: bool = False
) -> NDArray[np.float64] | None:
    """Return how far the sums of each row must change, scaled, to be significant.

    With `whole`, the first row is the whole profile and is marked like the total. None
    without a noise model; infinite if no function changed significantly.
    """
    model, limit = diff.model, noise_limit(diff)
    if model is None:
        return None
    needs = np.full(len(runs.base[0]), np.inf)
    if limit is not None:
        needs = model.needs(runs, limit)
    noise = total_noise(diff) if whole else None
    if noise is not None:
        needs[0] = np.inf if noise else 0.0
    return needs


def _stacks(diff: ProfileDiff, rows: Column) -> tuple[Stacks, Stacks]:
    """Return both sides' stacks; a function's number is its position in `rows`."""
    functions = diff.paired_functions
    number = np.empty(len(rows), np.int32)
    number[rows] = np.arange(len(rows), dtype=np.int32)
    base, new = (
        Stacks.of(
            side.profile,
            number[functions.union[i]],
            functions.sides[i].ids,
            diff.values[i],
        )
        for i, side in enumerate((diff.base, diff.new))
    )
    return base, new


def laid_out(paths: Paths, rows: Column) -> tuple[Nodes, list[Column]]:
    """Return the nodes of kept paths, and the node that each stack of a side ends in.

    There are leaves for folded callees; `rows` are the names of function numbers.
    """
    kept = np.flatnonzero(paths.kept)[1:]
    called = np.bincount(paths.parent[kept], minlength=len(paths.kept))
    left = np.where(paths.kept, paths.callees - called, 0)
    folding = np.flatnonzero(left)
    count = len(kept) + len(folding)
    node_of, leaf_of = (np.full(len(paths.kept), count, np.int64) for _ in range(2))
    node_of[kept] = np.arange(len(kept))
    leaf_of[folding] = np.arange(len(kept), count)
    depth = np.concatenate((paths.depth[kept], paths.depth[folding] + 1))
    parent = node_of[np.concatenate((paths.parent[kept], folding))]
    none = np.full(len(folding), -1)
    # The sort is stable, and siblings are already sorted by name.
    leaf = np.arange(count) >= len(kept)
    weight = np.append(paths.weight[kept], none)
    order = np.lexsort((-weight, leaf, parent, depth))
    start, size = _preorder(order, depth, parent)
    home = _nearest_kept(paths)
    ends = [
        start[np.where(paths.kept[at] & ended, node_of[at], leaf_of[home[at]])]
        for at, ended in zip(paths.reached, paths.ended, strict=True)
    ]
    place = np.argsort(start)
    nodes = Nodes(
        depth[place].astype(np.int32),
        size[place].astype(np.int32),
        np.append(rows[paths.function[kept]], none)[place].astype(np.int32),
        np.append(np.zeros(len(kept), np.int64), left[folding])[place].astype(np.int32),
    )
    return nodes, ends


def _preorder(order: Column, depth: Column, parent: Column) -> tuple[Column, Column]:
    """Return each node's position in preorder, and the number of nodes in its subtree.

    `order` lists nodes by depth, then parent, then in sibling order; the parent of the
    topmost nodes is the number of nodes.
    """
    count = len(order)
    size = np.ones(count + 1, np.int64)
    start = np.full(count + 1, -1)
    ends = [0, *np.cumsum(np.bincount(depth)).tolist()]
    levels = [order[a:b] for a, b in pairwise(ends)]
    for level in reversed(levels):
        np.add.at(size, parent[level], size[level])
    for level in levels:
        above, own = parent[level], size[level]
        before = np.cumsum(own) - own
        first = np.ones(len(level), np.bool_)
        first[1:] = above[1:] != above[:-1]
        before -= before[first][np.cumsum(first) - 1]
        start[level] = start[above] + 1 + before
    return start[:-1], size[:-1]


def _nearest_kept(paths: Paths) -> Column:
    """Return each path itself if kept, else its nearest kept ancestor."""
    nearest = np.where(paths.kept, np.arange(len(paths.kept)), paths.parent)
    while not paths.kept[nearest].all():
        nearest = nearest[nearest]
    return nearest


def _categories(diff: ProfileDiff, sides: tuple[Stacks, Stacks]) -> list[Column] | None:
    """Return the category of each stack of a side, None if it is not known."""
    if diff.attributions is None:
        return None
    return [
        attribution.category[side.sample].astype(np.int64)
        for attribution, side in zip(diff.attributions, sides, strict=True)
    ]
