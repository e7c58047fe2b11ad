"""Whole stacks as rows: stacks of the same functions in the same order are one row."""

from __future__ import annotations

import numpy as np

from pprofdiff.analysis.normalization import Normalization
from pprofdiff.analysis.profiles.granularity import NO_STACK
from pprofdiff.analysis.profiles.rows import PairedRows, SampleValues
from pprofdiff.analysis.profiles.tables import Table
from pprofdiff.analysis.stats.counts import CountModel
from pprofdiff.model.csr import sums, unique_rows

__all__ = ["stack_table"]


def stack_table(
    functions: PairedRows,
    base: SampleValues,
    new: SampleValues,
    normalization: Normalization,
    model: CountModel | None,
) -> Table:
    """Return a table with one row for each distinct stack that has a value.

    `functions` are the paired functions of `base` and `new`: stacks of the two sides
    are one row where their functions are paired. A row is named root first, with
    ``;`` between functions, and `granularity.NO_STACK` where a sample has no frame.
    Flat and cum of a stack are both its value.
    """
    frames = [side.profile.frames() for side in (base, new)]
    offsets = np.concatenate(
        (frames[0].offsets, frames[1].offsets[1:] + frames[0].offsets[-1])
    )
    rows = np.concatenate(
        [
            functions.union[i][functions.sides[i].ids[stacks.line]]
            for i, stacks in enumerate(frames)
        ]
    )
    first, group = unique_rows(offsets, rows)
    split = len(base.values)
    base_values = sums(group[:split], base.values, len(first))
    new_values = sums(group[split:], new.values, len(first))
    valued = np.flatnonzero((base_values != 0) | (new_values != 0))
    base_values, new_values, first = (
        base_values[valued],
        new_values[valued],
        first[valued],
    )
    names = functions.names
    titles = [
        ";".join(names[row] for row in rows[low:high][::-1].tolist()) or NO_STACK
        for low, high in zip(
            offsets[first].tolist(), offsets[first + 1].tolist(), strict=True
        )
    ]
    return Table(
        noun="stack",
        names=titles,
        base_names=[None] * len(titles),
        probable=[False] * len(titles),
        files=[""] * len(titles),
        base_flat=base_values,
        new_flat=new_values,
        base_cum=base_values,
        new_cum=new_values,
        normalization=normalization,
        model=model,
    )
