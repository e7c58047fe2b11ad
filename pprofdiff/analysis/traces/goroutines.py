"""What goroutines spend their time on, each for itself and by function.

The figures are those of ``go tool trace`` (internal/trace/summary.go of Go 1.26), its
oddities included, so that either can be checked with the other. `Trace` has times
without the nanosecond that Go adds to one of two equal ones, and so do these figures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.traces.calls import unnoticed
from pprofdiff.analysis.traces.pieces import pieces
from pprofdiff.analysis.traces.ranged import ASSIST, SWEEP, range_times
from pprofdiff.analysis.traces.roots import is_system, is_tracing
from pprofdiff.analysis.traces.times import (
    BLOCK_REASONS,
    absences,
    add_blocks,
    block_reasons,
    ends,
    starts,
    state_sums,
)
from pprofdiff.model.csr import grouped
from pprofdiff.model.traces.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "INACTIVE",
    "TIMES",
    "GoroutineStats",
    "Groups",
    "Times",
    "groups",
    "root_name",
    "stats",
]

Column = NDArray[np.int64]

# What the page /goroutines calls goroutines of which no stack is known.
INACTIVE = "(Inactive, no stack trace sampled)"
_UNSEEN = "(created before the trace)"
# The columns that add up to a goroutine's time, with what the pages call them.
TIMES = {
    "exec_ns": "Execution time",
    "sched_wait_ns": "Sched wait time",
    "syscall_ns": "Syscall execution time",
    "syscall_block_ns": "Block time (syscall)",
    "unknown_ns": "Unknown time",
}


@dataclass(frozen=True, slots=True, eq=False)
class Times:
    """Times in ns, int64 columns, of goroutines or groups of them.

    `total_ns` is `exec_ns`, `sched_wait_ns`, `syscall_ns` (in system calls, with a
    processor), `syscall_block_ns` (without), the sum of `block_ns` (rows, `reasons`)
    and `unknown_ns`, but in one case: of a system call at the trace's end whose
    processor is gone, Go counts the time since then as `sched_wait_ns` too.
    `range_ns` (rows, `range_names`) is time within mark assists, sweeps and stops of
    the world that goroutines made; it overlaps with the others.
    """

    total_ns: Column
    exec_ns: Column
    sched_wait_ns: Column
    syscall_ns: Column
    syscall_block_ns: Column
    unknown_ns: Column
    reasons: tuple[str, ...]
    block_ns: Column
    range_names: tuple[str, ...]
    range_ns: Column


@dataclass(frozen=True, slots=True, eq=False)
class GoroutineStats(Times):
    """Times of goroutines in ns, int64, in the order of `Trace.goroutines`.

    `created_ns` is when a goroutine was created, or the begin of the first generation
    that mentions it; `started_ns` when it first ran, -1 if it never did; `ended_ns`
    when it ended, or blocked forever, -1 if it is alive at the trace's end.

    `total_ns` goes from the first to the last of these, or to the trace's end, less
    the time that a goroutine which C calls through was gone in between.
    """

    created_ns: Column
    started_ns: Column
    ended_ns: Column

    def __len__(self) -> int:
        """Return the number of goroutines."""
        return len(self.created_ns)

    def to_frame(self, trace: Trace) -> pd.DataFrame:
        """Return one row a goroutine of the trace that these are of, by its id.

        Columns: name, then the fields, then ``block_ns (reason)`` for each reason that
        Go has, ``block_ns ()`` for none, and ``range_ns (name)`` for mark assists,
        sweeps and each kind of stop of the world that the trace has; 0 where there was
        none.
        """
        import pandas as pd

        held = trace.goroutines
        columns: dict[str, object] = {
            "name": [root_name(trace.strings[i]) for i in held.name.tolist()]
        }
        for field in ("created_ns", "started_ns", "ended_ns", "total_ns", *TIMES):
            columns[field] = getattr(self, field)
        index = pd.Index(held.id, name="goroutine")
        return pd.DataFrame({**columns, **_spread(self)}, index)


@dataclass(frozen=True, slots=True, eq=False)
class Groups(Times):
    """Goroutines by function, largest `total_ns` first: one row a name.

    `group_of` (int64, one a goroutine) is the row of each. `count` is how many there
    are; times are their sums. `system` marks rows
    of goroutines that are all the runtime's, `tracing` those that are all there because
    of the trace itself.
    """

    names: list[str]
    group_of: Column
    count: Column
    system: NDArray[np.bool_]
    tracing: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.names)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a name; columns as in `GoroutineStats.to_frame`."""
        import pandas as pd

        columns: dict[str, object] = {"count": self.count, "total_ns": self.total_ns}
        for field in TIMES:
            columns[field] = getattr(self, field)
        columns |= _spread(self)
        columns |= {"system": self.system, "tracing": self.tracing}
        return pd.DataFrame(columns, pd.Index(self.names, name="name"))


def _spread(held: Times) -> dict[str, object]:
    """Return the columns of block and range times, by name; those of Go come first."""
    tables = (
        ("block_ns", (*BLOCK_REASONS, ""), held.reasons, held.block_ns),
        ("range_ns", (ASSIST, SWEEP), held.range_names, held.range_ns),
    )
    none = np.zeros(len(held.total_ns), np.int64)
    columns: dict[str, object] = {}
    for field, known, names, table in tables:
        columns |= {f"{field} ({name})": none for name in known}
        for place, name in enumerate(names):
            columns[f"{field} ({name})"] = table[:, place]
    return columns


def root_name(name: str) -> str:
    """Return what goroutines of a root function are called; "" is not known."""
    return name or INACTIVE


def stats(trace: Trace) -> GoroutineStats:
    """Return the times of all goroutines of a trace."""
    size = len(trace.goroutines)
    reasons, place = block_reasons(trace)
    sums = np.zeros((4, size), np.int64)
    block = np.zeros((size, len(reasons)), np.int64)
    started = np.full(size, -1, np.int64)
    ended = np.full(size, -1, np.int64)
    away = np.zeros(size, np.int64)
    calls = unnoticed(trace)
    for piece in pieces(trace):
        here = piece.goroutines
        lasts = piece.durations()
        sums[:, here] = state_sums(piece, lasts, calls)
        add_blocks(piece, lasts, place, block)
        started[here] = starts(piece)
        ended[here] = ends(piece)
        away[here] = absences(piece)
    return _assembled(trace, (started, ended, away), sums, (reasons, block))


def _assembled(
    trace: Trace,
    times: tuple[Column, Column, Column],
    sums: Column,
    blocks: tuple[tuple[str, ...], Column],
) -> GoroutineStats:
    """Return the figures with those that follow from them."""
    (started, ended, away), (reasons, block) = times, blocks
    created = trace.goroutines.created_ns
    until = np.where(ended < 0, trace.end_ns, ended)
    total = until - created - away
    known = sums.sum(axis=0) + block.sum(axis=1)
    names, ranges = range_times(trace, until)
    return GoroutineStats(
        created_ns=created,
        started_ns=started,
        ended_ns=ended,
        total_ns=total,
        exec_ns=sums[0],
        sched_wait_ns=sums[1],
        syscall_ns=sums[2],
        syscall_block_ns=sums[3],
        unknown_ns=np.maximum(total - known, 0),
        reasons=reasons,
        block_ns=block,
        range_names=names,
        range_ns=ranges,
    )


def groups(
    trace: Trace,
    stats: GoroutineStats,
    by: Literal["name", "creation"] = "name",
) -> Groups:
    """Return goroutines by root function, or by the function that created them.

    A goroutine without a known root function is `INACTIVE`, as on Go's page.
    """
    roots = trace.goroutines.name
    if by == "name":
        key, unknown = roots, INACTIVE
    else:
        key, unknown = _creators(trace), _UNSEEN
    found, group = grouped(key)
    size = len(found)
    count = np.bincount(group, minlength=size)
    total = _summed(stats.total_ns, group, size)
    order = np.argsort(-total, kind="stable")
    place = np.empty(size, np.int64)
    place[order] = np.arange(size)
    group = place[group]
    fields = ("total_ns", *TIMES)
    sums = {f: _summed(getattr(stats, f), group, size) for f in fields}
    return Groups(
        names=[trace.strings[i] or unknown for i in found[order].tolist()],
        group_of=group,
        count=count[order],
        **sums,
        reasons=stats.reasons,
        block_ns=_summed(stats.block_ns, group, size),
        range_names=stats.range_names,
        range_ns=_summed(stats.range_ns, group, size),
        system=_all(_named(trace, is_system), group, size),
        tracing=_all(_named(trace, is_tracing), group, size),
    )


def _creators(trace: Trace) -> NDArray[np.int32]:
    """Return the function (a position of strings) that created each goroutine, or 0."""
    stacks, stack = trace.stacks, trace.goroutines.creation_stack
    names = np.zeros(len(stack), np.int32)
    known = np.flatnonzero(np.diff(stacks.offsets)[stack])
    names[known] = stacks.function[stacks.frame[stacks.offsets[stack[known]]]]
    return names


def _named(trace: Trace, tells: Callable[[str], bool]) -> NDArray[np.bool_]:
    """Return what a predicate of names tells of each goroutine's root function."""
    found, group = grouped(trace.goroutines.name)
    told = [tells(trace.strings[i]) for i in found.tolist()]
    return np.array(told, np.bool_)[group]


def _summed(values: Column, group: Column, size: int) -> Column:
    """Return the sum of the values (a row or a cell a goroutine) of each group."""
    total = np.zeros((size, *values.shape[1:]), np.int64)
    np.add.at(total, group, values)
    return total


def _all(marked: NDArray[np.bool_], group: Column, size: int) -> NDArray[np.bool_]:
    """Tell of which groups all goroutines are marked."""
    alone: NDArray[np.bool_] = np.bincount(group[~marked], minlength=size) == 0
    return alone
