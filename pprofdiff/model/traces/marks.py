"""What happens during a trace beside goroutines moving: ranges, tasks, logs, samples.

Times, names and positions are those of `model.traces.trace`. Every table has one row a
thing; -1 stands for a time or position that the trace does not tell.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CPUSamples",
    "Labels",
    "Logs",
    "RangeKind",
    "Ranges",
    "Regions",
    "Series",
    "Table",
    "Tasks",
]

Column = NDArray[np.int64]
Index = NDArray[np.int32]


class RangeKind(IntEnum):
    """What spans time, and whose it is.

    The mark phase is the program's, a stop of the world and a mark assist are a
    goroutine's, a sweep is a processor's.
    """

    GC_MARK = 0
    STOP_THE_WORLD = 1
    MARK_ASSIST = 2
    SWEEP = 3


class Series(NamedTuple):
    """A value that changes: from ``time_ns[i]`` on it is ``value[i]``; both int64."""

    time_ns: Column
    value: Column


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of one length."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(getattr(self, fields(self)[0].name))

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Self:
        """Return the chosen rows."""
        held = {f.name: getattr(self, f.name)[rows] for f in fields(self)}
        return replace(self, **held)


@dataclass(frozen=True, slots=True, eq=False)
class Ranges(Table):
    """Spans of time, by kind, then by whose they are, then in order.

    `kind` is a `RangeKind` (uint8); `name` the kind of stop, "" for the others.
    `goroutine` and `processor` are those of the thread where it began, but the ones it
    belongs to are exact; `last_goroutine` is the one running where it ended. `seen`
    tells that its begin is in the trace (else `start_ns` is the begin of the generation
    that first mentions it), `end_ns` is -1 where it goes on to the trace's end. `swept`
    and `reclaimed` are bytes of a sweep, -1 otherwise.
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
    """User tasks (``trace.NewTask``): `parent` is a task's id, 0 for none.

    `goroutine` created it, `last_goroutine` ended it. `start_ns` or `end_ns` is -1
    where the trace does not show it.
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
    """User regions (``trace.WithRegion``), by goroutine; `depth` counts from 1.

    `start_ns` is -1 where the region began before the trace, `end_ns` where it does not
    end. `task` is a task's id, 0 for none.
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
    """User logs (``trace.Log``): `key` and `text` are positions of strings."""

    time_ns: Column
    goroutine: Index
    task: Column
    key: Index
    text: Index
    stack: Index


@dataclass(frozen=True, slots=True, eq=False)
class Labels(Table):
    """Labels of goroutines, by goroutine: how a mark worker runs from this time on."""

    time_ns: Column
    goroutine: Index
    label: Index


@dataclass(frozen=True, slots=True, eq=False)
class CPUSamples(Table):
    """Samples of the CPU profiler that ran beside the trace, by time."""

    time_ns: Column
    goroutine: Index
    processor: Index
    thread: Index
    stack: Index
