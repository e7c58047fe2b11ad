"""An execution trace as columns: what goroutines, Ps and threads did, and when.

Times are int64 nanoseconds of the traced machine's clock, as in Go's reader
(internal/trace), without the nanosecond that it adds to one of two equal times.

All else are indices. Names and labels are int32 indices of `Trace.strings` (0 is the
empty string), reasons those of `Trace.reasons`, stacks those of `Trace.stacks` (0 is no
stack), goroutines, Ps and threads those of their tables; -1 is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.model.arrays import Codes, Column, Index, Integers, Mask, Table
from pprofdiff.model.csr import Offsets, row_of_item

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")


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


class State(IntEnum):
    """The state of a goroutine.

    SYSCALL is a system call in which the goroutine keeps its P, SYSCALL_BLOCKED one in
    which it has lost it. GONE begins when the goroutine ends, and has no end.
    """

    GONE = 0
    RUNNABLE = 1
    RUNNING = 2
    SYSCALL = 3
    WAITING = 4
    SYSCALL_BLOCKED = 5


class ProcessorState(IntEnum):
    """The state of a P.

    In SYSCALL its thread is in a system call, and another thread may steal it.
    """

    IDLE = 0
    RUNNING = 1
    SYSCALL = 3


class Stacks(Struct, frozen=True, eq=False):
    """Stacks, leaf first: stack i is frames ``frame[offsets[i]:offsets[i+1]]``.

    `frame` (int32) are indices of `function`, `file` (both int32, strings) and `line`
    (int64). Stacks are distinct across all generations; stack 0 is empty.
    """

    offsets: Offsets
    frame: Index
    function: Index
    file: Index
    line: Column

    def __len__(self) -> int:
        return len(self.offsets) - 1


class Goroutines(Table, frozen=True):
    """Goroutines, in the order they first appear in the file, one row each.

    `id` (int64) is Go's. `name` is the root function of the first stack known. If
    `born`, the creation is in the trace: `created_ns` is its time, `creator` the
    goroutine that did it (-1 if unknown) and `creation_stack` where. Otherwise
    `created_ns` is the start of the first generation that mentions the goroutine.
    `seen_ns` is the time of the goroutine's first event.
    """

    id: Column
    name: Index
    born: Mask
    created_ns: Column
    seen_ns: Column
    creator: Index
    creation_stack: Index


class Intervals(Struct, frozen=True, eq=False):
    """The states of goroutines over time: row i lasts from ``start_ns[i]`` to the next.

    Rows ``offsets[g]:offsets[g+1]`` belong to goroutine g, in order. `state` (uint8) is
    a `State`; `reason` (uint16) is why the goroutine waits or stopped, "" if the
    runtime does not say.

    The other columns describe the event that began the row. `stack` is where the event
    was recorded: the goroutine's own stack for a block, a stop or a system call, that
    of the waker or creator if the goroutine became runnable. `processor` (int16),
    `thread` and `by` (both int32) are the P, thread and goroutine of the event before
    it happened; -1 is none, and for `by` the goroutine itself. So `processor` and
    `thread` are what a RUNNING goroutine runs on, and for a SYSCALL_BLOCKED one those
    of the thread that took its P.
    """

    offsets: Offsets
    start_ns: Column
    state: Codes
    reason: NDArray[np.uint16]
    stack: Index
    processor: NDArray[np.int16]
    thread: Index
    by: Index

    def __len__(self) -> int:
        return len(self.start_ns)


class ProcessorIntervals(Struct, frozen=True, eq=False):
    """The states of Ps over time: row i lasts from ``start_ns[i]`` to the next.

    Rows ``offsets[p]:offsets[p+1]`` belong to P p. `state` (uint8) is a
    `ProcessorState`; `thread` (int32) is the thread that has the P, or that took it
    away. `stolen` marks rows that begin with a steal of the P from a system call.
    """

    offsets: Offsets
    start_ns: Column
    state: Codes
    thread: Index
    stolen: Mask

    def __len__(self) -> int:
        return len(self.start_ns)


class Rows(NamedTuple):
    """What takes nearly all of a trace's memory."""

    intervals: Intervals
    processor_intervals: ProcessorIntervals


class Sync(NamedTuple):
    """The start of a generation: its number, and its time on the trace's clock.

    When the trace's clock was at `snapshot_ns`, the wall clock was at `wall_ns`
    nanoseconds since 1970; both are None before Go 1.25.
    """

    generation: int
    time_ns: int
    snapshot_ns: int | None = None
    wall_ns: int | None = None


class Missing(NamedTuple):
    """The unread part of a file: all but `read` of its `total` bytes, and `why`."""

    read: int
    total: int
    why: str


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One execution trace.

    `version` is NN of the format ``go 1.NN trace``, not the toolchain's. Times
    lie in [start_ns, end_ns]. `missing` is None if the whole file was read. `syncs` are
    the starts of its generations.

    `processors` and `threads` (int64) are Go's ids. `events` is the number of timed
    events read, `experimental` how many of those are of the alloc/free experiment.
    `heap_live_bytes`, `heap_goal_bytes` and `gomaxprocs` are metrics over time.

    `let_go` frees `intervals` and `processor_intervals`, which take nearly all memory;
    accessing them reads them again. `once` caches results derived from them.
    """

    version: int
    start_ns: int
    end_ns: int
    events: int
    experimental: int
    syncs: tuple[Sync, ...]
    missing: Missing | None
    strings: tuple[str, ...]
    reasons: tuple[str, ...]
    stacks: Stacks
    goroutines: Goroutines
    processors: Column
    threads: Column
    intervals: Intervals
    processor_intervals: ProcessorIntervals
    ranges: Ranges
    heap_live_bytes: Series
    heap_goal_bytes: Series
    gomaxprocs: Series
    tasks: Tasks
    regions: Regions
    logs: Logs
    labels: Labels
    samples: CPUSamples
    _made: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    _again: Callable[[], Rows] | None = field(default=None, init=False, repr=False)

    def once(self, name: str, work: Callable[[Trace], T]) -> T:
        """Return `work` of the trace, computed on first use and cached.

        `name` is the cache key: one name, one function of the trace alone.
        """
        if name not in self._made:
            again = self._again
            self._made[name] = work(self)
            if again is not None and self._again is None:
                self.let_go(again)
        made: T = self._made[name]
        return made

    def let_go(self, again: Callable[[], Rows]) -> None:
        """Free the rows; `again` reads the same ones.

        Where `once` asks for them, they are freed after its work; else they stay.
        """
        object.__setattr__(self, "_again", again)
        for name in Rows._fields:
            object.__delattr__(self, name)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Return freed rows, read again."""
            if name not in Rows._fields or self._again is None:
                msg = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(msg)
            rows = self._again()
            object.__setattr__(self, "_again", None)
            for field_, table in zip(Rows._fields, rows, strict=True):
                object.__setattr__(self, field_, table)
            return getattr(self, name)

    def __repr__(self) -> str:
        return (
            f"<Trace go 1.{self.version}: {(self.end_ns - self.start_ns) / 1e9:.1f} s, "
            f"{self.events} events, {len(self.goroutines)} goroutines>"
        )

    @property
    def begin_wall_ns(self) -> int | None:
        """When the trace begins, in ns since 1970; None before Go 1.25."""
        for sync in self.syncs[:1]:
            if sync.wall_ns is not None and sync.snapshot_ns is not None:
                return sync.wall_ns - sync.snapshot_ns + self.start_ns
        return None

    def ends_ns(self, intervals: Intervals | ProcessorIntervals) -> Column:
        """Return the end of each row (int64 ns): the next start, or the trace's end.

        The last row of a GONE goroutine has zero length.
        """
        ends = np.full(len(intervals), self.end_ns, np.int64)
        ends[:-1] = intervals.start_ns[1:]
        last = intervals.offsets[1:][np.diff(intervals.offsets) > 0] - 1
        ends[last] = self.end_ns
        if isinstance(intervals, Intervals):
            gone = last[intervals.state[last] == State.GONE]
            ends[gone] = intervals.start_ns[gone]
        return ends

    def functions_of(self, stack: int) -> list[str]:
        """Return the functions of one of `stacks`, from the leaf on."""
        first, end = self.stacks.offsets[stack : stack + 2].tolist()
        names = self.stacks.function[self.stacks.frame[first:end]]
        return [self.strings[name] for name in names.tolist()]

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each row of `intervals`, in their order.

        Columns: goroutine (its id), name, state, reason, start_ns, end_ns, stack (an
        index of `stacks`), processor, thread and by (ids, missing if none).
        """
        import pandas as pd

        rows = self.intervals
        owner = row_of_item(rows.offsets)
        names = np.array(self.strings, object)[self.goroutines.name]
        states = [State(i).name.lower() for i in range(len(State))]
        return pd.DataFrame(
            {
                "goroutine": self.goroutines.id[owner],
                "name": _category(*_codes(names, owner)),
                "state": _category(rows.state, states),
                "reason": _category(rows.reason, list(self.reasons)),
                "start_ns": rows.start_ns,
                "end_ns": self.ends_ns(rows),
                "stack": rows.stack,
                "processor": _named(rows.processor, self.processors),
                "thread": _named(rows.thread, self.threads),
                "by": _named(rows.by, self.goroutines.id),
            }
        )


def _codes(names: NDArray[np.object_], owner: Column) -> tuple[Column, list[str]]:
    indices: dict[str, int] = {}
    code = np.array([indices.setdefault(n, len(indices)) for n in names], np.int64)
    return code[owner], list(indices)


def _category(codes: Integers, names: list[str]) -> pd.Categorical[str]:
    import pandas as pd

    return pd.Categorical.from_codes(codes.astype(np.int64), pd.Index(names))


def _named(indices: Integers, ids: Column) -> pd.arrays.IntegerArray:
    import pandas as pd

    return pd.arrays.IntegerArray(np.append(ids, -1)[indices], indices < 0)
