"""Arithmetic on spans of time: unions, overlaps, counts, and rows that lie in spans.

Times are int64 nanoseconds, spans half open. Everything works on whole columns.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.csr import Offsets, expand
from pprofdiff.model.traces.marks import RangeKind, Ranges, Series
from pprofdiff.model.traces.trace import State, Trace

__all__ = [
    "Cover",
    "InState",
    "clipped",
    "cover",
    "ends_of",
    "held",
    "in_state",
    "previous",
    "ranges_of",
    "row_at",
    "rows_within",
    "steps",
    "sums_by_owner",
    "value_at",
]

Column = NDArray[np.int64]
T = TypeVar("T", bound=np.generic)


class Cover(NamedTuple):
    """Time that is covered: spans in order that do not touch (int64, equal lengths)."""

    start_ns: Column
    end_ns: Column

    @property
    def total_ns(self) -> int:
        """Return how long the spans are together."""
        return int((self.end_ns - self.start_ns).sum())

    def until(self, time_ns: Column) -> Column:
        """Return how much of the time before each of these is covered (int64)."""
        if not len(self.start_ns):
            return np.zeros(len(time_ns), np.int64)
        before = np.zeros(len(self.start_ns) + 1, np.int64)
        np.cumsum(self.end_ns - self.start_ns, out=before[1:])
        place = np.searchsorted(self.start_ns, time_ns, "right")
        covered = before[place]
        # Of the span that begins last, only what lies before the time.
        over = self.end_ns[np.maximum(place - 1, 0)] - time_ns
        covered -= np.where(place > 0, np.maximum(over, 0), 0)
        return covered

    def overlap(self, start_ns: Column, end_ns: Column) -> Column:
        """Return how much of each span is covered (int64)."""
        return self.until(end_ns) - self.until(start_ns)


def cover(start_ns: Column, end_ns: Column) -> Cover:
    """Return the union of any spans; those that end before they begin are nothing."""
    some = end_ns > start_ns
    start, end = start_ns[some], end_ns[some]
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    fresh = np.ones(len(start), np.bool_)
    fresh[1:] = start[1:] > reach[:-1]
    last = np.append(np.flatnonzero(fresh)[1:] - 1, len(start) - 1)
    return Cover(start[fresh], reach[last] if len(start) else reach)


def clipped(
    start_ns: Column, end_ns: Column, low_ns: int, high_ns: int
) -> tuple[Column, Column]:
    """Return the spans' parts inside [low_ns, high_ns), of no length where none is."""
    start = np.clip(start_ns, low_ns, high_ns)
    return start, np.maximum(np.minimum(end_ns, high_ns), start)


def ranges_of(trace: Trace, kind: RangeKind) -> tuple[Ranges, Column]:
    """Return the ranges of a kind, and their ends: the trace's for those still on."""
    found = trace.ranges.take(np.flatnonzero(trace.ranges.kind == kind))
    return found, np.where(found.end_ns < 0, trace.end_ns, found.end_ns)


def held(series: Series, *, low_ns: int, high_ns: int) -> tuple[Column, Column, Column]:
    """Return a series as (start, end, value) from one time to another.

    What it is first said to be counts for the time before.
    """
    start = np.clip(series.time_ns, low_ns, high_ns)
    start[:1] = low_ns
    return start, np.append(start, high_ns)[1:], series.value


def value_at(series: Series, time_ns: Column) -> Column:
    """Return what a series is at some times, -1 if it has no values.

    Before its first time it is what it is then.
    """
    if not len(series.value):
        return np.full(len(time_ns), -1, np.int64)
    place = np.searchsorted(series.time_ns, time_ns, "right") - 1
    return series.value[np.maximum(place, 0)]


def steps(start_ns: Column, end_ns: Column) -> Series:
    """Return how many spans are on, as a series of changes; spans may overlap."""
    if not len(start_ns):
        return Series(np.zeros(0, np.int64), np.zeros(0, np.int64))
    first = int(start_ns.min())
    # Even keys are ends, odd ones begins: one sort orders both, in place.
    keys = np.concatenate((start_ns, end_ns))
    keys -= first
    keys <<= 1
    keys[: len(start_ns)] |= 1
    keys.sort()
    change = (keys & 1).astype(np.int8)
    change += change - 1
    count = np.cumsum(change, dtype=np.int64)
    keys >>= 1
    last = np.append(keys[1:] != keys[:-1], True)
    times, count = keys[last] + first, count[last]
    changed = np.append(count[:1] != 0, count[1:] != count[:-1])
    return Series(times[changed], count[changed])


def sums_by_owner(offsets: Offsets, values: Column) -> Column:
    """Return the sum of the rows of each owner (int64), exactly."""
    total = np.zeros(len(offsets) - 1, np.int64)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        total[filled] = np.add.reduceat(values, offsets[:-1][filled])
    return total


class InState(NamedTuple):
    """Rows of `Trace.intervals` of one state, in their order.

    `row` and the row of `Trace.goroutines` that each is of; all int64 but `goroutine`,
    which is int32.
    """

    row: Column
    goroutine: NDArray[np.int32]
    start_ns: Column
    end_ns: Column


def in_state(trace: Trace, state: State) -> InState:
    """Return what goroutines do in a state, a row each time."""
    rows = trace.intervals
    row = np.flatnonzero(rows.state == state)
    counts = np.diff(np.searchsorted(row, rows.offsets))
    goroutine = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return InState(row, goroutine, rows.start_ns[row], ends_of(trace, row, goroutine))


def previous(column: NDArray[T], offsets: Offsets, none: T | int) -> NDArray[T]:
    """Return the value of the row before, `none` for an owner's first."""
    shifted = np.empty_like(column)
    shifted[1:] = column[:-1]
    shifted[offsets[:-1][np.diff(offsets) > 0]] = none
    return shifted


def row_at(
    offsets: Offsets, start_ns: Column, owner: NDArray[np.integer], time_ns: Column
) -> Column:
    """Return the last row of each owner that begins by a time, -1 if none does (int64).

    Rows ``offsets[i]:offsets[i+1]`` of `start_ns`, which rise, are those of owner i.
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
    """Return what goroutines do during spans of theirs, cut to these.

    One row for each span and row of `Trace.intervals` that meet: the span, the row, and
    the start and end of what both share.
    """
    rows = trace.intervals
    first = row_at(rows.offsets, rows.start_ns, goroutine, start_ns)
    first = np.maximum(first, rows.offsets[:-1][goroutine])
    last = row_at(rows.offsets, rows.start_ns, goroutine, end_ns)
    counts = np.maximum(last + 1 - first, 0)
    row, span = expand(first, counts), np.repeat(np.arange(len(counts)), counts)
    finish = np.minimum(end_ns[span], ends_of(trace, row, goroutine[span]))
    start = np.maximum(start_ns[span], rows.start_ns[row])
    some = finish > start
    return span[some], row[some], start[some], finish[some]


def ends_of(trace: Trace, row: Column, owner: NDArray[np.integer]) -> Column:
    """Return when some rows of `Trace.intervals` end, given their goroutines.

    Rows that are GONE go on to the trace's end.
    """
    rows = trace.intervals
    after = row + 1
    last = after >= rows.offsets[1:][owner]
    np.minimum(after, max(len(rows) - 1, 0), out=after)
    end = rows.start_ns[after]
    end[last] = trace.end_ns
    return end
