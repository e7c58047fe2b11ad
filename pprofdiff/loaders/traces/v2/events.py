"""The timed events of one generation as columns."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.loaders.traces.byte_tables import lookup, membership, rows_in
from pprofdiff.loaders.traces.v2.schema import FIRST_EXPERIMENTAL, EventType
from pprofdiff.loaders.traces.wide_values import WideValues
from pprofdiff.model.arrays import Codes, Column, Index, Integers

E = EventType
# Types that may make up most of a trace. The rows and arguments of all other, rare
# types are kept separately.
FREQUENT = frozenset(
    {E.GO_START, E.GO_STOP, E.GO_BLOCK, E.GO_UNBLOCK, E.HEAP_ALLOC}
    | {E.GO_SYSCALL_BEGIN, E.GO_SYSCALL_END, E.SWEEP_BEGIN, E.SWEEP_END}
    | set(range(FIRST_EXPERIMENTAL, 256))
)


class Events(Struct, frozen=True, eq=False):
    """The timed events of a generation, grouped by thread, each thread's in order.

    Columns have one row per event. `type` (uint8) is an `EventType`, `time` (int64) in
    ns; `stack` (int32) is the index of the event's stack and `reason` (uint16) the code
    of the reason for a block or stop, 0 if its type has none. Rows
    ``offsets[i]:offsets[i+1]`` belong to the thread with id ``threads[i]`` (int64).

    `rare` (int64, increasing) are the rows whose types, `rare_type`, are not
    `FREQUENT`. `columns`, `wide` and `rare_arguments` hold arguments; read them with
    `argument`.
    """

    type: Codes
    time: Column
    stack: Index
    reason: NDArray[np.uint16]
    threads: Column
    offsets: Column
    rare: Column
    rare_type: Codes
    columns: list[NDArray[np.uint32]]
    wide: list[WideValues]
    rare_arguments: Column

    def __len__(self) -> int:
        return len(self.type)

    def drop_arguments(self) -> None:
        """Free the arguments of frequent types."""
        self.columns.clear()
        self.wide.clear()

    def argument(self, place: int, rows: Integers) -> Column:
        """Return an argument of these events (int64); place 0 follows the time.

        A value with its 64th bit set is negative, so `NO_THREAD` is -1. Frequent types
        only have their first two arguments, and none after `drop_arguments`.
        """
        if place >= len(self.columns):
            at = np.minimum(np.searchsorted(self.rare, rows), len(self.rare) - 1)
            arguments: Column = self.rare_arguments[place]
            return np.take(arguments, at)
        values: Column = self.columns[place][rows].astype(np.int64)
        self.wide[place].restore(values, rows)
        return values

    def where(self, *types: EventType) -> Column:
        """Return the rows of events of these types, increasing."""
        wanted = membership(types)
        if FREQUENT.isdisjoint(types):
            return self.rare[lookup(wanted, self.rare_type).view(np.bool_)]
        return rows_in(wanted, self.type)

    def thread_of(self, rows: Column) -> Column:
        """Return the thread (int64, an id) of each of these rows."""
        place = np.searchsorted(self.offsets, rows, side="right") - 1
        return np.take(self.threads, place)
