"""Sections on memory: allocation by call site, in bytes, objects and mean size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.leaf_owners import Leaves
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.report.model import ReportModel
from pprofdiff.report.sections.profiles.cells import delta_cell, value_cells
from pprofdiff.report.text.layout import Block, Cell, Grid, Words
from pprofdiff.units import scale_for

__all__ = ["call_sites"]

_ROWS = 10


def call_sites(
    report: ReportModel, diff: ProfileDiff, rows: int = _ROWS
) -> Iterator[Block]:
    """Yield up to `rows` call sites: allocations that changed most, then the largest.

    A site's objects and mean size stand beside its bytes where a profile has them.
    """
    held, by = diff.leaf_sums, diff.normalization
    judged = diff.judge(held.base.tolist(), held.new.tolist())
    quiet = np.zeros(len(held.leaf), bool) if judged is None else judged.noise
    base, new = held.base * by.base_factor, held.new * by.new_factor
    weight = np.where(quiet, np.maximum(base, new), np.abs(new - base))
    order = np.lexsort((-weight, quiet))[:rows]
    objects = _objects(report, diff)
    yield Words("By call site (flat: allocated in this function itself)", "strong")
    cells = [_row(diff, held, int(i), objects, noise=bool(quiet[i])) for i in order]
    labels = report.labels
    headings = (*labels, "Δ", "objects", "mean size", "call site")
    yield Grid(headings, ">>>>><", tuple(cells), 5)


# (base, new) objects by (leaf, owner).
_Counts = dict[tuple[int, int], tuple[int, int]]


def _objects(report: ReportModel, diff: ProfileDiff) -> _Counts | None:
    """Return how many objects, from the comparison of the profiles that counts them."""
    wanted = diff.sample_type.type.replace("_space", "_objects")
    for other in report.profiles:
        if other.new is diff.new and other.sample_type.type == wanted != "":
            columns = (column.tolist() for column in other.leaf_sums)
            return {
                (leaf, owner): (base, new)
                for leaf, owner, base, new in zip(*columns, strict=True)
            }
    return None


def _row(
    diff: ProfileDiff,
    held: Leaves,
    row: int,
    objects: _Counts | None,
    *,
    noise: bool,
) -> list[Cell]:
    leaf, owner, base, new = (int(column[row]) for column in held)
    scale, names = scale_of(diff), diff.paired_functions.names
    counts = (objects or {}).get((leaf, owner))
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
        Cell(names[leaf] if owner == leaf else f"{names[leaf]} ← {names[owner]}"),
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
