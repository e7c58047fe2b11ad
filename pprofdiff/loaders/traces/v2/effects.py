"""Order the effects of events on goroutines and Ps without a global sort.

An event has an effect on an *owner*, a goroutine or a P; some events have one on two.
Every event that moves an owner to another thread carries a sequence number, which
counts up within the generation from 0 at the owner's status or creation. The events
between two such numbers happen on one thread, in that thread's order. So (owner,
sequence number, row of the event) orders all effects on an owner, whatever their
timestamps.

The sequence number becomes a *key*, because a thread may continue with an owner from
the previous generation. Its first events then come before the owner's status, on
whatever thread that is, if the status differs from the last known state, else after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from msgspec import Struct

from pprofdiff.loaders.traces.owner_rows import first_of_each
from pprofdiff.model.arrays import Column, Index, Integers, Mask, Table

# Keys, in the order of an owner's effects: before its status; the status (or creation);
# right after it; what a thread continues from the previous generation; a status after
# that; and NUMBERED + n for sequence number n.
BEFORE_STATUS, STATUS, AFTER_STATUS, CARRIED_OVER, LATE_STATUS, NUMBERED = range(6)

_BITS = 63
# Rows unpacked at a time, to stay in the CPU cache.
_ROWS_AT_ONCE = 1 << 17


class Effects(Struct, frozen=True, eq=False):
    """Effects on owners, in any order: integer columns of equal length.

    `owner` is an index, 0 or more; `key` is one of this module's; `event` is the
    event's row. `second` is 1 for second effects of events on the same owner, which
    come after the first, else 0.
    """

    owner: Integers
    key: Integers
    event: Integers
    second: int = 0


class OrderedEffects(Table, frozen=True):
    """Effects grouped by owner, in order for each; columns as in `Effects`."""

    owner: Index
    key: Column
    event: Column
    second: Mask

    def first_rows(self, before: int = -1) -> Mask:
        """Mark the first row of each owner; `before` is the owner before all rows."""
        is_first = first_of_each(self.owner)
        is_first[:1] = self.owner[:1] != before
        return is_first


def sequence_numbers(key: Column) -> Column:
    """Return the sequence number of each key, 0 for keys without one."""
    return np.maximum(key - NUMBERED, 0)


def in_sequence(
    number: Column, bumps: Mask, is_first: Mask, anew: Mask, before: int
) -> bool:
    """Return whether owners' sequence numbers have neither gaps nor duplicates.

    `bumps` marks the effects that carry the next number, `is_first` the first of each
    owner, `anew` those at which numbers begin again; `before` is the number before all.
    """
    step = np.diff(number, prepend=before)
    step[anew] = number[anew]
    return bool((step == (bumps & ~is_first)).all() and not (bumps & is_first).any())


class EffectOrder:
    """Ordered effects, each packed into a sorted int64, and read in chunks.

    From the top, the bits are the owner, `key_bits` of key, and `rank_bits` with the
    event above the last bit, `second`. `mask` selects the bits of a key that count
    within an incarnation, see `Incarnations`.
    """

    mask = -1

    def __init__(self, key: Column, key_bits: int, rank_bits: int) -> None:
        self._key = key
        self._bits = key_bits, rank_bits

    def __len__(self) -> int:
        return len(self._key)

    def rows(self, first: int, last: int) -> OrderedEffects:
        """Return the effects from `first` up to `last`."""
        key_bits, rank_bits = self._bits
        key = self._key[first:last].copy()
        second = (key & 1).astype(np.bool_)
        event = (key & ((1 << rank_bits) - 1)) >> 1
        key >>= rank_bits
        owner = (key >> key_bits).astype(np.int32)
        key &= (1 << key_bits) - 1
        return OrderedEffects(owner, key, event, second)

    def chunks(self) -> Iterator[OrderedEffects]:
        """Yield all effects in chunks."""
        for first in range(0, len(self), _ROWS_AT_ONCE):
            yield self.rows(first, first + _ROWS_AT_ONCE)


class _UnpackedOrder(EffectOrder):
    """Ordered effects, some too large to pack into an int64."""

    def __init__(self, effects: OrderedEffects) -> None:
        super().__init__(effects.event, 0, 0)
        self._effects = effects

    def rows(self, first: int, last: int) -> OrderedEffects:
        return self._effects.take(np.arange(first, min(last, len(self))))


def order_effects(
    groups: Iterable[Effects], owners: int, events: int, most: int
) -> EffectOrder:
    """Return at most `most` effects of all groups in order.

    `groups` are iterated twice if an effect does not fit in 63 bits. `owners` and
    `events` are exclusive upper bounds.
    """
    rank_bits = 1 + events.bit_length()
    key_bits = _BITS - rank_bits - owners.bit_length()
    # Unused pages take no memory.
    key = np.empty(most, np.int64)
    at = 0
    for group in groups:
        if len(group.owner) and int(group.key.max()) >> max(key_bits, 0):
            return _UnpackedOrder(_sorted_columns(list(groups)))
        some = key[at : at + len(group.owner)]
        some[:] = group.owner
        some <<= key_bits
        some |= group.key
        some <<= rank_bits - 1
        some |= group.event
        some <<= 1
        some |= group.second
        at += len(some)
    # Mostly long runs, which this merges: a tenth of the time.
    key[:at].sort(kind="stable")
    return EffectOrder(key[:at], key_bits, rank_bits)


def _sorted_columns(groups: list[Effects]) -> OrderedEffects:
    """Like `order_effects`, for effects that do not fit in one number."""
    owner = np.concatenate([g.owner for g in groups]).astype(np.int32)
    seq = np.concatenate([g.key for g in groups]).astype(np.int64)
    event = np.concatenate([g.event for g in groups]).astype(np.int64)
    second = np.repeat([g.second for g in groups], [len(g.owner) for g in groups])
    order = np.lexsort((second, event, seq, owner))
    return OrderedEffects(
        owner[order], seq[order], event[order], second[order].astype(np.bool_)
    )
