"""Bytes to columns of varints (as in encoding/binary); a byte below 0x80 ends one.

Nearly all numbers of a trace are of four bytes or fewer. Those are read together from
one 32-bit word each; `loaders.profiles.wire.varints` reads the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.profiles.wire import short_varints
from pprofdiff.loaders.traces.damage import Damage

__all__ = ["LONGEST", "TAIL", "ShortVarints", "read_short_varints", "varint_at"]

# Bytes of the longest number of 64 bits.
LONGEST = 10
# Zeros after the last number, so that arguments may be read that an event lacks.
TAIL = 8
_WORD = (1 << 64) - 1


@dataclass(frozen=True, slots=True, eq=False)
class ShortVarints:
    """Numbers in a row, of which those of more than four bytes are still to be read.

    `values` is uint32 and goes on with `TAIL` zeros after the last number; `lead`
    (uint8) is the first byte of each. `long` (int64) are the places of the numbers that
    are to be read, `at` (int64) the bytes of the data at which they begin.
    """

    values: NDArray[np.unsignedinteger]
    lead: NDArray[np.uint8]
    long: NDArray[np.int64]
    at: NDArray[np.int64]

    def with_long(self, numbers: NDArray[np.uint64]) -> NDArray[np.unsignedinteger]:
        """Return all values, `numbers` in the places `long`.

        They are uint64 where a number needs more than 32 bits, else uint32.
        """
        wide = int(numbers.max()) >> 32
        values = self.values.astype(np.uint64) if wide else self.values
        values[self.long] = numbers
        return values


def read_short_varints(
    data: NDArray[np.uint8], ends: NDArray[np.int64]
) -> ShortVarints:
    """Return the numbers whose last bytes are at `ends`, rising; the first begins at 0.

    `data` must go on for 16 bytes after the last number.
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
    """Return the number that begins at byte `at`, and the byte after it.

    Raises Damage where the data end within the number, or it has more than 64 bits.
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
