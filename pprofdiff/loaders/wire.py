"""Protobuf messages of varints, thousands at a time, as numpy columns.

Samples, locations and functions of profile.proto hold nothing but varints: tags,
lengths, packed numbers and nested messages of varints. `scan` walks all messages
together, one field a step, and notes which bytes belong to which field; `numbers`
then decodes all varints of a field at once, where every byte below 0x80 ends one
(https://protobuf.dev/programming-guides/encoding/).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_FIELDS", "Messages", "Runs", "joined", "numbers", "scan"]

Positions = NDArray[np.int64]
Bytes = NDArray[np.uint8]

# Steps that one scan takes at most: fields of one message, one after another.
MAX_FIELDS = 4096
_MAX_VARINT = 10
_UNKNOWN = -1
# Where a field ends that cannot be read: past all limits, or nowhere.
_FAR = np.iinfo(np.int64).max
_NOWHERE = -1
# The wire types that a kind of field may have, see `scan`.
_WIRES: dict[int, tuple[int, ...]] = {0: (0,), 2: (2,), -2: (2, 0), _UNKNOWN: ()}


class Messages(NamedTuple):
    """Messages within one buffer: message i is the bytes ``first[i]:last[i]``.

    `data` is uint8, and goes on for at least ten zero bytes after the last message,
    so that a varint may be looked for at any position.
    """

    data: Bytes
    first: Positions
    last: Positions


class Runs(NamedTuple):
    """One field's places in file order: bytes ``first:last`` of message `owner`."""

    owner: Positions
    first: Positions
    last: Positions


def joined(messages: list[bytes]) -> Messages:
    """Return messages laid one after another."""
    sizes = np.fromiter(map(len, messages), np.int64, len(messages))
    data = np.frombuffer(b"".join((*messages, bytes(_MAX_VARINT))), np.uint8)
    last = np.cumsum(sizes)
    return Messages(data, last - sizes, last)


def scan(
    messages: Messages, fields: dict[int, int]
) -> tuple[dict[int, Runs], NDArray[np.bool_]]:
    """Find the fields of all messages, and mark messages that need another reader.

    `fields` gives each known field number its kind: 0 is a single varint, 2 is bytes
    that hold varints (packed numbers, or a nested message), -2 is numbers that may be
    packed or not. Marked (bool, one per message) are those with an unknown field, a
    wire type that the table does not expect, a length that runs out of the message,
    or more than `MAX_FIELDS` fields; nothing is returned for them.
    """
    found: dict[int, list[tuple[Positions, Positions, Positions]]] = {
        number: [] for number in fields
    }
    odd = np.zeros(len(messages.first), np.bool_)
    rows = np.flatnonzero(messages.first < messages.last)
    at = messages.first[rows]
    for _ in range(MAX_FIELDS):
        if not len(rows):
            break
        limit = messages.last[rows]
        after = _step(messages.data, fields, found, (rows, at, limit))
        odd[rows[after < 0]] = True
        going = (after >= 0) & (after < limit)
        rows, at = rows[going], after[going]
    odd[rows] = True
    return {n: _gathered(runs, odd) for n, runs in found.items()}, odd


def _step(
    data: Bytes,
    fields: dict[int, int],
    found: dict[int, list[tuple[Positions, Positions, Positions]]],
    heads: tuple[Positions, Positions, Positions],
) -> Positions:
    """Read one field of each message; return where it ends, -1 where it cannot be.

    `heads` are the messages' numbers, where their fields begin, and where they end.
    """
    rows, at, limit = heads
    tags = data[at]
    after = np.full(len(rows), _NOWHERE, np.int64)
    for tag in np.flatnonzero(np.bincount(tags)).tolist():
        number, wire = tag >> 3, tag & 7
        if wire not in _WIRES[fields.get(number, _UNKNOWN)]:
            continue
        here = slice(None) if len(tags) == 1 else np.flatnonzero(tags == tag)
        first = at[here] + 1
        if wire == 0:
            last = _varint_end(data, first)
        else:
            first, last = _payload(data, first, limit[here])
        last = np.where(last <= limit[here], last, _NOWHERE)
        after[here] = last
        kept = last >= 0
        found[number].append((rows[here][kept], first[kept], last[kept]))
    return after


def _varint_end(data: Bytes, first: Positions) -> Positions:
    """Return the position after each varint, far off for more than ten bytes."""
    end = first + 1
    open_ = np.flatnonzero(data[first] >= 0x80)
    for _ in range(1, _MAX_VARINT):
        if not len(open_):
            break
        more = data[end[open_]] >= 0x80
        end[open_] += 1
        open_ = open_[more]
    end[open_] = _FAR
    return end


def _payload(
    data: Bytes, length_at: Positions, limit: Positions
) -> tuple[Positions, Positions]:
    """Return where payloads begin and end; beyond `limit` where they cannot."""
    size = (data[length_at] & 0x7F).astype(np.int64)
    begin = length_at + 1
    open_ = np.flatnonzero(data[length_at] >= 0x80)
    for byte in range(1, 5):
        if not len(open_):
            break
        piece = data[begin[open_]]
        size[open_] |= (piece & 0x7F).astype(np.int64) << 7 * byte
        begin[open_] += 1
        open_ = open_[piece >= 0x80]
    end = begin + size
    end[open_] = _FAR
    # A payload whose last byte does not end a varint is not made of varints.
    filled = np.flatnonzero((size > 0) & (end <= limit))
    broken = filled[data[end[filled] - 1] >= 0x80]
    end[broken] = _FAR
    return begin, end


def _gathered(
    runs: list[tuple[Positions, Positions, Positions]], odd: NDArray[np.bool_]
) -> Runs:
    """Join one field's steps in file order, without the messages marked odd."""
    if not runs:
        none = np.zeros(0, np.int64)
        return Runs(none, none, none)
    owner, first, last = (np.concatenate(part) for part in zip(*runs, strict=True))
    if odd.any():
        kept = ~odd[owner]
        owner, first, last = owner[kept], first[kept], last[kept]
    if len(runs) > 1:
        order = np.argsort(first, kind="stable")
        owner, first, last = owner[order], first[order], last[order]
    return Runs(owner, first, last)


def numbers(
    data: Bytes, runs: Runs
) -> tuple[NDArray[np.unsignedinteger], NDArray[np.int64]]:
    """Decode all varints in the runs; return them, and how many each run has.

    The dtype is uint32 where all of them fit in four bytes, else uint64. Raises
    ValueError for a varint of more than ten bytes.
    """
    sizes = runs.last - runs.first
    gaps = np.empty((len(sizes), 2), np.int64)
    gaps[:, 0] = runs.first
    gaps[1:, 0] -= runs.last[:-1]
    gaps[:, 1] = sizes
    inside = np.zeros(gaps.shape, np.bool_)
    inside[:, 1] = True
    mask = np.repeat(inside.reshape(-1), gaps.reshape(-1))
    own = data[: len(mask)][mask]
    ends = np.flatnonzero(own < 0x80)
    counts = np.searchsorted(ends, np.cumsum(sizes))
    counts[1:] -= counts[:-1].copy()
    return _decoded(own, ends), counts


def _decoded(own: Bytes, ends: Positions) -> NDArray[np.unsignedinteger]:
    """Decode the varints that end at `ends` and fill `own`, last byte first."""
    lengths = ends + 1
    lengths[1:] = ends[1:] - ends[:-1]
    longest = int(lengths.max()) if len(lengths) else 1
    if longest > _MAX_VARINT:
        raise ValueError("a number of more than ten bytes")
    dtype: type[Any] = np.uint32 if longest <= 4 else np.uint64
    out: NDArray[Any] = own[ends].astype(dtype)
    if longest == 1:
        return out
    # Two bytes at a stroke for all, where one byte is the exception.
    longer = lengths > 1
    shifted = (out << dtype(7)) | (own[ends - 1] & 0x7F)
    out = np.where(longer, shifted, out)
    for byte in range(2, longest):
        rows = np.flatnonzero(lengths > byte)
        more = own[ends[rows] - byte] & 0x7F
        out[rows] = (out[rows] << dtype(7)) | more
    return out
