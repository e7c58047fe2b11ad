"""Both sides at one granularity: which row is which, and flat and cum of each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.normalization import Normalization
from pprofdiff.analysis.profiles.attribution import Attribution, Classifier
from pprofdiff.analysis.profiles.granularity import SideRows, pair_side_rows, side_rows
from pprofdiff.analysis.profiles.graph import flat_and_cum
from pprofdiff.analysis.profiles.tables import Table
from pprofdiff.analysis.stats.counts import CountModel
from pprofdiff.identity.names import Pairing
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.parallel import both

__all__ = ["PairedRows", "SampleValues", "SummedRows", "pair_rows", "summed_rows"]


class SampleValues(NamedTuple):
    """One side: its profile, and the int64 value of each sample that is compared."""

    profile: Profile
    values: NDArray[np.int64]


class PairedRows(NamedTuple):
    """The union of both sides' rows, with each side's way into it.

    `names` are shown names by union row. For a side s (0 base, 1 new), `levels[s]`
    are its own rows and ``rows[s]`` (int64) the union row of each of them.
    """

    names: list[str]
    levels: tuple[SideRows, SideRows]
    rows: tuple[NDArray[np.int64], NDArray[np.int64]]
    table: Table
    attributions: tuple[Attribution, Attribution] | None


def pair_rows(
    base: SampleValues,
    new: SampleValues,
    granularity: str,
    how: tuple[Normalization, CountModel | None],
    *,
    classified: bool = False,
) -> PairedRows:
    """Aggregate both sides at a granularity, in one pass over each, and pair rows.

    `classified` asks for the attributions too; rows are functions then.
    """
    size = len(base.profile.stack_locations) + len(new.profile.stack_locations)
    old, fresh = both(
        lambda side: summed_rows(side, granularity, classified=classified),
        base,
        new,
        size=size,
    )
    levels = old.level, fresh.level
    alignment = pair_side_rows(*levels)
    names, base_names, files = _shown(levels, alignment)
    base_flat, new_flat = alignment.spread(old.flat, fresh.flat)
    base_cum, new_cum = alignment.spread(old.cum, fresh.cum)
    normalization, model = how
    table = Table(
        kind=granularity.removesuffix("s"),
        names=names,
        base_names=base_names,
        files=files,
        base_flat=base_flat,
        new_flat=new_flat,
        base_cum=base_cum,
        new_cum=new_cum,
        normalization=normalization,
        model=model,
    )
    some = (base_flat != 0) | (new_flat != 0) | (base_cum != 0) | (new_cum != 0)
    rows = alignment.union_of_base(), alignment.union_of_new()
    attributions = None
    if old.attribution is not None and fresh.attribution is not None:
        attributions = old.attribution, fresh.attribution
    shown = table.take(np.flatnonzero(some))
    return PairedRows(names, levels, rows, shown, attributions)


class SummedRows(NamedTuple):
    """One side: its rows, flat and cum (int64) of each, and what its samples are."""

    level: SideRows
    flat: NDArray[np.int64]
    cum: NDArray[np.int64]
    attribution: Attribution | None


def summed_rows(
    side: SampleValues, granularity: str, *, classified: bool
) -> SummedRows:
    """Aggregate one side, with what its samples are if they are `classified`."""
    rows = side_rows(side.profile, granularity)
    classifier = Classifier(rows.names) if classified else None
    flat, cum = flat_and_cum(
        side.profile, rows.ids, len(rows.names), side.values[:, None], classifier
    )
    attribution = classifier.result() if classifier is not None else None
    bare = np.diff(side.profile.stack_offsets) == 0
    flat[-1] = cum[-1] = side.values[bare].sum()
    return SummedRows(rows, flat[:, 0], cum[:, 0], attribution)


def _shown(
    levels: tuple[SideRows, SideRows], alignment: Pairing
) -> tuple[list[str], list[str | None], list[str]]:
    """Return the union's names, the base's names where they differ, and files."""
    base, new = levels
    names: list[str] = []
    base_names: list[str | None] = []
    files: list[str] = []
    for old, fresh in zip(
        alignment.base_row.tolist(), alignment.new_row.tolist(), strict=True
    ):
        shown = new.names[fresh] if fresh >= 0 else base.names[old]
        before = base.names[old] if old >= 0 else shown
        names.append(shown)
        base_names.append(before if before != shown else None)
        files.append(new.files[fresh] if fresh >= 0 else base.files[old])
    return names, base_names, files
