"""Values over time: heap sizes, GOMAXPROCS, running goroutines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.traces.timeline import Series

__all__ = ["stretches", "value_at", "without_repeats"]

Column = NDArray[np.int64]


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
    """Return the values at some times (int64), -1 if the series is empty.

    The first value also holds for the time before it.
    """
    if not len(series.value):
        return np.full(len(time_ns), -1, np.int64)
    place = np.searchsorted(series.time_ns, time_ns, "right") - 1
    return series.value[np.maximum(place, 0)]


def without_repeats(series: Series) -> Series:
    """Return the series without values equal to the one before."""
    changes = np.ones(len(series), np.bool_)
    changes[1:] = series.value[1:] != series.value[:-1]
    return series.take(changes)
