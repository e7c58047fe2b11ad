"""System calls, and the processors that threads lose within them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.context import GO_SYSCALL, Context
from pprofdiff.loaders.traces.events import Events
from pprofdiff.loaders.traces.numbering import Numbering
from pprofdiff.loaders.traces.order import NUMBERED
from pprofdiff.loaders.traces.schema import Kind

__all__ = ["Loss", "mentioned_calls", "returns", "robbed", "thieves"]

K = Kind
_NUMBER_BITS = 40


class Loss(NamedTuple):
    """Goroutines that lost their processor within a system call.

    `goroutine` int32; `event` (int64) is the event that took the processor, `call` the
    one that began the system call, or -1 if that was in an earlier generation.
    """

    goroutine: NDArray[np.int32]
    event: NDArray[np.int64]
    call: NDArray[np.int64]


def mentioned_calls(events: Events, context: Context) -> NDArray[np.int64]:
    """Return where one in a system call is mentioned, or ends, with a processor.

    What its thread had before this generation may have been taken since: a status says
    something of a processor only after that one's own.
    """
    says = events.where(K.GO_STATUS, K.GO_STATUS_STACK)
    own = events.argument(1, says) == events.thread_of(says)
    own &= context.processor_key[says] >= NUMBERED
    says = says[own & (events.argument(2, says) == GO_SYSCALL)]
    ends = events.where(K.GO_DESTROY_SYSCALL)
    more = np.sort(np.concatenate((says, ends)))
    found: NDArray[np.int64] = more[context.processor[more] >= 0]
    return found


def robbed(
    events: Events, context: Context, processors: Numbering
) -> NDArray[np.int64]:
    """Return where goroutines end in a system call that has lost its processor.

    The sequence numbers of a processor are met once each, and what takes it from a
    thread has the next. That it came before the end, and not after, only the times
    tell; or the thread, if a later one with the same number does it.
    """
    ends = events.where(K.GO_DESTROY_SYSCALL)
    ends = ends[context.processor[ends] >= 0]
    steals = events.where(K.PROC_STEAL)
    if not len(ends) or not len(steals):
        return ends[:0]
    key = context.processor_key[ends].astype(np.int64)
    wanted = _numbered(context.processor[ends], key - NUMBERED + 1)
    place = processors.known(events.argument(0, steals))
    taken = _numbered(place, events.argument(1, steals))
    order = np.argsort(taken)
    at = order[np.minimum(np.searchsorted(taken[order], wanted), len(order) - 1)]
    steal, own = steals[at], events.thread_of(ends)
    lost = (taken[at] == wanted) & (events.argument(2, steal) == own)
    lost &= events.time[steal] < events.time[ends]
    lost &= (events.thread_of(steal) != own) | (steal < ends)
    found: NDArray[np.int64] = ends[lost]
    return found


def _numbered(
    processor: NDArray[np.integer], number: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return one number for a processor's place and a sequence number of its."""
    most = (1 << _NUMBER_BITS) - 1
    return (processor.astype(np.int64) << _NUMBER_BITS) + np.clip(number, 0, most)


def returns(
    events: Events, losses: Loss
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return steals, and where the thread that lost its processor by each goes on.

    There it takes another one, or leaves the system call without. Go's reader waits
    with that for the steal (``advanceProcStart`` in internal/trace/order.go).
    """
    stolen = np.flatnonzero(events.kind[losses.event] == K.PROC_STEAL)
    steal, since = losses.event[stolen], losses.call[stolen]
    victim = events.argument(2, steal)
    order = np.argsort(events.threads)
    at = np.searchsorted(events.threads[order], victim)
    owner = order[np.minimum(at, len(order) - 1)]
    since = np.where(since < 0, events.offsets[owner], since)
    later = np.append(events.where(K.PROC_START, K.GO_SYSCALL_END_BLOCKED), -1)
    back = later[np.searchsorted(later[:-1], since)]
    known = (events.threads[owner] == victim) & (back >= 0)
    known &= back < events.offsets[owner + 1]
    return steal[known], back[known]


def thieves(events: Events, losses: Loss) -> NDArray[np.int64]:
    """Return where threads take a processor from another after losing their own.

    That is between the begin of a system call, on which they lost it, and its end or
    the next processor: what the context says they have there is no longer theirs.
    """
    steals = events.where(K.PROC_STEAL)
    # A call from an earlier generation began before all that its thread does in this.
    old = losses.event[(losses.call < 0) & (events.kind[losses.event] == K.PROC_STEAL)]
    begins = events.offsets[:-1][np.isin(events.threads, events.argument(2, old))]
    calls = np.sort(np.concatenate((losses.call[losses.call >= 0], begins)))
    if not len(calls):
        return calls
    at = np.searchsorted(calls, steals, side="right") - 1
    call = calls[at]
    later = events.where(K.PROC_START, K.GO_SYSCALL_END_BLOCKED)
    until = np.append(later, len(events.kind))[np.searchsorted(later, call)]
    other = events.argument(2, steals) != events.thread_of(steals)
    same = events.thread_of(call) == events.thread_of(steals)
    found: NDArray[np.int64] = steals[(at >= 0) & (steals < until) & same & other]
    return found
