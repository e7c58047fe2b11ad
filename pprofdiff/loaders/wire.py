"""Protobuf messages of varints, thousands at a time, as numpy columns.

Samples, locations and functions of profile.proto hold nothing but varints: tags,
lengths, packed ids and nested messages of varints. A concatenation of such messages
is thus one stream of varints, and every byte below 0x80 ends one
(https://protobuf.dev/programming-guides/encoding/). `Messages` tokenises the stream
once; `scan` then walks all messages together, one field a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_FIELDS", "Messages", "Runs", "scan", "tokenise"]

Positions = NDArray[np.int64]

# Steps that one scan takes at most: fields of one message, one after another.
MAX_FIELDS = 4096
_MAX_VARINT = 10


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """Messages over one token stream.

    Token t is the varint that ends at byte ``ends[t + 1]`` of `data` (uint8) and
    begins after byte ``ends[t]``; `ends` has a leading -1. Message i consists of the
    tokens ``first[i]:last[i]``.
    """

    data: NDArray[np.uint8]
    ends: Positions
    first: Positions
    last: Positions

    def lengths(self, tokens: Positions) -> Positions:
        """Return how many bytes each token takes."""
        return self.ends[tokens + 1] - self.ends[tokens]

    def values(self, tokens: Positions) -> NDArray[np.uint64]:
        """Return the numbers (uint64) that the chosen tokens spell."""
        return _numbers(self.data, self.ends[tokens + 1], self.lengths(tokens))

    def masked_values(self, mask: NDArray[np.bool_]) -> NDArray[np.unsignedinteger]:
        """Return the numbers of the tokens where `mask` is true, in order.

        The dtype is uint32 where all of them fit in four bytes, else uint64.
        """
        ends = self.ends[1:][mask]
        return _numbers(self.data, ends, ends - self.ends[:-1][mask], narrow=True)


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """One field's occurrences: message `owner`'s tokens ``first:last``, in file order."""

    owner: Positions
    first: Positions
    last: Positions

    def mask(self, tokens: int) -> NDArray[np.bool_]:
        """Return which of the stream's tokens lie in these runs."""
        edges = np.zeros(tokens + 1, np.int8)
        filled = self.first < self.last
        edges[self.first[filled]] = 1
        edges[self.last[filled]] = -1
        return np.cumsum(edges[:-1], dtype=np.int8).view(np.bool_)

    def counts(self, messages: int) -> Positions:
        """Return how many tokens each message has in these runs."""
        sizes = self.last - self.first
        return np.bincount(self.owner, sizes, messages).astype(np.int64)


def _numbers(
    data: NDArray[np.uint8],
    ends: Positions,
    lengths: Positions,
    *,
    narrow: bool = False,
) -> NDArray[np.unsignedinteger]:
    """Decode the varints that end at `ends`, most significant byte (the last) first."""
    longest = int(lengths.max()) if len(lengths) else 1
    dtype: type[Any] = np.uint32 if narrow and longest <= 4 else np.uint64
    numbers: NDArray[Any] = data[ends].astype(dtype)
    longer = lengths > 1
    if longest == 2 or (longest > 1 and longer.mean() > 0.5):
        shifted = (numbers << dtype(7)) | (data[ends - 1] & 0x7F)
        numbers = np.where(longer, shifted, numbers)
        reach = 2
    else:
        reach = 1
    for byte in range(reach, longest):
        rows = np.flatnonzero(lengths > byte)
        more = data[ends[rows] - byte] & 0x7F
        numbers[rows] = (numbers[rows] << dtype(7)) | more
    return numbers


def tokenise(messages: list[bytes]) -> tuple[Messages, NDArray[np.bool_]]:
    """Return the messages' token stream, and which of them are not varints alone.

    Marked (bool, one per message) are those that run into the next one because their
    last byte does not end a varint, and those with a varint of more than ten bytes.
    """
    sizes = np.fromiter(map(len, messages), np.int64, len(messages))
    data = np.frombuffer(b"".join(messages), np.uint8)
    stops = np.cumsum(sizes)
    filled = sizes > 0
    open_ended = np.zeros(len(messages), np.bool_)
    open_ended[filled] = data[stops[filled] - 1] >= 0x80
    ends = np.flatnonzero(data < 0x80)
    ends = np.concatenate((np.full(1, -1, np.int64), ends))
    last = np.searchsorted(ends[1:], stops, side="left")
    first = np.concatenate((np.zeros(1, np.int64), last[:-1]))
    overlong = np.flatnonzero(np.diff(ends) > _MAX_VARINT)
    open_ended[np.searchsorted(last, overlong, side="right")] = True
    return Messages(data, ends, first, last), open_ended


def scan(
    messages: Messages, fields: dict[int, int]
) -> tuple[dict[int, Runs], NDArray[np.bool_]]:
    """Find the fields of all messages, and mark messages that need another reader.

    `fields` gives each known field number its kind: 0 a single varint, 2 bytes that
    hold varints (packed numbers, or a nested message); a number of kind 2 may also
    stand unpacked, one varint an occurrence, if the field is listed as -2. Marked
    (bool, one per message) are those with an unknown field, a tag or wire type that
    the table does not expect, a length that runs out of the message, or more than
    `MAX_FIELDS` fields; nothing is returned for them.
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
        rows, at = _step(messages, fields, found, odd, rows, at)
    odd[rows] = True
    return {n: _gather(runs, odd) for n, runs in found.items()}, odd


def _step(
    messages: Messages,
    fields: dict[int, int],
    found: dict[int, list[tuple[Positions, Positions, Positions]]],
    odd: NDArray[np.bool_],
    rows: Positions,
    at: Positions,
) -> tuple[Positions, Positions]:
    """Read one field of each message in `rows`; return what is left, advanced."""
    limit = messages.last[rows]
    tags = messages.data[messages.ends[at + 1]]
    fine = (messages.lengths(at) == 1) & (at + 1 < limit)
    after = np.full(len(rows), -1, np.int64)
    for number, kind in fields.items():
        for wire in {0: (0,), 2: (2,), -2: (2, 0)}[kind]:
            here = np.flatnonzero(fine & (tags == (number << 3 | wire)))
            if not len(here):
                continue
            if wire == 0:
                first = at[here] + 1
                last = first + 1
            else:
                first, last = _payload(messages, at[here] + 1, limit[here])
            after[here] = last
            kept = last >= 0
            found[number].append((rows[here][kept], first[kept], last[kept]))
    odd[rows[after < 0]] = True
    going = (after >= 0) & (after < limit)
    return rows[going], after[going]


def _payload(
    messages: Messages, length_at: Positions, limit: Positions
) -> tuple[Positions, Positions]:
    """Return the token range of length-delimited payloads, last -1 where impossible."""
    size = messages.values(length_at)
    room = messages.ends[limit] - messages.ends[length_at + 1]
    fits = size <= room.astype(np.uint64)
    stop = messages.ends[length_at + 1] + np.where(fits, size, 0).astype(np.int64)
    last = np.searchsorted(messages.ends, stop)
    whole = fits & (messages.ends[np.minimum(last, len(messages.ends) - 1)] == stop)
    return length_at + 1, np.where(whole, last, -1)


def _gather(
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
