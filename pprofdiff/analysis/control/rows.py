"""Samples of a program's own code by calling context, and which rows change together.

The internal control (`control.control`) compares these rows. Garbage collection,
allocation, scheduling, locks and system calls are left out: their cost has causes
elsewhere. A runtime function that does its caller's work, such as ``runtime.memmove``,
counts as the caller.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.harness import is_testing
from pprofdiff.analysis.profiles.paths import Paths, Stacks, heaviest_paths
from pprofdiff.goruntime.names import is_runtime_like
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.arrays import Column, Mask
from pprofdiff.model.csr import (
    distinct,
    grouped,
    offsets_of,
    row_of_item,
    sums,
    take_rows,
    unique_rows,
)

Floats = NDArray[np.float64]

# Samples over both sides, about 20 each; with fewer, a ratio is off by over 30%.
_SAMPLES = 40
# At most this many contexts are candidates; far fewer become rows.
_CONTEXTS = 512
# Depth of an op: a goroutine's first function is a loop, and what it calls is the op.
# All frames of package testing above a benchmark count as one loop.
_OPERATION = 2
# Categories whose cost belongs to the calling code.
_CODE = {
    "user",
    "map",
    "hash_eq",
    "string",
    "string.rune",
    "defer_panic",
    "iface_conv",
    "mem.move",
    "mem.clear",
    "mem.cmp_index",
    "mem.duff",
}


class Changes(Struct, frozen=True, eq=False):
    """Non-empty sets of rows: ``items[i]`` (ascending) is a row of set ``of_item[i]``.

    Sparse: most sets have a few of hundreds of rows.
    """

    of_item: Column
    items: Column
    rows: int

    @classmethod
    def of(cls, sets: Column, items: Column, rows: int) -> Changes:
        """Return the distinct sets of these (set, row) pairs, by first appearance."""
        keys = distinct(sets * rows + items)
        counts = np.bincount(keys // rows)
        offsets, items = offsets_of(counts[counts > 0]), keys % rows
        first, _ = unique_rows(offsets, (items,))
        offsets, items = take_rows(offsets, items, first)
        return cls(row_of_item(offsets), items, rows)

    def __len__(self) -> int:
        """Return the number of sets."""
        return int(self.of_item[-1]) + 1

    def sums(self, values: NDArray[np.generic]) -> Floats:
        """Return the sum of each set's values; `values` has one value per row."""
        total = np.bincount(self.of_item, values[self.items], len(self))
        return total.astype(np.float64)

    def inside(self, sets: Column) -> Mask:
        """Return a (sets, rows) mask of the rows in the chosen sets (ascending)."""
        inside = np.zeros((len(sets), self.rows), np.bool_)
        place = np.full(len(self), -1, np.int64)
        place[sets] = np.arange(len(sets))
        at = place[self.of_item]
        inside[at[at >= 0], self.items[at >= 0]] = True
        return inside


class ControlRows(Struct, frozen=True, eq=False):
    """Rows of code with at least 40 samples over both sides, and how they relate.

    A row is a function in one calling context, including callees too small to be rows.
    `base` and `new` are sample counts. Each set of `changes` holds the rows that one
    change of the program scales by one factor: a function in all its contexts, with or
    without its callees, or a single row. Each set of `called` holds the rows in and
    below one function that is called from deeper than a goroutine's main loop. `by_run`
    holds samples of (base, new) by row and run; None with one run per side.
    """

    base: Floats
    new: Floats
    changes: Changes
    called: Changes | None = None
    by_run: tuple[Floats, Floats] | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.base)


def control_rows(diff: ProfileDiff, model: CountModel) -> ControlRows:
    """Return the rows of both sides' own code; `model` gives the value of a sample."""
    sides = _stacks(diff)
    worth = model.worth
    names = diff.paired_functions.names
    paths = heaviest_paths(sides, (1 / worth[0], 1 / worth[1]), len(names), _CONTEXTS)
    count = len(paths.parent)
    own = np.stack(
        [
            np.bincount(reached, np.abs(side.values) / one, count)
            for side, reached, one in zip(sides, paths.reached, worth, strict=True)
        ]
    )
    levels = _levels(paths)
    kept = _kept(paths, own.sum(axis=0), levels, names)
    of_path = paths.function.tolist()
    harness = np.array([row >= 0 and is_testing(names[row]) for row in of_path])
    context, depth = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for level in levels:
        context[level] = np.where(kept[level], level, context[paths.parent[level]])
        above = depth[paths.parent[level]]
        depth[level] = above + (kept[level] & ~(harness[level] & (above > 0)))
    base, new = (np.bincount(context, side, count).astype(np.float64) for side in own)
    rows = np.flatnonzero(base + new >= _SAMPLES)
    place = np.full(count, -1, np.int64)
    place[rows] = np.arange(len(rows))
    return ControlRows(
        base[rows],
        new[rows],
        *_changes(paths, context, rows, depth > _OPERATION),
        _by_run(diff, sides, [place[context[to]] for to in paths.reached], model),
    )


def _by_run(
    diff: ProfileDiff,
    sides: tuple[Stacks, Stacks],
    rows: Sequence[Column],
    model: CountModel,
) -> tuple[Floats, Floats] | None:
    """Return (base, new) samples by row and run; `rows` has the row of each stack."""
    if diff.by_run is None:
        return None
    size = 1 + max(int(row.max(initial=-1)) for row in rows)
    of_sides = []
    for side, row, values, one in zip(
        sides, rows, diff.by_run, model.worth, strict=True
    ):
        kept = row >= 0
        runs = np.abs(values[side.sample[kept]]).T
        sampled = [sums(row[kept], run, size) for run in runs]
        of_sides.append(np.stack(sampled, axis=1) / one)
    return of_sides[0], of_sides[1]


def _stacks(diff: ProfileDiff) -> tuple[Stacks, Stacks]:
    """Return both sides' stacks of own code; functions are rows of the union."""
    functions = diff.paired_functions
    code = np.array([name in _CODE for name in rules().categories], np.bool_)
    stacks = []
    for i, side in enumerate((diff.base, diff.new)):
        values = diff.values[i]
        if diff.attributions is not None:
            what = diff.attributions[i]
            values = np.where(code[what.category] & (what.payer >= 0), values, 0)
        numbers = functions.union[i].astype(np.int32)
        stacks.append(Stacks.of(side.profile, numbers, functions.sides[i].ids, values))
    return stacks[0], stacks[1]


def _levels(paths: Paths) -> list[Column]:
    """Return the paths of each depth, from the roots down, without the empty path."""
    ends = np.searchsorted(paths.depth, np.arange(int(paths.depth[-1]) + 2))
    return [
        np.arange(start, stop)
        for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    ]


def _kept(paths: Paths, own: Floats, levels: list[Column], names: list[str]) -> Mask:
    """Return which paths are contexts: outside the runtime, with enough samples."""
    cum = own.copy()
    for level in reversed(levels):
        np.add.at(cum, paths.parent[level], cum[level])
    kept = cum >= _SAMPLES
    kept[0] = True
    for path in np.flatnonzero(kept)[1:].tolist():
        kept[path] = not is_runtime_like(names[paths.function[path]])
    return kept


def _changes(
    paths: Paths, context: Column, rows: Column, deep: Mask
) -> tuple[Changes, Changes | None]:
    """Return `ControlRows.changes` and `called`; `deep` marks paths below an op."""
    functions, own = grouped(paths.function[rows])
    _, number = grouped(paths.function)
    at = np.arange(len(rows))
    sets, items = [at, len(rows) + own], [at, at]
    callers, called = [at[:0]], [at[:0]]
    path = rows
    while path.any():
        below = np.flatnonzero(path)
        sets.append(len(rows) + len(functions) + number[path[below]])
        items.append(at[below])
        below = np.flatnonzero(deep[path])
        callers.append(number[path[below]])
        called.append(at[below])
        path = np.where(path > 0, context[paths.parent[path]], 0)
    changes = Changes.of(np.concatenate(sets), np.concatenate(items), len(rows))
    below = np.concatenate(called)
    if not len(below):
        return changes, None
    return changes, Changes.of(np.concatenate(callers), below, len(rows))
