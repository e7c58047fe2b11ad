"""Small indices for ids of goroutines, Ps and threads, and for strings and stacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.model.arrays import Column, Index, Integers
from pprofdiff.model.csr import count_in_row, first_places, grouped, offsets_of
from pprofdiff.model.traces.trace import Stacks

T = TypeVar("T", bound=np.generic)

# Smaller ids are looked up in a table (int32 each), others by bisection.
_TABLE = 1 << 22
# Numbers per frame in the file: program counter, function, file, line.
FRAME_NUMBERS = 4
_LARGEST_LINE = (1 << 63) - 1


class IdIndex:
    """Maps ids (int64) to indices 0, 1, … in order of appearance, over generations."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._size = 0
        self._ids = np.zeros(0, np.int64)
        # Either indices by id, -1 for none, or sorted ids and their indices.
        self._table: Index | None = np.zeros(0, np.int32)
        self._ranked = self._ids
        self._order = np.zeros(0, np.int32)

    @property
    def ids(self) -> Column:
        """The id of each index (int64)."""
        return self._ids[: self._size]

    def __len__(self) -> int:
        return self._size

    def add(self, ids: Column) -> None:
        """Index the `ids` that have no index yet, in order."""
        added = ids[self.find(ids) < 0]
        if not len(added):
            return
        ranked, first = np.unique(added, return_index=True)
        added = added[np.sort(first)]
        size = self._size + len(added)
        if size > len(self._ids):
            self._ids = _grown(self._ids, size, 0)
        self._ids[self._size : size] = added
        indices = np.arange(self._size, size, dtype=np.int32)
        self._size = size
        if self._table is not None and (ranked[0] < 0 or ranked[-1] >= _TABLE):
            self._table = None
            self._order = np.argsort(self.ids, kind="stable").astype(np.int32)
            self._ranked = self.ids[self._order]
        elif self._table is not None:
            if ranked[-1] >= len(self._table):
                self._table = _grown(self._table, int(ranked[-1]) + 1, -1)
            self._table[added] = indices
        else:
            at = np.searchsorted(self._ranked, ranked)
            self._ranked = np.insert(self._ranked, at, ranked)
            ordered = indices[np.argsort(added, kind="stable")]
            self._order = np.insert(self._order, at, ordered)

    def find(self, ids: Column) -> Index:
        """Return the index of each id (int32), -1 if it has none."""
        if not self._size:
            return np.full(len(ids), -1, np.int32)
        if self._table is not None:
            indices: Index = np.take(self._table, ids, mode="clip")
            outside = (ids < 0) | (ids >= len(self._table))
            if outside.any():
                indices[outside] = -1
            return indices
        ranked = self._ranked
        at = np.minimum(np.searchsorted(ranked, ids), len(ranked) - 1)
        return np.where(ranked[at] == ids, self._order[at], np.int32(-1))

    def require(self, ids: Column) -> Index:
        """Return the index of each id (int32); raise Damage if one has none."""
        indices = self.find(ids)
        if len(indices) and int(indices.min()) < 0:
            raise Damage(f"an event of a {self._what} that was never mentioned")
        return indices


def _grown(column: NDArray[T], size: int, value: int) -> NDArray[T]:
    grown = np.full(size + size // 2, value, column.dtype)
    grown[: len(column)] = column
    return grown


class Ids(Struct, frozen=True, eq=False):
    """The ids of a trace's goroutines, Ps and threads so far."""

    goroutines: IdIndex
    processors: IdIndex
    threads: IdIndex

    @classmethod
    def none(cls) -> Ids:
        """Return empty indices."""
        return cls(IdIndex("goroutine"), IdIndex("processor"), IdIndex("thread"))


class Interner:
    """Gives equal strings, frames and stacks of all generations the same index.

    `strings` maps strings to indices, in order; index 0 is the empty string.
    """

    def __init__(self) -> None:
        self.strings: dict[str, int] = {"": 0}
        self._frames: dict[tuple[int, int, int], int] = {}
        self._stacks: dict[bytes, int] = {b"": 0}

    def string(self, text: str) -> int:
        """Return the index of a string."""
        return self.strings.setdefault(text, len(self.strings))

    def frame(self, function: int, file: int, line: int) -> int:
        """Return the index of a frame; `function` and `file` are string indices."""
        frame = function, file, min(line, _LARGEST_LINE)
        return self._frames.setdefault(frame, len(self._frames))

    def stack(self, frames: bytes) -> int:
        """Return the index of a stack, given as int32 frame indices, leaf first."""
        return self._stacks.setdefault(frames, len(self._stacks))

    def string_ids(self, strings: Mapping[int, str], what: str = "") -> IdMap:
        """Add the strings of a file or generation; return the indices of their ids."""
        indices = {id_: self.string(text) for id_, text in strings.items()}
        return IdMap({0: 0} | indices, what)

    def stack_ids(
        self,
        ids: Iterable[int],
        counts: Column,
        numbers: NDArray[np.unsignedinteger],
        strings: IdMap,
        what: str = "",
    ) -> IdMap:
        """Add stacks; return the indices of their ids. `counts` has each one's frames.

        `numbers`, of shape (frames, `FRAME_NUMBERS`), are as in the file. As in Go, the
        first frame seen for a program counter defines it. The runtime writes a frame
        without function and file where it cannot unwind a stack. Like Go's tools, this
        drops a stack that has only such frames.
        """
        counters, which = grouped(numbers[:, 0])
        _, function, file, line = numbers[first_places(which, len(counters))].T
        functions, files = strings(function), strings(file)
        frames = zip(functions.tolist(), files.tolist(), line.tolist(), strict=True)
        known = np.array([self.frame(*frame) for frame in frames], np.int32)
        named = (functions > 0) | (files > 0)
        offsets = offsets_of(counts)
        some = count_in_row(named[which], offsets) > 0
        frame_bytes = known[which].tobytes()
        stops = (offsets * known.itemsize).tolist()
        indices = [
            self.stack(frame_bytes[begin:end]) if is_named else 0
            for begin, end, is_named in zip(
                stops[:-1], stops[1:], some.tolist(), strict=True
            )
        ]
        return IdMap({0: 0} | dict(zip(ids, indices, strict=True)), what)

    def stacks(self) -> Stacks:
        """Return all stacks as a trace table."""
        frames = np.array(list(self._frames), np.int64).reshape(-1, 3)
        depths = np.array([len(s) // 4 for s in self._stacks], np.int64)
        return Stacks(
            offsets_of(depths),
            np.frombuffer(b"".join(self._stacks), np.int32),
            frames[:, 0].astype(np.int32),
            frames[:, 1].astype(np.int32),
            frames[:, 2].copy(),
        )


class IdMap:
    """Maps ids, any 64-bit numbers, of strings or stacks to indices; 0 has to be there.

    `what` they are is for errors; if "", an unknown id maps to 0.
    """

    def __init__(self, indices: dict[int, int], what: str = "") -> None:
        self._what = what
        self._ids = IdIndex(what)
        self._ids.add(np.fromiter(indices, np.uint64, len(indices)).view(np.int64))
        # The last one is for ids that are not found.
        self._indices = np.array([*indices.values(), -1], np.int32)

    def __call__(self, ids: Integers) -> Index:
        """Return the index of each id; raises Damage for an unknown one, or 0."""
        indices = self._indices[self._ids.find(ids.astype(np.int64, copy=False))]
        if len(indices) and int(indices.min()) < 0:
            if self._what:
                raise Damage(f"a {self._what} that is not in the file")
            np.maximum(indices, 0, out=indices)
        return indices
