"""Map a file's string and stack ids to indices of the trace's tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.interning import FRAME_NUMBERS, IdMap, Interner


def intern_strings(strings: Mapping[int, str], interner: Interner) -> IdMap:
    """Add a file's strings (by id) to the trace's; return the map of their ids."""
    indices = {id_: interner.string(text) for id_, text in strings.items()}
    return IdMap({0: 0} | indices)


def intern_stacks(
    stacks: Mapping[int, NDArray[np.unsignedinteger]],
    strings: IdMap,
    interner: Interner,
) -> IdMap:
    """Add a file's stacks (see `FileTables`) to the trace's; return their index.

    As in Go, the first frame seen for a program counter defines it.
    """
    if not stacks:
        return IdMap({0: 0})
    cells = np.concatenate([np.asarray(s, np.uint64) for s in stacks.values()])
    pc, function, file, line = cells.reshape(-1, FRAME_NUMBERS).T
    _, first, which = np.unique(pc, return_index=True, return_inverse=True)
    functions = strings(function[first].view(np.int64)).tolist()
    files = strings(file[first].view(np.int64)).tolist()
    frames = list(zip(functions, files, line[first].tolist(), strict=True))
    counts = np.array([len(s) // FRAME_NUMBERS for s in stacks.values()], np.int64)
    indices = interner.add_stacks(counts, frames, which)
    return IdMap({0: 0} | dict(zip(stacks, indices, strict=True)))
