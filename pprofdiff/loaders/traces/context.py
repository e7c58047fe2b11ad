"""Who was running: the goroutine and the processor of the thread at each event.

A thread's events say when it takes a goroutine or a processor and lets go of it; what
holds between is filled in. The rules are those of internal/trace/order.go.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.events import Events, looked_up
from pprofdiff.loaders.traces.filling import Filled, filled
from pprofdiff.loaders.traces.numbering import Numbering
from pprofdiff.loaders.traces.order import CARRIED, NUMBERED
from pprofdiff.loaders.traces.schema import NO_THREAD, Kind, table
from pprofdiff.model.csr import slices

__all__ = ["Context", "Held", "context_of"]

K = Kind
NOBODY = -1
# GoStatus and ProcStatus on the wire (internal/trace/tracev2).
GO_RUNNING, GO_SYSCALL = 2, 3
PROC_RUNNING, PROC_SYSCALL = 1, 3

# How an event changes its thread's goroutine: takes the one it names, with its
# sequence number, takes it without, may take it (a status), lets go.
_TAKES, _CREATES, _SAYS, _LEAVES = 1, 2, 3, 4
_GOROUTINE = table(
    {K.GO_START: _TAKES, K.GO_SWITCH: _TAKES, K.GO_SWITCH_DESTROY: _TAKES}
    | {K.GO_CREATE_SYSCALL: _CREATES, K.GO_STATUS: _SAYS, K.GO_STATUS_STACK: _SAYS}
    | {K.GO_STOP: _LEAVES, K.GO_BLOCK: _LEAVES, K.GO_DESTROY: _LEAVES}
    | {K.GO_DESTROY_SYSCALL: _LEAVES, K.GO_SYSCALL_END_BLOCKED: _LEAVES}
)
_PROCESSOR = table(
    {K.PROC_START: _TAKES, K.PROC_STATUS: _SAYS, K.PROC_STOP: _LEAVES}
    | {K.PROC_STEAL: _SAYS, K.GO_DESTROY_SYSCALL: _LEAVES}
    | {K.GO_SYSCALL_END_BLOCKED: _LEAVES}
)


class Held(NamedTuple):
    """What each thread has at a generation's end, by its number on the wire."""

    goroutine: dict[int, int]
    processor: dict[int, int]


class Context(NamedTuple):
    """Each event's goroutine and processor before it happens, and their order.

    `goroutine` and `processor` are places, -1 for none; `goroutine_key` and
    `processor_key` (uint32) order events of one owner, see `order`. `held` is what the
    threads have afterwards.
    """

    goroutine: NDArray[np.int32]
    goroutine_key: NDArray[np.uint32]
    processor: NDArray[np.int16]
    processor_key: NDArray[np.uint32]
    held: Held

    def lighter(self) -> Context:
        """Return the same without what orders events."""
        none = np.zeros(0, np.uint32)
        return self._replace(goroutine_key=none, processor_key=none)


def context_of(
    events: Events, goroutines: Numbering, processors: Numbering, held: Held
) -> Context:
    """Return the context of a generation's events.

    `held` is what threads have from before.
    """
    threads = events.threads.tolist()
    bound = _bound_elsewhere(events, goroutines)
    start = [held.goroutine.get(t, bound.get(t, NOBODY)) for t in threads]
    goroutine, goroutine_key = _goroutines(events, goroutines, start)
    start = [held.processor.get(t, NOBODY) for t in threads]
    rows, value = _processor_changes(events, processors)
    processor = filled(events.offsets, rows, value, start, np.int16)
    # Who comes out of a blocked call has lost its processor, to whomever.
    back = rows[events.kind[rows] == K.GO_SYSCALL_END_BLOCKED]
    processor.column[back] = NOBODY
    after = Held(
        {**bound, **held.goroutine, **dict(zip(threads, goroutine.last, strict=True))},
        {**held.processor, **dict(zip(threads, processor.last, strict=True))},
    )
    for known in after:
        for thread in [t for t, v in known.items() if v == NOBODY or t == NO_THREAD]:
            del known[thread]
    return Context(
        goroutine.column,
        goroutine_key.column,
        processor.column,
        _processor_keys(events),
        after,
    )


def _of_threads(events: Events, rows: NDArray[np.int64]) -> slice | NDArray[np.bool_]:
    """Return which rows are of threads: what is of none changes nobody's."""
    none = np.flatnonzero(events.threads == NO_THREAD)
    if not len(none):
        return slice(None)
    first, last = events.offsets[none[0]], events.offsets[none[0] + 1]
    keep: NDArray[np.bool_] = (rows < first) | (rows >= last)
    return keep


def _bound_elsewhere(events: Events, goroutines: Numbering) -> dict[int, int]:
    """Return goroutines in a system call on threads that others speak for."""
    rows = events.where(K.GO_STATUS, K.GO_STATUS_STACK)
    rows = rows[events.argument(2, rows) == GO_SYSCALL]
    thread = events.argument(1, rows)
    other = thread != events.thread_of(rows)
    rows, thread = rows[other], thread[other]
    places = goroutines.known(events.argument(0, rows))
    return dict(zip(thread.tolist(), places.tolist(), strict=True))


def _goroutines(
    events: Events, goroutines: Numbering, start: list[int]
) -> tuple[Filled, Filled]:
    """Return the goroutine of each event's thread, and what orders its events."""
    value = Filled(events.offsets, start, np.int32)
    seq = Filled(events.offsets, [CARRIED] * len(start), np.uint32)
    says = events.where(K.GO_STATUS, K.GO_STATUS_STACK)
    status = events.argument(2, says)
    own = events.argument(1, says) == events.thread_of(says)
    takes = (status == GO_RUNNING) | ((status == GO_SYSCALL) & own)
    for here in slices(len(events.kind)):
        how = looked_up(_GOROUTINE, events.kind[here])
        a, b = np.searchsorted(says, (here.start, here.stop)).tolist()
        how[says[a:b] - here.start] = np.where(takes[a:b], _CREATES, 0)
        rows = np.flatnonzero(how)
        how = how[rows]
        rows += here.start
        keep = _of_threads(events, rows)
        rows, how = rows[keep], how[keep]
        values = np.full(len(rows), NOBODY, np.int32)
        numbers = np.full(len(rows), NUMBERED, np.uint32)
        named = how != _LEAVES
        values[named] = goroutines.known(events.argument(0, rows[named]))
        started = how == _TAKES
        numbers[started] += events.argument(1, rows[started]).astype(np.uint32)
        value.add(rows, values, here)
        seq.add(rows, numbers, here)
    return value, seq


def _processor_changes(
    events: Events, processors: Numbering
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the events that change a thread's processor: rows, and the new one."""
    kind = events.kind[events.rare]
    how = looked_up(_PROCESSOR, kind)
    status = kind == K.PROC_STATUS
    said = events.argument(1, events.rare[status])
    how[status] = np.where(np.isin(said, (PROC_RUNNING, PROC_SYSCALL)), _TAKES, 0)
    steals = kind == K.PROC_STEAL
    rows = events.rare[steals]
    starts = events.rare[how == _TAKES]
    how[steals] = np.where(_from_themselves(events, rows, starts), _LEAVES, 0)
    # Out of a blocked system call without a processor, unless one was taken meanwhile.
    calls = events.where(K.GO_SYSCALL_BEGIN)
    ends = kind == K.GO_SYSCALL_END_BLOCKED
    back = events.rare[ends]
    since = np.maximum(_begin_of(events, back), _last_before(calls, back))
    how[ends] = np.where(_last_before(starts, back) >= since, 0, _LEAVES)
    rows, how = events.rare[how > 0], how[how > 0]
    value = np.full(len(rows), NOBODY, np.int32)
    taken = how == _TAKES
    value[taken] = processors.known(events.argument(0, rows[taken]))
    keep = _of_threads(events, rows)
    return rows[keep], value[keep]


def _from_themselves(
    events: Events, steals: NDArray[np.int64], starts: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Mark steals by which a thread gives up the processor that it has.

    A thread that got the number of one that is gone may steal what that one left: then
    it has taken another processor, at one of `starts`, meanwhile.
    """
    own = events.argument(2, steals) == events.thread_of(steals)
    last = _last_before(starts, steals)
    since = last >= _begin_of(events, steals)
    other = np.zeros(len(steals), np.bool_)
    has = events.argument(0, last[since])
    other[since] = has != events.argument(0, steals[since])
    found: NDArray[np.bool_] = own & ~other
    return found


def _begin_of(events: Events, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first event of each row's thread."""
    begins = events.offsets[:-1]
    return begins[np.searchsorted(begins, rows, side="right") - 1]


def _last_before(
    rows: NDArray[np.int64], places: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return for each place the last of `rows` (rising) before it, -1 if none."""
    return np.append(np.int64(-1), rows)[np.searchsorted(rows, places)]


def _processor_keys(events: Events) -> NDArray[np.uint32]:
    """Return what orders each event among those of its thread's processor."""
    says = events.where(K.PROC_STATUS)
    binds = np.isin(events.argument(1, says), (PROC_RUNNING, PROC_SYSCALL))
    rows = events.where(K.PROC_START, K.GO_SYSCALL_BEGIN)
    rows = np.sort(np.concatenate((rows, says[binds])), kind="stable")
    kind = events.kind[rows]
    seq = np.full(len(rows), NUMBERED, np.uint32)
    for of, place in ((K.PROC_START, 1), (K.GO_SYSCALL_BEGIN, 0)):
        some = kind == of
        seq[some] += events.argument(place, rows[some]).astype(np.uint32)
    carried = [CARRIED] * len(events.threads)
    return filled(events.offsets, rows, seq, carried, np.uint32).column
