"""System calls in a trace of Go 1.11 to 1.21: which lasted, and lost their processor.

Such a trace has no event for the end of a call that was fast. As Go's reader, we let
it take a nanosecond (internal/trace/tracev1.go). The others lose their processor when
it stops, as in internal/trace/summary.go.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.v1columns import V1Events
from pprofdiff.loaders.traces.v1context import V1Context
from pprofdiff.loaders.traces.v1order import Moves
from pprofdiff.loaders.traces.v1schema import V1

__all__ = ["Calls", "calls_of"]

# What a processor's last caller sees: a call that lasts, one that is over, a stop.
_BEGINS, _OVER, _STOPS = 0, 1, 2


class Calls(NamedTuple):
    """Places among the moves, rising: calls that were fast, and those that lost theirs.

    `stops` (int64) are the rows of the events that took the processors of `lost`.
    """

    fast: NDArray[np.int64]
    lost: NDArray[np.int64]
    stops: NDArray[np.int64]


def calls_of(events: V1Events, context: V1Context, moves: Moves) -> Calls:
    """Return the system calls among the moves of goroutines."""
    calls = np.flatnonzero(moves.kind == V1.GO_SYSCALL)
    after = np.minimum(calls + 1, len(moves.kind) - 1)
    lasts = moves.kind[after] == V1.GO_SYSBLOCK
    lasts &= moves.owner[after] == moves.owner[calls]
    fast = calls[~lasts]
    began = np.concatenate(
        (calls[lasts], np.flatnonzero(moves.kind == V1.GO_IN_SYSCALL))
    )
    over = began + np.where(moves.kind[began] == V1.GO_SYSCALL, 2, 1)
    ends = np.minimum(over, len(moves.kind) - 1)
    ended = (over < len(moves.kind)) & (moves.owner[ends] == moves.owner[began])
    stops = events.where(V1.PROC_STOP)
    rows = moves.row
    # One line a thing that happens to the last caller of a processor.
    row = np.concatenate((rows[began], rows[fast], stops))
    what = np.repeat((_BEGINS, _OVER, _STOPS), (len(began), len(fast), len(stops)))
    place = np.concatenate((np.arange(len(began)), np.full(len(row) - len(began), -1)))
    processor = context.processor[row]
    order = np.lexsort((row, events.tick[row], processor))
    what, row, place = what[order], row[order], place[order]
    processor = processor[order]
    hit = np.flatnonzero(
        (what[:-1] == _BEGINS)
        & (what[1:] == _STOPS)
        & (processor[:-1] == processor[1:])
    )
    place, stop = place[hit], row[hit + 1]
    # A call may be over before its processor's stop was recorded.
    late = ended[place] & (events.tick[rows[ends[place]]] < events.tick[stop])
    place, stop = place[~late], stop[~late]
    order = np.argsort(began[place])
    return Calls(fast, began[place][order], stop[order])
