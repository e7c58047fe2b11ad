"""Decode columns of varints (as in encoding/binary), and follow events through them.

A byte below 0x80 ends a varint. Nearly all have at most four bytes and are decoded from
one 32-bit word each, `loaders.profiles.wire.varints` decodes the others. The start of
an event depends on the one before it: numpy composes the table of links with itself, so
that Python takes one step in 16.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.loaders.profiles.wire import short_varints
from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.model.arrays import Codes, Column, Integers, Table

# Length in bytes of the longest 64-bit number.
LONGEST = 10
# Zeros after the last number, so that reading missing arguments is safe.
TAIL = 8
_WORD = (1 << 64) - 1
# The Python loop takes strides of 2 ** 4 links.
_DOUBLINGS = 4
TABLES = _DOUBLINGS + 1
"""The number of tables that `follow_jumps` needs."""


class ShortVarints(Struct, frozen=True, eq=False):
    """Consecutive numbers; those longer than four bytes are still to be decoded.

    `values` is uint32, followed by `TAIL` zeros; `lead` (uint8) is the first byte of
    each number. `long` (int64) are the positions of the numbers still to be decoded,
    `at` (int64) the bytes of the data at which they begin.
    """

    values: NDArray[np.unsignedinteger]
    lead: Codes
    long: Column
    at: Column

    def with_long(self, numbers: NDArray[np.uint64]) -> NDArray[np.unsignedinteger]:
        """Return all values, with `numbers` put at `long`, as uint32 if all fit."""
        wide = int(numbers.max()) >> 32
        values = self.values.astype(np.uint64) if wide else self.values
        values[self.long] = numbers
        return values


def read_short_varints(data: Codes, ends: Column) -> ShortVarints:
    """Return the numbers whose last bytes are at `ends` (increasing), from byte 0 on.

    `data` must extend 16 bytes beyond the last number.
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
    return ShortVarints(values, lead, rows[long], at[long])


def varint_at(data: bytes, at: int) -> tuple[int, int]:
    """Return the number that begins at byte `at`, and the offset after it.

    Raises Damage if the data end inside the number or it exceeds 64 bits.
    """
    value = 0
    for i, byte in enumerate(data[at : at + LONGEST]):
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            if value > _WORD:
                break
            return value, at + i + 1
    raise Damage(
        "the file ends within a number"
        if at + LONGEST > len(data)
        else "a number of more than 64 bits"
    )


def follow_jumps(tables: list[Column], size: int) -> Column:
    """Return the positions below `size` on the chain from 0 (int64, increasing).

    ``tables[0][i]`` is the position after i: more than i, or at least `size` where the
    chain ends. The other tables are scratch space; all are int64 of size + 1 or more.
    """
    for short, long in pairwise(tables):
        np.take(short, short, out=long, mode="clip")
    # numpy arrays are buffers, though their annotations for Python 3.11 deny it.
    stride, at, strided = memoryview(tables[-1].data), 0, list[int]()
    while at < size:
        strided.append(at)
        at = stride[at]
    steps = np.empty((1 << _DOUBLINGS, len(strided)), np.int64)
    steps[0] = strided
    for i, table in enumerate(tables[:-1]):
        np.take(table, steps[: 1 << i], out=steps[1 << i : 2 << i], mode="clip")
    chain = steps.T.ravel()
    return chain[: np.count_nonzero(chain < size)]


class WideValues(Table, frozen=True):
    """Values (int64) that do not fit in 32 bits, and their rows (int64, increasing)."""

    rows: Column
    values: Column

    def restore(self, column: Column, rows: Integers) -> None:
        """Write wide values in place into `column`, the entries of `rows`."""
        if not len(self.rows) or not len(rows):
            return
        at = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        wide = self.rows[at] == rows
        column[wide] = self.values[at[wide]]
