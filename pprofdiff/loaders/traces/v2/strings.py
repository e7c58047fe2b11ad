"""The strings and stacks of a generation, mapped to indices of the whole trace."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.loaders.traces.interning import FRAME_NUMBERS, IdMap, Interner
from pprofdiff.loaders.traces.v2.event_finder import read_batch_varints
from pprofdiff.loaders.traces.v2.schema import EventType
from pprofdiff.loaders.traces.varints import TAIL, varint_at
from pprofdiff.model.arrays import Column, Index
from pprofdiff.model.csr import expand

# internal/trace/tracev2: MaxEventTrailerDataSize, MaxFramesPerStack.
_LONGEST_STRING = 1 << 10
_DEEPEST_STACK = 128
_MOST_REASONS = 1 << 16


class ReasonCodes:
    """Codes (uint16) of the strings that are reasons to block or stop; 0 is ""."""

    def __init__(self) -> None:
        self.strings = [0]
        self._codes = np.zeros(1, np.int32)

    def __call__(self, strings: Index) -> NDArray[np.uint16]:
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


def read_stacks(parts: list[memoryview], strings: IdMap, interner: Interner) -> IdMap:
    """Read a generation's batches of stacks; return the indices of their ids.

    Raises Damage for malformed batches, unknown strings, or repeated ids.
    """
    if not parts:
        return IdMap({0: 0}, "stack")
    tokens = read_batch_varints(parts)
    names, counts, at = _split(tokens.values[:-TAIL], tokens.starts.tolist())
    cells = expand(at, counts * FRAME_NUMBERS)
    numbers = tokens.values[cells].reshape(-1, FRAME_NUMBERS)
    if len({0, *names}) <= len(names):
        raise Damage("two stacks of one number")
    try:
        return interner.stack_ids(names, counts, numbers, strings, "stack")
    except Damage:
        raise Damage("a stack names a string that is not in the file") from None


def _split(
    values: NDArray[np.unsignedinteger], starts: list[int]
) -> tuple[list[int], Column, Column]:
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
