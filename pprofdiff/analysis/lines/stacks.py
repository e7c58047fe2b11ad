"""Callers and callees of a function in the stacks of samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.ledger.graph import walk_some
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.model.csr import first_in_row, last_in_row, row_of_item

__all__ = ["OnStack", "on_stacks"]

# The number of steps with one function in between.
_THROUGH = 2


class OnStack(NamedTuple):
    """A function on stacks with another one, as a row of the union.

    It `calls` the other one, or is called by it, in `steps`: 1 if no function is in
    between. With two steps `through` is the row of that function, else -1.
    """

    row: int
    calls: bool
    steps: int
    through: int = -1

    @property
    def far(self) -> bool:
        """Whether there is more than one function in between."""
        return self.steps > _THROUGH


def on_stacks(diff: ProfileDiff, row: int, wanted: NDArray[np.bool_]) -> list[OnStack]:
    """Return the wanted functions on stacks with another one, nearest first, each once.

    `row` and the mask `wanted` refer to the union of functions. Frames between two
    recursive ones of the function itself are not its callers.
    """
    found: dict[int, OnStack] = {}
    for side in (0, 1):
        for one in _on_side(diff, side, row, wanted):
            known = found.get(one.row)
            if known is None or one.steps < known.steps:
                found[one.row] = one
    return sorted(found.values(), key=lambda one: one.steps)


def _on_side(
    diff: ProfileDiff, side: int, row: int, wanted: NDArray[np.bool_]
) -> Iterator[OnStack]:
    """Yield the nearest of each wanted function, for each batch of a side's samples."""
    functions = diff.paired_functions
    profile = (diff.base, diff.new)[side].profile
    of_line = functions.union[side][functions.sides[side].ids]
    alone = np.arange(len(functions.names)) == row
    samples = np.flatnonzero(diff.having_on(side, alone))
    for _, frames in walk_some(profile, samples):
        rows = of_line[frames.line]
        place, stack = np.arange(len(rows)), row_of_item(frames.offsets)
        own = rows == row
        first, last = (
            where(own, frames.offsets)[stack] for where in (first_in_row, last_in_row)
        )
        # Leaf first: callers follow the last frame, callees precede the first.
        steps = np.where(place > last, place - last, first - place)
        hits = np.flatnonzero(wanted[rows] & ((place > last) | (place < first)))
        hits = hits[np.argsort(steps[hits], kind="stable")]
        _, nearest = np.unique(rows[hits], return_index=True)
        for hit in hits[nearest].tolist():
            calls, far = bool(hit > last[hit]), int(steps[hit])
            between = hit - 1 if calls else hit + 1
            through = int(rows[between]) if far == _THROUGH else -1
            yield OnStack(int(rows[hit]), calls, far, through)
