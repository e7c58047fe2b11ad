"""Both sides at one granularity: paired rows, with flat and cum."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.analysis.ledger.codes import Attribution, Classifier, Ends, Marker
from pprofdiff.analysis.ledger.graph import flat_and_cum
from pprofdiff.analysis.ledger.views import keyed_by_run, merged
from pprofdiff.analysis.profiles.granularity import (
    NO_STACK,
    Granularity,
    SideRows,
    pair_side_rows,
    side_rows,
)
from pprofdiff.analysis.profiles.tables import ByRun, Table, ValueColumn
from pprofdiff.identity.model import SAME_NAMES, SideKeys
from pprofdiff.identity.rows import Pairing
from pprofdiff.model.csr import unique_rows
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.parallel import both


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SampleValues:
    """One side's samples and their int64 `values`, one per sample.

    `keys` identify its functions and packages across both sides. `by_run` holds the
    values per run (int64 of shape (samples, runs), summing to `values`), None if rows
    are not needed per run.
    """

    profile: Profile
    values: NDArray[np.int64]
    keys: SideKeys = SAME_NAMES.sides[1]
    by_run: NDArray[np.int64] | None = None

    @property
    def runs(self) -> NDArray[np.int64]:
        """The values per run: int64 of shape (samples, runs)."""
        return self.values[:, None] if self.by_run is None else self.by_run


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairedRows:
    """The rows of both sides as one list, their union, and its table.

    Rows that are paired are one row of the union. `names` are the display names of the
    union's rows. `sides` are the (base, new) rows themselves, and `union` maps each of
    them to its row of the union (int64). `table` leaves out rows without a value;
    `tabled` are the union rows that it has (int64). `ends` says where the stacks of
    (base, new) end, None unless rows are functions.
    """

    names: list[str]
    sides: tuple[SideRows, SideRows]
    union: tuple[NDArray[np.int64], NDArray[np.int64]]
    table: Table
    tabled: NDArray[np.int64]
    ends: tuple[Ends, Ends] | None

    @property
    def attributions(self) -> tuple[Attribution, Attribution] | None:
        """The attribution of the samples of (base, new), None unless requested."""
        if self.ends is None:
            return None
        base, new = self.ends
        if isinstance(base, Attribution) and isinstance(new, Attribution):
            return base, new
        return None

    def of_lines(self, side: int) -> NDArray[np.int64]:
        """Return the row of the union of each line of a side's profile (int64)."""
        rows: NDArray[np.int64] = self.union[side][self.sides[side].ids]
        return rows

    def raw(self, column: ValueColumn) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return raw flat or cum of the union's rows, base and new (int64)."""
        base, new = (np.zeros(len(self.names), np.int64) for _ in range(2))
        base[self.tabled], new[self.tabled] = self.table.raw(column)
        return base, new

    def runs(self, column: ValueColumn) -> Runs[NDArray[np.int64]]:
        """Return raw flat or cum of the union's rows per run (int64)."""

        def of_union(run: NDArray[np.int64]) -> NDArray[np.int64]:
            values = np.zeros(len(self.names), np.int64)
            values[self.tabled] = run
            return values

        return self.table.runs(column).map(of_union)

    def scaled_by(
        self, normalization: Normalization, model: CountModel | None
    ) -> PairedRows:
        """Return the same rows in another scaling."""
        table = replace(self.table, normalization=normalization, model=model)
        return replace(self, table=table)


def pair_rows(
    base: SampleValues,
    new: SampleValues,
    granularity: Granularity,
    normalization: Normalization,
    model: CountModel | None,
    *,
    classified: bool = False,
) -> PairedRows:
    """Sum both sides by row, in one pass over each side's samples, and pair the rows.

    Parameters
    ----------
    base, new
        The samples, with values in one unit.
    granularity
        What a row stands for.
    normalization, model
        How the table scales and judges its values.
    classified
        Whether to classify the samples; requires `granularity` ``functions``.

    """
    size = len(base.profile.stack_locations) + len(new.profile.stack_locations)
    base_sums, new_sums = both(
        lambda side: summed_rows(side, granularity, classified=classified),
        base,
        new,
        size=size,
    )
    sides = base_sums.rows, new_sums.rows
    pairing = pair_side_rows(*sides)
    names, base_names, files = _shown(sides, pairing)
    base_flat, new_flat = pairing.spread(base_sums.flat, new_sums.flat)
    base_cum, new_cum = pairing.spread(base_sums.cum, new_sums.cum)
    table = Table(
        noun=granularity.removesuffix("s"),
        names=names,
        base_names=base_names,
        probable=[name in new.keys.probable for name in names],
        files=files,
        base_flat=base_flat,
        new_flat=new_flat,
        base_cum=base_cum,
        new_cum=new_cum,
        normalization=normalization,
        model=model,
        choices=base.keys.choices,
        by_run=_by_run(pairing, base_sums, new_sums),
    )
    has_value = (base_flat != 0) | (new_flat != 0) | (base_cum != 0) | (new_cum != 0)
    valued = np.flatnonzero(has_value)
    ends = None
    if base_sums.ends is not None and new_sums.ends is not None:
        ends = base_sums.ends, new_sums.ends
    return PairedRows(
        names,
        sides,
        (pairing.union_of_base(), pairing.union_of_new()),
        table.take(valued),
        valued,
        ends,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _SummedRows:
    """One side's rows with flat and cum of each (int64), in the unit of the values.

    `ends` says where each stack ends, and what each sample is if classified; None
    unless rows are functions. `by_run` holds flat and cum per run, None if the side has
    no values per run.
    """

    rows: SideRows
    flat: NDArray[np.int64]
    cum: NDArray[np.int64]
    ends: Ends | None
    by_run: ByRun | None


def summed_rows(
    side: SampleValues, granularity: Granularity, *, classified: bool
) -> _SummedRows:
    """Sum one side's values by row, and mark or classify the stacks of functions."""
    rows = side_rows(side.profile, granularity, side.keys)
    marker = None
    if granularity == "functions":
        marker = (Classifier if classified else Marker)(rows.names)
    values = side.runs
    flat, cum = flat_and_cum(side.profile, rows.ids, len(rows.names), values, marker)
    ends = marker.result() if marker is not None else None
    frameless = np.diff(side.profile.stack_offsets) == 0
    flat[-1] = cum[-1] = values[frameless].sum(axis=0)
    by_run = None if side.by_run is None else ByRun(flat, cum)
    return _SummedRows(rows, flat.sum(axis=1), cum.sum(axis=1), ends, by_run)


def _by_run(
    pairing: Pairing, base: _SummedRows, new: _SummedRows
) -> tuple[ByRun, ByRun] | None:
    """Return flat and cum of the union's rows per run, None if unknown."""
    if base.by_run is None or new.by_run is None:
        return None
    flat = pairing.spread(base.by_run.flat, new.by_run.flat)
    cum = pairing.spread(base.by_run.cum, new.by_run.cum)
    return ByRun(flat[0], cum[0]), ByRun(flat[1], cum[1])


def _shown(
    sides: tuple[SideRows, SideRows], pairing: Pairing
) -> tuple[list[str], list[str | None], list[str]]:
    """Return the union's names, base's names where they differ, and files."""
    base, new = sides
    on_new, on_base = pairing.new_row >= 0, pairing.base_row >= 0
    row = np.where(on_new, pairing.new_row, len(new.names) + pairing.base_row)
    names = np.array([*new.names, *base.names], object)[row]
    files = np.array([*new.files, *base.files], object)[row]
    base_names = np.full(len(row), None, object)
    both = np.flatnonzero(on_new & on_base)
    old = np.array(base.names, object)[pairing.base_row[both]]
    unlike = old != names[both]
    base_names[both[unlike]] = old[unlike]
    return names.tolist(), base_names.tolist(), files.tolist()


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
        else (_by_run_of_stacks(runs.base), _by_run_of_stacks(runs.new)),
    )


def _by_run_of_stacks(runs: tuple[NDArray[np.int64], ...]) -> ByRun:
    """Return flat and cum of stacks, both equal to their values."""
    values = np.stack(runs, axis=1)
    return ByRun(values, values)
