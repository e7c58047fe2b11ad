"""Who had a processor: GOMAXPROCS, what each processor did, how many goroutines ran."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.traces.pieces import pieces
from pprofdiff.analysis.traces.spans import (
    Cover,
    cover,
    held,
    in_state,
    previous,
    steps,
    sums_by_owner,
)
from pprofdiff.model.csr import count_in_row, distinct, slices
from pprofdiff.model.traces.marks import Series
from pprofdiff.model.traces.trace import ProcessorState, State, Trace

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Load", "Processors", "busy", "load", "processors", "runnable", "running"]

Column = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Processors:
    """What processors did from the trace's start to its end; times in nanoseconds.

    `capacity_ns` is GOMAXPROCS × wall time, GOMAXPROCS as it was at each time.
    `running_ns`, `idle_ns` and `syscall_ns` of one processor (int64 columns, in the
    order of `id`) add up to `life_ns`: from when it was first seen to the trace's end.
    RUNNING includes looking for work, SYSCALL is a system call that had not yet lost
    the processor. `steals` counts how often another thread took it from one in a
    system call. `goroutine_ns` is the time that goroutines ran on all of them together.
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
        """Return the number of processors seen."""
        return len(self.id)

    @property
    def utilisation(self) -> float | None:
        """The share of the capacity in which goroutines ran; None without one."""
        return self.goroutine_ns / self.capacity_ns if self.capacity_ns else None

    def to_frame(self) -> pd.DataFrame:
        """Return one row a processor: its id and the columns of times and steals."""
        import pandas as pd

        names = ("id", "life_ns", "running_ns", "idle_ns", "syscall_ns", "steals")
        return pd.DataFrame({name: getattr(self, name) for name in names})


@dataclass(frozen=True, slots=True)
class Load:
    """How many goroutines were in a state: over time, on average, and at most."""

    mean: float | None
    most: int


def processors(trace: Trace) -> Processors:
    """Return what each processor did, and the capacity there was."""
    rows = trace.processor_intervals
    low, high = trace.start_ns, trace.end_ns
    start, end, value = held(trace.gomaxprocs, low_ns=low, high_ns=high)
    spent = _spent(trace)
    return Processors(
        gomaxprocs=_changes(trace.gomaxprocs),
        wall_ns=high - low,
        capacity_ns=int(((end - start) * value).sum()),
        goroutine_ns=_ran(trace),
        id=trace.processors,
        life_ns=spent.sum(axis=0),
        running_ns=spent[ProcessorState.RUNNING],
        idle_ns=spent[ProcessorState.IDLE],
        syscall_ns=spent[ProcessorState.SYSCALL],
        steals=count_in_row(rows.stolen, rows.offsets),
    )


def _spent(trace: Trace) -> Column:
    """Return how long each processor is in each state (states, processors)."""
    rows = trace.processor_intervals
    size = max(ProcessorState) + 1, len(rows.offsets) - 1
    total = np.zeros(size, np.int64)
    lasts = rows.offsets[1:][np.diff(rows.offsets) > 0] - 1
    for here in slices(len(rows)):
        length = np.diff(rows.start_ns[here.start : here.stop + 1], append=0)
        length = length[: here.stop - here.start]
        ends = lasts[(lasts >= here.start) & (lasts < here.stop)]
        length[ends - here.start] = trace.end_ns - rows.start_ns[ends]
        offsets = np.clip(rows.offsets, here.start, here.stop) - here.start
        state = rows.state[here]
        for one in ProcessorState:
            total[one] += sums_by_owner(offsets, length * (state == one))
    return total


def _ran(trace: Trace) -> int:
    """Return how long goroutines run, all together."""
    return sum(
        int(piece.durations()[piece.state == State.RUNNING].sum())
        for piece in pieces(trace)
    )


def running(trace: Trace) -> Series:
    """Return how many goroutines run, as changes from 0."""
    return _counted(trace, State.RUNNING)


def runnable(trace: Trace) -> Series:
    """Return how many goroutines could run but do not, as changes from 0."""
    return _counted(trace, State.RUNNABLE)


def load(trace: Trace, state: State) -> Load:
    """Return how many goroutines are in a state: the mean over the trace, the most."""
    found = in_state(trace, state)
    begins, ends = np.sort(found.start_ns), np.sort(found.end_ns)
    total = int((ends - begins).sum())
    # Spans are half open: what ends when another begins is not on with it.
    on = np.arange(1, len(begins) + 1)
    on -= np.searchsorted(ends, begins, "right")
    wall = trace.end_ns - trace.start_ns
    return Load(total / wall if wall else None, int(on.max(initial=0)))


def busy(trace: Trace) -> Cover:
    """Return when no processor was idle: GOMAXPROCS of them were running or in a call.

    A system call holds its processor until that is taken away. While the world is
    stopped all but one are idle, so that time is not in here.
    """
    rows = trace.processor_intervals
    idle = rows.state == ProcessorState.IDLE
    before = previous(idle, rows.offsets, none=True)
    # Of the rows between two idle ones only the first begin and the last end count.
    begins = rows.start_ns[before & ~idle]
    last = np.append(idle[1:], True)
    last[rows.offsets[1:][np.diff(rows.offsets) > 0] - 1] = True
    ends = trace.ends_ns(rows)[~idle & last]
    taken = steps(begins, ends)
    limits = trace.gomaxprocs
    if not len(limits.value) or not len(taken.value):
        nothing = np.zeros(0, np.int64)
        return Cover(nothing, nothing)
    times = distinct(np.concatenate((taken.time_ns, limits.time_ns)))
    count = np.append(0, taken.value)[np.searchsorted(taken.time_ns, times, "right")]
    limit = limits.value[
        np.maximum(np.searchsorted(limits.time_ns, times, "right") - 1, 0)
    ]
    full = np.append(count >= np.maximum(limit, 1), False)
    ends = np.append(times[1:], trace.end_ns)
    return cover(times[full[:-1]], ends[full[:-1]])


def _counted(trace: Trace, state: State) -> Series:
    """Return how many goroutines are in a state, as a series of changes."""
    found = in_state(trace, state)
    return steps(found.start_ns, found.end_ns)


def _changes(series: Series) -> Series:
    """Return a series without values that repeat the one before."""
    fresh = np.ones(len(series.value), np.bool_)
    fresh[1:] = series.value[1:] != series.value[:-1]
    return Series(series.time_ns[fresh], series.value[fresh])
