"""Decode protobuf messages of varints, thousands at a time, into numpy columns.

Samples, locations and functions of profile.proto consist of varints only: tags,
lengths, packed ids and nested messages of varints
(https://protobuf.dev/programming-guides/encoding/). `scan` walks all messages in
parallel, one field per step; `numbers` then decodes a field of all messages at once,
because every byte below 0x80 ends a number.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.model.arrays import Codes, Column, Mask, Table

Positions = Column
Bytes = Codes

# Maximum steps of one scan, and so of fields in a message.
MAX_FIELDS = 4096
# Bytes after the last message, so that a word can be read at any position.
_PADDING = bytes(16)
_LONGEST = 10
# The wire types that a kind of field may have, see `scan`.
_UNKNOWN = -1
_WIRES: dict[int, tuple[int, ...]] = {0: (0,), 2: (2,), -2: (2, 0), _UNKNOWN: ()}
# A tag with an invalid wire type.
_UNREADABLE = 7
# Some occurrences of a field: their owners, the bounds of their content, and values.
_Part = tuple[Positions, Positions, Positions, NDArray[np.uint64]]


class Messages(Struct, frozen=True, eq=False):
    """Messages in one buffer: message i is ``data[first[i]:last[i]]``.

    `data` (uint8) has 16 zero bytes after the last message.
    """

    data: Bytes
    first: Positions
    last: Positions


class Occurrences(Table, frozen=True):
    """The positions of one field in the messages, one per occurrence, in file order.

    ``owner[k]`` is the message. The bytes ``first[k]:last[k]`` of its buffer are the
    field's content: one varint, or the bytes of a length-delimited field. ``value[k]``
    is the varint, or the length.
    """

    owner: Positions
    first: Positions
    last: Positions
    value: NDArray[np.uint64]


def joined(messages: list[bytes]) -> Messages:
    """Return the messages concatenated."""
    stops = np.cumsum(np.fromiter(map(len, messages), np.int64, len(messages)))
    data = np.frombuffer(b"".join((*messages, _PADDING)), np.uint8)
    first = np.concatenate((np.zeros(1, np.int64), stops))[:-1]
    return Messages(data, first, stops)


def varints(data: Bytes, at: Positions) -> tuple[NDArray[np.uint64], Positions]:
    """Return the varints at these positions, and their lengths in bytes.

    Numbers are truncated to 64 bits, as in protobuf; the length is 0 if a number does
    not end within ten bytes. `data` must extend 16 bytes beyond each position.
    """
    # Most tags, lengths and small numbers have one byte, nearly all at most four.
    short = data[at]
    if len(short) and short.max() < 0x80:
        return short.astype(np.uint64), np.ones(len(short), np.int64)
    # Not `take`, which copies the words at all bytes first: few are wanted.
    halves = _words(data, np.dtype("<u4"))[at].astype(np.uint32, copy=False)
    ends = ~halves & np.uint32(0x80808080)
    if ends.all():
        ends &= -ends
        counts = np.ones(len(ends), np.int8)
        for bit in (0x80, 0x8000, 0x800000):
            counts += (ends > bit).view(np.int8)
        return short_varints(halves, ends).astype(np.uint64), counts.astype(np.int64)
    words = _words(data, np.dtype("<u8"))[at]
    # The lowest clear top bit ends the number: keep the bits below it.
    stop = ~words & np.uint64(0x8080808080808080)
    stop &= -stop
    values = _squeezed(words & (stop - np.uint64(1)))
    lengths = np.frexp(stop.astype(np.float64))[1].astype(np.int64) >> 3
    long = np.flatnonzero(stop == 0)
    if len(long):
        ninth, tenth = data[at[long] + 8], data[at[long] + 9]
        more = ninth >= 0x80
        values[long] |= (ninth & np.uint8(0x7F)).astype(np.uint64) << np.uint64(56)
        values[long] |= np.where(more, tenth, 0).astype(np.uint64) << np.uint64(63)
        lengths[long] = np.where(more, np.where(tenth < 0x80, _LONGEST, 0), 9)
    return values, lengths


def _words(data: Bytes, dtype: np.dtype[np.unsignedinteger]) -> NDArray[np.uint64]:
    """Return the little-endian word at each byte, without copying."""
    size = len(data) - dtype.itemsize + 1
    return np.ndarray((size,), dtype, buffer=data, strides=(1,))


def _squeezed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Remove the top bit of each byte: 8 x 7 bits to 56."""
    words &= np.uint64(0x7F7F7F7F7F7F7F7F)
    for low, shift in (
        (0x007F007F007F007F, 1),
        (0x00003FFF00003FFF, 2),
        (0x000000000FFFFFFF, 4),
    ):
        kept = words & np.uint64(low)
        words ^= kept
        words >>= np.uint64(shift)
        words |= kept
    return words


def short_varints(
    words: NDArray[np.uint32], stop: NDArray[np.uint32]
) -> NDArray[np.uint32]:
    """Return the varints of up to four bytes at the start of these words.

    `stop` has the top bit set of each byte that ends a number; where it has none, the
    result is arbitrary. Both arrays are overwritten.
    """
    stop &= -stop
    stop -= np.uint32(1)
    words &= stop
    # Remove the top bit of each byte: 4 x 7 bits to 28.
    words &= np.uint32(0x7F7F7F7F)
    for low, shift in ((0x007F007F, 1), (0x00003FFF, 2)):
        kept = words & np.uint32(low)
        words ^= kept
        words >>= np.uint32(shift)
        words |= kept
    return words


def numbers(
    data: Bytes, field: Occurrences
) -> tuple[NDArray[np.unsignedinteger], Positions]:
    """Return the numbers in a field's contents, in order, and the count in each.

    Returns
    -------
    numbers
        uint32 if all of them fit in 28 bits, else uint64.
    counts
        int64, one per occurrence of the field.

    Raises
    ------
    ValueError
        A number has more than ten bytes.

    """
    if len(field.first) and int((field.last - field.first).max()) <= _LONGEST:
        values, lengths = varints(data, field.first)
        if (field.first + lengths == field.last).all():
            return values, np.ones(len(values), np.int64)
    ends = np.flatnonzero((data < 0x80) & _inside(field, len(data)))
    edges = np.concatenate((np.zeros(1, np.int64), np.searchsorted(ends, field.last)))
    starts = np.empty_like(ends)
    starts[1:] = ends[:-1] + 1
    filled = field.first < field.last
    starts[edges[:-1][filled]] = field.first[filled]
    words = _words(data, np.dtype("<u4")).take(starts).astype(np.uint32, copy=False)
    stop = ~words & np.uint32(0x80808080)
    if stop.all():
        return short_varints(words, stop), np.diff(edges)
    values, lengths = varints(data, starts)
    if not lengths.all():
        raise ValueError("a number of more than ten bytes")
    return values, np.diff(edges)


def _inside(field: Occurrences, size: int) -> Mask:
    """Return which of `size` bytes lie in a field's contents."""
    sizes = np.empty(2 * len(field.first) + 1, np.int64)
    sizes[1::2] = field.last - field.first
    sizes[0::2] = np.append(field.first, size)
    sizes[2::2] -= field.last
    pattern = np.arange(len(sizes)) % 2 == 1
    return np.repeat(pattern, sizes)


def scan(
    messages: Messages, fields: dict[int, int]
) -> tuple[dict[int, Occurrences], Mask]:
    """Find the fields of all messages, and mark messages that need another decoder.

    Parameters
    ----------
    messages
        The messages, all of one kind.
    fields
        The kind of content of each known field number: 0 for one varint; 2 for bytes
        that are varints (packed numbers, or a nested message); -2 for packed numbers
        that may also be unpacked, one varint each time.

    Returns
    -------
    places
        The occurrences of each field, by number.
    odd
        bool, one per message: it has an unknown field, a tag or wire type that `fields`
        does not allow, a length beyond the message's end, or more than `MAX_FIELDS`
        fields. `places` excludes these messages.

    """
    parts: dict[int, list[_Part]] = {number: [] for number in fields}
    odd = np.zeros(len(messages.first), np.bool_)
    rows = np.flatnonzero(messages.first < messages.last)
    at = messages.first[rows]
    for _ in range(MAX_FIELDS):
        if not len(rows):
            break
        rows, at = _step(messages, fields, parts, odd, rows, at)
    odd[rows] = True
    return {n: _gathered(steps, odd) for n, steps in parts.items()}, odd


def _step(
    messages: Messages,
    fields: dict[int, int],
    parts: dict[int, list[_Part]],
    odd: Mask,
    rows: Positions,
    at: Positions,
) -> tuple[Positions, Positions]:
    """Read one field of each message in `rows`; return the rest, advanced."""
    data, limit = messages.data, messages.last[rows]
    tags = data[at]
    # A tag byte, then a varint: the field's value, or the length of its content.
    value, length = varints(data, at + 1)
    stop = at + 1 + length
    tags[(length == 0) | (stop > limit)] = _UNREADABLE
    after = np.full(len(rows), -1, np.int64)
    # Go's messages of one kind look alike: usually there is one tag at a time.
    alike = bool((tags == tags[0]).all())
    seen = tags[:1] if alike else np.flatnonzero(np.bincount(tags))
    for tag in seen.tolist():
        number, wire = tag >> 3, tag & 7
        if wire not in _WIRES[fields.get(number, _UNKNOWN)]:
            continue
        here = slice(None) if alike else np.flatnonzero(tags == tag)
        if wire == 0:
            first, last = at[here] + 1, stop[here]
        else:
            first = stop[here]
            last = _content(data, first, value[here], limit[here])
        after[here] = last
        part = rows[here], first, last, value[here]
        if int(last.min()) < 0:
            kept = last >= 0
            part = part[0][kept], first[kept], last[kept], part[3][kept]
        parts[number].append(part)
    if int(after.min()) < 0:
        odd[rows[after < 0]] = True
    going = (after >= 0) & (after < limit)
    return (rows, after) if going.all() else (rows[going], after[going])


def _content(
    data: Bytes, first: Positions, size: NDArray[np.uint64], limit: Positions
) -> Positions:
    """Return the end of length-delimited content, -1 if it cannot be varints."""
    fits = size <= (limit - first).astype(np.uint64)
    last = first + np.where(fits, size, 0).astype(np.int64)
    whole = fits & ((last == first) | (data[last - 1] < 0x80))
    return np.where(whole, last, -1)


def _gathered(steps: list[_Part], odd: Mask) -> Occurrences:
    """Join one field's steps in file order, without the messages marked odd."""
    if not steps:
        none = np.zeros(0, np.int64)
        return Occurrences(none, none, none, none.view(np.uint64))
    found = Occurrences(*map(np.concatenate, zip(*steps, strict=True)))
    if odd.any():
        found = found.take(np.flatnonzero(~odd[found.owner]))
    if len(steps) > 1:
        # Stable: it merges the steps, which are in order.
        found = found.take(np.argsort(found.first, kind="stable"))
    return found
