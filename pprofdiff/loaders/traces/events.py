"""One generation's events as columns, each thread's in the order they happened."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.schema import FIRST_EXPERIMENTAL, Kind

__all__ = ["FREQUENT", "Events", "Wide", "looked_up", "marked"]

K = Kind
# Types that may be most of a trace. All others are rare: their rows and arguments are
# kept apart.
FREQUENT = frozenset(
    {K.GO_START, K.GO_STOP, K.GO_BLOCK, K.GO_UNBLOCK, K.HEAP_ALLOC}
    | {K.GO_SYSCALL_BEGIN, K.GO_SYSCALL_END, K.SWEEP_BEGIN, K.SWEEP_END}
    | set(range(FIRST_EXPERIMENTAL, 256))
)


class Wide(NamedTuple):
    """Arguments that a column's 32 bits do not hold: rising rows, and int64 values."""

    rows: NDArray[np.int64]
    values: NDArray[np.int64]


class Events(NamedTuple):
    """A generation's events, thread after thread.

    `kind` uint8; `time` int64 nanoseconds; `stack` (int32) the place of the event's
    stack and `reason` (uint16) that of the reason for a block or stop, 0 where its type
    has none. Events ``offsets[i]:offsets[i+1]`` are those of thread ``threads[i]``
    (int64). `rare` are the rows (int64) of the types that are not `FREQUENT`.

    `columns`, `wide` and `rarely` hold arguments: read them with `argument`.
    """

    kind: NDArray[np.uint8]
    time: NDArray[np.int64]
    stack: NDArray[np.int32]
    reason: NDArray[np.uint16]
    threads: NDArray[np.int64]
    offsets: NDArray[np.int64]
    rare: NDArray[np.int64]
    columns: list[NDArray[np.uint32]]
    wide: list[Wide]
    rarely: NDArray[np.int64]

    def lighter(self) -> Events:
        """Return the same without the arguments of frequent types."""
        return self._replace(columns=[], wide=[])

    def argument(self, place: int, rows: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the argument at a place (0 follows the time) of events, as int64.

        What has its 64th bit set comes out negative, so that no thread is -1. Those of
        frequent types are there for the first two places only.
        """
        if place >= len(self.columns):
            at = np.minimum(np.searchsorted(self.rare, rows), len(self.rare) - 1)
            rarely: NDArray[np.int64] = self.rarely[place]
            return np.take(rarely, at)
        found: NDArray[np.int64] = self.columns[place][rows].astype(np.int64)
        wide = self.wide[place]
        if len(wide.rows) and len(rows):
            at = np.minimum(np.searchsorted(wide.rows, rows), len(wide.rows) - 1)
            held = wide.rows[at] == rows
            found[held] = wide.values[at[held]]
        return found

    def where(self, *kinds: Kind) -> NDArray[np.int64]:
        """Return the rows of events of these types, rising."""
        wanted = marked(kinds)
        if FREQUENT.isdisjoint(kinds):
            return self.rare[looked_up(wanted, self.kind[self.rare]).view(np.bool_)]
        return np.flatnonzero(looked_up(wanted, self.kind))

    def thread_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the thread (int64) of each of these rows."""
        place = np.searchsorted(self.offsets, rows, side="right") - 1
        return np.take(self.threads, place)


def marked(kinds: Iterable[int]) -> NDArray[np.int8]:
    """Return a table over type bytes for `looked_up`: 1 for these types, else 0."""
    found = np.zeros(256, np.int8)
    found[list(kinds)] = 1
    return found


def looked_up(table: NDArray[np.int8], kind: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Return a table's entry for each byte (int8), a copy.

    As ``table[kind]``, which would make eight bytes of each first.
    """
    found = kind.tobytes().translate(table.tobytes())
    return np.frombuffer(bytearray(found), np.int8)
