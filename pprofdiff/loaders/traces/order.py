"""The order of what happened to each goroutine and processor, without a global sort.

Every event that moves a goroutine (or processor) from one thread to another carries a
sequence number that counts up within the generation, from 0 at its status or creation.
The events between two such numbers happen on one thread, in that thread's order. So
(owner, sequence number, place in the thread) orders all events of an owner, whatever
their times say.

A thread may go on from the generation before, and its first events come before or after
the status of their owner, wherever that stands: before, if the status tells of another
state than the last one known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CARRIED",
    "NEXT",
    "NUMBERED",
    "SAID",
    "SAID_AFTER",
    "UNSAID",
    "Chain",
    "Links",
    "Order",
    "chained",
    "numbers_of",
]

# Keys in the order of an owner's events: what must come before its status; a status or
# creation; what comes right after; what a thread goes on with; a status that comes
# after that; and NUMBERED + n what is of sequence number n.
UNSAID, SAID, NEXT, CARRIED, SAID_AFTER, NUMBERED = range(6)

_BITS = 63
# Rows taken from an order at a time: they stay in the processor's cache.
_ROWS_AT_ONCE = 1 << 17


class Links(NamedTuple):
    """Events of owners, in any order: int columns of one length.

    `owner` is 0 or more; `key` is SAID or one of its fellows; `event` is the row,
    `late` 1 for what follows the event's first effect on this owner.
    """

    owner: NDArray[np.integer]
    key: NDArray[np.integer]
    event: NDArray[np.integer]
    late: int = 0


class Chain(NamedTuple):
    """Events by owner, each owner's in the order they happened.

    `owner` int32 (rising), `key` int64 as in `Links`, `event` int64, `late` bool.
    """

    owner: NDArray[np.int32]
    key: NDArray[np.int64]
    event: NDArray[np.int64]
    late: NDArray[np.bool_]

    def begins(self, before: int = -1) -> NDArray[np.bool_]:
        """Mark each owner's first row; `before` is the owner of the row before all."""
        fresh = np.ones(len(self.owner), np.bool_)
        np.not_equal(self.owner[1:], self.owner[:-1], out=fresh[1:])
        fresh[:1] = self.owner[:1] != before
        return fresh


def numbers_of(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sequence number of each key, 0 where it is none."""
    return np.maximum(key - NUMBERED, 0)


class Order:
    """Events in order, eight bytes each, to be read in pieces."""

    def __init__(self, key: NDArray[np.int64], key_bits: int, rank_bits: int) -> None:
        """Take sorted numbers made of owner, sequence number, event and late."""
        self._key = key
        self._bits = key_bits, rank_bits

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._key)

    def rows(self, first: int, last: int) -> Chain:
        """Return some of the rows."""
        key_bits, rank_bits = self._bits
        key = self._key[first:last].copy()
        late = (key & 1).astype(np.bool_)
        event = (key & ((1 << rank_bits) - 1)) >> 1
        key >>= rank_bits
        owner = (key >> key_bits).astype(np.int32)
        key &= (1 << key_bits) - 1
        return Chain(owner, key, event, late)

    def pieces(self) -> Iterator[Chain]:
        """Yield all rows, some at a time."""
        for first in range(0, len(self), _ROWS_AT_ONCE):
            yield self.rows(first, first + _ROWS_AT_ONCE)


class _Columns(Order):
    """Events in order whose numbers do not fit in eight bytes."""

    def __init__(self, chain: Chain) -> None:
        """Take the rows as they are."""
        super().__init__(chain.event, 0, 0)
        self._chain = chain

    def rows(self, first: int, last: int) -> Chain:
        """Return some of the rows."""
        return Chain._make(column[first:last].copy() for column in self._chain)


def chained(groups: Iterable[Links], owners: int, events: int, most: int) -> Order:
    """Return the events of all groups in order (see `Links`).

    `groups` are gone through twice if numbers are large. Owners are below `owners`,
    events below `events`; there are no more rows than `most`.
    """
    rank_bits = 1 + events.bit_length()
    key_bits = _BITS - rank_bits - owners.bit_length()
    # What stays empty takes no memory.
    key = np.empty(most, np.int64)
    at = 0
    for group in groups:
        if len(group.owner) and int(group.key.max()) >> max(key_bits, 0):
            return _Columns(_by_column(list(groups)))
        some = key[at : at + len(group.owner)]
        some[:] = group.owner
        some <<= key_bits
        some |= group.key
        some <<= rank_bits - 1
        some |= group.event
        some <<= 1
        some |= group.late
        at += len(some)
    key[:at].sort()
    return Order(key[:at], key_bits, rank_bits)


def _by_column(groups: list[Links]) -> Chain:
    """Do as `chained` where a row does not fit in one number."""
    owner = np.concatenate([g.owner for g in groups]).astype(np.int32)
    seq = np.concatenate([g.key for g in groups]).astype(np.int64)
    event = np.concatenate([g.event for g in groups]).astype(np.int64)
    late = np.repeat([g.late for g in groups], [len(g.owner) for g in groups])
    order = np.lexsort((late, event, seq, owner))
    return Chain(owner[order], seq[order], event[order], late[order].astype(np.bool_))
