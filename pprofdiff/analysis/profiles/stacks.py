"""Whole stacks as rows: the same sequence of functions is the same stack."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.normalization import Normalization
from pprofdiff.analysis.profiles.granularity import NO_STACK, SideRows
from pprofdiff.analysis.profiles.tables import Table
from pprofdiff.analysis.stats.counts import CountModel
from pprofdiff.model.csr import Offsets, sums, unique_rows
from pprofdiff.model.profiles.profile import Profile

__all__ = ["NamedStacks", "stack_table"]


class NamedStacks(NamedTuple):
    """One side's stacks as rows of the functions table, leaf first, with values."""

    offsets: Offsets
    functions: NDArray[np.int64]
    values: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        profile: Profile,
        rows: SideRows,
        union: NDArray[np.int64],
        values: NDArray[np.int64],
    ) -> NamedStacks:
        """Return a side's stacks; `union` gives its functions their table row."""
        frames = profile.frames()
        return cls(frames.offsets, union[rows.ids[frames.line]], values)


def stack_table(
    base: NamedStacks,
    new: NamedStacks,
    names: list[str],
    normalization: Normalization,
    model: CountModel | None,
) -> Table:
    """Return one row a distinct stack, named root first with ``;`` between.

    A stack has one value: flat and cum are the same.
    """
    offsets = np.concatenate((base.offsets, new.offsets[1:] + base.offsets[-1]))
    functions = np.concatenate((base.functions, new.functions))
    first, group = unique_rows(offsets, functions)
    split = len(base.values)
    sides = (
        sums(group[:split], base.values, len(first)),
        sums(group[split:], new.values, len(first)),
    )
    kept = np.flatnonzero((sides[0] != 0) | (sides[1] != 0))
    base_values, new_values = sides[0][kept], sides[1][kept]
    rows = first[kept]
    titles = [
        ";".join(names[f] for f in functions[low:high][::-1].tolist()) or NO_STACK
        for low, high in zip(
            offsets[rows].tolist(), offsets[rows + 1].tolist(), strict=True
        )
    ]
    return Table(
        kind="stack",
        names=titles,
        base_names=[None] * len(titles),
        files=[""] * len(titles),
        base_flat=base_values,
        new_flat=new_values,
        base_cum=base_values,
        new_cum=new_values,
        normalization=normalization,
        model=model,
    )
