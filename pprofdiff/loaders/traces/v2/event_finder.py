"""Decode event batches into columns of varints, and find where events begin.

An event is a type byte and a fixed number of varints. Ordinary types are below 0x80, so
a batch consists of varints only. The types of the alloc/free experiment (128 to 136)
merge with the number that follows; their first byte identifies them.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.loaders.profiles.wire import varints
from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.loaders.traces.pointer_jumping import TABLES, follow_jumps
from pprofdiff.loaders.traces.v2.schema import FIRST_EXPERIMENTAL
from pprofdiff.loaders.traces.varints import LONGEST, read_short_varints
from pprofdiff.model.arrays import Codes, Column, Index

_PADDING = bytes(16)


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
