"""State changes of Ps in one generation, in order, and checked.

A P keeps its state while its thread is in a system call; if another thread steals it,
the goroutine in the call loses it. Source: ``pStates`` and related functions in
internal/trace/order.go.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from pprofdiff.loaders.traces.byte_tables import (
    UNKNOWN,
    all_allowed,
    lookup,
    membership,
    transition_tables,
)
from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.loaders.traces.id_index import IdIndex, Ids
from pprofdiff.loaders.traces.owner_rows import values_before
from pprofdiff.loaders.traces.v2.context import NOBODY, Context, ThreadBindings
from pprofdiff.loaders.traces.v2.effects import (
    LATE_STATUS,
    NUMBERED,
    STATUS,
    Effects,
    OrderedEffects,
    in_sequence,
    order_effects,
    sequence_numbers,
)
from pprofdiff.loaders.traces.v2.events import Events
from pprofdiff.loaders.traces.v2.schema import (
    NO_THREAD,
    EventType,
    GoStatus,
    ProcStatus,
)
from pprofdiff.model.arrays import Codes, Column, Index, Integers, Mask, Table
from pprofdiff.model.traces.trace import ProcessorState

E = EventType
P = ProcessorState
# An effect is the type of its event, or one of these: above _STATUS_EFFECT, statuses by
# ProcStatus; and the status of a goroutine in a system call.
_STATUS_EFFECT = 210
_CALLER_STATUS = 220
# In a system call whose thread has moved on: the next event steals the P.
_ABANDONED = 6
# Types with an effect on the P they name, and on their thread's.
_NAMED = (E.PROC_START, E.PROC_STEAL)
_OWN = (E.PROC_STOP, E.GO_SYSCALL_BEGIN, E.GO_SYSCALL_END)
_CREATES = (E.GO_CREATE, E.GO_CREATE_BLOCKED)
_TRANSITIONS: dict[int, tuple[tuple[int, ...], int]] = {
    E.PROC_START: ((P.IDLE,), P.RUNNING),
    E.PROC_STOP: ((P.RUNNING, P.SYSCALL), P.IDLE),
    E.PROC_STEAL: ((P.SYSCALL, _ABANDONED), P.IDLE),
    E.GO_SYSCALL_BEGIN: ((P.RUNNING,), P.SYSCALL),
    E.GO_SYSCALL_END: ((P.SYSCALL,), P.RUNNING),
    E.GO_DESTROY_SYSCALL: ((P.SYSCALL,), _ABANDONED),
    _CALLER_STATUS: ((P.RUNNING, P.SYSCALL), P.SYSCALL),
    _STATUS_EFFECT + ProcStatus.RUNNING: ((UNKNOWN, P.RUNNING), P.RUNNING),
    _STATUS_EFFECT + ProcStatus.IDLE: ((UNKNOWN, P.IDLE), P.IDLE),
    _STATUS_EFFECT + ProcStatus.SYSCALL: ((UNKNOWN, P.SYSCALL), P.SYSCALL),
    _STATUS_EFFECT + ProcStatus.SYSCALL_ABANDONED: (
        (UNKNOWN, P.SYSCALL, _ABANDONED),
        _ABANDONED,
    ),
}
_ALLOWED, _NEXT = transition_tables(_TRANSITIONS)
_GOROUTINE_STATUS = membership((E.GO_STATUS, E.GO_STATUS_STACK))
# Effects that carry the next sequence number; effects that begin a system call.
_BUMPS = membership((E.PROC_START, E.PROC_STEAL, E.GO_SYSCALL_BEGIN))
_BEGINS = membership((E.GO_SYSCALL_BEGIN, _CALLER_STATUS))
_NUMBER_BITS = 40


class ProcessorStates(Table, frozen=True):
    """The state of each P after a generation, one row per P.

    `state` (uint8) is a `ProcessorState`, `UNKNOWN` if never mentioned, or one of this
    module's. `thread` (int64) is the id of the thread that has the P, NO_THREAD if
    none. `caller` (int32) is the goroutine in a system call on it, -1 if none; `call`
    (int64) is the row of the event that began the call, -1 if in an earlier generation.
    """

    state: Codes
    thread: Column
    caller: Index
    call: Column

    def grown(self, size: int) -> ProcessorStates:
        """Return the states before a generation that knows `size` Ps."""
        more = size - len(self.state)
        return ProcessorStates(
            np.append(self.state, np.full(more, UNKNOWN, np.uint8)),
            np.append(self.thread, np.full(more, NOBODY)),
            np.append(self.caller, np.full(more, NOBODY, np.int32)),
            np.full(size, NOBODY),
        )


class ProcessorChanges(Table, frozen=True):
    """Effects on Ps, grouped by P, and the resulting states.

    `owner` (int32) is a P, `event` (int64) the row of an event, `state` (uint8) the
    `ProcessorState` that follows, `changed` (bool) whether that differs from the one
    before. `first_mention` marks statuses of Ps that were unknown before, `stolen` the
    steals from a thread in a system call, `is_first` the first row of each P in this
    generation.
    """

    owner: Index
    event: Column
    state: Codes
    changed: Mask
    first_mention: Mask
    stolen: Mask
    is_first: Mask


def processor_state_changes(
    events: Events, context: Context, ids: Ids, states: ProcessorStates
) -> tuple[ProcessorChanges, ProcessorLosses, ProcessorStates]:
    """Return the changes of Ps, the Ps that goroutines lost, and the states after.

    `states` are those before the generation. Raises Damage for effects that are out of
    sequence or not allowed, and for unknown Ps.
    """
    groups = _effects_of(events, context, ids.processors, states)
    most = sum(len(group.owner) for group in groups)
    order = order_effects(groups, len(ids.processors), len(events), most)
    changes, losses = list[ProcessorChanges](), list[ProcessorLosses]()
    owner, number = -1, 0
    for effects in order.chunks():
        effect = _kinds_of_effect(events, effects)
        is_first = effects.first_rows(owner)
        numbers = sequence_numbers(effects.key)
        bumps = lookup(_BUMPS, effect).view(np.bool_)
        if not in_sequence(numbers, bumps, is_first, is_first, number):
            raise Damage("a processor's events are not in sequence")
        owner, number = int(effects.owner[-1]), int(numbers[-1])
        calls = _calls(events, context, ids.goroutines, effects, effect, states)
        some, lost, states = _changes(events, effects, effect, calls, states)
        changes.append(replace(some, is_first=is_first))
        losses.append(lost)
    return (
        ProcessorChanges.concatenate(changes),
        ProcessorLosses.concatenate(losses),
        states,
    )


def _changes(
    events: Events,
    effects: OrderedEffects,
    effect: Codes,
    calls: _Calls,
    states: ProcessorStates,
) -> tuple[ProcessorChanges, ProcessorLosses, ProcessorStates]:
    """Like `processor_state_changes` for one chunk; `states` are those before it."""
    is_first = effects.first_rows()
    first = np.flatnonzero(is_first)
    owner = effects.owner[first]
    # A status repeats what is known; an abandoned system call is still a call.
    state = np.take(_NEXT, effect)
    before = values_before(state, first, states.state[owner])
    same = np.flatnonzero(
        (effect == _STATUS_EFFECT + ProcStatus.SYSCALL_ABANDONED)
        & (before == P.SYSCALL)
    )
    state[same] = P.SYSCALL
    before = values_before(state, first, states.state[owner])
    if not all_allowed(_ALLOWED, effect, before):
        raise Damage("a processor does what its state does not allow")
    caller = values_before(calls.goroutine, first, states.caller[owner])
    began = values_before(calls.event, first, states.call[owner])
    gone = np.flatnonzero((state == P.IDLE) & (before == P.SYSCALL) & (caller >= 0))
    changes = ProcessorChanges(
        owner=effects.owner,
        event=effects.event,
        state=_visible(state),
        changed=_visible(state) != _visible(before),
        first_mention=(effect >= _STATUS_EFFECT) & (before == UNKNOWN),
        stolen=(effect == E.PROC_STEAL) & (before == P.SYSCALL),
        is_first=is_first,
    )
    losses = ProcessorLosses(caller[gone], effects.event[gone], began[gone])
    return changes, losses, _states_after(events, effects, effect, state, calls, states)


def _visible(state: Codes) -> Codes:
    """Return the states of the model: an abandoned P is idle."""
    return np.where(state == _ABANDONED, np.uint8(P.IDLE), state)


def _effects_of(
    events: Events, context: Context, processors: IdIndex, states: ProcessorStates
) -> list[Effects]:
    says = events.where(E.PROC_STATUS)
    named = events.where(*_NAMED)
    own = events.where(*_OWN)
    for rows in (own, events.where(*_CREATES)):
        if len(rows) and int(context.processor[rows].min()) < 0:
            raise Damage("an event of a processor on a thread that has none")
    key = context.processor_key[own].astype(np.int64)
    begins = events.type[own] == E.GO_SYSCALL_BEGIN
    key[begins] = events.argument(0, own[begins]) + NUMBERED
    more = mentioned_syscalls(events, context)
    said = processors.require(events.argument(0, says))
    # A status that differs from the last state comes after what changed it.
    known, stated = states.state[said], events.argument(1, says)
    expected = np.take(_NEXT, _STATUS_EFFECT + np.clip(stated, 0, 4))
    calls = (known == P.SYSCALL) & (stated == ProcStatus.SYSCALL_ABANDONED)
    after = (known != UNKNOWN) & (known != expected) & ~calls
    taken = processors.require(events.argument(0, named))
    return [
        Effects(said, np.where(after, LATE_STATUS, STATUS), says),
        Effects(taken, events.argument(1, named) + NUMBERED, named),
        Effects(context.processor[own], key, own),
        Effects(context.processor[more], context.processor_key[more], more),
    ]


def _kinds_of_effect(events: Events, effects: OrderedEffects) -> Codes:
    effect = events.type[effects.event]
    rows = np.flatnonzero(effect == E.PROC_STATUS)
    status = events.argument(1, effects.event[rows])
    if len(rows) and not 1 <= int(status.min()) <= int(status.max()) <= 4:
        raise Damage("an unknown processor status")
    effect[rows] = _STATUS_EFFECT + status
    effect[lookup(_GOROUTINE_STATUS, effect).view(np.bool_)] = _CALLER_STATUS
    return effect


class _Calls(Struct, frozen=True, eq=False):
    """The system call on a P after each effect on it.

    `goroutine` (int32) is in the call, -1 if none; `event` (int64) is the row of the
    event that began it, -1 if unknown.
    """

    goroutine: Index
    event: Column


def _calls(
    events: Events,
    context: Context,
    goroutines: IdIndex,
    effects: OrderedEffects,
    effect: Codes,
    states: ProcessorStates,
) -> _Calls:
    begins = lookup(_BEGINS, effect).view(np.bool_)
    status = effect >= _STATUS_EFFECT
    own = np.where(begins, effects.event, np.int64(NOBODY))
    caller = np.where(begins, context.goroutine[effects.event], np.int32(NOBODY))
    says = np.flatnonzero(effect == _CALLER_STATUS)
    named = events.argument(0, effects.event[says])
    caller[says] = goroutines.require(named)
    # A status of the P changes nothing: the previous call goes on.
    place = np.arange(len(effect))
    place[status & ~begins] = -1
    first = np.flatnonzero(effects.first_rows())
    place[first] = np.maximum(place[first], first)
    known = np.flatnonzero(status[first] & ~begins[first])
    caller[first[known]] = states.caller[effects.owner[first[known]]]
    own[first[known]] = states.call[effects.owner[first[known]]]
    place = np.maximum.accumulate(place)
    return _Calls(caller[place], own[place])


def _states_after(
    events: Events,
    effects: OrderedEffects,
    effect: Codes,
    state: Codes,
    calls: _Calls,
    states: ProcessorStates,
) -> ProcessorStates:
    ends = np.ones(len(effect), np.bool_)
    ends[:-1] = effects.first_rows()[1:]
    last = np.flatnonzero(ends)
    owner, event = effects.owner[last], effects.event[last]
    thread = events.thread_of(event)
    afar = effect[last] == _STATUS_EFFECT + ProcStatus.SYSCALL_ABANDONED
    thread = np.where(afar, states.thread[owner], thread)
    bound = (state[last] == P.RUNNING) | (state[last] == P.SYSCALL)
    after = states.take(np.arange(len(states)))
    after.state[owner] = state[last]
    after.thread[owner] = np.where(bound, thread, NO_THREAD)
    after.caller[owner] = np.where(bound, calls.goroutine[last], NOBODY)
    after.call[owner] = np.where(bound, calls.event[last], NOBODY)
    return after


def drop_stolen(bindings: ThreadBindings, states: ProcessorStates) -> ThreadBindings:
    """Return the bindings without Ps that other threads have by `states`."""
    processor = {t: p for t, p in bindings.processor.items() if states.thread[p] == t}
    return replace(bindings, processor=processor)


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
