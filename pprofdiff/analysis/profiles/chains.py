"""Chains of functions that call one another alone: told once, by the most telling."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.tables import Table, ValueColumn

__all__ = ["chains", "plumbing"]

# Frames that every stack passes through on its way to another one say nothing.
_PLUMBING = frozenset(
    f"runtime.{name}"
    for name in ("systemstack", "mcall", "mstart", "mstart0", "mstart1", "morestack")
)


def plumbing(table: Table) -> NDArray[np.bool_]:
    """Return which rows are of functions that every stack passes through."""
    return np.array([name in _PLUMBING for name in table.names], np.bool_)


def chains(
    table: Table, rows: NDArray[np.int64], column: ValueColumn
) -> list[list[int]]:
    """Group rows with the same values on both sides, the one to show first.

    Equal cum on both sides is how a function and its only caller look. The program's
    own functions are shown before the runtime's, plain ones before closures. By flat
    each row is alone. Groups stand where the first of their `rows` does.
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
