"""Adjust times so that no event is earlier than an event that it follows.

Threads read their clocks independently. As in Go's reader (internal/trace/reader.go),
an event's time becomes the maximum of its own and of all events before it: on its
thread, goroutine or P, or in its GC cycle.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.model.arrays import Column, Mask

# After this many rounds (adversarial files only), events are visited one by one.
_ROUNDS = 64


class HappensBefore(Struct, frozen=True, eq=False):
    """Chains of events in which each event happened before the next one.

    `event` (int64) are rows of events, chain after chain; None means all rows in order.
    `begins` (bool, same length) marks the first event of each chain.
    """

    event: Column | None
    begins: Mask


def enforce_happens_before(time: Column, constraints: list[HappensBefore]) -> None:
    """Raise times (int64 ns), in place, until none decreases along any chain.

    Raises Damage if the constraints contradict each other.
    """
    for _ in range(_ROUNDS if _fits(time, constraints) else 0):
        if sum(_raise_along(time, constraint) for constraint in constraints) == 0:
            return
    _enforce_one_by_one(time, constraints)


def _fits(time: Column, constraints: list[HappensBefore]) -> bool:
    """Return whether all chains of each constraint, end to end, fit in 62 bits."""
    chains = max((np.count_nonzero(c.begins) for c in constraints), default=0)
    length = int(time.max()) - int(time.min()) + 1 if len(time) else 0
    return length * (int(chains) + 1) < 1 << 62


def _raise_along(time: Column, constraint: HappensBefore) -> bool:
    """Make times non-decreasing along one constraint; return whether any changed."""
    event = constraint.event
    raised = time.copy() if event is None else time[event]
    falls = raised[1:] < raised[:-1]
    falls &= ~constraint.begins[1:]
    if not falls.any():
        return False
    # Give each chain its own time axis, so that one running maximum serves all.
    chain = np.cumsum(constraint.begins)
    least = int(raised.min())
    length = int(raised.max()) - least + 1
    raised -= least
    raised += chain * length
    np.maximum.accumulate(raised, out=raised)
    raised -= chain * length
    raised += least
    if event is None:
        np.maximum(time, raised, out=time)
    else:
        np.maximum.at(time, event, raised)
    return True


def _enforce_one_by_one(time: Column, constraints: list[HappensBefore]) -> None:
    """Like `enforce_happens_before`, visiting each event after its predecessors."""
    after: list[list[int]] = [[] for _ in range(len(time))]
    waits = [0] * len(time)
    for constraint in constraints:
        rows = np.arange(len(time)) if constraint.event is None else constraint.event
        event = rows.tolist()
        begins = constraint.begins.tolist()
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
