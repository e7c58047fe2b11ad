"""Lookup tables with 256 entries over a byte, such as an event type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.arrays import Codes, Column

Byte = TypeVar("Byte", bound=int)
# The state of a goroutine or P that was never mentioned.
UNKNOWN = 7


def byte_table(values: Mapping[Byte, int]) -> NDArray[np.int8]:
    """Return a table (int8, shape (256,)) of these values, 0 for other bytes."""
    table = np.zeros(256, np.int8)
    for byte, value in values.items():
        table[byte] = value
    return table


def membership(members: Iterable[int]) -> NDArray[np.int8]:
    """Return a table (int8, shape (256,)): 1 for the members, 0 for other bytes."""
    table = np.zeros(256, np.int8)
    table[list(members)] = 1
    return table


def lookup(table: NDArray[np.int8], values: Codes) -> NDArray[np.int8]:
    """Return ``table[values]`` without first making 8-byte indices of the values."""
    entries = values.tobytes().translate(table.tobytes())
    return np.frombuffer(bytearray(entries), np.int8)


def rows_in(table: NDArray[np.int8], values: Codes) -> Column:
    """Return the rows whose value has a nonzero table entry (int64, increasing)."""
    entries = values.tobytes().translate(table.tobytes())
    # numpy finds true values much faster than nonzero ones.
    return np.flatnonzero(np.frombuffer(entries, np.int8) != 0)


def transition_tables(
    transitions: Mapping[Byte, tuple[tuple[int, ...], int]],
) -> tuple[Codes, Codes]:
    """Return the tables of a state machine, both uint8 of shape (256,).

    `transitions` has, for each effect (a byte), the states that it may follow, each 0
    to 7, and the state that it leads to. Bit s of ``allowed[effect]`` is set if the
    effect may follow state s; ``after[effect]`` is `UNKNOWN` for other bytes.
    """
    allowed, after = np.zeros(256, np.uint8), np.full(256, UNKNOWN, np.uint8)
    for effect, (states, state) in transitions.items():
        allowed[effect] = sum(1 << s for s in states)
        after[effect] = state
    return allowed, after


def all_allowed(allowed: Codes, effect: Codes, before: Codes) -> bool:
    """Return whether each effect may follow the state before it."""
    bits = np.take(allowed, effect)
    bits >>= before
    return bool((bits & 1).all())
