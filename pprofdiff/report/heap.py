"""Sections on memory: allocation by call site, in bytes, objects and mean size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pprofdiff.diff.callers import callers_of_leaves
from pprofdiff.diff.compare import ProfileDiff
from pprofdiff.diff.scaling import scale_of
from pprofdiff.diff.tables import Table
from pprofdiff.report.blocks import Block, Cell, Grid, Words
from pprofdiff.report.model import ReportModel
from pprofdiff.report.rows import delta_cell, value_cells
from pprofdiff.units import scale_for

__all__ = ["call_sites"]

_ROWS = 10


def call_sites(
    report: ReportModel, diff: ProfileDiff, rows: int = _ROWS
) -> Iterator[Block]:
    """Yield up to `rows` call sites: allocations that changed most, then the largest.

    A site's objects and mean size stand beside its bytes where a profile has them.
    """
    table = diff.table("functions")
    judged = table.judge("flat")
    quiet = np.zeros(len(table), bool) if judged is None else judged.noise
    size = np.maximum(*table.scaled("flat"))
    weight = np.where(quiet, size, np.abs(table.scaled_delta("flat")))
    some = np.flatnonzero((table.base_flat != 0) | (table.new_flat != 0))
    order = some[np.lexsort((-weight[some], quiet[some]))][:rows]
    objects = _objects(report, diff)
    callers = callers_of_leaves(diff)
    yield Words("By call site (flat: allocated in this function itself)", "strong")
    cells = [
        _row(diff, table, int(i), (objects, callers), noise=bool(quiet[i]))
        for i in order
    ]
    labels = report.labels
    headings = (*labels, "Δ", "objects", "mean size", "call site")
    yield Grid(headings, ">>>>><", tuple(cells), 5)


_Counts = dict[str, tuple[int, int]]


def _objects(report: ReportModel, diff: ProfileDiff) -> _Counts | None:
    """Return (base, new) objects by function, from the comparison that counts them."""
    wanted = diff.sample_type.type.replace("_space", "_objects")
    for other in report.profiles:
        if other.new is diff.new and other.sample_type.type == wanted != "":
            table = other.table("functions")
            pairs = zip(table.base_flat.tolist(), table.new_flat.tolist(), strict=True)
            return dict(zip(table.names, pairs, strict=True))
    return None


def _row(
    diff: ProfileDiff,
    table: Table,
    row: int,
    known: tuple[_Counts | None, dict[str, str]],
    *,
    noise: bool,
) -> list[Cell]:
    base, new = int(table.base_flat[row]), int(table.new_flat[row])
    scale = scale_of(diff)
    name, (objects, callers) = table.names[row], known
    counts = (objects or {}).get(name)
    by = diff.normalization
    numbers = sizes = ""
    if counts is not None:
        numbers = _arrow(
            _short(counts[0] * by.base_factor), _short(counts[1] * by.new_factor)
        )
        sizes = _mean_sizes((base, new), counts)
    return [
        *value_cells(diff, scale, base, new),
        delta_cell(diff, scale, base, new, noise=noise),
        Cell(numbers),
        Cell(sizes),
        Cell(f"{name} ← {callers[name]}" if name in callers else name),
    ]


def _short(count: float) -> str:
    """Return a number of objects in two or three digits, such as 3.1M or 0.0034."""
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g}{suffix}"
    return f"{count:.0f}" if count == 0 or count >= 10 else f"{count:.2g}"


def _mean_sizes(sizes: tuple[int, int], counts: tuple[int, int]) -> str:
    """Return the mean object size of both sides; – where there are no objects."""
    means = [s / c if c else None for s, c in zip(sizes, counts, strict=True)]
    scale = scale_for([mean for mean in means if mean is not None], "bytes")
    words = ["–" if mean is None else scale.number(mean) for mean in means]
    return f"{_arrow(*words)} {scale.unit}"


def _arrow(base: str, new: str) -> str:
    return base if base == new else f"{base} → {new}"
