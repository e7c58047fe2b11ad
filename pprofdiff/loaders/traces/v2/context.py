"""The goroutine and the P of each event's thread.

A thread's events show when it acquires and releases a goroutine or a P; `forward_fill`
fills in the events between. The rules are in internal/trace/order.go.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.loaders.traces.byte_tables import byte_table, lookup
from pprofdiff.loaders.traces.id_index import IdIndex
from pprofdiff.loaders.traces.owner_rows import ForwardFill, forward_fill
from pprofdiff.loaders.traces.v2.effects import CARRIED_OVER, NUMBERED
from pprofdiff.loaders.traces.v2.events import Events
from pprofdiff.loaders.traces.v2.schema import (
    NO_THREAD,
    EventType,
    GoStatus,
    ProcStatus,
)
from pprofdiff.model.arrays import Column, Index, Mask
from pprofdiff.model.csr import slices

E = EventType
# No goroutine, no P.
NOBODY = -1
# Statuses of Ps that a thread has.
_BINDING = (ProcStatus.RUNNING, ProcStatus.SYSCALL)

# How an event changes what its thread has: it acquires the goroutine (P) that it names,
# and has a sequence number; acquires it, and has none; acquires it or not, depending on
# its status; releases the one that the thread has.
_TAKES, _CREATES, _STATUS, _LEAVES = 1, 2, 3, 4
_GOROUTINE = byte_table(
    {E.GO_START: _TAKES, E.GO_SWITCH: _TAKES, E.GO_SWITCH_DESTROY: _TAKES}
    | {E.GO_CREATE_SYSCALL: _CREATES, E.GO_STATUS: _STATUS, E.GO_STATUS_STACK: _STATUS}
    | {E.GO_STOP: _LEAVES, E.GO_BLOCK: _LEAVES, E.GO_DESTROY: _LEAVES}
    | {E.GO_DESTROY_SYSCALL: _LEAVES, E.GO_SYSCALL_END_BLOCKED: _LEAVES}
)
_PROCESSOR = byte_table(
    {E.PROC_START: _TAKES, E.PROC_STATUS: _STATUS, E.PROC_STOP: _LEAVES}
    | {E.PROC_STEAL: _STATUS, E.GO_DESTROY_SYSCALL: _LEAVES}
    | {E.GO_SYSCALL_END_BLOCKED: _LEAVES}
)


class ThreadBindings(Struct, frozen=True):
    """The goroutine and the P of each thread between two generations.

    Both map a thread id (int64) to the index of a goroutine or P; others are left out.
    """

    goroutine: dict[int, int]
    processor: dict[int, int]


class Context(Struct, frozen=True, eq=False):
    """The goroutine and P that each event's thread has before the event.

    `goroutine` and `processor` are indices, -1 for none. `goroutine_key` and
    `processor_key` (uint32) order the events of one goroutine or P, see `effects`.
    """

    goroutine: Index
    goroutine_key: NDArray[np.uint32]
    processor: NDArray[np.int16]
    processor_key: NDArray[np.uint32]
    after: ThreadBindings

    def lighter(self) -> Context:
        """Return the same context without the keys."""
        none = np.zeros(0, np.uint32)
        return replace(self, goroutine_key=none, processor_key=none)


def context_of(
    events: Events, goroutines: IdIndex, processors: IdIndex, before: ThreadBindings
) -> Context:
    """Return the context of a generation's events, given what threads have `before`.

    Raises Damage if an event names a goroutine or P that was never mentioned.
    """
    threads = events.threads.tolist()
    bound = _bound_elsewhere(events, goroutines)
    start = [before.goroutine.get(t, bound.get(t, NOBODY)) for t in threads]
    goroutine, goroutine_key = _goroutines(events, goroutines, start)
    start = [before.processor.get(t, NOBODY) for t in threads]
    rows, value = _processor_changes(events, processors)
    processor = forward_fill(events.offsets, rows, value, start, np.int16)
    # A goroutine that returns from a blocked call has lost its P.
    back = rows[events.type[rows] == E.GO_SYSCALL_END_BLOCKED]
    processor.column[back] = NOBODY
    last_goroutine = dict(zip(threads, goroutine.last, strict=True))
    last_processor = dict(zip(threads, processor.last, strict=True))
    return Context(
        goroutine=goroutine.column,
        goroutine_key=goroutine_key.column,
        processor=processor.column,
        processor_key=_processor_keys(events),
        after=ThreadBindings(
            _bound({**bound, **before.goroutine, **last_goroutine}),
            _bound({**before.processor, **last_processor}),
        ),
    )


def _bound(bindings: dict[int, int]) -> dict[int, int]:
    return {t: v for t, v in bindings.items() if v != NOBODY and t != NO_THREAD}


def _of_threads(events: Events, rows: Column) -> slice | Mask:
    """Return which rows belong to a thread; others change no context."""
    none = np.flatnonzero(events.threads == NO_THREAD)
    if not len(none):
        return slice(None)
    first, last = events.offsets[none[0]], events.offsets[none[0] + 1]
    keep: Mask = (rows < first) | (rows >= last)
    return keep


def _bound_elsewhere(events: Events, goroutines: IdIndex) -> dict[int, int]:
    """Return, by thread, goroutines in system calls mentioned on other threads."""
    rows = events.where(E.GO_STATUS, E.GO_STATUS_STACK)
    rows = rows[events.argument(2, rows) == GoStatus.SYSCALL]
    thread = events.argument(1, rows)
    other = thread != events.thread_of(rows)
    rows, thread = rows[other], thread[other]
    places = goroutines.require(events.argument(0, rows))
    return dict(zip(thread.tolist(), places.tolist(), strict=True))


def _goroutines(
    events: Events, goroutines: IdIndex, start: list[int]
) -> tuple[ForwardFill, ForwardFill]:
    value = ForwardFill(events.offsets, start, np.int32)
    seq = ForwardFill(events.offsets, [CARRIED_OVER] * len(start), np.uint32)
    says = events.where(E.GO_STATUS, E.GO_STATUS_STACK)
    status = events.argument(2, says)
    own = events.argument(1, says) == events.thread_of(says)
    takes = status == GoStatus.RUNNING
    takes |= (status == GoStatus.SYSCALL) & own
    for here in slices(len(events.type)):
        how = lookup(_GOROUTINE, events.type[here])
        a, b = np.searchsorted(says, (here.start, here.stop)).tolist()
        how[says[a:b] - here.start] = np.where(takes[a:b], _CREATES, 0)
        rows = np.flatnonzero(how != 0)
        how = how[rows]
        rows += here.start
        keep = _of_threads(events, rows)
        rows, how = rows[keep], how[keep]
        values = np.full(len(rows), NOBODY, np.int32)
        numbers = np.full(len(rows), NUMBERED, np.uint32)
        named = np.flatnonzero(how != _LEAVES)
        values[named] = goroutines.require(events.argument(0, rows[named]))
        started = np.flatnonzero(how == _TAKES)
        numbers[started] += events.argument(1, rows[started]).astype(np.uint32)
        value.add(rows, values, here)
        seq.add(rows, numbers, here)
    return value, seq


def _processor_changes(events: Events, processors: IdIndex) -> tuple[Column, Index]:
    types = events.rare_type
    how = lookup(_PROCESSOR, types)
    status = types == E.PROC_STATUS
    said = events.argument(1, events.rare[status])
    how[status] = np.where(np.isin(said, _BINDING), _TAKES, 0)
    steals = types == E.PROC_STEAL
    rows = events.rare[steals]
    starts = events.rare[how == _TAKES]
    how[steals] = np.where(_from_themselves(events, rows, starts), _LEAVES, 0)
    # Back from a blocked system call without a P, unless one was acquired since.
    calls = events.where(E.GO_SYSCALL_BEGIN)
    ends = types == E.GO_SYSCALL_END_BLOCKED
    back = events.rare[ends]
    since = np.maximum(_begin_of(events, back), _last_before(calls, back))
    how[ends] = np.where(_last_before(starts, back) >= since, 0, _LEAVES)
    rows, how = events.rare[how > 0], how[how > 0]
    value = np.full(len(rows), NOBODY, np.int32)
    taken = how == _TAKES
    value[taken] = processors.require(events.argument(0, rows[taken]))
    keep = _of_threads(events, rows)
    return rows[keep], value[keep]


def _from_themselves(events: Events, steals: Column, starts: Column) -> Mask:
    """Mark steals (bool) by which a thread gives up its own P.

    A thread may reuse the id of one that is gone and steal that one's P; then it has
    acquired another P since, at one of the rows `starts`.
    """
    own = events.argument(2, steals) == events.thread_of(steals)
    last = _last_before(starts, steals)
    since = last >= _begin_of(events, steals)
    other = np.zeros(len(steals), np.bool_)
    has = events.argument(0, last[since])
    other[since] = has != events.argument(0, steals[since])
    gives_up: Mask = own & ~other
    return gives_up


def _begin_of(events: Events, rows: Column) -> Column:
    begins = events.offsets[:-1]
    return begins[np.searchsorted(begins, rows, side="right") - 1]


def _last_before(rows: Column, places: Column) -> Column:
    """Return for each place the last of `rows` (increasing) before it, -1 if none."""
    return np.append(np.int64(-1), rows)[np.searchsorted(rows, places)]


def _processor_keys(events: Events) -> NDArray[np.uint32]:
    says = events.where(E.PROC_STATUS)
    binds = np.isin(events.argument(1, says), _BINDING)
    rows = events.where(E.PROC_START, E.GO_SYSCALL_BEGIN)
    rows = np.sort(np.concatenate((rows, says[binds])), kind="stable")
    types = events.type[rows]
    seq = np.full(len(rows), NUMBERED, np.uint32)
    for of, place in ((E.PROC_START, 1), (E.GO_SYSCALL_BEGIN, 0)):
        some = types == of
        seq[some] += events.argument(place, rows[some]).astype(np.uint32)
    carried = [CARRIED_OVER] * len(events.threads)
    return forward_fill(events.offsets, rows, seq, carried, np.uint32).column
