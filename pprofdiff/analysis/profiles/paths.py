"""The heaviest call paths from the root, found level by level.

All stacks advance one frame at a time, and stop where their path is outside the
heaviest so far: no extension of it can be among the heaviest.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.model.arrays import Column, Index
from pprofdiff.model.csr import sums
from pprofdiff.model.profiles.profile import Profile

# Frames followed from the root of a stack. A goroutine's stack can be deeper (1 GB:
# runtime.maxstacksize), but nobody reads that far down.
DEEPEST = 4096

# Up to this many table cells per item, a lookup table is faster than sorting.
_CELLS_AN_ITEM = 8


class Stacks(Struct, frozen=True, eq=False):
    """One side's samples that have a value, as stacks of numbered functions.

    Per stack: `sample`, the sample's index in the profile; `values`; `leaf` and `root`,
    the first and last index of its locations in `locations` (`root` is below `leaf` if
    it has none). Per location of the profile: `outermost`, its last line. Per line of
    the profile, plus one for stacks without a location: the number of its `function`,
    and whether it is the `innermost` line of its location.
    """

    sample: Column
    values: Column
    leaf: Column
    root: Column
    locations: Index
    outermost: Index
    function: NDArray[np.int32]
    innermost: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        profile: Profile,
        numbers: NDArray[np.int32],
        ids: NDArray[np.int32],
        values: Column,
    ) -> Stacks:
        """Return the stacks of a side's samples whose value is not 0.

        `numbers` has the number of each of the side's functions, the last for samples
        without frames; `ids` has the function of each location line.
        """
        sample = np.flatnonzero(values)
        ends = profile.locations.line_offsets
        innermost = np.zeros(len(ids) + 1, np.bool_)
        innermost[ends] = True
        return cls(
            sample,
            values[sample],
            profile.stack_offsets[:-1][sample],
            profile.stack_offsets[1:][sample] - 1,
            profile.stack_locations,
            (ends[1:] - 1).astype(np.int32),
            np.append(numbers[ids], numbers[-1]),
            innermost,
        )


class Paths(Struct, frozen=True, eq=False):
    """The paths met while searching for the heaviest, callers first.

    Path 0 is the empty one, of depth -1. Per path: `parent`, `depth`, the number of its
    last `function`, its `weight` (the sum of scaled absolute values of both sides), the
    number of its `callees` (distinct next functions), and whether it is `kept` as one
    of the heaviest. Per stack, in (base, new) columns: `reached`, the longest of these
    paths that the stack begins with, and `ended`, whether the stack ends there.
    """

    parent: Column
    depth: Column
    function: Column
    weight: NDArray[np.float64]
    callees: Column
    kept: NDArray[np.bool_]
    reached: tuple[Column, ...]
    ended: tuple[NDArray[np.bool_], ...]


class _Level(Struct, frozen=True, eq=False):
    """Paths of one depth that were among the heaviest when they were met."""

    parent: Column
    function: Column
    weight: NDArray[np.float64]


class _Front(Struct, frozen=True, eq=False):
    """A side's stacks that are still being followed, each at one of its frames.

    `path` is the callers' path, counted from the first path of its depth; `place` is
    the frame's index in `Stacks.locations`.
    """

    stack: Column
    path: Column
    place: Column
    line: Index

    @classmethod
    def of(cls, side: Stacks) -> _Front:
        line = np.full(len(side.root), len(side.function) - 1, np.int32)
        filled = np.flatnonzero(side.root >= side.leaf)
        line[filled] = side.outermost[side.locations[side.root[filled]]]
        stack = np.arange(len(line), dtype=np.int64)
        return cls(stack, np.zeros_like(stack), np.maximum(side.root, side.leaf), line)

    def take(self, rows: NDArray[np.bool_]) -> _Front:
        if rows.all():
            return self
        return _Front(
            self.stack[rows], self.path[rows], self.place[rows], self.line[rows]
        )

    def ends(self, side: Stacks) -> NDArray[np.bool_]:
        at_last: NDArray[np.bool_] = self.place == side.leaf[self.stack]
        return at_last & side.innermost[self.line]

    def next(self, side: Stacks) -> _Front:
        over = side.innermost[self.line]
        place = self.place - over
        line = self.line - np.int32(1)
        line[over] = side.outermost[side.locations[place[over]]]
        return replace(self, place=place, line=line)


def heaviest_paths(
    sides: tuple[Stacks, Stacks],
    factors: tuple[float, float],
    functions: int,
    budget: int,
) -> Paths:
    """Return the `budget` heaviest paths, the empty one, and those met while searching.

    `factors` scale the values of (base, new); `functions` is their number, numbered the
    same way on both sides.
    """
    fronts = [_Front.of(side) for side in sides]
    reached = tuple(np.zeros(len(side.sample), np.int64) for side in sides)
    ended = tuple(np.zeros(len(side.sample), np.bool_) for side in sides)
    met = [_Level(np.full(1, -1), np.full(1, -1), np.zeros(1))]
    callees = []
    best, weights = np.zeros(0, np.int64), np.zeros(0)
    first, stop = 0, 1
    for depth in range(DEEPEST + 1):
        keys, rows = _callees(sides, fronts, functions)
        parent = keys // functions
        callees.append(np.bincount(parent, minlength=stop - first))
        if depth == DEEPEST or not len(keys):
            break
        weight = _weights(sides, fronts, rows, factors, len(keys))
        pool = np.append(weights, weight)
        chosen = _largest(pool, budget)
        entered = chosen[chosen >= len(best)] - len(best)
        path = np.full(len(keys), -1, np.int64)
        path[entered] = np.arange(len(entered))
        best, weights = np.append(best, path + stop)[chosen], pool[chosen]
        met.append(
            _Level(parent[entered] + first, keys[entered] % functions, weight[entered])
        )
        first, stop = stop, stop + len(entered)
        for i, (side, front, row) in enumerate(zip(sides, fronts, rows, strict=True)):
            arrived = replace(front, path=path[row])
            arrived = arrived.take(arrived.path >= 0)
            reached[i][arrived.stack] = arrived.path + first
            at_leaf = arrived.ends(side)
            ended[i][arrived.stack] = at_leaf
            fronts[i] = arrived.take(~at_leaf).next(side)
    kept = np.zeros(stop, np.bool_)
    kept[0] = kept[best] = True
    sizes = [len(level.parent) for level in met]
    return Paths(
        parent=np.concatenate([level.parent for level in met]),
        depth=np.repeat(np.arange(-1, len(met) - 1), sizes),
        function=np.concatenate([level.function for level in met]),
        weight=np.concatenate([level.weight for level in met]),
        callees=np.concatenate(callees),
        kept=kept,
        reached=reached,
        ended=ended,
    )


def _callees(
    sides: tuple[Stacks, Stacks], fronts: list[_Front], functions: int
) -> tuple[Column, list[Column]]:
    keys = [
        front.path * functions + side.function[front.line]
        for side, front in zip(sides, fronts, strict=True)
    ]
    known, row = _grouped(np.concatenate(keys))
    return known, np.split(row, [len(keys[0])])


def _weights(
    sides: tuple[Stacks, Stacks],
    fronts: list[_Front],
    rows: list[Column],
    factors: tuple[float, float],
    size: int,
) -> NDArray[np.float64]:
    """Return the weight of each of `size` paths, at most its parent's.

    Sums are of integers, and the scaling after them preserves their order.
    """
    base, new = (
        sums(row, np.abs(side.values[front.stack]), size) * factor
        for side, front, row, factor in zip(sides, fronts, rows, factors, strict=True)
    )
    return base + new


def _grouped(keys: Column) -> tuple[Column, Column]:
    """Return the distinct keys (none below 0), ascending, and each key's index."""
    size = int(keys.max(initial=-1)) + 1
    if size <= _CELLS_AN_ITEM * len(keys):
        places = np.zeros(size, np.int32)
        places[keys] = 1
        known = np.flatnonzero(places)
        places[known] = np.arange(len(known), dtype=np.int32)
        return known, places[keys].astype(np.int64)
    order = np.argsort(keys)
    ranked = keys[order]
    first = np.ones(len(ranked), np.bool_)
    first[1:] = ranked[1:] != ranked[:-1]
    place = np.empty(len(keys), np.int64)
    place[order] = np.cumsum(first) - 1
    return ranked[first], place


def _largest(weights: NDArray[np.float64], most: int) -> Column:
    if len(weights) <= most:
        return np.arange(len(weights))
    if most <= 0:
        return np.zeros(0, np.int64)
    least = np.partition(weights, len(weights) - most)[len(weights) - most]
    chosen = weights > least
    chosen[np.flatnonzero(weights == least)[: most - int(chosen.sum())]] = True
    return np.flatnonzero(chosen)
