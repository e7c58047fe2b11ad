"""Sets of time: unions and overlaps of periods, and how many are open at once.

Times are int64 nanoseconds and periods are half-open.
"""

from __future__ import annotations

import numpy as np

from pprofdiff.model.arrays import Column, Table
from pprofdiff.model.traces.trace import Series


class TimeSet(Table, frozen=True):
    """A set of times, as sorted half-open periods that do not touch (int64 ns)."""

    start_ns: Column
    end_ns: Column

    @property
    def total_ns(self) -> int:
        """The total length of the periods in ns."""
        return int((self.end_ns - self.start_ns).sum())

    def before(self, time_ns: Column) -> Column:
        """Return how much of the set lies before each time (int64 ns)."""
        if not len(self.start_ns):
            return np.zeros(len(time_ns), np.int64)
        until = np.zeros(len(self.start_ns) + 1, np.int64)
        np.cumsum(self.end_ns - self.start_ns, out=until[1:])
        place = np.searchsorted(self.start_ns, time_ns, "right")
        covered = until[place]
        # The last period counts only up to the time.
        over = self.end_ns[np.maximum(place - 1, 0)] - time_ns
        covered -= np.where(place > 0, np.maximum(over, 0), 0)
        return covered

    def overlap(self, start_ns: Column, end_ns: Column) -> Column:
        """Return how much of the set lies in each period (int64 ns)."""
        return self.before(end_ns) - self.before(start_ns)


def union(start_ns: Column, end_ns: Column) -> TimeSet:
    """Return the union of periods; one that ends before it begins is empty."""
    some = end_ns > start_ns
    start, end = start_ns[some], end_ns[some]
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    first = np.ones(len(start), np.bool_)
    first[1:] = start[1:] > reach[:-1]
    last = np.append(np.flatnonzero(first)[1:] - 1, len(start) - 1)
    return TimeSet(start[first], reach[last] if len(start) else reach)


def clipped(
    start_ns: Column, end_ns: Column, low_ns: int, high_ns: int
) -> tuple[Column, Column]:
    """Return the parts of periods inside [low_ns, high_ns); some may be empty."""
    start = np.clip(start_ns, low_ns, high_ns)
    return start, np.maximum(np.minimum(end_ns, high_ns), start)


def open_at_once(start_ns: Column, end_ns: Column) -> Series:
    """Return how many periods are open over time, from the first change from 0."""
    if not len(start_ns):
        return Series.none()
    first = int(start_ns.min())
    # Even keys are ends, odd ones starts: one in-place sort orders both.
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


def stretches(
    series: Series, *, low_ns: int, high_ns: int
) -> tuple[Column, Column, Column]:
    """Return a series as (start, end, value) from `low_ns` to `high_ns`, all int64.

    The first value also holds for the time before it.
    """
    start = np.clip(series.time_ns, low_ns, high_ns)
    start[:1] = low_ns
    return start, np.append(start, high_ns)[1:], series.value


def value_at(series: Series, time_ns: Column) -> Column:
    """Return values at times (int64), the first also before it; -1 if empty."""
    if not len(series.value):
        return np.full(len(time_ns), -1, np.int64)
    place = np.searchsorted(series.time_ns, time_ns, "right") - 1
    return series.value[np.maximum(place, 0)]


def without_repeats(series: Series) -> Series:
    """Return the series without values equal to the one before."""
    changes = np.ones(len(series), np.bool_)
    changes[1:] = series.value[1:] != series.value[:-1]
    return series.take(changes)
