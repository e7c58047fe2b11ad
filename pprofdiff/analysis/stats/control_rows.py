"""Rows of a program's own code by calling context, and which of them change together.

The rows are the votes of the internal control (`control.control`). What follows from
causes elsewhere has no vote: garbage collection, allocation, scheduling, locks, system
calls. A runtime function that does its caller's work, such as ``runtime.memmove``,
counts as the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.paths import Paths, Stacks, heaviest_paths
from pprofdiff.analysis.stats.counts import CountModel
from pprofdiff.goruntime.names import is_runtime_like
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.csr import sums

__all__ = ["ControlRows", "control_rows"]

Column = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Of both sides together, 20 each: the ratio of fewer is not known to 30 %.
_SAMPLES = 40
# The contexts that may become rows; those of so many that are rows are far fewer.
_CONTEXTS = 512
# The categories whose cost is that of the calling code itself.
_CODE = frozenset(
    (
        *("user", "map", "hash_eq", "string", "defer_panic", "iface_conv"),
        *("mem.move", "mem.clear", "mem.cmp_index", "mem.duff"),
    )
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ControlRows:
    """Rows of code with at least 40 samples over both sides, and their relations.

    A row is a function in one calling context, with what it calls where that is too
    small to be a row. `base` and `new` are its numbers of samples (float64). Each row
    of `changes`, a bool matrix with one column a row, marks the rows that one change of
    the program moves by one factor: a function in all its contexts, with or without
    what it calls, or one row alone. `by_run` are the samples of (base, new) by row and
    run, None with one run a side.
    """

    base: Floats
    new: Floats
    changes: Bools
    by_run: tuple[Floats, Floats] | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.base)


def control_rows(diff: ProfileDiff, model: CountModel) -> ControlRows:
    """Return the rows of both sides' own code; `model` says what a sample is worth."""
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
    context = np.zeros(count, np.int64)
    for level in levels:
        context[level] = np.where(kept[level], level, context[paths.parent[level]])
    base, new = (np.bincount(context, side, count).astype(np.float64) for side in own)
    rows = np.flatnonzero(base + new >= _SAMPLES)
    place = np.full(count, -1, np.int64)
    place[rows] = np.arange(len(rows))
    return ControlRows(
        base[rows],
        new[rows],
        _changes(paths, context, rows),
        _by_run(diff, sides, [place[context[to]] for to in paths.reached], model),
    )


def _by_run(
    diff: ProfileDiff,
    sides: tuple[Stacks, Stacks],
    rows: Sequence[Column],
    model: CountModel,
) -> tuple[Floats, Floats] | None:
    """Return (base, new) samples by row and run; `rows` are those of each stack."""
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
    """Return both sides' stacks of code; functions are rows of the union."""
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
    """Return the paths of each depth from the roots on, the empty path left out."""
    ends = np.searchsorted(paths.depth, np.arange(int(paths.depth[-1]) + 2))
    return [
        np.arange(start, stop)
        for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    ]


def _kept(paths: Paths, own: Floats, levels: list[Column], names: list[str]) -> Bools:
    """Return which paths are contexts: outside the runtime, with enough samples."""
    cum = own.copy()
    for level in reversed(levels):
        np.add.at(cum, paths.parent[level], cum[level])
    kept = cum >= _SAMPLES
    kept[0] = True
    for path in np.flatnonzero(kept)[1:].tolist():
        kept[path] = not is_runtime_like(names[paths.function[path]])
    return kept


def _changes(paths: Paths, context: Column, rows: Column) -> Bools:
    """Return the distinct sets of rows that one change moves, as `ControlRows` says."""
    functions, own = np.unique(paths.function[rows], return_inverse=True)
    at = np.arange(len(rows))
    flat = np.zeros((len(functions), len(rows)), np.bool_)
    flat[own, at] = True
    met, number = np.unique(paths.function, return_inverse=True)
    cum = np.zeros((len(met), len(rows)), np.bool_)
    path = rows
    while path.any():
        cum[number[path], at] = True
        path = np.where(path > 0, context[paths.parent[path]], 0)
    cum[number[0]] = False
    every = np.concatenate([cum, flat, np.eye(len(rows), dtype=np.bool_)])
    # Asked for more than the rows, numpy does not import its masked arrays.
    return np.unique(every[every.any(axis=1)], axis=0, return_index=True)[0]
