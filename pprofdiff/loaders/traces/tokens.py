"""Event batches as columns of numbers: every byte below 0x80 ends one.

An event is a type byte and a fixed number of varints. Ordinary types are below 0x80,
so that a batch is nothing but varints and numpy reads them all at once; the types of
the alloc/free experiment (128 to 136) run into the number that follows, the time
difference, and are told by that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.profiles.wire import short_varints, varints
from pprofdiff.loaders.traces.batches import Damage
from pprofdiff.loaders.traces.following import TABLES, reached
from pprofdiff.loaders.traces.schema import FIRST_EXPERIMENTAL, WIDEST

__all__ = ["TAIL", "Heads", "Short", "Tokens", "numbers", "short_numbers", "widened"]

_PADDING = bytes(16)
# Zeros after the last number, so that arguments may be read that an event lacks.
TAIL = 8


class Short(NamedTuple):
    """Numbers in a row, of which those of more than four bytes are still to be read.

    `values` is uint32 and goes on with `TAIL` zeros; `lead` are the first bytes
    (uint8). `long` are the rows that hold anything as yet, `at` where these begin in
    the data (both int64).
    """

    values: NDArray[np.unsignedinteger]
    lead: NDArray[np.uint8]
    long: NDArray[np.int64]
    at: NDArray[np.int64]


def short_numbers(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> Short:
    """Return the numbers that end at these bytes, the first of which begins at 0.

    `data` must go on for 16 bytes after the last.
    """
    first = np.zeros(len(ends), np.int64)
    np.add(ends[:-1], 1, out=first[1:])
    lead = data[first]
    values: NDArray[np.unsignedinteger] = np.zeros(len(ends) + TAIL, np.uint32)
    values[:-TAIL] = lead
    rows = np.flatnonzero(lead >= 0x80)
    at = first[rows]
    words = np.ndarray((len(data) - 3,), "<u4", data, strides=(1,)).take(at)
    stop = ~words & np.uint32(0x80808080)
    long = np.flatnonzero(stop == 0)
    values[rows] = short_varints(words, stop)
    return Short(values, lead, rows[long], at[long])


def widened(short: Short, wide: NDArray[np.uint64]) -> NDArray[np.unsignedinteger]:
    """Return all values, `wide` in the rows `long`: uint64 where one needs it."""
    values = short.values.astype(np.uint64) if int(wide.max()) >> 32 else short.values
    values[short.long] = wide
    return values


class Tokens(NamedTuple):
    """Numbers in a row, with their first bytes, and where batches begin.

    `values` is uint32 where all fit in it, else uint64, and goes on with eight zeros
    after the last number; `lead` uint8; `starts` int64, the first number of each batch.
    """

    values: NDArray[np.unsignedinteger]
    lead: NDArray[np.uint8]
    starts: NDArray[np.int64]


def numbers(parts: list[memoryview]) -> Tokens:
    """Return the numbers of some batches, none of which is empty.

    Raises Damage where one runs out of its batch, or has more than 64 bits.
    """
    data = np.frombuffer(b"".join((*parts, _PADDING)), np.uint8)
    stops = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)))
    size = int(stops[-1])
    if (data[stops - 1] >= 0x80).any():
        raise Damage("a batch ends within a number")
    ends = np.flatnonzero(data[:size] < 0x80)
    short = short_numbers(data, ends)
    values, lead, rows, at = short
    if len(rows):
        wide, lengths = varints(data, at)
        longest = at[lengths == WIDEST] + (WIDEST - 1)
        if (lengths != ends[rows] + 1 - at).any() or (data[longest] > 1).any():
            raise Damage("a number of more than 64 bits")
        values = widened(short, wide)
    starts = np.zeros(len(parts), np.int64)
    starts[1:] = np.searchsorted(ends, stops[:-1])
    return Tokens(values, lead, starts)


class Heads:
    """Finds which numbers are events' types; keeps its working memory between calls."""

    def __init__(self, counts: NDArray[np.int32]) -> None:
        """Take `schema.argument_counts`."""
        self._known = counts >= 0
        after = np.maximum(counts, 0).astype(np.int64) + 1
        # A type from 128 up has taken its time difference along.
        after[FIRST_EXPERIMENTAL:] = np.maximum(after[FIRST_EXPERIMENTAL:] - 1, 1)
        self._after = after
        self._rows = np.zeros((TABLES, 0), np.int64)

    def find(self, tokens: Tokens) -> NDArray[np.int64]:
        """Return the places of the types (int64, rising) among the numbers.

        Raises Damage where events do not fill their batches, or are of no known type.
        """
        size = len(tokens.lead)
        if self._rows.shape[1] <= size:
            self._rows = np.empty((TABLES, 2 * size), np.int64)
        jumps = [row[: size + 1] for row in self._rows]
        np.take(self._after, tokens.lead, out=jumps[0][:-1], mode="clip")
        jumps[0][:-1] += np.arange(size)
        jumps[0][-1] = size
        np.minimum(jumps[0], size + 1, out=jumps[0])
        found = reached(jumps, size)
        if not self._known[tokens.lead[found]].all():
            raise Damage("an event of an unknown type")
        begins = np.searchsorted(found, tokens.starts)
        whole = found[np.minimum(begins, len(found) - 1)] == tokens.starts
        last = int(found[-1])
        if not whole.all() or last + int(self._after[tokens.lead[last]]) != size:
            raise Damage("a batch ends within an event")
        return found
