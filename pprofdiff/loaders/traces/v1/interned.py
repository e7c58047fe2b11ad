"""Map a file's string and stack ids to indices of the trace's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.interning import FRAME_NUMBERS, Interner


@dataclass(frozen=True, slots=True, eq=False)
class IdMap:
    """Maps ids of strings or stacks to indices; an unknown id maps to 0.

    Index 0 is the empty string, or no stack. `ids` (int64) is sorted.
    """

    ids: NDArray[np.int64]
    indices: NDArray[np.int32]

    @classmethod
    def of(cls, indices: Mapping[int, int]) -> IdMap:
        """Return the map from ids (64-bit numbers) to these indices."""
        ids = np.fromiter(indices, np.uint64, len(indices)).view(np.int64)
        order = np.argsort(ids)
        values = np.fromiter(indices.values(), np.int32, len(indices))
        return cls(ids[order], values[order])

    def __call__(self, ids: NDArray[np.integer]) -> NDArray[np.int32]:
        """Return the index of each id."""
        if not len(self.ids):
            return np.zeros(len(ids), np.int32)
        at = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[at] == ids, self.indices[at], np.int32(0))


def intern_strings(strings: Mapping[int, str], interner: Interner) -> IdMap:
    """Add a file's strings (by id) to the trace's; return the map of their ids."""
    return IdMap.of({id_: interner.string(text) for id_, text in strings.items()})


def intern_stacks(
    stacks: Mapping[int, NDArray[np.unsignedinteger]],
    strings: IdMap,
    interner: Interner,
) -> IdMap:
    """Add a file's stacks (see `FileTables`) to the trace's; return their index.

    As in Go, the first frame seen for a program counter defines it.
    """
    indices = {0: 0}
    if stacks:
        cells = np.concatenate([np.asarray(s, np.uint64) for s in stacks.values()])
        pc, function, file, line = cells.reshape(-1, FRAME_NUMBERS).T
        _, first, which = np.unique(pc, return_index=True, return_inverse=True)
        functions = strings(function[first].view(np.int64)).tolist()
        files = strings(file[first].view(np.int64)).tolist()
        frames = [
            interner.frame(*frame)
            for frame in zip(functions, files, line[first].tolist(), strict=True)
        ]
        frame_bytes, at = np.array(frames, np.int32)[which].tobytes(), 0
        # Like Go's tools, drop a stack if no frame has a function or file.
        named = (np.array(functions) + np.array(files) > 0)[which]
        for id_, numbers in stacks.items():
            # A frame is four numbers in the file, and four bytes here.
            end = at + len(numbers)
            some = named[at // FRAME_NUMBERS : end // FRAME_NUMBERS].any()
            indices[id_] = interner.stack(frame_bytes[at:end]) if some else 0
            at = end
    return IdMap.of(indices)
