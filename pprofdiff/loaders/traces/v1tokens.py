"""Where each event of a trace of Go 1.11 to 1.21 begins, some of the file at a time.

Such a trace is one event after another, without lengths. All bytes are numbers that
end at a byte below 0x80, but for the text of strings and logs, and but for an event's
first byte from 0x80 up, which runs into the number that follows it. So a part of the
file is read as numbers at once; which of them are events follows from how many each
type has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.profiles.wire import varints
from pprofdiff.loaders.traces.batches import Damage, number_at
from pprofdiff.loaders.traces.events import looked_up, marked
from pprofdiff.loaders.traces.following import TABLES, reached
from pprofdiff.loaders.traces.tokens import TAIL, short_numbers, widened
from pprofdiff.loaders.traces.v1schema import ARGUMENTS, LENGTH_PREFIXED, V1

__all__ = ["Piece", "Tokens", "piece"]

_PADDING = bytes(16)
# As in internal/trace/internal/tracev1.
_LONGEST_STRING = 1_000_000
_MOST_BYTES = 2048
_PREFIXED = LENGTH_PREFIXED << 6
_STRING, _LOG, _STACK = V1.STRING, V1.LOG | _PREFIXED, V1.STACK | _PREFIXED
_TEXTS = (_STRING, _LOG)
_SPECIAL = marked((_STRING, _LOG, _STACK))
# Numbers of a log before its text's length: type and size, time, task, key, stack.
_BEFORE_TEXT = {_STRING: 2, _LOG: 5}
_UNTIMED = (V1.BATCH, V1.FREQUENCY, V1.TIMER_GOROUTINE)


def _tables() -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which first bytes may begin an event, and how many numbers it is."""
    known, after = np.zeros(256, np.bool_), np.ones(256, np.int64)
    for kind, arguments in ARGUMENTS.items():
        count = arguments + (kind not in _UNTIMED)
        first, prefixed = kind | (count - 1) << 6, kind | _PREFIXED
        if count < LENGTH_PREFIXED + 1:
            known[first] = True
            # A byte from 0x80 up takes a number along.
            after[first] = count + (first < 0x80)
        known[prefixed], after[prefixed] = True, count + 1
    for kind in (V1.STRING, V1.STACK, V1.LOG):
        known[[kind | top << 6 for top in range(4)]] = False
    known[V1.BATCH | _PREFIXED] = False
    known[[_STRING, _LOG, _STACK]] = True
    return known, after


_KNOWN, _AFTER = _tables()


class Tokens(NamedTuple):
    """Numbers in a row, with their first bytes (uint8).

    `values` is uint32 where all fit in it, else uint64, and goes on with `TAIL` zeros
    after the last number.
    """

    values: NDArray[np.unsignedinteger]
    lead: NDArray[np.uint8]


class Piece(NamedTuple):
    """The whole events at the begin of some bytes, and how many bytes they are.

    `heads` (int64) are the places of their types among `tokens`, `ends` (int64) the
    last byte of each number. `fault` tells what is wrong with the event that follows.
    """

    tokens: Tokens
    ends: NDArray[np.int64]
    heads: NDArray[np.int64]
    used: int
    fault: str | None = None

    def half(self) -> Piece:
        """Return the same without the latter half of its events."""
        kept = self.heads[: (len(self.heads) + 1) // 2]
        used = int(self.ends[self.heads[len(kept)] - 1]) + 1
        return self._replace(heads=kept, used=used, fault=None)

    def text(self, head: int) -> tuple[int, int]:
        """Return where the text of a string or log begins, and its length in bytes."""
        before = _BEFORE_TEXT[int(self.tokens.lead[head])]
        size = int(self.tokens.values[head + before])
        return int(self.ends[head + before]) + 1, size


def piece(part: memoryview) -> Piece:
    """Return the whole events that some bytes begin with, none if there is none."""
    found, clean = _piece(part)
    if not clean:
        # Text that a number runs into: take it out, one event at a time.
        found, _ = _piece(memoryview(_blanked(bytes(part))))
    return found


def _piece(part: memoryview) -> tuple[Piece, bool]:
    """Return events as `piece`, and whether it was not text that made them stop."""
    data = np.frombuffer(b"".join((part, _PADDING)), np.uint8)
    ends = np.flatnonzero(data[: len(part)] < 0x80)
    if not len(ends):
        none = np.zeros(0, np.int64)
        void = Tokens(np.zeros(TAIL, np.uint32), none.astype(np.uint8))
        return Piece(void, ends, none, 0), True
    tokens = _numbers(data, ends)
    size = len(ends)
    after = np.take(_AFTER, tokens.lead)
    after += np.arange(size)
    unclean = _skip_texts(tokens, ends, after)
    heads = _reached(after, size)
    bad = np.flatnonzero(~_KNOWN[tokens.lead[heads]] | _mismatched(tokens, ends, heads))
    fault = None
    whole = len(heads) - (int(after[heads[-1]]) != size)
    if len(bad) and bad[0] < whole:
        whole, fault = int(bad[0]), "an event of an unknown type or length"
    elif len(bad) and bad[0] == whole:
        fault = "an event of an unknown type or length"
    used = int(ends[-1]) + 1
    if whole < len(heads):
        head = int(heads[whole])
        used = int(ends[head - 1]) + 1 if head else 0
        clean = head not in unclean
    else:
        clean = True
    return Piece(tokens, ends, heads[:whole], used, fault), clean


def _numbers(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> Tokens:
    """Return the numbers that end at these bytes; what is no number has any value."""
    short = short_numbers(data, ends)
    values, lead, rows, at = short
    if len(rows):
        wide, lengths = varints(data, at)
        # The length of a stack is ten bytes, and follows the type's byte.
        most = np.flatnonzero(lengths == 0)
        rest, _ = varints(data, at[most] + 1)
        wide[most] = rest << np.uint64(7) | (data[at[most]] & np.uint8(0x7F))
        values = widened(short, wide)
    return Tokens(values, lead)


def _skip_texts(
    tokens: Tokens, ends: NDArray[np.int64], after: NDArray[np.int64]
) -> set[int]:
    """Let stacks and texts lead to what follows them.

    Returned are the numbers that would be a text whose end is within a number.
    """
    size = len(ends)
    rows = np.flatnonzero(looked_up(_SPECIAL, tokens.lead))
    lead = tokens.lead[rows]
    last = np.full(len(rows), size, np.int64)
    stacks = lead == _STACK
    held = rows[stacks]
    last[stacks] = ends[held] + np.minimum(
        tokens.values[held] >> np.uint8(7), 1 << 20
    ).astype(np.int64)
    for first, before in _BEFORE_TEXT.items():
        some = np.flatnonzero(lead == first)
        at = np.minimum(rows[some] + before, size - 1)
        length = np.minimum(tokens.values[at], 1 << 20).astype(np.int64)
        beyond = rows[some] + before >= size
        last[some] = np.where(beyond, ends[-1] + 1, ends[at] + length)
    place = np.searchsorted(ends, last)
    fits = np.minimum(place, size - 1)
    aligned = (place < size) & (ends[fits] == last)
    after[rows] = np.where(aligned, place + 1, size + 1)
    return set(rows[(place < size) & ~aligned].tolist())


def _mismatched(
    tokens: Tokens, ends: NDArray[np.int64], heads: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Mark events that are not as long as they say."""
    lead = tokens.lead[heads]
    wrong = np.zeros(len(heads), np.bool_)
    rows = np.flatnonzero((lead >= _PREFIXED) & (lead != _STACK))
    at = heads[rows]
    last = at + _AFTER[lead[rows]] - 1
    whole = last < len(ends)
    rows, at, last = rows[whole], at[whole], last[whole]
    size = tokens.values[at] >> np.uint8(7)
    wrong[rows] = (ends[last] - ends[at]).astype(np.uint64) != size.astype(np.uint64)
    rows = np.flatnonzero(lead >= _PREFIXED)
    wrong[rows] |= tokens.values[heads[rows]] >> np.uint8(7) > _MOST_BYTES
    for first, before in _BEFORE_TEXT.items():
        rows = np.flatnonzero(lead == first)
        at = heads[rows] + before
        rows, at = rows[at < len(ends)], at[at < len(ends)]
        wrong[rows] |= tokens.values[at] > _LONGEST_STRING
    return wrong


def _reached(after: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the places below `size` that are reached from 0, following `after`."""
    first = np.append(np.minimum(after, size), size)
    return reached([first, *(np.empty_like(first) for _ in range(1, TABLES))], size)


def _blanked(part: bytes) -> bytes:
    """Return the whole events that some bytes begin with, their text as zeros."""
    done, at = bytearray(part), 0
    try:
        while at < len(part):
            kind, top = part[at] & 0x3F, part[at] >> 6
            place, size = at + 1, 0
            for _ in range(1 if top == LENGTH_PREFIXED else top + 1):
                size, place = number_at(part, place)
            if top == LENGTH_PREFIXED:
                place += size
            if kind in (V1.STRING, V1.LOG):
                size, place = number_at(part, place)
                if size > len(part) - place:
                    break
                done[place : place + size] = bytes(size)
                place += size
            if place > len(part):
                break
            at = place
    except Damage:
        pass
    return bytes(done[:at])
