"""Which code of the program makes a library function cost what it costs.

A stack that ends in the standard library, such as in ``bytes.growSlice``, has a frame
further up that belongs to the program or to one of its modules: the leaf's owner.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.attribution import owned
from pprofdiff.analysis.profiles.by_run import keyed_by_run, merged
from pprofdiff.analysis.profiles.graph import walk
from pprofdiff.analysis.profiles.rows import PairedRows, SampleValues
from pprofdiff.analysis.stats.judgement import Runs
from pprofdiff.model.csr import first_in_row

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

    `runs` are these sums run by run.
    """

    leaf: Column
    owner: Column
    base: Column
    new: Column
    runs: Runs[Column]


def leaf_sums(functions: PairedRows, base: SampleValues, new: SampleValues) -> LeafSums:
    """Return what stacks that end in each function cost, by the leaf's owner.

    `functions` are the paired functions of `base` and `new`. Samples without a stack
    are left out, and so are rows whose two sums are 0.
    """
    base_keys, new_keys = (
        _keys(side, functions.sides[i].names, functions.sides[i].ids, rows)
        for i, (side, rows) in enumerate(zip((base, new), functions.union, strict=True))
    )
    keys, runs = keyed_by_run((base.runs, new.runs), (base_keys, new_keys))
    return LeafSums(keys >> 32, keys & 0xFFFFFFFF, *merged(runs), runs)


def _keys(
    side: SampleValues, names: list[str], line_ids: NDArray[np.int32], union: Column
) -> Column:
    """Return leaf and owner of each sample in one integer, -1 without a stack."""
    own = owned(names)
    places = np.append(union, -1)
    keys = np.full(len(side.values), -1, np.int64)
    for start, stop, frames in walk(side.profile):
        ids = np.append(line_ids[frames.line], -1)
        filled = np.diff(frames.offsets) > 0
        leaf = places[ids[frames.offsets[:-1][filled]]]
        owner = places[ids[first_in_row(own[ids[:-1]], frames.offsets)[filled]]]
        both = leaf << 32 | np.where(owner < 0, leaf, owner)
        keys[start:stop][filled] = both
    return keys
