"""The events of a trace of Go 1.11 to 1.21 as columns, and what they refer to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.events import Wide, marked

__all__ = ["Footer", "V1Events"]


class V1Events(NamedTuple):
    """All events, one processor's after another's, in the order they happened.

    `kind` uint8 (a `V1`); `tick` int64; `first` and `second` (uint32) are arguments,
    cut to 32 bits; `stack` (uint32) an id, 0 where the type has none. `processors`
    (int64) are ids, rows ``offsets[i]:offsets[i+1]`` those of ``processors[i]``. `wide`
    are the first arguments that 32 bits do not hold, `whole` the rows whose four
    arguments are in `arguments` (int64, shape (4, rows)). Read these with `named` and
    `argument`.
    """

    kind: NDArray[np.uint8]
    tick: NDArray[np.int64]
    first: NDArray[np.uint32]
    second: NDArray[np.uint32]
    stack: NDArray[np.uint32]
    processors: NDArray[np.int64]
    offsets: NDArray[np.int64]
    wide: Wide
    whole: NDArray[np.int64]
    arguments: NDArray[np.int64]

    def named(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the first argument of events."""
        found = self.first[rows].astype(np.int64)
        if len(self.wide.rows) and len(rows):
            at = np.searchsorted(self.wide.rows, rows)
            at = np.minimum(at, len(self.wide.rows) - 1)
            held = self.wide.rows[at] == rows
            found[held] = self.wide.values[at[held]]
        return found

    def argument(self, place: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return an argument of events of the types that are kept whole."""
        found: NDArray[np.int64] = self.arguments[
            place, np.searchsorted(self.whole, rows)
        ]
        return found

    def where(self, *kinds: int) -> NDArray[np.int64]:
        """Return the rows of events of these types, rising."""
        if len(kinds) == 1:
            return np.flatnonzero(self.kind == kinds[0])
        return np.flatnonzero(marked(kinds).view(np.bool_)[self.kind])


class Footer(NamedTuple):
    """What events refer to, by the ids of the file.

    `stacks` has an id and the numbers (pc, function, file, line) of its frames one
    after another; `logs` the texts of logs in the order of their rows; `samples` is
    int64 of shape (4, samples): tick, processor, goroutine, stack.
    """

    frequency: int
    strings: dict[int, str]
    stacks: dict[int, NDArray[np.unsignedinteger]]
    timers: NDArray[np.int64]
    logs: list[str]
    samples: NDArray[np.int64]
