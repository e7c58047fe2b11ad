"""Sections on functions: who got slower (cum), what costs more (flat), name pairs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.analysis.profiles.tables import Table
from pprofdiff.report.sections.profiles.cells import delta_cell, ratio_cell, value_cells
from pprofdiff.report.text.layout import Block, Cell, Grid, Words
from pprofdiff.units import percent

__all__ = ["joined_names", "movers"]

_ROWS = 8
# Where chance has no model, changes under this share of the larger total are left out.
_SMALL = 0.01

# Frames that every stack passes through on its way to another one say nothing.
_PLUMBING = frozenset(
    f"runtime.{name}"
    for name in ("systemstack", "mcall", "mstart", "mstart0", "mstart1", "morestack")
)

_TITLES = {
    ("cum", True): "Got slower (cum)",
    ("cum", False): "Got faster (cum)",
    ("flat", True): "Costs more (flat)",
    ("flat", False): "Costs less (flat)",
}


def movers(
    diff: ProfileDiff,
    labels: tuple[str, str],
    column: str,
    granularity: str = "functions",
    rows: int = _ROWS,
) -> Iterator[Block]:
    """Yield the functions (or lines, files) that moved most, dearer ones first.

    Functions of one chain, which have the same cum on both sides, share a row; of
    dearer and of cheaper ones there are up to `rows`.
    """
    table = diff.table(granularity)
    delta = table.scaled_delta(column)
    kept = ~_quiet(diff, table, column)
    kept &= np.array([name not in _PLUMBING for name in table.names], bool)
    order = table.order(column)
    shown = False
    for dearer in (True, False):
        moved = (delta > 0) if dearer else (delta < 0)
        chains = _chains(table, order[(moved & kept)[order]], column)
        if chains:
            shown = True
            title = _title(diff, column, dearer=dearer)
            if len(chains) > rows:
                title += f": {rows} of {len(chains)}"
            yield Words(title, "strong")
            yield _grid(diff, labels, table, (column, chains[:rows]))
    if not shown:
        chance = " beyond noise" if diff.model else ""
        yield Words(f"{_title(diff, column, dearer=True)}: nothing{chance}.")


def _title(diff: ProfileDiff, column: str, *, dearer: bool) -> str:
    """Return a section's title: only CPU time makes anything slower."""
    if diff.is_cpu:
        return _TITLES[column, dearer]
    return f"{'More' if dearer else 'Less'} ({column})"


def _quiet(diff: ProfileDiff, table: Table, column: str) -> NDArray[np.bool_]:
    """Return which rows did not move, as far as can be told."""
    judged = table.judge(column)
    if judged is not None:
        return judged.noise
    by = diff.normalization
    whole = max(
        abs(diff.totals[0]) * by.base_factor, abs(diff.totals[1]) * by.new_factor
    )
    return np.abs(table.scaled_delta(column)) < _SMALL * whole


def _chains(table: Table, rows: NDArray[np.int64], column: str) -> list[list[int]]:
    """Group rows with the same values on both sides, the one to show first.

    Equal cum on both sides is how a function and its only caller look. The program's
    own functions are shown before the runtime's, plain ones before closures.
    """
    base, new = table.raw(column)
    groups: dict[tuple[int, int], list[int]] = {}
    for row in rows.tolist():
        groups.setdefault((int(base[row]), int(new[row])), []).append(row)
    if column == "flat":
        return [[row] for group in groups.values() for row in group]

    def telling(row: int) -> tuple[bool, bool, int]:
        name = table.names[row]
        return name.startswith("runtime."), ".func" in name, len(name)

    return [sorted(group, key=telling) for group in groups.values()]


def _grid(
    diff: ProfileDiff,
    labels: tuple[str, str],
    table: Table,
    chosen: tuple[str, list[list[int]]],
) -> Grid:
    scale, (column, chains) = scale_of(diff), chosen
    base, new = (values.tolist() for values in table.raw(column))
    # What is within noise is not shown here.
    noise = None if diff.model is None else False
    rows = [
        [
            *value_cells(diff, scale, base[i], new[i]),
            delta_cell(diff, scale, base[i], new[i], noise=noise),
            ratio_cell(diff, base[i], new[i]),
            Cell(percent(new[i], diff.totals[1]), value=float(new[i])),
            Cell(_name(table, i) + (f"  (+{len(rest)} in its chain)" if rest else "")),
        ]
        for i, *rest in chains
    ]
    headings = (*labels, "Δ", "own ratio", f"of {labels[1]}", table.kind)
    return Grid(headings, ">>>>><", tuple(rows), 5)


def _name(table: Table, row: int) -> str:
    """Return a row's name, and the base's where it differs."""
    before = table.base_names[row]
    return table.names[row] + (f"  (was {before})" if before is not None else "")


def joined_names(diff: ProfileDiff) -> Iterator[Block]:
    """Yield the functions that were paired although their names differ."""
    table = diff.table("functions")
    pairs = [
        [Cell(before), Cell("→"), Cell(name)]
        for name, before in zip(table.names, table.base_names, strict=True)
        if before is not None
    ]
    if pairs:
        yield Words("Paired under two names", "strong")
        yield Grid(("base", "", "new"), "<<<", tuple(pairs), 2)
    else:
        yield Words("No functions were paired under two names.")
