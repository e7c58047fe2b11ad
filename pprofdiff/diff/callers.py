"""Whose code is behind a library function: for call sites outside the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pprofdiff.diff.attribute import dearest
from pprofdiff.diff.classes import owned
from pprofdiff.diff.graph import walk
from pprofdiff.model.csr import first_in_row

if TYPE_CHECKING:
    from pprofdiff.diff.compare import ProfileDiff

__all__ = ["callers_of_leaves"]

Column = NDArray[np.int64]


def callers_of_leaves(diff: ProfileDiff) -> dict[str, str]:
    """Return, by leaf function, the function of the program that most of it is for.

    That is the frame nearest the leaf that is not of the standard library, in the
    stacks that cost most on either side. Leaves that are the program's own, or that no
    function of the program calls, are left out.
    """
    functions = diff.paired_functions
    sides = [_leaves_and_owners(diff, side) for side in (0, 1)]
    found = dearest(sides, len(functions.names)).tolist()
    names = functions.names
    return {
        names[leaf]: names[owner]
        for leaf, owner in enumerate(found)
        if owner not in (leaf, -1)
    }


def _leaves_and_owners(diff: ProfileDiff, side: int) -> tuple[Column, Column, Column]:
    """Return leaf and owner, as rows of the union, and value of a side's samples."""
    functions = diff.paired_functions
    level, union = functions.levels[side], functions.rows[side]
    profile, values = (diff.base, diff.new)[side].profile, diff.values[side]
    own = owned(level.names)
    places = np.append(union, -1)
    parts = [np.zeros((3, 0), np.int64)]
    for start, stop, frames in walk(profile):
        ids = np.append(level.ids[frames.line], -1)
        filled = np.diff(frames.offsets) > 0
        leaf = ids[frames.offsets[:-1][filled]]
        owner = ids[first_in_row(own[ids[:-1]], frames.offsets)[filled]]
        some = values[start:stop][filled]
        parts.append(np.stack([places[leaf], places[owner], some]))
    joined = np.concatenate(parts, axis=1)
    return joined[0], joined[1], joined[2]
