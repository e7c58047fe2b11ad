"""Work that one side does in functions of its own, and the other side without them.

A function that is new below one that both sides have need not be more work: its caller
may have done it itself. It did, if with its callees it costs no more than before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.analysis.causes.cpu import CPUComparison
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.policy import MOST, NEARLY_ALL
from pprofdiff.goruntime.names import is_runtime_like
from pprofdiff.model.csr import first_in_row, last_in_row, once_per_row, row_of_item

Column = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Root(NamedTuple):
    """The outermost function in its stacks that only one side has.

    `parent` is its main caller, or the function that the caller is a part of on one
    side alone, -1 for none; `value` is the raw CPU time under it.
    """

    row: int
    parent: int
    value: int


class OneSidedWork(Struct, frozen=True, eq=False):
    """Roots of one side (0: gone, 1: new), and which samples are under each.

    `passing` are roots that call code which ran without them: it does not count here.
    """

    side: int
    roots: tuple[Root, ...]
    root_of_sample: NDArray[np.int64]
    passing: frozenset[int] = frozenset()


# A function does no more for what is new in it if it rose by less than this part of it,
# in the table's numbers and relative to the load.
_LITTLE = 0.25


class Inside(NamedTuple):
    """Roots of one side in a function of both sides that costs no more with them.

    `side` has the roots (0: base, 1: new); `host` is that function's row.
    """

    side: int
    host: int
    roots: tuple[Root, ...]


def inside_others(
    cpu: CPUComparison, work: OneSidedWork, roots: Sequence[Root]
) -> list[Inside]:
    """Return the roots whose work the other side does in a function that both have.

    With its callees, that function costs no more on the roots' side. If it does far
    more, something else in it may have fallen as the roots appeared: so the roots are
    most of it, or its own work and theirs cost no more either. If it is most of the
    total and the work is unknown, that says nothing: neither its share nor, on a
    saturated machine, its time per second can rise.
    """
    hosts: dict[int, list[Root]] = defaultdict(list)
    for root in roots:
        hosts[_nearest(cpu, work, root)].append(root)
    hosts.pop(-1, None)
    found = []
    for host, some in hosts.items():
        if _is_bounded(cpu, host):
            continue
        value = sum(root.value for root in some)
        if _costs_more(cpu, work.side, _cum(cpu, host), value):
            continue
        is_most = value >= MOST * cpu.cum[work.side][host]
        if is_most or not _costs_more(
            cpu, work.side, _own(cpu, work, host, some), value
        ):
            found.append(Inside(work.side, host, tuple(some)))
    return found


def _is_bounded(cpu: CPUComparison, row: int) -> bool:
    """Return whether what a function costs cannot rise much in these numbers."""
    if cpu.diff.normalization.mode in ("per_work", "about"):
        return False
    parts = (side[row] for side in cpu.cum)
    pairs = zip(parts, cpu.diff.totals, strict=True)
    return any(part >= MOST * total for part, total in pairs)


def _cum(cpu: CPUComparison, row: int) -> Runs[Column]:
    return cpu.diff.paired_functions.runs("cum").map(lambda run: run[[row]])


def _costs_more(
    cpu: CPUComparison, side: int, function: Runs[Column], value: int
) -> bool:
    """Return whether a function costs more on the side with `value` as extra work."""
    for model in (cpu.model, cpu.relative):
        change = model.one(function)
        more = change.delta if side else -change.delta
        work = model.by.factors[side] * value
        if more >= _LITTLE * work or (change.significant and more > 0):
            return True
    return False


def _nearest(cpu: CPUComparison, work: OneSidedWork, root: Root) -> int:
    """Return the innermost function of both sides that a root runs below, -1 for none.

    For mutual recursion, the one that called it most.
    """
    above = np.zeros(len(cpu.names), np.int64)
    values = cpu.diff.values[work.side]
    own = work.root_of_sample == root.row
    for samples, ids, offsets in cpu.stacks_with(work.side, cpu.only(root.row), own):
        at = last_in_row(ids == root.row, offsets)
        stack = row_of_item(offsets)
        over = np.arange(len(ids)) > at[stack]
        over &= once_per_row(offsets, ids, len(cpu.names))
        np.add.at(above, ids[over], values[samples[stack[over]]])
    most = _on_both(cpu) & (above >= NEARLY_ALL * root.value)
    if root.parent >= 0 and most[root.parent]:
        return root.parent
    rows = [
        row
        for row in np.flatnonzero(most).tolist()
        if not is_runtime_like(cpu.names[row])
    ]
    return min(rows, key=lambda row: int(cpu.cum[work.side][row]), default=-1)


def _on_both(cpu: CPUComparison) -> Mask:
    """Return which functions have samples on both sides (bool, by row)."""
    base, new = cpu.cum
    both: Mask = (base > 0) & (new > 0)
    return both


def _own(
    cpu: CPUComparison, work: OneSidedWork, host: int, roots: Sequence[Root]
) -> Runs[Column]:
    """Return a function's own work, the runtime's for it, and its roots'."""
    runtime = cpu.of_runtime
    rows = []
    for side in (0, 1):
        own = np.full(len(cpu.diff.values[side]), -1, np.int64)
        for samples, ids, offsets in cpu.stacks(side):
            first = first_in_row(~runtime[ids], offsets)
            mine = (first >= 0) & (np.append(ids, -1)[first] == host)
            own[samples] = np.where(mine, 0, -1)
        if side == work.side:
            own[np.isin(work.root_of_sample, [root.row for root in roots])] = 0
        rows.append(own)
    return cpu.diff.runs_of((rows[0], rows[1]), 1)
