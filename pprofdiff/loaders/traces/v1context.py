"""Who is where in a trace of Go 1.11 to 1.21: what its processors run, and since when.

A processor's events say which goroutine it takes and when it lets go of it, and which
thread has it. What holds between is filled in.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.batches import Damage
from pprofdiff.loaders.traces.filling import filled
from pprofdiff.loaders.traces.numbering import Numbering
from pprofdiff.loaders.traces.schema import MOST_PROCESSORS
from pprofdiff.loaders.traces.v1columns import V1Events
from pprofdiff.loaders.traces.v1schema import STARTS, STOPS, V1

__all__ = ["NOBODY", "V1Context", "v1_context"]

NOBODY = -1


class V1Context(NamedTuple):
    """Each event's goroutine, processor and thread before it happens, -1 for none.

    `goroutine` and `thread` (int32) and `processor` (int16) are places in the tables
    `goroutines`, `threads` and `processors`. `begun` is the row of the event that ends
    the list of what there was when the trace began.
    """

    goroutine: NDArray[np.int32]
    processor: NDArray[np.int16]
    thread: NDArray[np.int32]
    goroutines: Numbering
    processors: Numbering
    threads: Numbering
    begun: int

    def early(self, events: V1Events, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mark the events that tell what there was when the trace began."""
        at = self.begun
        before = events.tick[rows] < events.tick[at]
        same = self.processor[rows] == self.processor[at]
        return np.where(same, rows < at, before)


def v1_context(events: V1Events) -> V1Context:
    """Return the context of a trace's events. Raises Damage where it has none."""
    begun = events.where(V1.GOMAXPROCS)
    if not len(begun):
        raise Damage("it does not tell what there was when it began")
    limits = events.named(begun)
    if not 0 < int(limits.min()) <= int(limits.max()) < MOST_PROCESSORS:
        raise Damage("a GOMAXPROCS that there cannot be")
    goroutines = Numbering("goroutine")
    made = events.where(V1.GO_CREATE)
    # In the order of creation; rows are in that of processors.
    made = made[np.argsort(events.tick[made], kind="stable")]
    goroutines.add(events.named(made))
    processors = Numbering("processor")
    processors.add(events.processors[events.processors >= 0])
    if len(processors) >= MOST_PROCESSORS:
        raise Damage("more processors than there can be")
    threads = Numbering("thread")
    takes = events.where(V1.PROC_START)
    threads.add(events.named(takes))
    sizes = np.diff(events.offsets)
    return V1Context(
        _running(events, goroutines),
        np.repeat(processors.find(events.processors).astype(np.int16), sizes),
        _threads(events, threads),
        goroutines,
        processors,
        threads,
        int(begun[np.argmin(events.tick[begun])]),
    )


def _running(events: V1Events, goroutines: Numbering) -> NDArray[np.int32]:
    """Return the goroutine that runs on each event's processor."""
    rows = events.where(*STARTS, *STOPS)
    values = np.full(len(rows), NOBODY, np.int32)
    starts = np.isin(events.kind[rows], STARTS)
    values[starts] = goroutines.known(events.named(rows[starts]))
    nobody = [NOBODY] * len(events.processors)
    column = filled(events.offsets, rows, values, nobody, np.int32).column
    if (column[rows[starts]] != NOBODY).any():
        raise Damage("a processor runs two goroutines at a time")
    stops = events.where(V1.PROC_STOP)
    if (column[stops] != NOBODY).any():
        raise Damage("a processor stops that runs a goroutine")
    running: NDArray[np.int32] = column.astype(np.int32, copy=False)
    return running


def _threads(events: V1Events, threads: Numbering) -> NDArray[np.int32]:
    """Return the thread that has each event's processor."""
    rows = events.where(V1.PROC_START, V1.PROC_STOP)
    starts = events.kind[rows] == V1.PROC_START
    values = np.full(len(rows), NOBODY, np.int32)
    values[starts] = threads.find(events.named(rows[starts]))
    nobody = [NOBODY] * len(events.processors)
    has = filled(events.offsets, rows, values, nobody, np.int32).column
    # A processor starts and stops by turns, beginning with a start.
    if ((has[rows] != NOBODY) == starts).any():
        raise Damage("a processor that runs starts, or one that does not stops")
    column: NDArray[np.int32] = has.astype(np.int32, copy=False)
    return column
