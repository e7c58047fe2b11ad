"""Strings and stacks: a generation's ids, and one number for equal ones of them all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.batches import Damage, number_at
from pprofdiff.loaders.traces.schema import Kind
from pprofdiff.loaders.traces.tokens import TAIL, numbers
from pprofdiff.model.csr import count_in_row, expand, offsets_of
from pprofdiff.model.traces.trace import Stacks

__all__ = ["Interned", "Places", "Reasons", "read_stacks", "read_strings"]

# internal/trace/tracev2: MaxEventTrailerDataSize, MaxFramesPerStack.
_LONGEST_STRING = 1 << 10
_DEEPEST_STACK = 128
_FRAME = 4
_MOST_REASONS = 1 << 16
# Ids below this are looked up in a table (int32 each), others by bisection.
_TABLE = 1 << 22


class Places:
    """Where the ids of one generation are in the tables of the whole trace."""

    def __init__(self, what: str, places: dict[int, int]) -> None:
        """Take the place of each id; `what` names the things in errors."""
        self._what = what
        ids = np.fromiter(places, np.uint64, len(places)).view(np.int64)
        order = np.argsort(ids)
        self._ids = ids[order]
        self._places = np.fromiter(places.values(), np.int32, len(places))[order]
        dense = len(ids) > 0 and self._ids[0] >= 0 and self._ids[-1] < _TABLE
        self._table = np.full(int(self._ids[-1]) + 2 if dense else 0, -1, np.int32)
        if dense:
            self._table[self._ids] = self._places

    def __call__(self, ids: NDArray[np.integer]) -> NDArray[np.int32]:
        """Return the places (int32) of ids; raise Damage for one that has none."""
        if ids.itemsize == 4:
            ids = ids.astype(np.int64)
        elif ids.dtype == np.uint64:
            ids = ids.view(np.int64)
        if len(self._table):
            if len(ids) and int(ids.min()) < 0:
                raise Damage(f"a {self._what} that is not in the file")
            found: NDArray[np.int32] = np.take(self._table, ids, mode="clip")
        else:
            at = np.searchsorted(self._ids, ids)
            at = np.minimum(at, len(self._ids) - 1)
            found = np.where(self._ids[at] == ids, self._places[at], np.int32(-1))
        if len(found) and int(found.min()) < 0:
            raise Damage(f"a {self._what} that is not in the file")
        return found


class Interned:
    """Strings, frames and stacks of all generations, equal ones once."""

    def __init__(self) -> None:
        """Start with the empty string and the empty stack."""
        self.strings: dict[str, int] = {"": 0}
        self._frames: dict[tuple[int, int, int], int] = {}
        self._stacks: dict[bytes, int] = {b"": 0}

    def string(self, text: str) -> int:
        """Return a string's place."""
        return self.strings.setdefault(text, len(self.strings))

    def frame(self, function: int, file: int, line: int) -> int:
        """Return a frame's place."""
        return self._frames.setdefault((function, file, line), len(self._frames))

    def stack(self, frames: bytes) -> int:
        """Return the place of a stack: its frames' places as int32, leaf first."""
        return self._stacks.setdefault(frames, len(self._stacks))

    def stacks(self) -> Stacks:
        """Return all stacks."""
        frames = np.array(list(self._frames), np.int64).reshape(-1, 3)
        depths = np.array([len(s) // 4 for s in self._stacks], np.int64)
        return Stacks(
            offsets_of(depths),
            np.frombuffer(b"".join(self._stacks), np.int32),
            frames[:, 0].astype(np.int32),
            frames[:, 1].astype(np.int32),
            frames[:, 2].copy(),
        )


class Reasons:
    """Small numbers for the strings that are reasons to block or stop."""

    def __init__(self) -> None:
        """Start with the empty string."""
        self.strings = [0]
        self._codes = np.zeros(1, np.int32)

    def __call__(self, strings: NDArray[np.int32]) -> NDArray[np.uint16]:
        """Return the number of each string's place, a new one for a new reason."""
        most = int(strings.max()) + 1 if len(strings) else 0
        if most > len(self._codes):
            more = np.full(2 * most - len(self._codes), -1, np.int32)
            self._codes = np.append(self._codes, more)
        codes = self._codes[strings]
        if len(codes) and int(codes.min()) < 0:
            for place in dict.fromkeys(strings[codes < 0].tolist()):
                self._codes[place] = len(self.strings)
                self.strings.append(place)
            codes = self._codes[strings]
        if len(self.strings) > _MOST_REASONS:
            raise Damage("more reasons to block than there can be")
        return codes.astype(np.uint16)


def read_strings(data: bytes, first: int, last: int, into: dict[int, str]) -> None:
    """Read one batch of strings, bytes ``first:last``, into a generation's table."""
    at = first + 1
    while at < last:
        if data[at] != Kind.STRING:
            raise Damage("something else among the strings")
        name, at = number_at(data, at + 1)
        size, at = number_at(data, at)
        if size > _LONGEST_STRING or at + size > last:
            raise Damage("a string that does not end")
        if name in into or name == 0:
            raise Damage("two strings of one number")
        into[name] = data[at : at + size].decode("utf-8", "replace")
        at += size


def read_stacks(
    parts: list[memoryview], strings: dict[int, str], interned: Interned
) -> Places:
    """Read a generation's batches of stacks; return where its stacks are.

    As in Go, a program counter means what its first frame in the generation says.
    """
    places = {0: 0}
    if not parts:
        return Places("stack", places)
    tokens = numbers(parts)
    names, counts, at = _walked(tokens.values[:-TAIL], tokens.starts.tolist())
    cells = expand(at, counts * _FRAME)
    frames = tokens.values[cells].reshape(-1, _FRAME)
    first, which = _distinct(frames[:, 0])
    rows = frames[first].tolist()
    try:
        known = [
            interned.frame(
                interned.string(strings[function]),
                interned.string(strings[file]),
                min(line, (1 << 63) - 1),
            )
            for _, function, file, line in rows
        ]
    except KeyError:
        raise Damage("a stack names a string that is not in the file") from None
    spelled = np.array(known, np.int32)[which].tobytes()
    # The runtime writes stacks of one frame that says nothing: no stack, as for Go.
    telling = np.array([any(strings[place] for place in r[1:3]) for r in rows], bool)
    offsets = offsets_of(counts)
    told = count_in_row(telling[which], offsets).tolist()
    stops = (offsets * 4).tolist()
    for name, begin, end, some in zip(names, stops, stops[1:], told, strict=False):
        if name in places:
            raise Damage("two stacks of one number")
        places[name] = interned.stack(spelled[begin:end]) if some else 0
    return Places("stack", places)


def _walked(
    values: NDArray[np.unsignedinteger], starts: list[int]
) -> tuple[list[int], NDArray[np.int64], NDArray[np.int64]]:
    """Return each stack's id, its frames, and where the first of them stands."""
    row = values.tolist()
    names, counts, places = list[int](), list[int](), list[int]()
    for begin, end in zip(starts, [*starts[1:], len(row)], strict=True):
        at = begin + 1
        while at < end:
            if row[at] != Kind.STACK or at + 2 >= end or row[at + 2] > _DEEPEST_STACK:
                raise Damage("something else among the stacks")
            names.append(row[at + 1])
            counts.append(row[at + 2])
            places.append(at + 3)
            at += 3 + _FRAME * counts[-1]
        if at != end:
            raise Damage("a stack that does not end")
    return names, np.array(counts, np.int64), np.array(places, np.int64)


def _distinct(
    values: NDArray[np.unsignedinteger],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each distinct value first stands, and which of those each one is."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    fresh = np.ones(len(ranked), np.bool_)
    np.not_equal(ranked[1:], ranked[:-1], out=fresh[1:])
    which = np.empty(len(ranked), np.int64)
    which[order] = np.cumsum(fresh) - 1
    return order[fresh], which
