"""Sections on the runtime: the table of groups, and who pays for GC and allocation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.categories import Blame
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.groups import (
    JudgedSum,
    judged_categories,
    judged_groups,
    judged_sums,
)
from pprofdiff.analysis.profiles.mark_by_allocation import MarkByAllocation
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.goruntime.rules import rules
from pprofdiff.model import csr
from pprofdiff.report.sections.profiles.cells import (
    delta_cell,
    ratio_cell,
    share,
    value_cells,
)
from pprofdiff.report.text.layout import Block, Cell, Grid, Words
from pprofdiff.units import Scale

__all__ = ["group_grid", "payers"]

# A category gets a line of its own from this share of either total on.
_WORTH_A_LINE = 0.01
_PAID = ("gc", "gc_tax", "alloc")
_ROWS = 8


def group_grid(diff: ProfileDiff, labels: tuple[str, str]) -> Grid:
    """Return the table of groups, with their larger categories indented."""
    scale = scale_of(diff)
    details = {group.id: group.detail for group in rules().groups}
    rows: list[list[Cell]] = []
    for group in judged_groups(diff):
        name = f"{group.label}  {details[group.id]}".rstrip()
        rows.append(_line(diff, scale, group, Cell(name, "strong")))
        parts = [p for p in judged_categories(diff, group.id) if _large(diff, p)]
        if len(parts) > 1:
            rows += [
                _line(diff, scale, part, Cell(f"    {part.label}")) for part in parts
            ]
    (whole,) = judged_sums(diff, [("total", "total", *diff.totals)])
    rows.append(_line(diff, scale, whole, Cell("total", "strong")))
    return Grid(("", *labels, "Δ", "share of total"), "<>>>>", tuple(rows), 0)


def _large(diff: ProfileDiff, part: JudgedSum) -> bool:
    """Return whether a category is worth a line."""
    base, new = diff.totals
    return (
        part.base > _WORTH_A_LINE * base
        or part.new > _WORTH_A_LINE * new
        or part.noise is False
    )


def _line(diff: ProfileDiff, scale: Scale, row: JudgedSum, name: Cell) -> list[Cell]:
    return [
        name,
        *value_cells(diff, scale, row.base, row.new),
        delta_cell(diff, scale, row.base, row.new, noise=row.noise),
        share(diff, row.base, row.new),
    ]


def payers(
    diff: ProfileDiff,
    labels: tuple[str, str],
    modelled: MarkByAllocation | None,
    rows: int = _ROWS,
) -> Iterator[Block]:
    """Yield who pays for GC and allocation: up to `rows` call sites of user code."""
    cells = _payer_rows(diff, rows)
    if cells:
        yield Words("Pays for GC and allocation (by call site)", "strong")
        headings = (*labels, "Δ", "mostly", "call site")
        yield Grid(headings, ">>><<", tuple(cells), 4)
    if modelled is not None and len(modelled.functions):
        yield from _modelled(diff, labels, modelled)


def _payer_rows(diff: ProfileDiff, most: int) -> list[list[Cell]]:
    """Return the call sites whose bill changed or is largest."""
    sums = diff.blame_sums
    if sums is None:
        return []
    ids = rules().categories
    paid = {c for g in rules().groups if g.id in _PAID for c in g.categories}
    wanted = np.array([c in paid for c in ids])[sums.category]
    functions, at = csr.grouped(sums.function[wanted] << 32 | sums.caller[wanted] + 1)
    base, new = (
        csr.sums(at, column[wanted], len(functions)) for column in (sums.base, sums.new)
    )
    judged = diff.judge(base.tolist(), new.tolist())
    quiet = np.ones(len(base), bool) if judged is None else judged.noise
    by = diff.normalization
    delta = np.abs(new * by.new_factor - base * by.base_factor)
    size = np.maximum(new * by.new_factor, base * by.base_factor)
    order = np.lexsort((-np.where(quiet, size, delta), quiet))[:most]
    scale, names = scale_of(diff), diff.paired_functions.names
    chosen = [np.flatnonzero(wanted)[at == i] for i in order]
    return [
        [
            *value_cells(diff, scale, int(base[i]), int(new[i])),
            delta_cell(
                diff,
                scale,
                int(base[i]),
                int(new[i]),
                noise=None if judged is None else bool(quiet[i]),
            ),
            Cell(_mostly(sums, rows)),
            Cell(_site(names, sums, rows)),
        ]
        for i, rows in zip(order.tolist(), chosen, strict=True)
    ]


def _mostly(sums: Blame, rows: NDArray[np.int64]) -> str:
    """Name the category that a call site pays most for."""
    category = sums.category[rows[_dearest(sums, rows)]]
    return rules().category_labels[rules().categories[int(category)]]


def _site(names: list[str], sums: Blame, rows: NDArray[np.int64]) -> str:
    """Name a call site, and who of the program calls it if it is a library's."""
    row = rows[_dearest(sums, rows)]
    site, caller = int(sums.function[row]), int(sums.caller[row])
    return names[site] if caller in (site, -1) else f"{names[site]} ← {names[caller]}"


def _dearest(sums: Blame, rows: NDArray[np.int64]) -> int:
    """Return which of a call site's rows costs most, on either side."""
    return int(np.maximum(sums.base[rows], sums.new[rows]).argmax())


def _modelled(
    diff: ProfileDiff, labels: tuple[str, str], modelled: MarkByAllocation
) -> Iterator[Block]:
    """Yield background marking by allocating function."""
    by, scale = diff.normalization, scale_of(diff)
    size = np.maximum(modelled.base * by.base_factor, modelled.new * by.new_factor)
    order = np.argsort(-size, kind="stable")[:5].tolist()
    yield Words(
        "Background mark by who allocates (modelled: by share of allocated bytes, "
        "not measured)",
        "strong",
    )
    rows = [
        [
            *value_cells(diff, scale, int(modelled.base[i]), int(modelled.new[i])),
            ratio_cell(diff, int(modelled.base[i]), int(modelled.new[i])),
            Cell(modelled.functions[i]),
        ]
        for i in order
    ]
    yield Grid((*labels, "ratio", "allocates in"), ">>><", tuple(rows), 3)
