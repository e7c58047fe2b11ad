"""Lookups and sums over rows of `Trace.intervals` and `Trace.ranges`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.csr import Offsets, expand
from pprofdiff.model.traces.table import Table
from pprofdiff.model.traces.timeline import RangeKind, Ranges
from pprofdiff.model.traces.trace import State, Trace

__all__ = [
    "RowsInState",
    "lengths",
    "owners_of",
    "previous",
    "ranges_of",
    "row_at",
    "row_ends",
    "rows_in_state",
    "rows_within",
    "sums_by_owner",
]

Column = NDArray[np.int64]
T = TypeVar("T", bound=np.generic)


def ranges_of(trace: Trace, kind: RangeKind) -> tuple[Ranges, Column]:
    """Return the ranges of a kind and their ends (int64 ns).

    A range without an end lasts until the end of the trace.
    """
    ranges = trace.ranges.take(np.flatnonzero(trace.ranges.kind == kind))
    return ranges, np.where(ranges.end_ns < 0, trace.end_ns, ranges.end_ns)


def lengths(trace: Trace, here: slice) -> Column:
    """Return the durations of rows of `Trace.intervals` (int64 ns); GONE lasts 0.

    `here` must have a start and a stop; a goroutine's last row ends with the trace.
    """
    rows = trace.intervals
    start = rows.start_ns
    lasts = np.empty(here.stop - here.start, np.int64)
    after = start[here.start + 1 : here.stop + 1]
    np.subtract(after, start[here.start :][: len(after)], out=lasts[: len(after)])
    a, b = np.searchsorted(rows.offsets, (here.start, here.stop), "right").tolist()
    last = rows.offsets[a:b] - 1
    lasts[last - here.start] = trace.end_ns - start[last]
    lasts[rows.state[here] == State.GONE] = 0
    return lasts


def owners_of(offsets: Offsets, rows: Column) -> Column:
    """Return the owners of sorted rows (int64).

    Rows ``offsets[i]:offsets[i+1]`` belong to owner i.
    """
    if not len(rows):
        return np.zeros(0, np.int64)
    # Look only at owners between the first and the last row.
    low, high = np.searchsorted(offsets, rows[[0, -1]], "right").tolist()
    ends = np.searchsorted(rows, offsets[low:high])
    counts = np.diff(ends, prepend=0, append=len(rows))
    return np.repeat(np.arange(low - 1, high), counts)


def sums_by_owner(offsets: Offsets, values: Column) -> Column:
    """Return the exact sum of each owner's values (int64).

    ``values[offsets[i]:offsets[i+1]]`` belong to owner i.
    """
    total = np.zeros(len(offsets) - 1, np.int64)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        total[filled] = np.add.reduceat(values, offsets[:-1][filled])
    return total


@dataclass(frozen=True, slots=True, eq=False)
class RowsInState(Table):
    """The rows of `Trace.intervals` in one state, in order.

    `row` (int64) are the rows and `goroutine` (int32) their goroutines; each row lasts
    from `start_ns` to `end_ns` (int64).
    """

    row: Column
    goroutine: NDArray[np.int32]
    start_ns: Column
    end_ns: Column


def rows_in_state(trace: Trace, state: State) -> RowsInState:
    """Return all rows of `Trace.intervals` in a state."""
    rows = trace.intervals
    row = np.flatnonzero(rows.state == state)
    counts = np.diff(np.searchsorted(row, rows.offsets))
    goroutine = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return RowsInState(
        row, goroutine, rows.start_ns[row], row_ends(trace, row, goroutine)
    )


def previous(column: NDArray[T], offsets: Offsets, none: T | int) -> NDArray[T]:
    """Return the value of the preceding row, `none` for an owner's first row."""
    shifted = np.empty_like(column)
    shifted[1:] = column[:-1]
    shifted[offsets[:-1][np.diff(offsets) > 0]] = none
    return shifted


def row_at(
    offsets: Offsets, start_ns: Column, owner: NDArray[np.integer], time_ns: Column
) -> Column:
    """Return each owner's last row that begins at or before a time (int64), or -1.

    Rows ``offsets[i]:offsets[i+1]`` of `start_ns` belong to owner i and are sorted.
    """
    low = offsets[:-1][owner].copy()
    high, first = offsets[1:][owner].copy(), low.copy()
    for _ in range(int((high - low).max(initial=0)).bit_length()):
        middle = (low + high) >> 1
        open_ = low < high
        later = open_ & (start_ns[np.where(open_, middle, 0)] <= time_ns)
        low = np.where(later, middle + 1, low)
        high = np.where(open_ & ~later, middle, high)
    return np.where(low > first, low - 1, -1)


def rows_within(
    trace: Trace,
    goroutine: NDArray[np.integer],
    start_ns: Column,
    end_ns: Column,
) -> tuple[Column, Column, Column, Column]:
    """Return what goroutines do during periods, such as their mark assists.

    `goroutine`, `start_ns` and `end_ns` define the periods. There is one entry per
    overlapping period and row of `Trace.intervals`: the period's index, the row, and
    the start and end of the overlap; all are int64.
    """
    rows = trace.intervals
    first = row_at(rows.offsets, rows.start_ns, goroutine, start_ns)
    first = np.maximum(first, rows.offsets[:-1][goroutine])
    last = row_at(rows.offsets, rows.start_ns, goroutine, end_ns)
    counts = np.maximum(last + 1 - first, 0)
    row = expand(first, counts)
    period = np.repeat(np.arange(len(counts)), counts)
    finish = np.minimum(end_ns[period], row_ends(trace, row, goroutine[period]))
    start = np.maximum(start_ns[period], rows.start_ns[row])
    some = finish > start
    return period[some], row[some], start[some], finish[some]


def row_ends(trace: Trace, row: Column, owner: NDArray[np.integer]) -> Column:
    """Return the end times of some rows of `Trace.intervals` (int64 ns).

    `owner` are their goroutines. A goroutine's last row ends with the trace, even if it
    is GONE.
    """
    rows = trace.intervals
    after = row + 1
    last = after >= rows.offsets[1:][owner]
    np.minimum(after, max(len(rows) - 1, 0), out=after)
    end = rows.start_ns[after]
    end[last] = trace.end_ns
    return end
