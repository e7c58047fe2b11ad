"""An execution trace as columns: what goroutines, processors and threads did, and when.

Times are int64 nanoseconds of the traced machine's clock, as Go's reader gives them
(internal/trace), but for the nanosecond that it adds to one of two equal times.
Names, reasons and labels are int32 positions in `Trace.strings` (0 is the empty
string), stacks positions in `Trace.stacks` (0 is no stack), goroutines, processors and
threads positions in their tables; -1 is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.csr import Offsets, offsets_of, row_of_item
from pprofdiff.model.traces.marks import (
    CPUSamples,
    Labels,
    Logs,
    Ranges,
    Regions,
    Series,
    Tasks,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Goroutines",
    "Intervals",
    "Missing",
    "ProcessorIntervals",
    "ProcessorState",
    "Stacks",
    "State",
    "Sync",
    "Trace",
]

Column = NDArray[np.int64]
Index = NDArray[np.int32]
Codes = NDArray[np.uint8]


class State(IntEnum):
    """What a goroutine does.

    SYSCALL_BLOCKED is a system call whose processor is gone. GONE begins when the
    goroutine ends, and has no end.
    """

    GONE = 0
    RUNNABLE = 1
    RUNNING = 2
    SYSCALL = 3
    WAITING = 4
    SYSCALL_BLOCKED = 5


class ProcessorState(IntEnum):
    """What a processor (a P) does; in SYSCALL it can be taken from its thread."""

    IDLE = 0
    RUNNING = 1
    SYSCALL = 3


@dataclass(frozen=True, slots=True, eq=False)
class Stacks:
    """Stacks, leaf first: stack i is frames ``frame[offsets[i]:offsets[i+1]]``.

    `frame` is int32 positions in `function`, `file` (int32 strings) and `line` (int64).
    Equal stacks are one, whatever generation they are of; stack 0 is empty.
    """

    offsets: Offsets
    frame: Index
    function: Index
    file: Index
    line: Column

    def __len__(self) -> int:
        """Return the number of stacks."""
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Goroutines:
    """Goroutines, in the order they first appear in the file, one row each.

    `name` is the root function of the first stack that tells it, the empty string if
    none does. `created_ns` is when it was created, or the begin of the first generation
    that mentions it where that was not seen (`born` is false). `creator` is the
    goroutine that created it, at `creation_stack`; `seen_ns` is its first event.
    """

    id: Column
    name: Index
    born: NDArray[np.bool_]
    created_ns: Column
    seen_ns: Column
    creator: Index
    creation_stack: Index

    def __len__(self) -> int:
        """Return the number of goroutines."""
        return len(self.id)


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """What goroutines do, a row a change: row i lasts from ``start_ns[i]`` to the next.

    Rows ``offsets[g]:offsets[g+1]`` are goroutine g's, in the order they happened.
    `state` is a `State`; `reason` (a position in `Trace.reasons`) says why it waits or
    stopped, "" if the runtime does not say. `stack` is where the event that began the
    row was recorded: the goroutine's own for a block, a stop or a system call, that of
    the waker or creator for one made runnable. `processor`, `thread` and `by` are the
    processor, thread and goroutine of that event before it happened; for a running
    goroutine the first two are what it runs on, for one in SYSCALL_BLOCKED whose took
    its processor.
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
        """Return the number of rows."""
        return len(self.start_ns)


@dataclass(frozen=True, slots=True, eq=False)
class ProcessorIntervals:
    """What processors do, one row a change, as in `Intervals`.

    `state` is a `ProcessorState`; `thread` has the processor, or took it away: `stolen`
    marks rows that begin so.
    """

    offsets: Offsets
    start_ns: Column
    state: Codes
    thread: Index
    stolen: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.start_ns)


class Sync(NamedTuple):
    """The begin of a generation: its number, its time, and the clocks there.

    `mono_ns` and `wall_ns` are the monotonic clock and the time since 1970 at
    `snapshot_ns` of the trace's clock; all three are None before Go 1.25.
    """

    generation: int
    time_ns: int
    units_per_second: int
    snapshot_ns: int | None = None
    mono_ns: int | None = None
    wall_ns: int | None = None


class Missing(NamedTuple):
    """What could not be read: `read` bytes of `total` were, and `why` not the rest."""

    read: int
    total: int
    why: str


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One execution trace.

    `version` is NN of the format ``go 1.NN trace``, which is not the toolchain's. Times
    lie in [start_ns, end_ns]; `missing` is None where the whole file was read.
    `threads` and `processors` are the ids (int64) behind thread and processor numbers.
    `events` counts what was read, `experimental` how many of those are of the
    alloc/free experiment.
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

    def __repr__(self) -> str:
        """Return one line: format, duration, events, goroutines."""
        return (
            f"<Trace go 1.{self.version}: {(self.end_ns - self.start_ns) / 1e9:.1f} s, "
            f"{self.events} events, {len(self.goroutines)} goroutines>"
        )

    def ends_ns(self, intervals: Intervals | ProcessorIntervals) -> Column:
        """Return when each row ends (int64): where the next begins, or the trace ends.

        A goroutine that is GONE has a last row of no length.
        """
        ends = np.full(len(intervals), self.end_ns, np.int64)
        ends[:-1] = intervals.start_ns[1:]
        last = intervals.offsets[1:][np.diff(intervals.offsets) > 0] - 1
        ends[last] = self.end_ns
        if isinstance(intervals, Intervals):
            gone = last[intervals.state[last] == State.GONE]
            ends[gone] = intervals.start_ns[gone]
        return ends

    def by_thread(self) -> tuple[Offsets, Column]:
        """Return what threads do: rows of `intervals`, thread after thread, in order.

        A thread has a goroutine in rows of the states RUNNING, SYSCALL and
        SYSCALL_BLOCKED, none between them. Shape: offsets (threads + 1), rows (int64).
        """
        held = self.intervals
        calls = held.state == State.SYSCALL_BLOCKED
        rows = np.flatnonzero(
            (held.state == State.RUNNING) | (held.state == State.SYSCALL) | calls
        )
        # The event that took the processor may be another thread's.
        first = np.zeros(len(held), np.bool_)
        first[held.offsets[:-1][np.diff(held.offsets) > 0]] = True
        thread = held.thread[np.where(calls & ~first, -1, 0)[rows] + rows]
        rows, thread = rows[thread >= 0], thread[thread >= 0]
        # One that was let go of at once comes before what began at the same time.
        ends = self.ends_ns(held)[rows]
        order = np.lexsort((ends, held.start_ns[rows], thread))
        counts = np.bincount(thread, minlength=len(self.threads))
        return offsets_of(counts), rows[order]

    def to_frame(self) -> pd.DataFrame:
        """Return one row an interval of a goroutine.

        Columns: goroutine (its id), name, state, reason, start_ns, end_ns, stack (a
        number), processor, thread and by (ids, missing where there is none).
        """
        import pandas as pd

        held = self.intervals
        owner = row_of_item(held.offsets)
        names = np.array(self.strings, object)[self.goroutines.name]
        states = [State(i).name.lower() for i in range(len(State))]
        return pd.DataFrame(
            {
                "goroutine": self.goroutines.id[owner],
                "name": _category(*_codes(names, owner)),
                "state": _category(held.state, states),
                "reason": _category(held.reason, list(self.reasons)),
                "start_ns": held.start_ns,
                "end_ns": self.ends_ns(held),
                "stack": held.stack,
                "processor": _named(held.processor, self.processors),
                "thread": _named(held.thread, self.threads),
                "by": _named(held.by, self.goroutines.id),
            }
        )


def _codes(names: NDArray[np.object_], owner: Column) -> tuple[Column, list[str]]:
    """Return each row's place among the distinct names, and those."""
    places: dict[str, int] = {}
    code = np.array([places.setdefault(n, len(places)) for n in names], np.int64)
    return code[owner], list(places)


def _category(codes: NDArray[np.integer], names: list[str]) -> pd.Categorical[str]:
    """Return names by code as pandas keeps them."""
    import pandas as pd

    return pd.Categorical.from_codes(codes.astype(np.int64), pd.Index(names))


def _named(places: NDArray[np.integer], ids: Column) -> pd.arrays.IntegerArray:
    """Return the ids at some places, missing where the place is -1."""
    import pandas as pd

    return pd.arrays.IntegerArray(np.append(ids, -1)[places], places < 0)
