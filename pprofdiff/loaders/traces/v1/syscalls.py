"""System calls in a trace of Go 1.11 to 1.21: fast ones, and those that lose their P.

A fast call has no end: it takes one nanosecond, as in Go's reader
(internal/trace/tracev1.go). The others lose their P when it stops (summary.go).
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from pprofdiff.loaders.traces.v1.context import V1Context
from pprofdiff.loaders.traces.v1.events import V1Events
from pprofdiff.loaders.traces.v1.schema import V1Type
from pprofdiff.loaders.traces.v1.transitions import Transitions
from pprofdiff.model.arrays import Column

# Events on a P with a system call: a slow call begins, a call ends, the P stops.
_BEGINS, _OVER, _STOPS = 0, 1, 2


class Syscalls(Struct, frozen=True, eq=False):
    """System calls among the transitions, as their rows (int64, increasing).

    `fast` calls ended at once; in `lost` calls the goroutine lost its P, to the events
    in rows `stops` (int64, same length as `lost`).
    """

    fast: Column
    lost: Column
    stops: Column


def syscalls_of(
    events: V1Events, context: V1Context, transitions: Transitions
) -> Syscalls:
    """Return the system calls among goroutine transitions."""
    syscalls = np.flatnonzero(transitions.type == V1Type.GO_SYSCALL)
    after = np.minimum(syscalls + 1, len(transitions.type) - 1)
    lasts = transitions.type[after] == V1Type.GO_SYSBLOCK
    lasts &= transitions.owner[after] == transitions.owner[syscalls]
    fast = syscalls[~lasts]
    began = syscalls[lasts]
    over = began + 2
    ends = np.minimum(over, len(transitions.type) - 1)
    ended = (over < len(transitions.type)) & (
        transitions.owner[ends] == transitions.owner[began]
    )
    stops = events.where(V1Type.PROC_STOP)
    rows = transitions.row
    # One row for each event that affects the last system call of a P.
    row = np.concatenate((rows[began], rows[fast], stops))
    what = np.repeat((_BEGINS, _OVER, _STOPS), (len(began), len(fast), len(stops)))
    place = np.concatenate((np.arange(len(began)), np.full(len(row) - len(began), -1)))
    processor = context.processor[row]
    order = np.lexsort((row, events.tick[row], processor))
    what, row, place = what[order], row[order], place[order]
    processor = processor[order]
    taken = np.flatnonzero(
        (what[:-1] == _BEGINS)
        & (what[1:] == _STOPS)
        & (processor[:-1] == processor[1:])
    )
    place, stop = place[taken], row[taken + 1]
    # A call may have ended before the stop of its P was recorded.
    late = ended[place] & (events.tick[rows[ends[place]]] < events.tick[stop])
    place, stop = place[~late], stop[~late]
    order = np.argsort(began[place])
    return Syscalls(fast, began[place][order], stop[order])
