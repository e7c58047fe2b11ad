"""The order of what happened to each goroutine in a trace of Go 1.11 to 1.21.

An event that moves a goroutine to another processor carries its number among all that
move it; one on the processor that moved it last is one more than before. So events
get such a number (internal/trace/internal/tracev1/order.go) and are in order by
goroutine, number and place on the processor, whatever their times say.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.batches import Damage
from pprofdiff.loaders.traces.events import looked_up, marked
from pprofdiff.loaders.traces.schema import UNKNOWN
from pprofdiff.loaders.traces.v1columns import V1Events
from pprofdiff.loaders.traces.v1context import V1Context
from pprofdiff.loaders.traces.v1schema import BLOCKS, EXITS, STARTS, STOPS, UNBLOCKS, V1
from pprofdiff.model.traces.trace import State

__all__ = ["Moves", "moves_of"]

S = State
# After a block that is for good nothing follows.
_LOST = 6
_OWN = (*STOPS, V1.GO_SYSCALL)
_SAID = (V1.GO_WAITING, V1.GO_IN_SYSCALL)
_NAMED = (V1.GO_CREATE, *_SAID, *STARTS, *UNBLOCKS, *EXITS)
_MOVES, _NAMES = marked((*_OWN, *_NAMED)), marked(_NAMED)
_LOCAL = marked((V1.GO_START_LOCAL, V1.GO_UNBLOCK_LOCAL, V1.GO_SYSEXIT_LOCAL))
_NUMBERED = marked((V1.GO_START, V1.GO_START_LABEL, V1.GO_UNBLOCK, V1.GO_SYSEXIT))
# Number after the event, where its type says it: nothing else moved it before.
_FIRST = np.zeros(64, np.int8)
_FIRST[V1.GO_CREATE] = 1
_FIRST[list(_SAID)] = 2
_WAITS = (S.WAITING, S.SYSCALL)
# Types, the states that they may follow, and the one they lead to.
_STEPS: list[tuple[tuple[V1, ...], tuple[int, ...], int]] = [
    ((V1.GO_CREATE,), (UNKNOWN,), S.RUNNABLE),
    ((V1.GO_WAITING,), (S.RUNNABLE,), S.WAITING),
    ((V1.GO_IN_SYSCALL,), (S.RUNNABLE,), S.SYSCALL),
    (STARTS, (S.RUNNABLE,), S.RUNNING),
    (UNBLOCKS, _WAITS, S.RUNNABLE),
    (EXITS, (S.SYSCALL,), S.RUNNABLE),
    (BLOCKS, (S.RUNNING,), S.WAITING),
    ((V1.GO_SCHED, V1.GO_PREEMPT), (S.RUNNING,), S.RUNNABLE),
    ((V1.GO_STOP,), (S.RUNNING,), _LOST),
    ((V1.GO_END,), (S.RUNNING,), S.GONE),
    ((V1.GO_SYSCALL,), (S.RUNNING,), S.RUNNING),
    ((V1.GO_SYSBLOCK,), (S.RUNNING,), S.SYSCALL),
]
_MAY, _NEXT = np.zeros(64, np.uint8), np.full(64, UNKNOWN, np.uint8)
for _kinds, _before, _after in _STEPS:
    _MAY[list(_kinds)] = sum(1 << state for state in _before)
    _NEXT[list(_kinds)] = _after


class Moves(NamedTuple):
    """Events that move goroutines, one goroutine's after another's, in order.

    `owner` int32 (rising), `row` int64, `kind` uint8; `fresh` marks each one's first.
    """

    owner: NDArray[np.int32]
    row: NDArray[np.int64]
    kind: NDArray[np.uint8]
    fresh: NDArray[np.bool_]


def moves_of(events: V1Events, context: V1Context) -> Moves:
    """Return all moves, and give system calls the times they ended at, in place.

    Raises Damage where events contradict each other.
    """
    row, owner = _by_goroutine(events, context)
    kind = events.kind[row]
    number = _numbers(events, context, owner, row, kind)
    if not _rising(owner, number):
        # Stable: those of one number are in order already.
        order = np.argsort(owner.astype(np.int64) << 32 | number, kind="stable")
        owner, row, number = owner[order], row[order], number[order]
        kind = kind[order]
    fresh = np.ones(len(owner), np.bool_)
    np.not_equal(owner[1:], owner[:-1], out=fresh[1:])
    _check(kind, number, fresh)
    _check_times(events.tick[row], fresh)
    moves = Moves(owner, row, kind, fresh)
    _put_exits(events, moves)
    return moves


def _by_goroutine(
    events: V1Events, context: V1Context
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return rows and goroutines of all moves: by goroutine, processor and place."""
    row = np.flatnonzero(looked_up(_MOVES, events.kind))
    owner = context.goroutine[row]
    named = looked_up(_NAMES, events.kind[row]).view(np.bool_)
    owner[named] = context.goroutines.known(events.named(row[named]))
    if len(owner) and int(owner.min()) < 0:
        raise Damage("an event of a goroutine on a processor that runs none")
    bits = len(events.kind).bit_length()
    key = owner.astype(np.int64)
    key <<= bits
    key |= row
    del row, owner
    key.sort()
    owner = (key >> bits).astype(np.int32)
    key &= (1 << bits) - 1
    return key, owner


def _numbers(
    events: V1Events,
    context: V1Context,
    owner: NDArray[np.int32],
    row: NDArray[np.int64],
    kind: NDArray[np.uint8],
) -> NDArray[np.int32]:
    """Return how many moves between processors a goroutine has seen, each included."""
    said = _FIRST[kind].astype(np.int32)
    numbered = np.flatnonzero(looked_up(_NUMBERED, kind))
    numbers = events.second[row[numbered]]
    if len(numbers) and int(numbers.max()) >= 1 << 30:
        raise Damage("a goroutine's events are not in sequence")
    said[numbered] = numbers + np.uint32(1)
    known = np.flatnonzero(said)
    local = np.cumsum(looked_up(_LOCAL, kind), dtype=np.int32)
    place = np.zeros(len(kind), np.int32)
    place[known] = known
    np.maximum.accumulate(place, out=place)
    processor = context.processor[row]
    # On each processor a numbered event comes first.
    moved = (owner[1:] != owner[:-1]) | (processor[1:] != processor[:-1])
    if len(said) and (said[0] == 0 or (moved & (said[1:] == 0)).any()):
        raise Damage("no order of its events is possible")
    return said[place] + local - local[place]


def _rising(owner: NDArray[np.int32], number: NDArray[np.int32]) -> bool:
    """Tell whether numbers of each goroutine rise already."""
    falls = (number[1:] < number[:-1]) & (owner[1:] == owner[:-1])
    return not falls.any()


def _check(
    kind: NDArray[np.uint8], number: NDArray[np.int32], fresh: NDArray[np.bool_]
) -> None:
    """Raise Damage where a goroutine does what its state does not allow."""
    moved = (looked_up(_LOCAL, kind) | looked_up(_NUMBERED, kind)).view(np.bool_)
    moved |= _FIRST[kind] > 0
    step = np.diff(number, prepend=np.int32(0))
    step[fresh] = number[fresh]
    if (step != moved).any():
        raise Damage("a goroutine's events are not in sequence")
    before = np.empty_like(kind)
    before[1:] = _NEXT[kind[:-1]]
    before[fresh] = UNKNOWN
    if not (_MAY[kind] >> before & 1).all():
        raise Damage("a goroutine does what its state does not allow")


def _check_times(tick: NDArray[np.int64], fresh: NDArray[np.bool_]) -> None:
    """Raise Damage where something happens before what it follows."""
    if ((tick[1:] < tick[:-1]) & ~fresh[1:]).any():
        raise Damage("time stamps out of order: clocks of its processors disagree")


def _put_exits(events: V1Events, moves: Moves) -> None:
    """Let a system call end when it did, which is before the event that tells it."""
    at = np.flatnonzero(np.isin(moves.kind, EXITS))
    rows = moves.row[at]
    place = np.where(moves.kind[at] == V1.GO_SYSEXIT, 2, 1)
    real = np.where(place == 2, events.argument(2, rows), events.argument(1, rows))
    told = real != 0
    rows, at, real = rows[told], at[told], real[told]
    events.tick[rows] = real
    near = np.concatenate((at, at - 1))
    after = np.minimum(near + 1, len(moves.row) - 1)
    tick = events.tick
    falls = tick[moves.row[after]] < tick[moves.row[near]]
    if (falls & (moves.owner[after] == moves.owner[near])).any():
        raise Damage("time stamps out of order: a system call ends before it began")
