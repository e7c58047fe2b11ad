"""Lookups and sums over rows of `Trace.intervals` and `Trace.ranges`."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.model.arrays import Column, Index, Integers, Mask
from pprofdiff.model.csr import Offsets, expand, order_of
from pprofdiff.model.traces.trace import RangeKind, Ranges, State, Trace

T = TypeVar("T", bound=np.generic)


def ranges_of(trace: Trace, kind: RangeKind) -> tuple[Ranges, Column]:
    """Return the ranges of a kind and their ends (int64 ns), the trace's if unknown."""
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


def owners_of(offsets: Offsets, rows: Integers) -> Column:
    """Return the owners of sorted rows (int64): i has ``offsets[i]:offsets[i+1]``."""
    if not len(rows):
        return np.zeros(0, np.int64)
    # Look only at owners between the first and the last row.
    low, high = np.searchsorted(offsets, rows[[0, -1]], "right").tolist()
    ends = np.searchsorted(rows, offsets[low:high])
    counts = np.diff(ends, prepend=0, append=len(rows))
    return np.repeat(np.arange(low - 1, high), counts)


def waits_throughout(trace: Trace) -> Mask:
    """Mark the goroutines that do nothing but wait, from before the trace on (bool)."""
    rows = trace.intervals
    marked: Mask = np.diff(rows.offsets) == 1
    only = np.flatnonzero(marked)
    row = rows.offsets[only]
    marked[only] = (rows.state[row] == State.WAITING) & (
        rows.start_ns[row] <= trace.start_ns
    )
    return marked


def previous(column: NDArray[T], offsets: Offsets, none: T | int) -> NDArray[T]:
    """Return the value of the preceding row, `none` for an owner's first row."""
    shifted = np.empty_like(column)
    shifted[1:] = column[:-1]
    shifted[offsets[:-1][np.diff(offsets) > 0]] = none
    return shifted


def row_at(
    offsets: Offsets, start_ns: Column, owner: Integers, time_ns: Column
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


class RowFinder:
    """A faster `row_at` of `Trace.intervals`, for about as many times as rows."""

    def __init__(self, trace: Trace) -> None:
        rows = trace.intervals
        self._offsets, self._start = rows.offsets, trace.start_ns
        self._span = trace.end_ns - trace.start_ns + 1
        # Goroutines one after the other, so that one search finds both.
        shift = np.arange(len(rows.offsets) - 1) * self._span - self._start
        self._keys = np.repeat(shift, np.diff(rows.offsets))
        self._keys += rows.start_ns

    def at(self, owner: Integers, time_ns: Column) -> Column:
        """Return each goroutine's last row that begins at or before a time, or -1."""
        keys = owner * np.int64(self._span) + (time_ns - self._start)
        # In order, so that neighbors are found near each other: caches hold few rows.
        order = order_of(keys)
        row = np.empty(len(keys), np.int64)
        row[order] = np.searchsorted(self._keys, keys[order], "right") - 1
        return np.where(row >= self._offsets[:-1][owner], row, -1)


def rows_within(
    trace: Trace, goroutine: Integers, start_ns: Column, end_ns: Column
) -> tuple[Column, Column, Column, Column]:
    """Return what goroutines do during periods, such as their mark assists.

    There is one entry per overlap of a period and a row of `Trace.intervals`: the
    period's index, the row, the overlap's start and end; all int64.
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


def row_ends(trace: Trace, row: Column, owner: Integers) -> Column:
    """Return the ends of rows of `owner` (int64 ns): the trace's for its last row."""
    rows = trace.intervals
    after = row + 1
    last = after >= rows.offsets[1:][owner]
    np.minimum(after, max(len(rows) - 1, 0), out=after)
    end = rows.start_ns[after]
    end[last] = trace.end_ns
    return end


ASSIST, SWEEP, STOPPED = "GC mark assist", "GC incremental sweep", "stop-the-world"


class GoroutineRanges(Struct, frozen=True, eq=False):
    """The ranges attributed to goroutines, sorted by goroutine.

    `goroutine` (int32), `column` (int64, an index of `names`) and `start_ns` (int64)
    have one row per range; `end_ns` (int64) is -1 if the range ends with its goroutine.

    The rules are as in internal/trace/summary.go: a sweep belongs to a P and counts
    if it begins and ends on one goroutine; otherwise it counts until the goroutine
    ends, if it is the last sweep that the goroutine began.
    """

    trace: Trace
    names: tuple[str, ...]
    goroutine: Index
    column: Column
    start_ns: Column
    end_ns: Column

    @classmethod
    def of(cls, trace: Trace) -> GoroutineRanges:
        """Return the ranges of a trace."""
        ranges = trace.ranges
        ranges = ranges.take(
            (ranges.kind != RangeKind.GC_MARK) & (ranges.goroutine >= 0)
        )
        names, column = _names(trace, ranges)
        sweeps = ranges.kind == RangeKind.SWEEP
        kept = ranges.end_ns >= 0
        kept &= ~(sweeps & (ranges.last_goroutine != ranges.goroutine))
        counts = np.flatnonzero(~sweeps | kept | _is_last_sweep(ranges, sweeps))
        order = counts[np.argsort(ranges.goroutine[counts], kind="stable")]
        return cls(
            trace,
            names,
            ranges.goroutine[order],
            column[order],
            ranges.start_ns[order],
            np.where(kept, ranges.end_ns, -1)[order],
        )

    def times(self, until: Column, here: slice) -> Column:
        """Return the time of the goroutines `here` in each range (int64 ns).

        The shape is (goroutines, names). `until` (int64 ns) is the end of each
        goroutine, or of the trace.
        """
        a, b = np.searchsorted(self.goroutine, (here.start, here.stop)).tolist()
        goroutine, column = self.goroutine[a:b] - here.start, self.column[a:b]
        end = np.where(self.end_ns[a:b] < 0, until[goroutine], self.end_ns[a:b])
        lasts = np.maximum(end - self.start_ns[a:b], 0)
        times = np.zeros((len(until), len(self.names)), np.int64)
        np.add.at(times, (goroutine, column), lasts)
        return times


def _is_last_sweep(ranges: Ranges, sweeps: Mask) -> Mask:
    """Mark the last sweep that each goroutine began."""
    rows = np.flatnonzero(sweeps)
    rows = rows[np.lexsort((ranges.start_ns[rows], ranges.goroutine[rows]))]
    owner = ranges.goroutine[rows]
    last = np.ones(len(rows), np.bool_)
    np.not_equal(owner[1:], owner[:-1], out=last[:-1])
    marked = np.zeros(len(ranges), np.bool_)
    marked[rows[last]] = True
    return marked


def _names(trace: Trace, ranges: Ranges) -> tuple[tuple[str, ...], Column]:
    stops = ranges.kind == RangeKind.STOP_THE_WORLD
    key = np.where(
        stops, ranges.name.astype(np.int64), -1 - ranges.kind.astype(np.int64)
    )
    distinct, column = np.unique(key, return_inverse=True)
    fixed = {
        -1 - RangeKind.MARK_ASSIST: ASSIST,
        -1 - RangeKind.SWEEP: SWEEP,
    }
    names = [
        f"{STOPPED} ({trace.strings[k]})" if k >= 0 else fixed[k]
        for k in distinct.tolist()
    ]
    return tuple(names), column.astype(np.int64)
