"""What goroutines did before the trace began: no event of theirs says it.

Until tracing started they are in no state. One that waits throughout has a stack, which
ends in the runtime function that waits. Of others it is known how the wait ends: a
goroutine that the netpoller readies tries its read or write again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType

import numpy as np

from pprofdiff.model.csr import grouped
from pprofdiff.model.traces.trace import RangeKind, State, Trace

# The reason of the STW pause in which runtime.StartTrace begins to record.
_START = "start trace"
_NETWORK = "network"
_WAITS_IN: Mapping[str, str] = MappingProxyType(
    {
        "runtime.chansend": "chan send",
        "runtime.chanrecv": "chan receive",
        "runtime.selectgo": "select",
        "runtime.block": "forever",
        "runtime.netpollblock": _NETWORK,
        "time.Sleep": "sleep",
        "sync.runtime_Semacquire": "sync",
        "sync.runtime_SemacquireMutex": "sync",
        "sync.runtime_SemacquireRWMutex": "sync",
        "sync.runtime_SemacquireRWMutexR": "sync",
        "sync.runtime_SemacquireWaitGroup": "sync",
        "internal/sync.runtime_SemacquireMutex": "sync",
        "sync.runtime_notifyListWait": "sync.(*Cond).Wait",
    }
)
"""The reason that each of these functions gives for a wait, as in later events
(`traceBlockReasonStrings` in runtime/traceruntime.go)."""

# Above these functions a stack has gopark, goparkunlock and semacquire1 at most.
_ABOVE = 4
# Rows of a goroutine that are looked at.
_NEAR = 200
# Where a goroutine readies what waits for the network: where it starts the world again,
# on the system stack (`startTheWorldWithSema` in runtime/proc.go), and where a deadline
# has passed. A mark worker readies what it stopped, on the system stack too.
_SWITCH, _DEADLINE = "runtime.systemstack_switch", "internal/poll.setDeadlineImpl"
_STARTS_WORLD = (
    "runtime.gcStart",
    "runtime.gcMarkTermination",
    "runtime.startTheWorld",
)
_DESCRIPTOR = "internal/poll.(*FD)."
# Waits that the scheduler ends as it does those for the network.
_TIMED = ("sleep", "select", "chan receive")


def with_earlier_waits(trace: Trace) -> Trace:
    """Return the trace with the reasons of waits that began before it, where known.

    Of waits for the network that end within the trace, the stacks are filled in too.
    Changes the trace's rows in place; the result shares them.
    """
    rows, named = trace.intervals, _Naming(trace)
    first = rows.offsets[:-1][np.diff(rows.offsets) > 0]
    unnamed = np.array([not reason for reason in trace.reasons], np.bool_)
    first = first[(rows.state[first] == State.WAITING) & unnamed[rows.reason[first]]]
    reasons = [*trace.reasons]

    def numbered(reason: str) -> int:
        if reason not in reasons:
            reasons.append(reason)
        return reasons.index(reason)

    stacks, which = grouped(rows.stack[first])
    waits_in = [named.waits_in(stack) for stack in stacks.tolist()]
    known = np.array([bool(reason) for reason in waits_in], np.bool_)[which]
    number = np.array([numbered(reason) if reason else 0 for reason in waits_in])
    rows.reason[first[known]] = number[which[known]]
    without = first[rows.stack[first] == 0]
    ends = rows.offsets[np.searchsorted(rows.offsets, without, "right")]
    for row, end in zip(without.tolist(), ends.tolist(), strict=True):
        stack = named.network_stack(row, min(end, row + _NEAR))
        if stack:
            rows.reason[row], rows.stack[row] = numbered(_NETWORK), stack
    if len(reasons) == len(trace.reasons):
        return trace
    return replace(trace, reasons=tuple(reasons))


class _Naming:
    """What stacks and rows of a trace say of a wait."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.waits_in = cache(self._waits_in)
        self._caller = cache(self._caller_of)
        self._polls = cache(self._polls_at)

    def _waits_in(self, stack: int) -> str:
        names = self._trace.functions_of(stack)[: _ABOVE + 1]
        return next((_WAITS_IN[name] for name in names if name in _WAITS_IN), "")

    def network_stack(self, row: int, end: int) -> int:
        """Return the stack of a wait for the network, 0 if it may be another wait.

        It is where the goroutine waits for the network later; if it does not, where it
        makes the system call again. Its rows up to `end` are looked at.
        """
        rows = self._trace.intervals
        if row + 1 >= end or rows.state[row + 1] != State.RUNNABLE:
            return 0
        after = row + 2
        while after < end and rows.state[after] in (State.RUNNABLE, State.RUNNING):
            after += 1
        if after == end or rows.state[after] != State.SYSCALL:
            return 0
        again = int(rows.stack[after])
        caller = self._caller(again)
        if not caller:
            return 0
        later = [*self._waits(after, end)]
        same = (stack for stack, why, _ in later if why == _NETWORK)
        here = next((stack for stack in same if self._caller(stack) == caller), 0)
        if rows.by[row + 1] < 0:
            # A timer that fires leaves the same events.
            timed = any(why in _TIMED and alone for _, why, alone in later)
            return 0 if timed else here
        return (here or again) if self._polls(int(rows.stack[row + 1])) else 0

    def _waits(self, first: int, end: int) -> Iterator[tuple[int, str, bool]]:
        """Yield waits: stack, reason, and whether no goroutine ended it."""
        rows = self._trace.intervals
        waits = first + np.flatnonzero(rows.state[first:end] == State.WAITING)
        for i in waits.tolist():
            alone = i + 1 < end and bool(rows.by[i + 1] < 0)
            yield int(rows.stack[i]), self._trace.reasons[rows.reason[i]], alone

    def _polls_at(self, stack: int) -> bool:
        """Return whether a waker with this stack ends only waits for the network."""
        leaf, above = (*self._trace.functions_of(stack)[:2], "", "")[:2]
        return leaf == _DEADLINE or (
            leaf == _SWITCH and above.startswith(_STARTS_WORLD)
        )

    def _caller_of(self, stack: int) -> tuple[int, ...]:
        """Return the frames from the method of a file descriptor on, whatever its line.

        () if no such method is in the stack.
        """
        stacks = self._trace.stacks
        for place, name in enumerate(self._trace.functions_of(stack)):
            if name.startswith(_DESCRIPTOR):
                first, end = stacks.offsets[stack : stack + 2].tolist()
                frames = stacks.frame[first + place : end]
                return int(stacks.function[frames[0]]), *frames[1:].tolist()
        return ()


def from_start(trace: Trace) -> Trace:
    """Return the trace, in which goroutines do nothing until tracing started.

    runtime.StartTrace stops the world, records who is in which state, and starts the
    world again, up to milliseconds later. In a short trace that is a large part of the
    time that goroutines are runnable. It becomes time in an unknown state, so that all
    times still add up to goroutines' lives. A trace that begins without this pause, as
    of a flight recorder, stays as it is. Changes the trace's rows in place.
    """
    rows, stops = trace.intervals, trace.ranges
    stops = stops.take((stops.kind == RangeKind.STOP_THE_WORLD) & (stops.end_ns >= 0))
    starts = [trace.strings[reason] == _START for reason in stops.name.tolist()]
    stops = stops.take(np.array(starts, np.bool_))
    old = np.flatnonzero((np.diff(rows.offsets) > 0) & ~trace.goroutines.born)
    first = rows.offsets[old]
    until = np.full(len(first), trace.end_ns, np.int64)
    more = np.flatnonzero(first + 1 < rows.offsets[old + 1])
    until[more] = rows.start_ns[first[more] + 1]
    # Nothing else is in the trace before the pause that starts it.
    if len(stops) and int(until.min(initial=trace.end_ns)) >= int(stops.start_ns[0]):
        since = np.maximum(rows.start_ns[first], int(stops.end_ns[0]))
        rows.start_ns[first] = np.minimum(since, until)
    return trace
