"""Call sites: what is counted for each function of the program, and on which line."""

from __future__ import annotations

from posixpath import basename
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.by_run import merged
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.leaf_owners import LeafSums, leaf_sums
from pprofdiff.analysis.profiles.rows import SampleValues
from pprofdiff.analysis.stats.judgement import Runs
from pprofdiff.model.csr import grouped, sums

__all__ = ["OwnerSums", "by_owner", "column_of", "line_of", "owner_sums"]

Column = NDArray[np.int64]


class OwnerSums(NamedTuple):
    """A column of both profiles, summed by the owner of the stacks' leaves.

    All are int64. `owner` are rows of `PairedRows.names`, in ascending order; `base`
    and `new` are raw sums, in the column's unit; `runs` are the same run by run, where
    the column is known so.
    """

    owner: Column
    base: Column
    new: Column
    runs: Runs[Column]

    def at(self, owners: Column) -> tuple[Column, Column]:
        """Return the (base, new) sums of these owners, 0 for one that has no row."""
        if not len(self.owner):
            return np.zeros(len(owners), np.int64), np.zeros(len(owners), np.int64)
        places = np.minimum(np.searchsorted(self.owner, owners), len(self.owner) - 1)
        known = self.owner[places] == owners
        return np.where(known, self.base[places], 0), np.where(
            known, self.new[places], 0
        )


def column_of(diff: ProfileDiff, sample_type: str) -> tuple[Column, Column] | None:
    """Return both sides' values of a sample type, one a sample; None if one lacks it.

    The profiles are those of `diff`, which may compare another of their sample types.
    """
    columns = []
    for side in (diff.base, diff.new):
        types = [counted.type for counted in side.profile.sample_types]
        if sample_type not in types:
            return None
        columns.append(side.profile.values[:, types.index(sample_type)])
    return columns[0], columns[1]


def owner_sums(diff: ProfileDiff, columns: tuple[Column, Column]) -> OwnerSums:
    """Sum columns of a comparison's samples by the owner of the stacks' leaves."""
    base, new = (
        SampleValues(side.profile, values)
        for side, values in zip((diff.base, diff.new), columns, strict=True)
    )
    return by_owner(leaf_sums(diff.paired_functions, base, new))


def by_owner(leaves: LeafSums) -> OwnerSums:
    """Sum what stacks end in by the owner of the leaves."""
    owners, at = grouped(leaves.owner)
    runs = leaves.runs.map(lambda run: sums(at, run, len(owners)))
    return OwnerSums(owners, *merged(runs), runs)


def line_of(diff: ProfileDiff, function: str) -> str:
    """Return the line of a function that moved most, as ``file.go:12``; "" if unknown.

    What its callees count on a line counts there too.
    """
    table = diff.table("lines")
    for row in table.order("cum").tolist():
        name, file = table.names[row], table.files[row]
        if name.startswith(place := f"{function} {file}:"):
            return f"{basename(file)}:{name.removeprefix(place)}"
    return ""
