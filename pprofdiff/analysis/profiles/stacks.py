"""Whole stacks as rows: equal sequences of functions share a row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.analysis.ledger.views import keyed_by_run, merged
from pprofdiff.analysis.profiles.granularity import NO_STACK
from pprofdiff.analysis.profiles.rows import PairedRows, SampleValues
from pprofdiff.analysis.profiles.tables import ByRun, Table
from pprofdiff.model.csr import unique_rows

__all__ = ["stack_table"]


def stack_table(
    functions: PairedRows,
    base: SampleValues,
    new: SampleValues,
    normalization: Normalization,
    model: CountModel | None,
) -> Table:
    """Return a table with one row per distinct stack that has a value.

    `functions` are the paired functions of `base` and `new`: stacks of the two sides
    are one row if their functions are paired. A row's name lists its functions root
    first, joined with ``;``, or is `granularity.NO_STACK` for samples without frames.
    Both flat and cum are the stack's value.
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
    places = group[:split], group[split:]
    rows_of, runs = keyed_by_run((base.runs, new.runs), places)
    base_values, new_values = merged(runs)
    first = first[rows_of]
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
        by_run=None
        if base.by_run is None or new.by_run is None
        else (_by_run(runs.base), _by_run(runs.new)),
    )


def _by_run(runs: tuple[NDArray[np.int64], ...]) -> ByRun:
    """Return flat and cum of stacks, both equal to their values."""
    values = np.stack(runs, axis=1)
    return ByRun(values, values)
