"""State changes of goroutines in one generation, in order, and checked.

Source: ``goStates`` and related functions in internal/trace/order.go. Ids are reused: a
C thread that calls Go keeps one goroutine id for all its calls, and sequence numbers
restart at each creation. Timestamps assign events to incarnations.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.loaders.traces.byte_tables import (
    UNKNOWN,
    all_allowed,
    lookup,
    membership,
    rows_in,
    transition_tables,
)
from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.loaders.traces.id_index import IdIndex
from pprofdiff.loaders.traces.owner_rows import first_of_each, values_before
from pprofdiff.loaders.traces.v2.context import Context
from pprofdiff.loaders.traces.v2.effects import (
    AFTER_STATUS,
    BEFORE_STATUS,
    LATE_STATUS,
    NUMBERED,
    STATUS,
    EffectOrder,
    Effects,
    OrderedEffects,
    in_sequence,
    order_effects,
    sequence_numbers,
)
from pprofdiff.loaders.traces.v2.events import Events
from pprofdiff.loaders.traces.v2.processor_states import ProcessorLosses
from pprofdiff.loaders.traces.v2.schema import EventType, GoStatus
from pprofdiff.model.arrays import Codes, Column, Integers, Mask
from pprofdiff.model.csr import slices
from pprofdiff.model.traces.trace import State

E = EventType
CREATES = (E.GO_CREATE, E.GO_CREATE_BLOCKED, E.GO_CREATE_SYSCALL)
STATUSES = (E.GO_STATUS, E.GO_STATUS_STACK)
# An effect is the type of its event, or one of these. A switch has three effects: the
# running goroutine stops, which is the event's type, and the other one is woken and
# started. A goroutine in a system call loses its P. Statuses are _STATUS_EFFECT +
# `GoStatus`.
_SWITCH_WAKES, SWITCH_STARTS, _LOSES_PROCESSOR = 200, 201, 202
_STATUS_EFFECT = 210
STATUS_SYSCALL = _STATUS_EFFECT + GoStatus.SYSCALL
# Types with an effect on the goroutine they name, and on their thread's.
_NAMED = membership((E.GO_START, E.GO_UNBLOCK, E.GO_SWITCH, E.GO_SWITCH_DESTROY))
_OWN = membership(
    {E.GO_STOP, E.GO_BLOCK, E.GO_DESTROY, E.GO_DESTROY_SYSCALL, E.GO_SYSCALL_BEGIN}
    | {E.GO_SYSCALL_END, E.GO_SYSCALL_END_BLOCKED, E.GO_SWITCH, E.GO_SWITCH_DESTROY}
)
S = State
_ABSENT = (UNKNOWN, S.GONE)
_IN_CALL = (S.SYSCALL, S.SYSCALL_BLOCKED)
# Effect: the states that it may follow, and the state that it leads to.
_TRANSITIONS: dict[int, tuple[tuple[int, ...], int]] = {
    E.GO_CREATE: (_ABSENT, S.RUNNABLE),
    E.GO_CREATE_BLOCKED: (_ABSENT, S.WAITING),
    E.GO_CREATE_SYSCALL: (_ABSENT, S.SYSCALL),
    E.GO_START: ((S.RUNNABLE,), S.RUNNING),
    E.GO_UNBLOCK: ((S.WAITING,), S.RUNNABLE),
    E.GO_STOP: ((S.RUNNING,), S.RUNNABLE),
    E.GO_BLOCK: ((S.RUNNING,), S.WAITING),
    E.GO_DESTROY: ((S.RUNNING,), S.GONE),
    E.GO_DESTROY_SYSCALL: (_IN_CALL, S.GONE),
    E.GO_SYSCALL_BEGIN: ((S.RUNNING,), S.SYSCALL),
    E.GO_SYSCALL_END: (_IN_CALL, S.RUNNING),
    E.GO_SYSCALL_END_BLOCKED: (_IN_CALL, S.RUNNABLE),
    E.GO_SWITCH: ((S.RUNNING,), S.WAITING),
    E.GO_SWITCH_DESTROY: ((S.RUNNING,), S.GONE),
    _SWITCH_WAKES: ((S.WAITING,), S.RUNNABLE),
    SWITCH_STARTS: ((S.RUNNABLE,), S.RUNNING),
    _LOSES_PROCESSOR: ((S.SYSCALL, S.SYSCALL_BLOCKED), S.SYSCALL_BLOCKED),
    _STATUS_EFFECT + GoStatus.RUNNABLE: ((UNKNOWN, S.RUNNABLE), S.RUNNABLE),
    _STATUS_EFFECT + GoStatus.RUNNING: ((UNKNOWN, S.RUNNING), S.RUNNING),
    STATUS_SYSCALL: ((UNKNOWN, *_IN_CALL), S.SYSCALL),
    _STATUS_EFFECT + GoStatus.WAITING: ((UNKNOWN, S.WAITING), S.WAITING),
}
_ALLOWED, _NEXT = transition_tables(_TRANSITIONS)
_CREATES = membership(CREATES)
# Types whose effect depends on more than the type.
_UNCLEAR = np.zeros(256, np.bool_)
_UNCLEAR[[*STATUSES, E.GO_SWITCH, E.GO_SWITCH_DESTROY]] = True
# Effects that carry the next sequence number.
_BUMPS = np.zeros(256, np.bool_)
_BUMPS[[E.GO_START, E.GO_UNBLOCK, _SWITCH_WAKES]] = True


class Incarnations:
    """The incarnations of goroutines in a generation.

    `rows` (int64) are the events from which keys count: creations, and the statuses of
    goroutines that existed before. `owners` (int32) are their goroutines. `mask`
    selects the bits of a key that count within an incarnation.
    """

    def __init__(self, events: Events, goroutines: IdIndex) -> None:
        rows = events.where(*CREATES, *STATUSES)
        owners = goroutines.require(events.argument(0, rows))
        creates = np.isin(events.type[rows], CREATES)
        mentions = np.bincount(owners, minlength=len(goroutines))
        born = np.zeros(len(goroutines), np.bool_)
        born[owners[creates]] = True
        self._time = events.time
        self._several = born & (mentions > 1)
        self._creations = rows[creates & self._several[owners]]
        self._creators = owners[creates & self._several[owners]]
        self._bits = int(len(events.type) + NUMBERED).bit_length()
        self.mask = (1 << self._bits) - 1 if len(self._creations) else -1
        # A status after a creation in this generation adds nothing.
        first = creates | (self._ordinal(owners, rows) == 0)
        self.rows, self.owners = rows[first], owners[first]

    def key(self, owner: Integers, key: Integers, rows: Integers) -> Integers:
        """Return keys (see `effects`) that order later incarnations after earlier ones.

        `owner` are goroutines, `rows` their events, and `key` their keys within an
        incarnation, which remain in the bits of `mask`.
        """
        if not len(self._creations):
            return key
        return key + (self._ordinal(owner, rows) << self._bits)

    def _ordinal(self, owner: Integers, rows: Integers) -> Column:
        ordinal = np.zeros(len(owner), np.int64)
        some = np.flatnonzero(self._several[owner] & (owner >= 0))
        if not len(some):
            return ordinal
        row = np.concatenate((self._creations, rows[some]))
        goroutine = np.concatenate((self._creators, owner[some]))
        begins = np.zeros(len(row), np.int64)
        begins[: len(self._creations)] = 1
        # A creation counts before the same row among the events.
        order = np.lexsort((1 - begins, row, self._time[row], goroutine))
        count = np.cumsum(begins[order])
        goroutine = goroutine[order]
        first = np.flatnonzero(first_of_each(goroutine))
        before = count[first] - begins[order][first]
        count -= np.repeat(before, np.diff(first, append=len(goroutine)))
        places = np.empty(len(row), np.int64)
        places[order] = count
        ordinal[some] = places[len(self._creations) :]
        return ordinal


class StateChanges(Struct, frozen=True, eq=False):
    """A chunk of effects on goroutines, grouped by goroutine, and the resulting states.

    All columns have one row per effect of `effects`. `effect` (uint8) is an
    `EventType`, or one of this module's effects. `state` (uint8) is the `State` that
    follows, `changed` (bool) whether that differs from the one before. `first_mention`
    marks statuses of goroutines that were unknown before, `is_first` the first row of
    each goroutine in this generation.
    """

    effects: OrderedEffects
    effect: Codes
    state: Codes
    changed: Mask
    first_mention: Mask
    is_first: Mask


def goroutine_effects(
    events: Events,
    context: Context,
    goroutines: IdIndex,
    incarnations: Incarnations,
    states: Codes,
    losses: ProcessorLosses,
) -> EffectOrder:
    """Return all effects on goroutines in order.

    `states` (uint8, by goroutine) are those before the generation. Raises Damage if an
    event's goroutine was never mentioned, or its thread runs none.
    """
    status_keys = _status_keys(events, goroutines, states)
    groups = _AllEffects(events, context, goroutines, losses, status_keys, incarnations)
    size = len(events.type)
    # At most two effects per event, except a switch with its three.
    switches = len(events.where(E.GO_SWITCH, E.GO_SWITCH_DESTROY))
    most = size + 2 * switches + len(losses.event)
    order = order_effects(groups, len(goroutines), size, most)
    order.mask = incarnations.mask
    return order


def goroutine_state_changes(
    order: EffectOrder,
    events: Events,
    context: Context,
    states: Codes,
    losses: ProcessorLosses,
) -> Iterator[StateChanges]:
    """Yield the state changes of all goroutines, a chunk of effects at a time.

    `order` comes from `goroutine_effects`, with the same `losses`. `states` (uint8,
    by goroutine) are updated in place as changes are yielded. Raises Damage if effects
    are out of sequence, or a state does not allow one.
    """
    owner, number = -1, 0
    for effects in order.chunks():
        effect = _kinds_of_effect(events, context, effects)
        state = np.take(_NEXT, effect)
        is_first = effects.first_rows(owner)
        first = np.append(0, np.flatnonzero(is_first[1:]) + 1)
        before = values_before(state, first, states[effects.owner[first]])
        _put_blocked_syscalls(state, before, effect, context.processor[effects.event])
        if not all_allowed(_ALLOWED, effect, before):
            raise Damage("a goroutine does what its state does not allow")
        numbers = sequence_numbers(effects.key & order.mask)
        bumps = np.take(_BUMPS, effect)
        anew = is_first | lookup(_CREATES, effect).view(np.bool_)
        if not in_sequence(numbers, bumps, is_first, anew, number):
            raise Damage("a goroutine's events are not in sequence")
        owner, number = int(effects.owner[-1]), int(numbers[-1])
        last = np.append(first[1:], len(state)) - 1
        states[effects.owner[last]] = state[last]
        first_mention = (effect >= _STATUS_EFFECT) & (before == UNKNOWN)
        _put_losses(effects, effect, losses)
        yield StateChanges(
            effects=effects,
            effect=effect,
            state=state,
            changed=state != before,
            first_mention=first_mention,
            is_first=is_first,
        )


class _AllEffects(Struct, frozen=True, eq=False):
    """All effects on goroutines, recomputed each time: their columns are large."""

    events: Events
    context: Context
    goroutines: IdIndex
    losses: ProcessorLosses
    status_keys: Column
    incarnations: Incarnations

    def __iter__(self) -> Iterator[Effects]:
        for group in self._within_incarnations():
            key = self.incarnations.key(group.owner, group.key, group.event)
            yield replace(group, key=key)

    def _within_incarnations(self) -> Iterator[Effects]:
        events, context = self.events, self.context
        first, owner = self.incarnations.rows, self.incarnations.owners
        yield Effects(owner, self.status_keys[owner], first)
        switch = events.where(E.GO_SWITCH, E.GO_SWITCH_DESTROY)
        target = self.goroutines.require(events.argument(0, switch))
        yield Effects(target, events.argument(1, switch) + NUMBERED, switch, 1)
        for here in slices(len(events.type)):
            types = events.type[here]
            named = rows_in(_NAMED, types) + here.start
            target = self.goroutines.require(events.argument(0, named))
            yield Effects(target, events.argument(1, named) + NUMBERED, named)
            own = rows_in(_OWN, types) + here.start
            owner = context.goroutine[own]
            if len(owner) and int(owner.min()) < 0:
                raise Damage("an event of a goroutine on a thread that runs none")
            yield Effects(owner, context.goroutine_key[own], own)
        yield _processor_losses(
            events, context, self.goroutines, self.losses, self.status_keys
        )


def _processor_losses(
    events: Events,
    context: Context,
    goroutines: IdIndex,
    losses: ProcessorLosses,
    status_keys: Column,
) -> Effects:
    """Return the losses of Ps as effects, each right after the start of its call.

    If a call began in an earlier generation, only timestamps show whether the loss
    precedes the goroutine's status in this one; nothing else depends on that.
    """
    call, event, owner = losses.call, losses.event, losses.goroutine
    within = call >= 0
    began = np.where(within, call, event)
    calls = within & (events.type[began] == E.GO_SYSCALL_BEGIN)
    rows = events.where(*STATUSES)
    status = np.full(len(status_keys), -1, np.int64)
    status[goroutines.require(events.argument(0, rows))] = events.time[rows]
    early = events.time[event] < status[owner]
    carried = np.where(
        early & (status_keys[owner] == STATUS), BEFORE_STATUS, AFTER_STATUS
    )
    key = np.where(within, status_keys[owner], carried)
    key = np.where(calls, context.goroutine_key[began], key)
    return Effects(owner, key, began, 1)


def _status_keys(events: Events, goroutines: IdIndex, states: Codes) -> Column:
    rows = events.where(*STATUSES)
    owner = goroutines.require(events.argument(0, rows))
    known = states[owner]
    known = np.where(known == S.SYSCALL_BLOCKED, S.SYSCALL, known)
    other = (known != UNKNOWN) & (known != events.argument(2, rows))
    key = np.full(len(states), STATUS, np.int64)
    key[owner[other]] = LATE_STATUS
    return key


def _put_losses(
    effects: OrderedEffects, effect: Codes, losses: ProcessorLosses
) -> None:
    """Replace a loss's event, the start of the call, by the one that took the P."""
    rows = np.flatnonzero(effect == _LOSES_PROCESSOR)
    if len(rows):
        order = np.argsort(losses.call)
        at = np.searchsorted(losses.call[order], effects.event[rows])
        at = order[np.minimum(at, len(order) - 1)]
        known = losses.call[at] == effects.event[rows]
        effects.event[rows[known]] = losses.event[at[known]]


def _kinds_of_effect(
    events: Events, context: Context, effects: OrderedEffects
) -> Codes:
    effect = events.type[effects.event]
    rare = np.flatnonzero(np.take(_UNCLEAR, effect))
    rows = rare[np.isin(effect[rare], (E.GO_SWITCH, E.GO_SWITCH_DESTROY))]
    if len(rows):
        aimed = context.goroutine[effects.event[rows]] != effects.owner[rows]
        starts = effects.second[rows]
        effect[rows[aimed & ~starts]] = _SWITCH_WAKES
        effect[rows[starts]] = SWITCH_STARTS
    rows = rare[np.isin(effect[rare], STATUSES)]
    status = events.argument(2, effects.event[rows])
    if len(rows) and not 1 <= int(status.min()) <= int(status.max()) <= 4:
        raise Damage("an unknown goroutine status")
    effect[rows] = _STATUS_EFFECT + status
    rows = np.flatnonzero(effects.second)
    effect[rows[effect[rows] != SWITCH_STARTS]] = _LOSES_PROCESSOR
    return effect


def _put_blocked_syscalls(
    state: Codes, before: Codes, effect: Codes, processor: NDArray[np.int16]
) -> None:
    """Set SYSCALL_BLOCKED where a status reports a system call without a P.

    The goroutine was in that state before, or is first mentioned by a status on no P.
    """
    without = (before == UNKNOWN) & (processor < 0)
    without |= before == S.SYSCALL_BLOCKED
    state[np.flatnonzero((effect == STATUS_SYSCALL) & without)] = S.SYSCALL_BLOCKED
