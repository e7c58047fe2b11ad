"""Lookup tables over a byte, such as an event's type: 256 entries, one a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "UNKNOWN",
    "byte_table",
    "lookup",
    "membership",
    "rows_in",
    "transition_tables",
]

Byte = TypeVar("Byte", bound=int)
# The state of a goroutine or processor that was never mentioned.
UNKNOWN = 7


def byte_table(values: Mapping[Byte, int]) -> NDArray[np.int8]:
    """Return a table (int8, shape (256,)) of these values, 0 for all other bytes."""
    table = np.zeros(256, np.int8)
    for byte, value in values.items():
        table[byte] = value
    return table


def membership(members: Iterable[int]) -> NDArray[np.int8]:
    """Return a table (int8, shape (256,)): 1 for the members, 0 for other bytes."""
    table = np.zeros(256, np.int8)
    table[list(members)] = 1
    return table


def lookup(table: NDArray[np.int8], values: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Return the table's entry for each value (int8), as a new array.

    It equals ``table[values]``, but does not make an 8-byte index of each value first.
    """
    entries = values.tobytes().translate(table.tobytes())
    return np.frombuffer(bytearray(entries), np.int8)


def rows_in(table: NDArray[np.int8], values: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return where the table's entry for a value is not 0 (int64, rising)."""
    entries = values.tobytes().translate(table.tobytes())
    # numpy finds what is true much faster than what is not 0.
    return np.flatnonzero(np.frombuffer(entries, np.int8) != 0)


def transition_tables(
    transitions: Mapping[Byte, tuple[tuple[int, ...], int]],
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the tables of a state machine, both uint8 of shape (256,).

    Parameters
    ----------
    transitions : mapping
        For each effect (a byte): the states that it may follow, each 0 to 7, and the
        state that it leads to.

    Returns
    -------
    allowed, after : arrays
        Bit s of ``allowed[effect]`` is set where the effect may follow state s.
        ``after[effect]`` is the state that follows, `UNKNOWN` for what is no effect.

    """
    allowed, after = np.zeros(256, np.uint8), np.full(256, UNKNOWN, np.uint8)
    for effect, (states, state) in transitions.items():
        allowed[effect] = sum(1 << s for s in states)
        after[effect] = state
    return allowed, after
