"""The events of a trace of Go 1.11 to 1.21 as columns, and the tables they use."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.loaders.traces.byte_tables import membership
from pprofdiff.loaders.traces.wide_values import WideValues
from pprofdiff.model.arrays import Codes, Column


class V1Events(Struct, frozen=True, eq=False):
    """All events, grouped by P, in order for each P.

    Columns have one row per event. `type` (uint8) is a `V1Type`, `tick` (int64) a time
    in units of the trace's clock; `first` and `second` (uint32) are arguments truncated
    to 32 bits; `stack` (uint32) is a stack id, 0 if the type has none. Rows
    ``offsets[i]:offsets[i+1]`` belong to the P with id ``processors[i]`` (int64).

    `wide` are the first arguments that need more than 32 bits; `whole` (int64,
    increasing) are the rows whose arguments are all in `arguments` (int64, shape (4,
    rows)). Read these with `first_argument` and `argument`.
    """

    type: Codes
    tick: Column
    first: NDArray[np.uint32]
    second: NDArray[np.uint32]
    stack: NDArray[np.uint32]
    processors: Column
    offsets: Column
    wide: WideValues
    whole: Column
    arguments: Column

    def __len__(self) -> int:
        return len(self.type)

    def first_argument(self, rows: Column) -> Column:
        """Return the first argument of these events (int64)."""
        values = self.first[rows].astype(np.int64)
        self.wide.restore(values, rows)
        return values

    def argument(self, place: int, rows: Column) -> Column:
        """Return argument `place` (0 to 3) of these events, all of them in `whole`."""
        values: Column = self.arguments[place, np.searchsorted(self.whole, rows)]
        return values

    def where(self, *types: int) -> Column:
        """Return the rows of events of these types (int64, increasing)."""
        if len(types) == 1:
            return np.flatnonzero(self.type == types[0])
        return np.flatnonzero(membership(types).view(np.bool_)[self.type])


class FileTables(Struct, frozen=True, eq=False):
    """Tables that the events of a file refer to, keyed by the file's ids.

    `frequency` is the clock's, in ticks per second. `stacks` has, for each id, the
    numbers (pc, function, file, line) of its frames, concatenated. `timers` (int64) are
    ids of goroutines that only wake others, up to Go 1.13. `logs` has the texts of logs
    in row order. `samples` (int64, shape (4, samples)) are CPU samples: tick, P,
    goroutine, stack.
    """

    frequency: int
    strings: dict[int, str]
    stacks: dict[int, NDArray[np.unsignedinteger]]
    timers: Column
    logs: list[str]
    samples: Column
