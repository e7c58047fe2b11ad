"""Trace data other than states: ranges, tasks, regions, logs, labels, CPU samples.

Times (int64 nanoseconds), strings, stacks, goroutines, Ps and threads are those of
`model.traces.trace`; -1 is a time, goroutine, P or thread not recorded.
"""

from __future__ import annotations

from enum import IntEnum

from pprofdiff.model.arrays import Codes, Column, Index, Mask
from pprofdiff.model.table import Table


class RangeKind(IntEnum):
    """The activity of the runtime during a range, and its owner.

    GC_MARK (a concurrent mark phase) belongs to the whole program, STOP_THE_WORLD and
    MARK_ASSIST to a goroutine, SWEEP to a P.
    """

    GC_MARK = 0
    STOP_THE_WORLD = 1
    MARK_ASSIST = 2
    SWEEP = 3


class Series(Table, frozen=True):
    """A value over time: ``value[i]`` from ``time_ns[i]`` on; both are int64."""

    time_ns: Column
    value: Column


class Ranges(Table, frozen=True):
    """Time ranges, sorted by kind, then by owner, then in order.

    `kind` is a `RangeKind` (uint8); `name` is the stop-the-world reason, such as "GC
    mark termination", and the empty string for other kinds.

    `goroutine` and `processor` belong to the thread on which the range began; if the
    range belongs to a goroutine or P, that one is exact. `last_goroutine` is the
    goroutine that ran when the range ended, -1 if no end.

    `seen` is true if the start is in the trace; otherwise `start_ns` is the start of
    the generation that first mentions the range. `end_ns` is -1 for a range that
    outlasts the trace. `stack` is where the range began. `swept` and `reclaimed` are
    bytes of a finished SWEEP, -1 otherwise.
    """

    kind: Codes
    name: Index
    goroutine: Index
    last_goroutine: Index
    processor: Index
    start_ns: Column
    end_ns: Column
    seen: Mask
    stack: Index
    swept: Column
    reclaimed: Column


class Tasks(Table, frozen=True):
    """User tasks (``trace.NewTask``), sorted by id, then by time.

    `id` is Go's; `parent` is the id of another task, 0 for none. `goroutine` created
    the task, `last_goroutine` ended it, -1 if not in the trace; then `start_ns` or
    `end_ns` is -1 too. `stack` is where it was created.
    """

    id: Column
    parent: Column
    name: Index
    goroutine: Index
    last_goroutine: Index
    start_ns: Column
    end_ns: Column
    stack: Index


class Regions(Table, frozen=True):
    """User regions (``trace.WithRegion``), sorted by goroutine, then by start.

    `depth` is 1 for an outermost region, 2 for one nested in it, and so on, 0 if its
    start is not in the trace. `start_ns` is -1 if the region began before the trace,
    `end_ns` if its end is not in the trace. `task` is the id of a task, 0 for none.
    `stack` is where it began.
    """

    goroutine: Index
    task: Column
    name: Index
    depth: Index
    start_ns: Column
    end_ns: Column
    stack: Index


class Logs(Table, frozen=True):
    """User logs (``trace.Log``), sorted by time.

    `key` (Go's category) and `text` are strings, `task` is a task's id or 0.
    """

    time_ns: Column
    goroutine: Index
    task: Column
    key: Index
    text: Index
    stack: Index


class Labels(Table, frozen=True):
    """Labels of goroutines, sorted by goroutine.

    The runtime labels mark workers with their mode from `time_ns` on: `label` is the
    string "GC (dedicated)", "GC (fractional)" or "GC (idle)".
    """

    time_ns: Column
    goroutine: Index
    label: Index


class CPUSamples(Table, frozen=True):
    """Samples of a CPU profiler that ran during the trace, sorted by time.

    `goroutine`, `processor` and `thread` are where the sample was taken, -1 for none;
    traces before Go 1.22 record no thread.
    """

    time_ns: Column
    goroutine: Index
    processor: Index
    thread: Index
    stack: Index
