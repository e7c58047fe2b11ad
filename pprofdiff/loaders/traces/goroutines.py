"""What each goroutine did in one generation: its changes of state, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.batches import Damage
from pprofdiff.loaders.traces.calls import Loss
from pprofdiff.loaders.traces.context import Context
from pprofdiff.loaders.traces.events import Events, looked_up, marked
from pprofdiff.loaders.traces.lives import CREATES, STATUSES, Lives
from pprofdiff.loaders.traces.numbering import Numbering
from pprofdiff.loaders.traces.order import (
    NEXT,
    NUMBERED,
    SAID,
    SAID_AFTER,
    UNSAID,
    Chain,
    Links,
    Order,
    chained,
    numbers_of,
)
from pprofdiff.loaders.traces.schema import UNKNOWN, Kind, transitions
from pprofdiff.model.csr import slices
from pprofdiff.model.traces.trace import State

__all__ = [
    "STATUS_SYSCALL",
    "SWITCH_STARTS",
    "GoroutineOrder",
    "Steps",
    "goroutine_order",
    "goroutine_steps",
]

K = Kind
# Effects that one event has beside its own type, and statuses by what they say.
_SWITCH_WAKES, SWITCH_STARTS, _LOSES_PROCESSOR = 200, 201, 202
_STATUS = 210
STATUS_SYSCALL = _STATUS + 3
_NAMED = marked((K.GO_START, K.GO_UNBLOCK, K.GO_SWITCH, K.GO_SWITCH_DESTROY))
_OWN = marked(
    {K.GO_STOP, K.GO_BLOCK, K.GO_DESTROY, K.GO_DESTROY_SYSCALL, K.GO_SYSCALL_BEGIN}
    | {K.GO_SYSCALL_END, K.GO_SYSCALL_END_BLOCKED, K.GO_SWITCH, K.GO_SWITCH_DESTROY}
)
S = State
_ABSENT = (UNKNOWN, S.GONE)
_IN_CALL = (S.SYSCALL, S.SYSCALL_BLOCKED)
# Effect: the states that it may follow, and the one it leads to.
_STEPS: dict[int, tuple[tuple[int, ...], int]] = {
    K.GO_CREATE: (_ABSENT, S.RUNNABLE),
    K.GO_CREATE_BLOCKED: (_ABSENT, S.WAITING),
    K.GO_CREATE_SYSCALL: (_ABSENT, S.SYSCALL),
    K.GO_START: ((S.RUNNABLE,), S.RUNNING),
    K.GO_UNBLOCK: ((S.WAITING,), S.RUNNABLE),
    K.GO_STOP: ((S.RUNNING,), S.RUNNABLE),
    K.GO_BLOCK: ((S.RUNNING,), S.WAITING),
    K.GO_DESTROY: ((S.RUNNING,), S.GONE),
    K.GO_DESTROY_SYSCALL: (_IN_CALL, S.GONE),
    K.GO_SYSCALL_BEGIN: ((S.RUNNING,), S.SYSCALL),
    K.GO_SYSCALL_END: (_IN_CALL, S.RUNNING),
    K.GO_SYSCALL_END_BLOCKED: (_IN_CALL, S.RUNNABLE),
    K.GO_SWITCH: ((S.RUNNING,), S.WAITING),
    K.GO_SWITCH_DESTROY: ((S.RUNNING,), S.GONE),
    _SWITCH_WAKES: ((S.WAITING,), S.RUNNABLE),
    SWITCH_STARTS: ((S.RUNNABLE,), S.RUNNING),
    _LOSES_PROCESSOR: ((S.SYSCALL, S.SYSCALL_BLOCKED), S.SYSCALL_BLOCKED),
    _STATUS + 1: ((UNKNOWN, S.RUNNABLE), S.RUNNABLE),
    _STATUS + 2: ((UNKNOWN, S.RUNNING), S.RUNNING),
    STATUS_SYSCALL: ((UNKNOWN, *_IN_CALL), S.SYSCALL),
    _STATUS + 4: ((UNKNOWN, S.WAITING), S.WAITING),
}
_MAY, _NEXT = transitions(_STEPS)


_CREATES = marked(CREATES)
_UNCLEAR = np.zeros(256, np.bool_)
_UNCLEAR[[*STATUSES, K.GO_SWITCH, K.GO_SWITCH_DESTROY]] = True
_BUMPS = np.zeros(256, np.bool_)
_BUMPS[[K.GO_START, K.GO_UNBLOCK, _SWITCH_WAKES]] = True


class Steps(NamedTuple):
    """Some changes of goroutines' states, goroutine by goroutine.

    `chain` has a row for each effect on a goroutine; `effect` (uint8) says which, a
    `Kind` or one of this module's; `state` (uint8) is the `State` that follows.
    `changed` marks rows whose state is another than before, `unknown` those that first
    tell of a goroutine which was not seen to be created, `fresh` each one's first row.
    """

    chain: Chain
    effect: NDArray[np.uint8]
    state: NDArray[np.uint8]
    changed: NDArray[np.bool_]
    unknown: NDArray[np.bool_]
    fresh: NDArray[np.bool_]


class GoroutineOrder(NamedTuple):
    """All effects on goroutines in order; keys are within a life in `mask`'s bits."""

    chain: Order
    mask: int


def goroutine_order(
    events: Events,
    context: Context,
    goroutines: Numbering,
    lives: Lives,
    states: NDArray[np.uint8],
    losses: Loss,
) -> GoroutineOrder:
    """Return all effects on goroutines.

    `states` (uint8, one a goroutine, UNKNOWN where it was never mentioned) holds where
    each stood before; `losses` is what `processor_steps` found.
    """
    said = _said_keys(events, goroutines, states)
    links = _AllLinks(events, context, goroutines, losses, said, lives)
    size = len(events.kind)
    # Two effects of an event at most, but for a switch with its three.
    switches = len(events.where(K.GO_SWITCH, K.GO_SWITCH_DESTROY))
    most = size + 2 * switches + len(losses.event)
    order = chained(links, len(goroutines), size, most)
    return GoroutineOrder(order, lives.mask)


def goroutine_steps(
    order: GoroutineOrder,
    events: Events,
    context: Context,
    states: NDArray[np.uint8],
    losses: Loss,
) -> Iterator[Steps]:
    """Yield what happened to goroutines; `states` holds where each stood before.

    `states` (uint8, one a goroutine, 7 where unknown) is brought up to date. Raises
    Damage where a goroutine's events contradict each other.
    """
    owner, number = -1, 0
    for chain in order.chain.pieces():
        effect = _effects(events, context, chain)
        state = np.take(_NEXT, effect)
        fresh = chain.begins(owner)
        first = np.append(0, np.flatnonzero(fresh[1:]) + 1)
        before = np.empty_like(state)
        before[1:] = state[:-1]
        before[first] = states[chain.owner[first]]
        _keep(state, before, effect)
        allowed = np.take(_MAY, effect)
        allowed >>= before
        if not (allowed & 1).all():
            raise Damage("a goroutine does what its state does not allow")
        numbers = numbers_of(chain.key & order.mask)
        _check_sequence(numbers, effect, fresh, number)
        owner, number = int(chain.owner[-1]), int(numbers[-1])
        last = np.append(first[1:], len(state)) - 1
        states[chain.owner[last]] = state[last]
        unknown = (effect >= _STATUS) & (before == UNKNOWN)
        _put_losses(chain, effect, losses)
        yield Steps(chain, effect, state, state != before, unknown, fresh)


@dataclass(frozen=True)
class _AllLinks:
    """All effects on goroutines, made anew each time they are gone through."""

    events: Events
    context: Context
    goroutines: Numbering
    losses: Loss
    said: NDArray[np.int64]
    lives: Lives

    def __iter__(self) -> Iterator[Links]:
        """Yield effects, those of some events at a time."""
        for links in self._within_lives():
            yield links._replace(
                key=self.lives.key(links.owner, links.key, links.event)
            )

    def _within_lives(self) -> Iterator[Links]:
        """Yield effects with their keys within a life."""
        events, context = self.events, self.context
        first, owner = self.lives.rows, self.lives.owners
        yield Links(owner, self.said[owner], first)
        switch = events.where(K.GO_SWITCH, K.GO_SWITCH_DESTROY)
        target = self.goroutines.known(events.argument(0, switch))
        yield Links(target, events.argument(1, switch) + NUMBERED, switch, 1)
        for here in slices(len(events.kind)):
            kind = events.kind[here]
            named = np.flatnonzero(looked_up(_NAMED, kind)) + here.start
            target = self.goroutines.known(events.argument(0, named))
            yield Links(target, events.argument(1, named) + NUMBERED, named)
            own = np.flatnonzero(looked_up(_OWN, kind)) + here.start
            owner = context.goroutine[own]
            if len(owner) and int(owner.min()) < 0:
                raise Damage("an event of a goroutine on a thread that runs none")
            yield Links(owner, context.goroutine_key[own], own)
        yield _lost(events, context, self.goroutines, self.losses, self.said)


def _lost(
    events: Events,
    context: Context,
    goroutines: Numbering,
    losses: Loss,
    said: NDArray[np.int64],
) -> Links:
    """Return the losses of processors: each right after the call it falls into.

    Of a call from an earlier generation only the times tell whether it comes before
    the goroutine's status in this one; nothing else depends on that.
    """
    call, event, owner = losses.call, losses.event, losses.goroutine
    within = call >= 0
    began = np.where(within, call, event)
    calls = within & (events.kind[began] == K.GO_SYSCALL_BEGIN)
    rows = events.where(*STATUSES)
    status = np.full(len(said), -1, np.int64)
    status[goroutines.known(events.argument(0, rows))] = events.time[rows]
    unsaid = events.time[event] < status[owner]
    carried = np.where(unsaid & (said[owner] == SAID), UNSAID, NEXT)
    key = np.where(within, said[owner], carried)
    key = np.where(calls, context.goroutine_key[began], key)
    return Links(owner, key, began, 1)


def _said_keys(
    events: Events, goroutines: Numbering, states: NDArray[np.uint8]
) -> NDArray[np.int64]:
    """Return the key of each goroutine's status or creation (int64)."""
    rows = events.where(*STATUSES)
    owner = goroutines.known(events.argument(0, rows))
    known = states[owner]
    known = np.where(known == S.SYSCALL_BLOCKED, S.SYSCALL, known)
    other = (known != UNKNOWN) & (known != events.argument(2, rows))
    key = np.full(len(states), SAID, np.int64)
    key[owner[other]] = SAID_AFTER
    return key


def _put_losses(chain: Chain, effect: NDArray[np.uint8], losses: Loss) -> None:
    """Put the event that took a processor where the chain has the call's begin."""
    rows = np.flatnonzero(effect == _LOSES_PROCESSOR)
    if len(rows):
        order = np.argsort(losses.call)
        at = np.searchsorted(losses.call[order], chain.event[rows])
        at = order[np.minimum(at, len(order) - 1)]
        known = losses.call[at] == chain.event[rows]
        chain.event[rows[known]] = losses.event[at[known]]


def _effects(events: Events, context: Context, chain: Chain) -> NDArray[np.uint8]:
    """Return the effect of each row of a chain."""
    effect = events.kind[chain.event]
    rare = np.flatnonzero(np.take(_UNCLEAR, effect))
    rows = rare[np.isin(effect[rare], (K.GO_SWITCH, K.GO_SWITCH_DESTROY))]
    if len(rows):
        aimed = context.goroutine[chain.event[rows]] != chain.owner[rows]
        starts = chain.late[rows]
        effect[rows[aimed & ~starts]] = _SWITCH_WAKES
        effect[rows[starts]] = SWITCH_STARTS
    rows = rare[np.isin(effect[rare], STATUSES)]
    status = events.argument(2, chain.event[rows])
    if len(rows) and not 1 <= int(status.min()) <= int(status.max()) <= 4:
        raise Damage("a goroutine of a status that there is not")
    effect[rows] = _STATUS + status
    rows = np.flatnonzero(chain.late)
    effect[rows[effect[rows] != SWITCH_STARTS]] = _LOSES_PROCESSOR
    return effect


def _keep(
    state: NDArray[np.uint8], before: NDArray[np.uint8], effect: NDArray[np.uint8]
) -> None:
    """Let a system call that has lost its processor stay so when a status says so."""
    rows = np.flatnonzero((effect == STATUS_SYSCALL) & (before == S.SYSCALL_BLOCKED))
    state[rows] = S.SYSCALL_BLOCKED


def _check_sequence(
    number: NDArray[np.int64],
    effect: NDArray[np.uint8],
    fresh: NDArray[np.bool_],
    before: int,
) -> None:
    """Raise Damage where a goroutine's sequence numbers leave one out, or repeat one.

    `before` is the number of the row before the first.
    """
    step = np.diff(number, prepend=before)
    anew = fresh | looked_up(_CREATES, effect).view(np.bool_)
    step[anew] = number[anew]
    bumps = np.take(_BUMPS, effect)
    if (step != (bumps & ~fresh)).any() or (bumps & fresh).any():
        raise Damage("a goroutine's events are not in sequence")
