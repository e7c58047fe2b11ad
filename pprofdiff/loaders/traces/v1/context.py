"""The goroutine that each P runs at each event, and the thread that has the P."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.loaders.traces.damage import MOST_PROCESSORS, Damage
from pprofdiff.loaders.traces.forward_fill import forward_fill
from pprofdiff.loaders.traces.id_index import IdIndex, Ids
from pprofdiff.loaders.traces.v1.events import V1Events
from pprofdiff.loaders.traces.v1.schema import STARTS, STOPS, V1Type
from pprofdiff.model.arrays import Column, Index, Mask

E = V1Type
# No goroutine, no P, no thread.
NOBODY = -1


class V1Context(Struct, frozen=True, eq=False):
    """The goroutine, P and thread of each event before it happens, -1 for none.

    `goroutine` and `thread` (int32) and `processor` (int16) are indices of `ids`.
    `initial` is the row that ends the list of what existed when the trace began.
    """

    goroutine: Index
    processor: NDArray[np.int16]
    thread: Index
    ids: Ids
    initial: int

    def lists_start(self, events: V1Events, rows: Column) -> Mask:
        """Mark the events that list what existed when the trace began."""
        at = self.initial
        before = events.tick[rows] < events.tick[at]
        same = self.processor[rows] == self.processor[at]
        return np.where(same, rows < at, before)


def v1_context(events: V1Events) -> V1Context:
    """Return the context of a trace's events.

    Raises Damage if events contradict each other, or the trace does not list what
    existed when it began.
    """
    initial = events.where(E.GOMAXPROCS)
    if not len(initial):
        raise Damage("it does not record the state at its start")
    limits = events.first_argument(initial)
    if not 0 < int(limits.min()) <= int(limits.max()) < MOST_PROCESSORS:
        raise Damage("an impossible GOMAXPROCS")
    ids = Ids.none()
    created = events.where(E.GO_CREATE)
    # In order of creation; rows are grouped by P.
    created = created[np.argsort(events.tick[created], kind="stable")]
    ids.goroutines.add(events.first_argument(created))
    ids.processors.add(events.processors[events.processors >= 0])
    if len(ids.processors) >= MOST_PROCESSORS:
        raise Damage("more processors than there can be")
    ids.threads.add(events.first_argument(events.where(E.PROC_START)))
    processor = ids.processors.find(events.processors).astype(np.int16)
    return V1Context(
        goroutine=_running(events, ids.goroutines),
        processor=np.repeat(processor, np.diff(events.offsets)),
        thread=_threads(events, ids.threads),
        ids=ids,
        initial=int(initial[np.argmin(events.tick[initial])]),
    )


def _running(events: V1Events, goroutines: IdIndex) -> Index:
    rows = events.where(*STARTS, *STOPS)
    values = np.full(len(rows), NOBODY, np.int32)
    starts = np.isin(events.type[rows], STARTS)
    values[starts] = goroutines.require(events.first_argument(rows[starts]))
    nobody = [NOBODY] * len(events.processors)
    column = forward_fill(events.offsets, rows, values, nobody, np.int32).column
    if (column[rows[starts]] != NOBODY).any():
        raise Damage("a processor runs two goroutines at a time")
    stops = events.where(E.PROC_STOP)
    if (column[stops] != NOBODY).any():
        raise Damage("a processor stops that runs a goroutine")
    running: Index = column.astype(np.int32, copy=False)
    return running


def _threads(events: V1Events, threads: IdIndex) -> Index:
    rows = events.where(E.PROC_START, E.PROC_STOP)
    starts = events.type[rows] == E.PROC_START
    values = np.full(len(rows), NOBODY, np.int32)
    values[starts] = threads.find(events.first_argument(rows[starts]))
    nobody = [NOBODY] * len(events.processors)
    has = forward_fill(events.offsets, rows, values, nobody, np.int32).column
    # The starts and stops of a P alternate, beginning with a start.
    if ((has[rows] != NOBODY) == starts).any():
        raise Damage("a processor that runs starts, or one that does not stops")
    column: Index = has.astype(np.int32, copy=False)
    return column
