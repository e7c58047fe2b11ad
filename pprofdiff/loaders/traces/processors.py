"""What each processor did in one generation: its changes of state, in order."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.batches import Damage
from pprofdiff.loaders.traces.calls import Loss, mentioned_calls
from pprofdiff.loaders.traces.context import NOBODY, Context, Held
from pprofdiff.loaders.traces.events import Events, looked_up, marked
from pprofdiff.loaders.traces.numbering import Numbering
from pprofdiff.loaders.traces.order import (
    NUMBERED,
    SAID,
    SAID_AFTER,
    Chain,
    Links,
    chained,
    numbers_of,
)
from pprofdiff.loaders.traces.schema import NO_THREAD, UNKNOWN, Kind, transitions
from pprofdiff.model.traces.trace import ProcessorState

__all__ = [
    "Loss",
    "ProcessorSteps",
    "Processors",
    "processor_steps",
    "rebound",
]

K = Kind
T = TypeVar("T", bound=np.generic)
P = ProcessorState
_STATUS = 210
_SAYS_SYSCALL = 220
_SAID_ABANDONED = 4
# In a system call whose thread has moved on: the next event steals the processor.
_ABANDONED = 6
_NAMED = (K.PROC_START, K.PROC_STEAL)
_OWN = (K.PROC_STOP, K.GO_SYSCALL_BEGIN, K.GO_SYSCALL_END)
_CREATES = (K.GO_CREATE, K.GO_CREATE_BLOCKED)
_STEPS: dict[int, tuple[tuple[int, ...], int]] = {
    K.PROC_START: ((P.IDLE,), P.RUNNING),
    K.PROC_STOP: ((P.RUNNING, P.SYSCALL), P.IDLE),
    K.PROC_STEAL: ((P.SYSCALL, _ABANDONED), P.IDLE),
    K.GO_SYSCALL_BEGIN: ((P.RUNNING,), P.SYSCALL),
    K.GO_SYSCALL_END: ((P.SYSCALL,), P.RUNNING),
    K.GO_DESTROY_SYSCALL: ((P.SYSCALL,), _ABANDONED),
    _SAYS_SYSCALL: ((P.RUNNING, P.SYSCALL), P.SYSCALL),
    _STATUS + 1: ((UNKNOWN, P.RUNNING), P.RUNNING),
    _STATUS + 2: ((UNKNOWN, P.IDLE), P.IDLE),
    _STATUS + 3: ((UNKNOWN, P.SYSCALL), P.SYSCALL),
    _STATUS + _SAID_ABANDONED: ((UNKNOWN, P.SYSCALL, _ABANDONED), _ABANDONED),
}
_MAY, _NEXT = transitions(_STEPS)
_SPEAKS = marked((K.GO_STATUS, K.GO_STATUS_STACK))
_BUMPS = marked((K.PROC_START, K.PROC_STEAL, K.GO_SYSCALL_BEGIN))
_BEGINS = marked((K.GO_SYSCALL_BEGIN, _SAYS_SYSCALL))


class Processors(NamedTuple):
    """How each processor stands at a generation's end, one row a processor.

    `state` (uint8), the thread that has it (int64, NO_THREAD if none), and the
    goroutine (int32) in a system call on it, or -1; `call` (int64) is the event that
    began the call, -1 if that was in an earlier generation.
    """

    state: NDArray[np.uint8]
    thread: NDArray[np.int64]
    caller: NDArray[np.int32]
    call: NDArray[np.int64]

    def grown(self, size: int) -> Processors:
        """Return the same for the next generation, with room for `size` processors."""
        more = size - len(self.state)
        return Processors(
            np.append(self.state, np.full(more, UNKNOWN, np.uint8)),
            np.append(self.thread, np.full(more, NOBODY)),
            np.append(self.caller, np.full(more, NOBODY, np.int32)),
            np.full(size, NOBODY),
        )


class ProcessorSteps(NamedTuple):
    """The changes of state of processors, one processor after another.

    Row by row: `owner` (int32), `event` (int64), the `ProcessorState` that follows
    (uint8), whether it is another than before (`changed`), whether it first tells of a
    processor (`unknown`), whether the processor was `stolen`, and `fresh` for the first
    row of each.
    """

    owner: NDArray[np.int32]
    event: NDArray[np.int64]
    state: NDArray[np.uint8]
    changed: NDArray[np.bool_]
    unknown: NDArray[np.bool_]
    stolen: NDArray[np.bool_]
    fresh: NDArray[np.bool_]


def processor_steps(
    events: Events,
    context: Context,
    goroutines: Numbering,
    processors: Numbering,
    stood: Processors,
) -> tuple[ProcessorSteps, Loss, Processors]:
    """Return what happened to processors, what goroutines lost, how they stand then.

    Raises Damage where a processor's events contradict each other.
    """
    links = _links(events, context, processors, stood)
    most = sum(len(group.owner) for group in links)
    order = chained(links, len(processors), len(events.kind), most)
    none = np.zeros(0, np.int64)
    marks = none.astype(np.bool_)
    steps = [
        ProcessorSteps(none.astype(np.int32), none, marks.view(np.uint8), *[marks] * 4)
    ]
    losses = [Loss(none.astype(np.int32), none, none)]
    owner, number = -1, 0
    for chain in order.pieces():
        effect = _effects(events, chain)
        fresh = chain.begins(owner)
        _check_sequence(chain, effect, fresh, number)
        owner, number = int(chain.owner[-1]), int(numbers_of(chain.key[-1:])[0])
        calls = _calls(events, context, goroutines, chain, effect, stood)
        step, lost, stood = _piece(events, chain, effect, calls, stood)
        steps.append(step._replace(fresh=fresh))
        losses.append(lost)
    whole = ProcessorSteps._make(np.concatenate(c) for c in zip(*steps, strict=True))
    lost = Loss._make(np.concatenate(c) for c in zip(*losses, strict=True))
    return whole, lost, stood


def _piece(
    events: Events,
    chain: Chain,
    effect: NDArray[np.uint8],
    calls: _Calls,
    stood: Processors,
) -> tuple[ProcessorSteps, Loss, Processors]:
    """Do as `processor_steps` for some rows; `stood` is from before them."""
    fresh = chain.begins()
    first = np.flatnonzero(fresh)
    owner = chain.owner[first]
    # A status repeats what is known, and an abandoned system call is still one.
    state = np.take(_NEXT, effect)
    before = _shifted(state, first, stood.state[owner])
    same = np.flatnonzero((effect == _STATUS + _SAID_ABANDONED) & (before == P.SYSCALL))
    state[same] = P.SYSCALL
    before = _shifted(state, first, stood.state[owner])
    allowed = np.take(_MAY, effect)
    allowed >>= before
    if not (allowed & 1).all():
        raise Damage("a processor does what its state does not allow")
    caller = _shifted(calls.goroutine, first, stood.caller[owner])
    began = _shifted(calls.event, first, stood.call[owner])
    gone = np.flatnonzero((state == P.IDLE) & (before == P.SYSCALL) & (caller >= 0))
    step = ProcessorSteps(
        chain.owner,
        chain.event,
        _visible(state),
        _visible(state) != _visible(before),
        (effect >= _STATUS) & (before == UNKNOWN),
        (effect == K.PROC_STEAL) & (before == P.SYSCALL),
        fresh,
    )
    loss = Loss(caller[gone], chain.event[gone], began[gone])
    return step, loss, _after(events, chain, effect, state, calls, stood)


def _visible(state: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return states as the model has them: an abandoned processor is idle."""
    return np.where(state == _ABANDONED, np.uint8(P.IDLE), state)


def _shifted(
    after: NDArray[T], first: NDArray[np.int64], start: NDArray[T]
) -> NDArray[T]:
    """Return what is before each row; `start` is that before each owner's first."""
    before = np.empty_like(after)
    before[1:] = after[:-1]
    before[first] = start
    return before


def _links(
    events: Events, context: Context, processors: Numbering, stood: Processors
) -> list[Links]:
    """Return all effects on processors."""
    says = events.where(K.PROC_STATUS)
    named = events.where(*_NAMED)
    own = events.where(*_OWN)
    for rows in (own, events.where(*_CREATES)):
        if len(rows) and int(context.processor[rows].min()) < 0:
            raise Damage("an event of a processor on a thread that has none")
    key = context.processor_key[own].astype(np.int64)
    begins = events.kind[own] == K.GO_SYSCALL_BEGIN
    key[begins] = events.argument(0, own[begins]) + NUMBERED
    more = mentioned_calls(events, context)
    said = processors.known(events.argument(0, says))
    # A status that tells of another state than the last comes after what changed it.
    known, told = stood.state[said], events.argument(1, says)
    expected = np.take(_NEXT, _STATUS + np.clip(told, 0, 4))
    calls = (known == P.SYSCALL) & (told == _SAID_ABANDONED)
    after = (known != UNKNOWN) & (known != expected) & ~calls
    taken = processors.known(events.argument(0, named))
    return [
        Links(said, np.where(after, SAID_AFTER, SAID), says),
        Links(taken, events.argument(1, named) + NUMBERED, named),
        Links(context.processor[own], key, own),
        Links(context.processor[more], context.processor_key[more], more),
    ]


def _effects(events: Events, chain: Chain) -> NDArray[np.uint8]:
    """Return the effect of each row of a chain."""
    effect = events.kind[chain.event]
    rows = np.flatnonzero(effect == K.PROC_STATUS)
    status = events.argument(1, chain.event[rows])
    if len(rows) and not 1 <= int(status.min()) <= int(status.max()) <= 4:
        raise Damage("a processor of a status that there is not")
    effect[rows] = _STATUS + status
    effect[looked_up(_SPEAKS, effect).view(np.bool_)] = _SAYS_SYSCALL
    return effect


def _check_sequence(
    chain: Chain, effect: NDArray[np.uint8], fresh: NDArray[np.bool_], before: int
) -> None:
    """Raise Damage where a processor's numbers leave one out, or repeat one.

    `before` is the number of the row before the first.
    """
    number = numbers_of(chain.key)
    step = np.diff(number, prepend=before)
    step[fresh] = number[fresh]
    bumps = looked_up(_BUMPS, effect).view(np.bool_)
    if (step != (bumps & ~fresh)).any() or (bumps & fresh).any():
        raise Damage("a processor's events are not in sequence")


class _Calls(NamedTuple):
    """The system call on a processor after each row.

    `goroutine` (int32) is in it, -1 if none; `event` (int64) began it, -1 if unknown.
    """

    goroutine: NDArray[np.int32]
    event: NDArray[np.int64]


def _calls(
    events: Events,
    context: Context,
    goroutines: Numbering,
    chain: Chain,
    effect: NDArray[np.uint8],
    stood: Processors,
) -> _Calls:
    """Return which system call each row leaves its processor in."""
    begins = looked_up(_BEGINS, effect).view(np.bool_)
    status = effect >= _STATUS
    own = np.where(begins, chain.event, np.int64(NOBODY))
    caller = np.where(begins, context.goroutine[chain.event], np.int32(NOBODY))
    says = np.flatnonzero(effect == _SAYS_SYSCALL)
    named = events.argument(0, chain.event[says])
    caller[says] = goroutines.known(named)
    # A status changes nothing: what was before it still is.
    place = np.arange(len(effect))
    place[status & ~begins] = -1
    first = np.flatnonzero(chain.begins())
    place[first] = np.maximum(place[first], first)
    known = np.flatnonzero(status[first] & ~begins[first])
    caller[first[known]] = stood.caller[chain.owner[first[known]]]
    own[first[known]] = stood.call[chain.owner[first[known]]]
    place = np.maximum.accumulate(place)
    return _Calls(caller[place], own[place])


def _after(
    events: Events,
    chain: Chain,
    effect: NDArray[np.uint8],
    state: NDArray[np.uint8],
    calls: _Calls,
    stood: Processors,
) -> Processors:
    """Return how the processors stand after the last row of each."""
    ends = np.ones(len(effect), np.bool_)
    ends[:-1] = chain.begins()[1:]
    last = np.flatnonzero(ends)
    owner, event = chain.owner[last], chain.event[last]
    thread = events.thread_of(event)
    afar = effect[last] == _STATUS + _SAID_ABANDONED
    thread = np.where(afar, stood.thread[owner], thread)
    bound = (state[last] == P.RUNNING) | (state[last] == P.SYSCALL)
    after = Processors._make(column.copy() for column in stood)
    after.state[owner] = state[last]
    after.thread[owner] = np.where(bound, thread, NO_THREAD)
    after.caller[owner] = np.where(bound, calls.goroutine[last], NOBODY)
    after.call[owner] = np.where(bound, calls.event[last], NOBODY)
    return after


def rebound(held: Held, stood: Processors) -> Held:
    """Return what threads hold, less the processors that others took from them."""
    return held._replace(
        processor={t: p for t, p in held.processor.items() if stood.thread[p] == t}
    )
