"""The strings and stacks of a generation, mapped to indices of the whole trace."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.loaders.traces.interning import FRAME_NUMBERS, Interner
from pprofdiff.loaders.traces.owner_rows import first_of_each
from pprofdiff.loaders.traces.v2.event_finder import read_batch_varints
from pprofdiff.loaders.traces.v2.schema import EventType
from pprofdiff.loaders.traces.varints import TAIL, varint_at
from pprofdiff.model.csr import count_in_row, expand, offsets_of

# internal/trace/tracev2: MaxEventTrailerDataSize, MaxFramesPerStack.
_LONGEST_STRING = 1 << 10
_DEEPEST_STACK = 128
_MOST_REASONS = 1 << 16
# Smaller ids are looked up in a table (int32 each), others by bisection.
_TABLE = 1 << 22


class IdMap:
    """Maps ids, any 64-bit numbers, of one generation to indices of the `Interner`."""

    def __init__(self, what: str, indices: dict[int, int]) -> None:
        self._what = what
        ids = np.fromiter(indices, np.uint64, len(indices)).view(np.int64)
        order = np.argsort(ids)
        self._ids = ids[order]
        self._indices = np.fromiter(indices.values(), np.int32, len(indices))[order]
        dense = len(ids) > 0 and self._ids[0] >= 0 and self._ids[-1] < _TABLE
        self._table = np.full(int(self._ids[-1]) + 2 if dense else 0, -1, np.int32)
        if dense:
            self._table[self._ids] = self._indices

    def __call__(self, ids: NDArray[np.integer]) -> NDArray[np.int32]:
        """Return the index of each id; raises Damage for an unknown one."""
        if ids.itemsize == 4:
            ids = ids.astype(np.int64)
        elif ids.dtype == np.uint64:
            ids = ids.view(np.int64)
        if len(self._table):
            if len(ids) and int(ids.min()) < 0:
                raise Damage(f"a {self._what} that is not in the file")
            indices: NDArray[np.int32] = np.take(self._table, ids, mode="clip")
        else:
            at = np.searchsorted(self._ids, ids)
            at = np.minimum(at, len(self._ids) - 1)
            indices = np.where(self._ids[at] == ids, self._indices[at], np.int32(-1))
        if len(indices) and int(indices.min()) < 0:
            raise Damage(f"a {self._what} that is not in the file")
        return indices


class ReasonCodes:
    """Codes (uint16) of the strings that are reasons to block or stop; 0 is ""."""

    def __init__(self) -> None:
        self.strings = [0]
        self._codes = np.zeros(1, np.int32)

    def __call__(self, strings: NDArray[np.int32]) -> NDArray[np.uint16]:
        """Return the code of each string (an index); a new reason gets a new code.

        Raises Damage if the trace has more than 65 536 reasons.
        """
        most = int(strings.max()) + 1 if len(strings) else 0
        if most > len(self._codes):
            more = np.full(2 * most - len(self._codes), -1, np.int32)
            self._codes = np.append(self._codes, more)
        codes = self._codes[strings]
        if len(codes) and int(codes.min()) < 0:
            for index in dict.fromkeys(strings[codes < 0].tolist()):
                self._codes[index] = len(self.strings)
                self.strings.append(index)
            codes = self._codes[strings]
        if len(self.strings) > _MOST_REASONS:
            raise Damage("more reasons to block than there can be")
        return codes.astype(np.uint16)


def read_strings(data: bytes, first: int, last: int, strings: dict[int, str]) -> None:
    """Read a batch of strings, bytes ``first:last`` of `data`, into `strings` by id.

    Raises Damage if the batch is malformed or an id occurs twice.
    """
    at = first + 1
    while at < last:
        if data[at] != EventType.STRING:
            raise Damage("something else among the strings")
        name, at = varint_at(data, at + 1)
        size, at = varint_at(data, at)
        if size > _LONGEST_STRING or at + size > last:
            raise Damage("a string that does not end")
        if name in strings or name == 0:
            raise Damage("two strings of one number")
        strings[name] = data[at : at + size].decode("utf-8", "replace")
        at += size


def read_stacks(
    parts: list[memoryview], strings: dict[int, str], interner: Interner
) -> IdMap:
    """Read a generation's batches of stacks; return the indices of their ids.

    As in Go, the first frame seen for a program counter in a generation defines it.
    Raises Damage for malformed batches, unknown strings, or repeated ids.
    """
    indices = {0: 0}
    if not parts:
        return IdMap("stack", indices)
    tokens = read_batch_varints(parts)
    names, counts, at = _split(tokens.values[:-TAIL], tokens.starts.tolist())
    cells = expand(at, counts * FRAME_NUMBERS)
    frames = tokens.values[cells].reshape(-1, FRAME_NUMBERS)
    first, which = _distinct(frames[:, 0])
    rows = frames[first].tolist()
    try:
        known = [
            interner.frame(
                interner.string(strings[function]),
                interner.string(strings[file]),
                line,
            )
            for _, function, file, line in rows
        ]
    except KeyError:
        raise Damage("a stack names a string that is not in the file") from None
    frame_bytes = np.array(known, np.int32)[which].tobytes()
    # The runtime writes a frame without function and file where it cannot unwind a
    # stack. Go's tools drop a stack that has only such frames.
    has_name = np.array([any(strings[place] for place in r[1:3]) for r in rows], bool)
    offsets = offsets_of(counts)
    named = count_in_row(has_name[which], offsets).tolist()
    stops = (offsets * 4).tolist()
    for name, begin, end, some in zip(names, stops, stops[1:], named, strict=False):
        if name in indices:
            raise Damage("two stacks of one number")
        indices[name] = interner.stack(frame_bytes[begin:end]) if some else 0
    return IdMap("stack", indices)


def _split(
    values: NDArray[np.unsignedinteger], starts: list[int]
) -> tuple[list[int], NDArray[np.int64], NDArray[np.int64]]:
    """Return each stack's id, its number of frames, and the index of the first one."""
    row = values.tolist()
    names, counts, places = list[int](), list[int](), list[int]()
    for begin, end in zip(starts, [*starts[1:], len(row)], strict=True):
        at = begin + 1
        while at < end:
            if (
                row[at] != EventType.STACK
                or at + 2 >= end
                or row[at + 2] > _DEEPEST_STACK
            ):
                raise Damage("something else among the stacks")
            names.append(row[at + 1])
            counts.append(row[at + 2])
            places.append(at + 3)
            at += 3 + FRAME_NUMBERS * counts[-1]
        if at != end:
            raise Damage("a stack that does not end")
    return names, np.array(counts, np.int64), np.array(places, np.int64)


def _distinct(
    values: NDArray[np.unsignedinteger],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first index of each distinct value, and which of those each one is."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    first = first_of_each(ranked)
    which = np.empty(len(ranked), np.int64)
    which[order] = np.cumsum(first) - 1
    return order[first], which
