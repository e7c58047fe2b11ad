"""What each P did, GOMAXPROCS, and how many goroutines were in a state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from pprofdiff.analysis.traces.goroutines import both_groups
from pprofdiff.analysis.traces.interval_rows import lengths, previous
from pprofdiff.analysis.traces.profiles import PERIOD_NS
from pprofdiff.analysis.traces.time_sets import (
    TimeSet,
    open_at_once,
    stretches,
    union,
    value_at,
    without_repeats,
)
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import count_in_row, distinct, row_of_item, slices, sums
from pprofdiff.model.traces.trace import ProcessorState, Series, State, Trace

if TYPE_CHECKING:
    import pandas as pd


class Processors(Struct, frozen=True, eq=False):
    """What Ps did from the start to the end of the trace; times in nanoseconds.

    `gomaxprocs` is GOMAXPROCS over time, `capacity_ns` its integral. `goroutine_ns` is
    the time goroutines ran on all Ps together.

    Columns (int64) have one row per P, with Go's `id`. `running_ns` (including looking
    for work), `idle_ns` and `syscall_ns` (in a system call that still holds the P) add
    up to `life_ns`, from when the P was first seen to the end of the trace. `steals`
    counts how often another thread took the P from one in a system call.
    """

    gomaxprocs: Series
    wall_ns: int
    capacity_ns: int
    goroutine_ns: int
    id: Column
    life_ns: Column
    running_ns: Column
    idle_ns: Column
    syscall_ns: Column
    steals: Column

    def __len__(self) -> int:
        return len(self.id)

    @property
    def utilisation(self) -> float | None:
        """The share of capacity in which goroutines ran; None without capacity."""
        return self.goroutine_ns / self.capacity_ns if self.capacity_ns else None

    def to_frame(self) -> pd.DataFrame:
        """Return one row per P: its id, times and steals."""
        import pandas as pd

        names = ("id", *_PER_PROCESSOR)
        return pd.DataFrame({name: getattr(self, name) for name in names})


_PER_PROCESSOR = ("life_ns", "running_ns", "idle_ns", "syscall_ns", "steals")


@dataclass(frozen=True, slots=True)
class Concurrency:
    """How many goroutines were in a state at once: time average and maximum."""

    mean: float | None
    most: int


def processors(trace: Trace) -> Processors:
    """Return what each P did, and the capacity there was."""
    rows = trace.processor_intervals
    low, high = trace.start_ns, trace.end_ns
    start, end, value = stretches(trace.gomaxprocs, low_ns=low, high_ns=high)
    spent = _spent(trace)
    return Processors(
        gomaxprocs=without_repeats(trace.gomaxprocs),
        wall_ns=high - low,
        capacity_ns=int(((end - start) * value).sum()),
        goroutine_ns=int(trace.once("groups", both_groups)[0].exec_ns.sum()),
        id=trace.processors,
        life_ns=spent.sum(axis=0),
        running_ns=spent[ProcessorState.RUNNING],
        idle_ns=spent[ProcessorState.IDLE],
        syscall_ns=spent[ProcessorState.SYSCALL],
        steals=count_in_row(rows.stolen, rows.offsets),
    )


def all_processors(parts: Sequence[Processors]) -> Processors:
    """Return what each P did, summed over traces."""
    if len(parts) == 1:
        return parts[0]
    ids, row = np.unique(np.concatenate([p.id for p in parts]), return_inverse=True)
    return Processors(
        gomaxprocs=Series.concatenate([part.gomaxprocs for part in parts]),
        wall_ns=sum(part.wall_ns for part in parts),
        capacity_ns=sum(part.capacity_ns for part in parts),
        goroutine_ns=sum(part.goroutine_ns for part in parts),
        id=ids,
        **{
            name: sums(row, np.concatenate([getattr(p, name) for p in parts]), len(ids))
            for name in _PER_PROCESSOR
        },
    )


def _spent(trace: Trace) -> Column:
    """Return the time of each P in each state, shape (states, Ps)."""
    rows = trace.processor_intervals
    size = max(ProcessorState) + 1, len(rows.offsets) - 1
    cell = rows.state.astype(np.int64) * size[1] + row_of_item(rows.offsets)
    lasts = trace.ends_ns(rows) - rows.start_ns
    return sums(cell, lasts, size[0] * size[1]).reshape(size)


def concurrency(trace: Trace, state: State) -> Concurrency:
    """Return how many goroutines are in a state at once."""
    begins, ends = _periods(trace, state)
    total = int(ends.sum() - begins.sum())
    begins.sort()
    ends.sort()
    most = 0
    for here in slices(len(begins)):
        # Periods are half-open: one that ends as another begins does not overlap it.
        on = np.arange(here.start + 1, here.stop + 1)
        on -= np.searchsorted(ends, begins[here], "right")
        most = max(most, int(on.max()))
    wall = trace.end_ns - trace.start_ns
    return Concurrency(total / wall if wall else None, most)


def at_once(parts: Sequence[Concurrency], walls_ns: Sequence[int]) -> Concurrency:
    """Return the mean over all traced time, and the maximum of any trace."""
    mean = mean_over([one.mean for one in parts], walls_ns)
    return Concurrency(mean, max(one.most for one in parts))


def mean_over(parts: Sequence[float | None], walls_ns: Sequence[int]) -> float | None:
    """Return the mean of traces' figures over all traced time, None if one is None."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    if len(known) == 1:
        return known[0]
    used = sum(part * wall for part, wall in zip(known, walls_ns, strict=True))
    return used / sum(walls_ns)


def _periods(trace: Trace, state: State) -> tuple[Column, Column]:
    """Return the starts and ends of goroutines' periods in a state, unsorted."""
    rows = trace.intervals
    size = int(np.count_nonzero(rows.state == state))
    begins, ends = np.empty((2, size), np.int64)
    first = 0
    for here in slices(len(rows)):
        some = np.flatnonzero(rows.state[here] == state)
        last = first + len(some)
        np.take(rows.start_ns[here], some, out=begins[first:last], mode="clip")
        np.take(lengths(trace, here), some, out=ends[first:last], mode="clip")
        first = last
    ends += begins
    return begins, ends


def all_processors_busy(trace: Trace) -> TimeSet:
    """Return when all GOMAXPROCS Ps were running or in a system call, so none was idle.

    While the world is stopped, all Ps but one are idle.
    """
    rows = trace.processor_intervals
    idle = rows.state == ProcessorState.IDLE
    before = previous(idle, rows.offsets, none=True)
    # Of the rows between two idle ones, only the first start and last end count.
    begins = rows.start_ns[before & ~idle]
    last = np.append(idle[1:], True)
    last[rows.offsets[1:][np.diff(rows.offsets) > 0] - 1] = True
    ends = trace.ends_ns(rows)[~idle & last]
    in_use = open_at_once(begins, ends)
    limits = trace.gomaxprocs
    if not len(limits.value) or not len(in_use.value):
        return TimeSet.none()
    times = distinct(np.concatenate((in_use.time_ns, limits.time_ns)))
    count = np.append(0, in_use.value)[np.searchsorted(in_use.time_ns, times, "right")]
    limit = np.maximum(value_at(limits, times), 1)
    full = np.append(count >= limit, False)
    ends = np.append(times[1:], trace.end_ns)
    return union(times[full[:-1]], ends[full[:-1]])


# Fewest sampling periods of running time that show how many CPUs were in use.
_FEWEST = 50
# The profiler covers a trace if samples reach within this share of either end.
_EDGE = 0.1


def cores(trace: Trace) -> float | None:
    """Return how many CPUs the process used by a trace's CPU samples.

    None if there is little running time, or samples do not cover the trace.
    """
    samples, wall = trace.samples, trace.end_ns - trace.start_ns
    edge = int(wall * _EDGE)
    if not len(samples) or samples.time_ns[0] > trace.start_ns + edge:
        return None
    if samples.time_ns[-1] < trace.end_ns - edge:
        return None
    if processors(trace).goroutine_ns < _FEWEST * PERIOD_NS:
        return None
    return len(samples) * PERIOD_NS / wall
