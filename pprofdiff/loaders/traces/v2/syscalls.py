"""System calls, and the Ps that threads lose during one."""

from __future__ import annotations

import numpy as np

from pprofdiff.loaders.traces.id_index import IdIndex
from pprofdiff.loaders.traces.v2.context import Context
from pprofdiff.loaders.traces.v2.effects import NUMBERED
from pprofdiff.loaders.traces.v2.events import Events
from pprofdiff.loaders.traces.v2.schema import EventType, GoStatus
from pprofdiff.model.arrays import Column, Index, Integers
from pprofdiff.model.table import Table

E = EventType
_NUMBER_BITS = 40


class ProcessorLosses(Table, frozen=True):
    """Goroutines that lost their P during a system call, one row each time.

    `goroutine` (int32) is an index; `event` (int64) is the row of the event that took
    the P, `call` the row of the event that began the system call, -1 if in an earlier
    generation.
    """

    goroutine: Index
    event: Column
    call: Column


def mentioned_syscalls(events: Events, context: Context) -> Column:
    """Return statuses and ends of goroutines in a system call with a P, as rows.

    The result is int64 and increasing. The P that a thread had before this generation
    may have been taken since, so a goroutine's status counts only after its P's.
    """
    says = events.where(E.GO_STATUS, E.GO_STATUS_STACK)
    own = events.argument(1, says) == events.thread_of(says)
    own &= context.processor_key[says] >= NUMBERED
    says = says[own & (events.argument(2, says) == GoStatus.SYSCALL)]
    ends = events.where(E.GO_DESTROY_SYSCALL)
    more = np.sort(np.concatenate((says, ends)))
    mentioned: Column = more[context.processor[more] >= 0]
    return mentioned


def ends_after_loss(events: Events, context: Context, processors: IdIndex) -> Column:
    """Return the events (rows) that end goroutines in a system call that lost its P.

    In `context` they still have the P. A steal of the P has the next sequence number.
    Only timestamps, or the order on the thread, show whether it came before.
    """
    ends = events.where(E.GO_DESTROY_SYSCALL)
    ends = ends[context.processor[ends] >= 0]
    steals = events.where(E.PROC_STEAL)
    if not len(ends) or not len(steals):
        return ends[:0]
    key = context.processor_key[ends].astype(np.int64)
    wanted = _numbered(context.processor[ends], key - NUMBERED + 1)
    place = processors.require(events.argument(0, steals))
    taken = _numbered(place, events.argument(1, steals))
    order = np.argsort(taken)
    at = order[np.minimum(np.searchsorted(taken[order], wanted), len(order) - 1)]
    steal, own = steals[at], events.thread_of(ends)
    lost = (taken[at] == wanted) & (events.argument(2, steal) == own)
    lost &= events.time[steal] < events.time[ends]
    lost &= (events.thread_of(steal) != own) | (steal < ends)
    ended: Column = ends[lost]
    return ended


def _numbered(processor: Integers, number: Column) -> Column:
    most = (1 << _NUMBER_BITS) - 1
    return (processor.astype(np.int64) << _NUMBER_BITS) + np.clip(number, 0, most)


def returns_after_steal(
    events: Events, losses: ProcessorLosses
) -> tuple[Column, Column]:
    """Return steals (rows), and for each the event with which its victim continues.

    At that event the thread takes another P, or leaves the system call without one. Go
    makes it wait for the steal (``advanceProcStart`` in internal/trace/order.go).
    """
    stolen = np.flatnonzero(events.type[losses.event] == E.PROC_STEAL)
    steal, since = losses.event[stolen], losses.call[stolen]
    victim = events.argument(2, steal)
    order = np.argsort(events.threads)
    at = np.searchsorted(events.threads[order], victim)
    owner = order[np.minimum(at, len(order) - 1)]
    since = np.where(since < 0, events.offsets[owner], since)
    later = np.append(events.where(E.PROC_START, E.GO_SYSCALL_END_BLOCKED), -1)
    back = later[np.searchsorted(later[:-1], since)]
    known = (events.threads[owner] == victim) & (back >= 0)
    known &= back < events.offsets[owner + 1]
    return steal[known], back[known]


def steals_after_loss(events: Events, losses: ProcessorLosses) -> Column:
    """Return the steals (rows) by threads that have lost their own P.

    They lie between the start of the system call that lost it and the end of the call,
    or the next P. `context_of` misses the loss and attributes the lost P to them.
    """
    steals = events.where(E.PROC_STEAL)
    # A call from an earlier generation precedes all of its thread's events here.
    old = losses.event[(losses.call < 0) & (events.type[losses.event] == E.PROC_STEAL)]
    begins = events.offsets[:-1][np.isin(events.threads, events.argument(2, old))]
    calls = np.sort(np.concatenate((losses.call[losses.call >= 0], begins)))
    if not len(calls):
        return calls
    at = np.searchsorted(calls, steals, side="right") - 1
    call = calls[at]
    later = events.where(E.PROC_START, E.GO_SYSCALL_END_BLOCKED)
    until = np.append(later, len(events.type))[np.searchsorted(later, call)]
    other = events.argument(2, steals) != events.thread_of(steals)
    same = events.thread_of(call) == events.thread_of(steals)
    after: Column = steals[(at >= 0) & (steals < until) & same & other]
    return after
