"""Find where the events of a trace of Go 1.11 to 1.21 begin, a chunk at a time.

Such a trace is one event after another, without lengths. All bytes belong to numbers
that end at a byte below 0x80, except texts, and an event's first byte if 0x80 or more,
which merges with the next number. A chunk is decoded into numbers at once; the number
count of each type then shows which of them begin events.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.loaders.profiles.wire import varints
from pprofdiff.loaders.traces.byte_tables import membership, rows_in
from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.loaders.traces.v1.schema import ARGUMENTS, LENGTH_PREFIXED, V1Type
from pprofdiff.loaders.traces.varints import (
    TABLES,
    TAIL,
    follow_jumps,
    read_short_varints,
    varint_at,
)
from pprofdiff.model.arrays import Codes, Column, Mask

E = V1Type
_PADDING = bytes(16)
# From internal/trace/internal/tracev1.
_LONGEST_STRING = 1_000_000
_MOST_BYTES = 2048
_PREFIXED = LENGTH_PREFIXED << 6
_STRING, _LOG, _STACK = E.STRING, E.LOG | _PREFIXED, E.STACK | _PREFIXED
_SPECIAL = membership((_STRING, _LOG, _STACK))
# Numbers of a log before its text length: type and size, time, task, key, stack.
_BEFORE_TEXT = {_STRING: 2, _LOG: 5}
_UNTIMED = (E.BATCH, E.FREQUENCY, E.TIMER_GOROUTINE)


def _tables() -> tuple[Mask, Column]:
    """Return which bytes may begin an event, and its count of numbers."""
    known, after = np.zeros(256, np.bool_), np.ones(256, np.int64)
    for type_, arguments in ARGUMENTS.items():
        count = arguments + (type_ not in _UNTIMED)
        first, prefixed = type_ | (count - 1) << 6, type_ | _PREFIXED
        if count < LENGTH_PREFIXED + 1:
            known[first] = True
            # A byte of 0x80 or more merges with the next number.
            after[first] = count + (first < 0x80)
        known[prefixed], after[prefixed] = True, count + 1
    for type_ in (E.STRING, E.STACK, E.LOG):
        known[[type_ | top << 6 for top in range(4)]] = False
    known[E.BATCH | _PREFIXED] = False
    known[[_STRING, _LOG, _STACK]] = True
    return known, after


_KNOWN, _AFTER = _tables()


class Varints(Struct, frozen=True, eq=False):
    """Consecutive numbers; `lead` (uint8) is the first byte of each.

    `values` is uint32 if all fit, else uint64, and is followed by `TAIL` zeros.
    """

    values: NDArray[np.unsignedinteger]
    lead: Codes


class FoundEvents(Struct, frozen=True, eq=False):
    """The whole events at the start of a chunk; `used` is their length in bytes.

    `numbers` are those of the whole chunk, and `ends` (int64) the last byte of each.
    `starts` (int64) are the numbers that begin an event. `fault` describes the error in
    the next event, None if there is none.
    """

    numbers: Varints
    ends: Column
    starts: Column
    used: int
    fault: str | None = None

    def half(self) -> FoundEvents:
        """Return the same without the second half of its events."""
        kept = self.starts[: (len(self.starts) + 1) // 2]
        used = int(self.ends[self.starts[len(kept)] - 1]) + 1
        return replace(self, starts=kept, used=used, fault=None)

    def text(self, start: int) -> tuple[int, int]:
        """Return the offset and length of the text of a string or log."""
        before = _BEFORE_TEXT[int(self.numbers.lead[start])]
        size = int(self.numbers.values[start + before])
        return int(self.ends[start + before]) + 1, size


def find_events(part: memoryview) -> FoundEvents:
    """Return the whole events at the start of a chunk, possibly none."""
    events, clean = _find_events(part)
    if not clean:
        # Text whose end merges with a number: blank text, one event at a time.
        events, _ = _find_events(memoryview(_blanked(bytes(part))))
    return events


def _find_events(part: memoryview) -> tuple[FoundEvents, bool]:
    """Like `find_events`; also return False if misaligned text stopped it."""
    data = np.frombuffer(b"".join((part, _PADDING)), np.uint8)
    ends = np.flatnonzero(data[: len(part)] < 0x80)
    if not len(ends):
        none = np.zeros(0, np.int64)
        void = Varints(np.zeros(TAIL, np.uint32), none.astype(np.uint8))
        return FoundEvents(void, ends, none, 0), True
    numbers = _numbers(data, ends)
    size = len(ends)
    after = np.take(_AFTER, numbers.lead)
    after += np.arange(size)
    unclean = _skip_texts(numbers, ends, after)
    starts = _chain(after, size)
    bad = np.flatnonzero(
        ~_KNOWN[numbers.lead[starts]] | _mismatched(numbers, ends, starts)
    )
    fault = None
    whole = len(starts) - (int(after[starts[-1]]) != size)
    if len(bad) and bad[0] < whole:
        whole, fault = int(bad[0]), "an event of unknown type or length"
    elif len(bad) and bad[0] == whole:
        fault = "an event of unknown type or length"
    used = int(ends[-1]) + 1
    if whole < len(starts):
        start = int(starts[whole])
        used = int(ends[start - 1]) + 1 if start else 0
        clean = start not in unclean
    else:
        clean = True
    return FoundEvents(numbers, ends, starts[:whole], used, fault), clean


def _numbers(data: Codes, ends: Column) -> Varints:
    """Return the numbers ending at `ends`; those inside text are arbitrary."""
    short = read_short_varints(data, ends)
    values, at = short.values, short.at
    if len(at):
        wide, lengths = varints(data, at)
        # A ten-byte length of a stack, after the type byte.
        most = np.flatnonzero(lengths == 0)
        rest, _ = varints(data, at[most] + 1)
        wide[most] = rest << np.uint64(7) | (data[at[most]] & np.uint8(0x7F))
        values = short.with_long(wide)
    return Varints(values, short.lead)


def _skip_texts(numbers: Varints, ends: Column, after: Column) -> set[int]:
    """Make `after` lead from stacks and texts to what follows them, in place.

    Return the numbers that would begin a text whose end lies inside a number.
    """
    size = len(ends)
    rows = rows_in(_SPECIAL, numbers.lead)
    lead = numbers.lead[rows]
    last = np.full(len(rows), size, np.int64)
    stacks = lead == _STACK
    size_at = rows[stacks]
    bytes_ = np.minimum(numbers.values[size_at] >> np.uint8(7), 1 << 20)
    last[stacks] = ends[size_at] + bytes_.astype(np.int64)
    for first, before in _BEFORE_TEXT.items():
        some = np.flatnonzero(lead == first)
        at = np.minimum(rows[some] + before, size - 1)
        length = np.minimum(numbers.values[at], 1 << 20).astype(np.int64)
        beyond = rows[some] + before >= size
        last[some] = np.where(beyond, ends[-1] + 1, ends[at] + length)
    place = np.searchsorted(ends, last)
    fits = np.minimum(place, size - 1)
    aligned = (place < size) & (ends[fits] == last)
    after[rows] = np.where(aligned, place + 1, size + 1)
    return set(rows[(place < size) & ~aligned].tolist())


def _mismatched(numbers: Varints, ends: Column, starts: Column) -> Mask:
    lead = numbers.lead[starts]
    wrong = np.zeros(len(starts), np.bool_)
    rows = np.flatnonzero((lead >= _PREFIXED) & (lead != _STACK))
    at = starts[rows]
    last = at + _AFTER[lead[rows]] - 1
    whole = last < len(ends)
    rows, at, last = rows[whole], at[whole], last[whole]
    size = numbers.values[at] >> np.uint8(7)
    wrong[rows] = (ends[last] - ends[at]).astype(np.uint64) != size.astype(np.uint64)
    rows = np.flatnonzero(lead >= _PREFIXED)
    wrong[rows] |= numbers.values[starts[rows]] >> np.uint8(7) > _MOST_BYTES
    for first, before in _BEFORE_TEXT.items():
        rows = np.flatnonzero(lead == first)
        at = starts[rows] + before
        rows, at = rows[at < len(ends)], at[at < len(ends)]
        wrong[rows] |= numbers.values[at] > _LONGEST_STRING
    return wrong


def _chain(after: Column, size: int) -> Column:
    first = np.append(np.minimum(after, size), size)
    return follow_jumps(
        [first, *(np.empty_like(first) for _ in range(1, TABLES))], size
    )


def _blanked(part: bytes) -> bytes:
    """Return the whole events at the start of a chunk, with text zeroed."""
    done, at = bytearray(part), 0
    try:
        while at < len(part):
            types, top = part[at] & 0x3F, part[at] >> 6
            place, size = at + 1, 0
            for _ in range(1 if top == LENGTH_PREFIXED else top + 1):
                size, place = varint_at(part, place)
            if top == LENGTH_PREFIXED:
                place += size
            if types in (E.STRING, E.LOG):
                size, place = varint_at(part, place)
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
