"""Whose code is behind a library function: for call sites outside the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.attribution import owned
from pprofdiff.analysis.profiles.graph import walk
from pprofdiff.model.csr import distinct, first_in_row, sums

if TYPE_CHECKING:
    from pprofdiff.analysis.profiles.diff import ProfileDiff

__all__ = ["Leaves", "leaves"]

Column = NDArray[np.int64]


class Leaves(NamedTuple):
    """Raw int64 sums by the function that a stack ends in, and whom that is for.

    `leaf` and `owner` are positions in the union of both sides' functions: `owner` is
    the frame nearest the leaf that is not of the standard library, the leaf itself
    where that is the program's own or no such frame calls it.
    """

    leaf: Column
    owner: Column
    base: Column
    new: Column


def leaves(diff: ProfileDiff) -> Leaves:
    """Return what each leaf costs for each of its owners, rows of 0 left out."""
    parts = [_keys_and_values(diff, side) for side in (0, 1)]
    keys = distinct(np.concatenate([key for key, _ in parts]))
    base, new = (sums(np.searchsorted(keys, key), v, len(keys)) for key, v in parts)
    some = (base != 0) | (new != 0)
    keys = keys[some]
    return Leaves(keys >> 32, keys & 0xFFFFFFFF, base[some], new[some])


def _keys_and_values(diff: ProfileDiff, side: int) -> tuple[Column, Column]:
    """Return leaf and owner in one integer, and the value, of a side's samples."""
    functions = diff.paired_functions
    level, union = functions.levels[side], functions.rows[side]
    profile, values = (diff.base, diff.new)[side].profile, diff.values[side]
    own = owned(level.names)
    places = np.append(union, -1)
    keys, amounts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for start, stop, frames in walk(profile):
        ids = np.append(level.ids[frames.line], -1)
        filled = np.diff(frames.offsets) > 0
        leaf = places[ids[frames.offsets[:-1][filled]]]
        owner = places[ids[first_in_row(own[ids[:-1]], frames.offsets)[filled]]]
        keys.append(leaf << 32 | np.where(owner < 0, leaf, owner))
        amounts.append(values[start:stop][filled])
    return np.concatenate(keys), np.concatenate(amounts)
