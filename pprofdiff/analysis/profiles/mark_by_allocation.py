"""Background marking, charged to call sites by their share of allocated bytes.

Marking has no caller: a CPU profile cannot show who causes it (golang/go#32222). Given
an allocs profile as well, each allocating call site is charged the share of marking
that it has of allocated bytes. This is a model: it assumes that every byte costs the
same to mark, pointers or not (golang/go#55900), and is labelled as such wherever it is
shown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.dimensions import BACKGROUND_MARK
from pprofdiff.goruntime.rules import rules


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MarkByAllocation:
    """CPU time of background marking by allocating function, one row each.

    `base` and `new` (int64) are in the unit of the CPU profile; each adds up exactly to
    its side's background marking.
    """

    functions: list[str]
    base: NDArray[np.int64]
    new: NDArray[np.int64]


def apportion_mark(
    cpu: ProfileDiff | None, allocs: ProfileDiff | None
) -> MarkByAllocation | None:
    """Apportion background marking to functions by the bytes they allocate.

    `allocs` compares ``alloc_space``. None unless both comparisons are given.
    """
    if cpu is None or allocs is None:
        return None
    sums = cpu.ledger.every("category")
    rows = [rules().categories.index(category) for category in BACKGROUND_MARK]
    table = allocs.table("functions")
    base, new = (
        _shared_out(int(side[rows].sum()), flat)
        for side, flat in zip((sums.base, sums.new), table.raw("flat"), strict=True)
    )
    valued = np.flatnonzero((base != 0) | (new != 0))
    names = [table.names[i] for i in valued.tolist()]
    return MarkByAllocation(names, base[valued], new[valued])


def _shared_out(amount: int, weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """Split an amount by weight into integers that add up (largest remainders)."""
    positive = np.maximum(weights, 0)
    whole = int(positive.sum())
    if whole == 0:
        return np.zeros(len(weights), np.int64)
    exact = positive * (amount / whole)
    parts = np.floor(exact).astype(np.int64)
    short = amount - int(parts.sum())
    if short > 0:
        ranked = np.argsort(parts - exact, kind="stable")
        parts[ranked[:short]] += 1
    elif short < 0:
        parts[int(parts.argmax())] += short
    return parts
