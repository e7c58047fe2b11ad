"""Times that never run backwards: nothing happens before what it follows.

Threads read their clocks apart, so that an event may carry an earlier time than one it
depends on. Go's reader waits for what comes first and then uses the later time
(internal/trace/reader.go); so each event's time becomes the latest of its own and of
all events it follows, on its thread, for its goroutine, processor or collection.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.batches import Damage

__all__ = ["Sequence", "settle"]

# Rounds after which one event at a time is looked at instead: what files that were
# made to be slow come to.
_ROUNDS = 64


class Sequence(NamedTuple):
    """Events that follow each other, and where a new run `begins` (bool).

    `event` has their rows, None means all rows as they are.
    """

    event: NDArray[np.int64] | None
    begins: NDArray[np.bool_]


def settle(time: NDArray[np.int64], sequences: list[Sequence]) -> None:
    """Raise times, in place, until none falls along a sequence.

    Raises Damage where sequences contradict each other.
    """
    for _ in range(_ROUNDS if _fits(time, sequences) else 0):
        if sum(_raise(time, sequence) for sequence in sequences) == 0:
            return
    _settle_one_by_one(time, sequences)


def _fits(time: NDArray[np.int64], sequences: list[Sequence]) -> bool:
    """Tell whether all runs of a sequence, end to end, are within 62 bits."""
    runs = max((np.count_nonzero(s.begins) for s in sequences), default=0)
    span = int(time.max()) - int(time.min()) + 1 if len(time) else 0
    return span * (int(runs) + 1) < 1 << 62


def _raise(time: NDArray[np.int64], sequence: Sequence) -> bool:
    """Make times along one sequence rise; tell whether any changed."""
    event = sequence.event
    held = time.copy() if event is None else time[event]
    falls = held[1:] < held[:-1]
    falls &= ~sequence.begins[1:]
    if not falls.any():
        return False
    run = np.cumsum(sequence.begins)
    least = int(held.min())
    span = int(held.max()) - least + 1
    held -= least
    held += run * span
    np.maximum.accumulate(held, out=held)
    held -= run * span
    held += least
    if event is None:
        np.maximum(time, held, out=time)
    else:
        np.maximum.at(time, event, held)
    return True


def _settle_one_by_one(time: NDArray[np.int64], sequences: list[Sequence]) -> None:
    """Do as `settle`, in an order in which each event comes after those it follows."""
    after: list[list[int]] = [[] for _ in range(len(time))]
    waits = [0] * len(time)
    for sequence in sequences:
        rows = np.arange(len(time)) if sequence.event is None else sequence.event
        event = rows.tolist()
        begins = sequence.begins.tolist()
        for left, right, begin in zip(event, event[1:], begins[1:], strict=False):
            if not begin and left != right:
                after[left].append(right)
                waits[right] += 1
    times = time.tolist()
    ready = [i for i, count in enumerate(waits) if not count]
    done = 0
    while ready:
        event_ = ready.pop()
        done += 1
        for follower in after[event_]:
            times[follower] = max(times[follower], times[event_])
            waits[follower] -= 1
            if not waits[follower]:
                ready.append(follower)
    if done < len(times):
        raise Damage("its events wait for each other")
    time[:] = times
