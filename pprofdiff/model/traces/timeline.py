"""What a trace tells beside states: ranges, tasks, regions, logs, labels, samples.

Each table has one row a thing. Times (int64 nanoseconds), strings, stacks, goroutines,
processors and threads are those of `model.traces.trace`; -1 is a time, goroutine,
processor or thread that the trace does not tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.traces.table import Table

__all__ = [
    "CPUSamples",
    "Labels",
    "Logs",
    "RangeKind",
    "Ranges",
    "Regions",
    "Series",
    "Tasks",
]

Column = NDArray[np.int64]
Index = NDArray[np.int32]


class RangeKind(IntEnum):
    """What the runtime was doing during a range, and whose the range is.

    GC_MARK (a concurrent mark phase) belongs to the whole program, STOP_THE_WORLD and
    MARK_ASSIST to a goroutine, SWEEP to a processor.
    """

    GC_MARK = 0
    STOP_THE_WORLD = 1
    MARK_ASSIST = 2
    SWEEP = 3


@dataclass(frozen=True, slots=True, eq=False)
class Series(Table):
    """A value over time: it is ``value[i]`` from ``time_ns[i]`` on; both are int64."""

    time_ns: Column
    value: Column


@dataclass(frozen=True, slots=True, eq=False)
class Ranges(Table):
    """Ranges of time, sorted by kind, then by owner, then as they follow each other.

    `kind` is a `RangeKind` (uint8); `name` is the reason of a stop of the world, such
    as "GC mark termination", and the empty string for other kinds.

    `goroutine` and `processor` are those of the thread on which the range began; where
    the range belongs to a goroutine (or a processor), that one is exact.
    `last_goroutine` is the goroutine that ran where the range ended, -1 if no end.

    `seen` tells that the begin is in the trace; else `start_ns` is the begin of the
    generation that first mentions the range. `end_ns` is -1 for a range that lasts
    beyond the trace. `stack` is where the range began. `swept` and `reclaimed` are
    bytes of a finished SWEEP, -1 otherwise.
    """

    kind: NDArray[np.uint8]
    name: Index
    goroutine: Index
    last_goroutine: Index
    processor: Index
    start_ns: Column
    end_ns: Column
    seen: NDArray[np.bool_]
    stack: Index
    swept: Column
    reclaimed: Column


@dataclass(frozen=True, slots=True, eq=False)
class Tasks(Table):
    """User tasks (``trace.NewTask``), sorted by id, then by time.

    `id` is Go's; `parent` is the id of another task, 0 for none. `goroutine` created
    the task, `last_goroutine` ended it, -1 if that is not in the trace; then `start_ns`
    or `end_ns` is -1 too. `stack` is where it was created.
    """

    id: Column
    parent: Column
    name: Index
    goroutine: Index
    last_goroutine: Index
    start_ns: Column
    end_ns: Column
    stack: Index


@dataclass(frozen=True, slots=True, eq=False)
class Regions(Table):
    """User regions (``trace.WithRegion``), sorted by goroutine, then by begin.

    `depth` is 1 for a region that lies in no other, 2 for one within that, and so on, 0
    where the begin is not in the trace. `start_ns` is -1 where the region began before
    the trace, `end_ns` where its end is not in the trace. `task` is the id of a task, 0
    for none. `stack` is where it began.
    """

    goroutine: Index
    task: Column
    name: Index
    depth: Index
    start_ns: Column
    end_ns: Column
    stack: Index


@dataclass(frozen=True, slots=True, eq=False)
class Logs(Table):
    """User logs (``trace.Log``), sorted by time.

    `key` (Go calls it the category) and `text` are strings, `task` is the id of a task,
    0 for none.
    """

    time_ns: Column
    goroutine: Index
    task: Column
    key: Index
    text: Index
    stack: Index


@dataclass(frozen=True, slots=True, eq=False)
class Labels(Table):
    """Labels of goroutines, sorted by goroutine.

    The runtime labels mark workers with how they run from `time_ns` on: `label` is the
    string "GC (dedicated)", "GC (fractional)" or "GC (idle)".
    """

    time_ns: Column
    goroutine: Index
    label: Index


@dataclass(frozen=True, slots=True, eq=False)
class CPUSamples(Table):
    """Samples of a CPU profiler that ran beside the trace, sorted by time.

    `goroutine`, `processor` and `thread` are what the sample was taken on, -1 for none;
    traces before Go 1.22 tell no thread.
    """

    time_ns: Column
    goroutine: Index
    processor: Index
    thread: Index
    stack: Index
