"""Call sites: sums by function of the program, and the lines behind them."""

from __future__ import annotations

from posixpath import basename

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.ledger.views import View
from pprofdiff.analysis.profiles.diff import ProfileDiff

__all__ = ["by_place", "column_of", "line_of"]

Column = NDArray[np.int64]


def column_of(diff: ProfileDiff, sample_type: str) -> tuple[Column, Column] | None:
    """Return both sides' values of a sample type by sample; None if a side lacks it.

    The profiles are those of `diff`, which may compare a different sample type.
    """
    columns = []
    for side in (diff.base, diff.new):
        types = [counted.type for counted in side.profile.sample_types]
        if sample_type not in types:
            return None
        columns.append(side.profile.values[:, types.index(sample_type)])
    return columns[0], columns[1]


def by_place(diff: ProfileDiff, columns: tuple[Column, Column] | None = None) -> View:
    """Return the sums by place, without samples that have no stack.

    A sample's place is its innermost frame outside the standard library, else its leaf.
    `columns` replaces the values of the samples, if given.
    """
    ledger = diff.ledger if columns is None else diff.ledger.counting(columns)
    return ledger.by("place").known("place")


def line_of(diff: ProfileDiff, function: str) -> str:
    """Return the line of a function that changed most: ``file.go:12``; "" if unknown.

    What its callees cost counts on the line of the call.
    """
    table = diff.table("lines")
    for row in table.order("cum").tolist():
        name, file = table.names[row], table.files[row]
        if name.startswith(place := f"{function} {file}:"):
            return f"{basename(file)}:{name.removeprefix(place)}"
    return ""
