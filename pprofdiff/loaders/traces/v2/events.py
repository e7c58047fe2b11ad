"""Decode event batches into varints, find where events begin, keep them as columns.

An event is a type byte and a fixed number of varints. Ordinary types are below 0x80, so
a batch consists of varints only. The types of the alloc/free experiment (128 to 136)
merge with the number that follows; their first byte identifies them.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.loaders.profiles.wire import varints
from pprofdiff.loaders.traces.byte_tables import lookup, membership, rows_in
from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.loaders.traces.v2.schema import FIRST_EXPERIMENTAL, EventType
from pprofdiff.loaders.traces.varints import (
    LONGEST,
    TABLES,
    WideValues,
    follow_jumps,
    read_short_varints,
)
from pprofdiff.model.arrays import Codes, Column, Index, Integers

E = EventType
# Types that may make up most of a trace. The rows and arguments of all other, rare
# types are kept separately.
FREQUENT = frozenset(
    {E.GO_START, E.GO_STOP, E.GO_BLOCK, E.GO_UNBLOCK, E.HEAP_ALLOC}
    | {E.GO_SYSCALL_BEGIN, E.GO_SYSCALL_END, E.SWEEP_BEGIN, E.SWEEP_END}
    | set(range(FIRST_EXPERIMENTAL, 256))
)
_PADDING = bytes(16)


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


class BatchVarints(Struct, frozen=True, eq=False):
    """The numbers of some batches, one batch after another.

    `values` is uint32 if all fit, else uint64, followed by `varints.TAIL` zeros; `lead`
    (uint8) is the first byte of each number; `starts` (int64) is the index of the first
    number of each batch.
    """

    values: NDArray[np.unsignedinteger]
    lead: Codes
    starts: Column


def read_batch_varints(parts: list[memoryview]) -> BatchVarints:
    """Return the numbers of some non-empty batches.

    Raises Damage if a number runs past its batch or exceeds 64 bits.
    """
    data = np.frombuffer(b"".join((*parts, _PADDING)), np.uint8)
    stops = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)))
    size = int(stops[-1])
    if (data[stops - 1] >= 0x80).any():
        raise Damage("a batch ends within a number")
    ends = np.flatnonzero(data[:size] < 0x80)
    short = read_short_varints(data, ends)
    values, at = short.values, short.at
    if len(at):
        long, lengths = varints(data, at)
        longest = at[lengths == LONGEST] + (LONGEST - 1)
        if (lengths != ends[short.long] + 1 - at).any() or (data[longest] > 1).any():
            raise Damage("a number of more than 64 bits")
        values = short.with_long(long)
    starts = np.zeros(len(parts), np.int64)
    starts[1:] = np.searchsorted(ends, stops[:-1])
    return BatchVarints(values, short.lead, starts)


class EventFinder:
    """Finds which numbers of a batch are event types; reuses its scratch memory."""

    def __init__(self, counts: Index) -> None:
        self._known = counts >= 0
        after = np.maximum(counts, 0).astype(np.int64) + 1
        # A type of 128 or more is merged with its time delta.
        after[FIRST_EXPERIMENTAL:] = np.maximum(after[FIRST_EXPERIMENTAL:] - 1, 1)
        self._after = after
        self._rows = np.zeros((TABLES, 0), np.int64)

    def find(self, tokens: BatchVarints) -> Column:
        """Return which of the numbers are event types (int64 indices, increasing).

        Raises Damage if events do not fill their batches exactly, or for unknown types.
        """
        size = len(tokens.lead)
        if self._rows.shape[1] <= size:
            self._rows = np.empty((TABLES, 2 * size), np.int64)
        jumps = [row[: size + 1] for row in self._rows]
        np.take(self._after, tokens.lead, out=jumps[0][:-1], mode="clip")
        jumps[0][:-1] += np.arange(size)
        jumps[0][-1] = size
        np.minimum(jumps[0], size + 1, out=jumps[0])
        events = follow_jumps(jumps, size)
        if not self._known[tokens.lead[events]].all():
            raise Damage("an event of an unknown type")
        begins = np.searchsorted(events, tokens.starts)
        whole = events[np.minimum(begins, len(events) - 1)] == tokens.starts
        last = int(events[-1])
        if not whole.all() or last + int(self._after[tokens.lead[last]]) != size:
            raise Damage("a batch ends within an event")
        return events
