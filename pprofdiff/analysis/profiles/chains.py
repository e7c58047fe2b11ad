"""Chains of functions that only call one another, shown as one row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.tables import Table, ValueColumn

__all__ = ["chains", "plumbing"]

# Runtime frames that stacks only pass through carry no information.
_PLUMBING = frozenset(
    f"runtime.{name}"
    for name in ("systemstack", "mcall", "mstart", "mstart0", "mstart1", "morestack")
)


def plumbing(table: Table) -> NDArray[np.bool_]:
    """Return which rows are runtime functions that stacks only pass through."""
    return np.array([name in _PLUMBING for name in table.names], np.bool_)


def chains(
    table: Table, rows: NDArray[np.int64], column: ValueColumn
) -> list[list[int]]:
    """Group rows with equal values on both sides, each led by the row to show.

    A function and its only caller have equal cum on both sides. The program's functions
    come before the runtime's, plain functions before closures. With flat, each row is
    its own group. Groups are in the order of their first row in `rows`.
    """
    base, new = table.raw(column)
    groups: dict[tuple[int, int], list[int]] = {}
    for row in rows.tolist():
        groups.setdefault((int(base[row]), int(new[row])), []).append(row)
    if column == "flat":
        return [[row] for group in groups.values() for row in group]

    def rank(row: int) -> tuple[bool, bool, int]:
        name = table.names[row]
        return name.startswith("runtime."), ".func" in name, len(name)

    return [sorted(group, key=rank) for group in groups.values()]
