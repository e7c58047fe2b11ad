"""Which code of the program makes a library function cost what it costs.

A stack that ends in the standard library, such as in ``bytes.growSlice``, has a frame
further up that belongs to the program or to one of its modules: the leaf's owner.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.attribution import owned
from pprofdiff.analysis.profiles.graph import walk
from pprofdiff.analysis.profiles.rows import PairedRows, SampleValues
from pprofdiff.model.csr import distinct, first_in_row, sums

__all__ = ["LeafSums", "leaf_sums"]

Column = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LeafSums:
    """The samples' values summed by leaf function and by the leaf's owner.

    All four columns are int64, with one row for each (leaf, owner) that has a value:

    - `leaf` is the function that stacks end in, a row of `PairedRows.names`;
    - `owner`, a row of the same list, is the frame nearest the leaf that is not of the
      standard library. It is the leaf itself where the leaf is the program's own
      function, or where no frame of the stack is.
    - `base` and `new` are sums of raw values, in the unit of the sample type.
    """

    leaf: Column
    owner: Column
    base: Column
    new: Column


def leaf_sums(functions: PairedRows, base: SampleValues, new: SampleValues) -> LeafSums:
    """Return what stacks that end in each function cost, by the leaf's owner.

    `functions` are the paired functions of `base` and `new`. Samples without a stack
    are left out, and so are rows whose two sums are 0.
    """
    parts = [
        _keys_and_values(side, functions.sides[i].names, functions.sides[i].ids, rows)
        for i, (side, rows) in enumerate(zip((base, new), functions.union, strict=True))
    ]
    keys = distinct(np.concatenate([key for key, _ in parts]))
    base_sums, new_sums = (
        sums(np.searchsorted(keys, key), values, len(keys)) for key, values in parts
    )
    valued = (base_sums != 0) | (new_sums != 0)
    keys = keys[valued]
    return LeafSums(keys >> 32, keys & 0xFFFFFFFF, base_sums[valued], new_sums[valued])


def _keys_and_values(
    side: SampleValues, names: list[str], line_ids: NDArray[np.int32], union: Column
) -> tuple[Column, Column]:
    """Return leaf and owner in one integer, and the value, of a side's samples."""
    own = owned(names)
    places = np.append(union, -1)
    keys, amounts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for start, stop, frames in walk(side.profile):
        ids = np.append(line_ids[frames.line], -1)
        filled = np.diff(frames.offsets) > 0
        leaf = places[ids[frames.offsets[:-1][filled]]]
        owner = places[ids[first_in_row(own[ids[:-1]], frames.offsets)[filled]]]
        keys.append(leaf << 32 | np.where(owner < 0, leaf, owner))
        amounts.append(side.values[start:stop][filled])
    return np.concatenate(keys), np.concatenate(amounts)
