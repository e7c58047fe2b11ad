"""Intervals of goroutines and processors in a trace of Go 1.11 to 1.21."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.clock_order import Sequence, settle
from pprofdiff.loaders.traces.events import looked_up, marked
from pprofdiff.loaders.traces.v1calls import Calls
from pprofdiff.loaders.traces.v1columns import V1Events
from pprofdiff.loaders.traces.v1context import NOBODY, V1Context
from pprofdiff.loaders.traces.v1order import Moves
from pprofdiff.loaders.traces.v1schema import (
    BLOCKS,
    EXITS,
    REASONS,
    STARTS,
    UNBLOCKS,
    V1,
)
from pprofdiff.model.csr import offsets_of
from pprofdiff.model.traces.trace import (
    Goroutines,
    Intervals,
    ProcessorIntervals,
    ProcessorState,
    State,
)

__all__ = [
    "BEGIN_NS",
    "V1_REASONS",
    "Scene",
    "goroutines_of",
    "intervals_of",
    "processors_of",
]

# Go's reader lets a trace begin a nanosecond before its first event, which is at 0.
BEGIN_NS = -1
V1_REASONS = tuple(dict.fromkeys(("", *REASONS.values())))
_REASON = np.zeros(64, np.uint16)
for _kind, _text in REASONS.items():
    _REASON[_kind] = V1_REASONS.index(_text)
_STATE = np.zeros(64, np.uint8)
for _kinds, _state in (
    ((V1.GO_CREATE, *UNBLOCKS, *EXITS, V1.GO_SCHED, V1.GO_PREEMPT), State.RUNNABLE),
    (STARTS, State.RUNNING),
    ((*BLOCKS, V1.GO_STOP, V1.GO_WAITING), State.WAITING),
    ((V1.GO_SYSCALL, V1.GO_IN_SYSCALL), State.SYSCALL),
    ((V1.GO_END,), State.GONE),
):
    _STATE[list(_kinds)] = _state
_STATUSES = marked((*STARTS, V1.GO_WAITING, V1.GO_IN_SYSCALL))
# Events that are the goroutine's own whatever ran on the processor.
_SELF = marked((*STARTS, *EXITS, V1.GO_WAITING, V1.GO_IN_SYSCALL))
_SHOWS_STACK = marked((*BLOCKS, V1.GO_STOP, V1.GO_SCHED, V1.GO_PREEMPT, V1.GO_SYSCALL))


class Scene(NamedTuple):
    """A trace's events in order, `time` (int64 ns) of each, `stack` (int32) places.

    `early` marks the moves that tell what there was when the trace began, `timers`
    (bool, one a goroutine) the goroutines that only wake others, up to Go 1.13.
    `places` gives stacks' ids their places.
    """

    events: V1Events
    context: V1Context
    moves: Moves
    calls: Calls
    time: NDArray[np.int64]
    stack: NDArray[np.int32]
    early: NDArray[np.bool_]
    timers: NDArray[np.bool_]
    places: Callable[[NDArray[np.integer]], NDArray[np.int32]]


def intervals_of(scene: Scene) -> Intervals:
    """Return what goroutines do."""
    moves, calls = scene.moves, scene.calls
    told = _superseded(scene)
    count = (moves.kind != V1.GO_SYSBLOCK) & ~told
    counts = count.astype(np.int8)
    counts[calls.fast] += 1
    counts[calls.lost] += 1
    place = np.repeat(np.arange(len(counts)), counts)
    second = np.zeros(len(place), np.bool_)
    second[1:] = place[1:] == place[:-1]
    row = moves.row[place]
    more = np.flatnonzero(second)
    lost = np.isin(place[more], calls.lost, kind="table")
    row[more[lost]] = calls.stops
    owner, kind = moves.owner[place], moves.kind[place]
    state, early = _STATE[kind], scene.early[place]
    state[more[lost]] = State.SYSCALL_BLOCKED
    state[more[~lost]] = State.RUNNING
    start = scene.time[row]
    start[more[~lost]] += 1
    stack = scene.stack[row]
    stack[more] = 0
    columns = _actors(scene, place, row, second)
    # Of what was there when the trace began only that is known.
    early &= ~second
    start[early], stack[early] = BEGIN_NS, 0
    # A fast call may end in what follows it.
    begins = np.ones(len(owner), np.bool_)
    np.not_equal(owner[1:], owner[:-1], out=begins[1:])
    settle(start, [Sequence(None, begins)])
    counts = np.bincount(owner, minlength=len(scene.context.goroutines))
    return Intervals(
        offsets_of(counts), start, state, _REASON[kind] * ~second, stack, *columns
    )


def _superseded(scene: Scene) -> NDArray[np.bool_]:
    """Mark creations of goroutines that were there: what they did is told next."""
    kind, fresh = scene.moves.kind, scene.moves.fresh
    told = np.zeros(len(kind), np.bool_)
    follows = looked_up(_STATUSES, kind[1:]).view(np.bool_) & ~fresh[1:]
    told[:-1] = fresh[:-1] & scene.early[:-1] & follows & scene.early[1:]
    return told


def _actors(
    scene: Scene,
    place: NDArray[np.int64],
    row: NDArray[np.int64],
    second: NDArray[np.bool_],
) -> tuple[NDArray[np.int16], NDArray[np.int32], NDArray[np.int32]]:
    """Return the processor, thread and goroutine of the event of each row."""
    context, moves = scene.context, scene.moves
    kind, owner = moves.kind[place], moves.owner[place]
    processor, thread = context.processor[row], context.thread[row]
    by = context.goroutine[row]
    own = looked_up(_SELF, kind).view(np.bool_) | (by == owner)
    # Goroutines that were runnable are told all at once, by nobody.
    rest = scene.early[place] & (kind == V1.GO_CREATE)
    away = np.isin(kind, EXITS) | rest
    wakes = np.flatnonzero(np.isin(kind, UNBLOCKS))
    network = moves.kind[place[wakes] - 1] == V1.GO_BLOCK_NET
    timer = (by[wakes] >= 0) & scene.timers[by[wakes]]
    away[wakes[network | timer]] = True
    processor[away], thread[away] = NOBODY, NOBODY
    by[(own & ~second) | rest] = NOBODY
    by[second & (by == owner)] = NOBODY
    return processor, thread, by


def goroutines_of(scene: Scene, functions: NDArray[np.int32]) -> Goroutines:
    """Return the goroutines; `functions` has the root function of each stack, or 0."""
    events, moves = scene.events, scene.moves
    first = np.flatnonzero(moves.fresh)
    row = moves.row[first]
    born = ~scene.early[first]
    seen = scene.time[row]
    told = _superseded(scene)[first]
    seen[told] = scene.time[moves.row[first[told] + 1]]
    seen[~told & ~born] = scene.time[scene.context.begun]
    named = np.zeros(len(first), np.int32)
    shows = np.flatnonzero(looked_up(_SHOWS_STACK, moves.kind))
    name = functions[scene.stack[moves.row[shows]]]
    owner, name = moves.owner[shows][name > 0], name[name > 0]
    # The last of several values assigned to one place is kept.
    named[owner[::-1]] = name[::-1]
    begun = functions[scene.places(events.second[row])]
    named = np.where(born & (begun > 0), begun, named)
    return Goroutines(
        id=scene.context.goroutines.ids,
        name=named,
        born=born,
        created_ns=np.where(born, seen, BEGIN_NS),
        seen_ns=seen,
        creator=np.where(born, scene.context.goroutine[row], np.int32(NOBODY)),
        creation_stack=np.where(born, scene.stack[row], np.int32(0)),
    )


def processors_of(scene: Scene) -> ProcessorIntervals:
    """Return what processors do."""
    events, context = scene.events, scene.context
    row = events.where(V1.PROC_START, V1.PROC_STOP)
    row = row[context.processor[row] >= 0]
    owner = context.processor[row]
    row = row[np.argsort(owner, kind="stable")]
    owner = context.processor[row]
    starts = events.kind[row] == V1.PROC_START
    start = scene.time[row]
    start[np.diff(owner, prepend=-1) != 0] = BEGIN_NS
    thread = context.thread[row]
    thread[starts] = context.threads.find(events.named(row[starts]))
    states = np.where(starts, ProcessorState.RUNNING, ProcessorState.IDLE)
    counts = np.bincount(owner, minlength=len(context.processors))
    return ProcessorIntervals(
        offsets_of(counts),
        start,
        states.astype(np.uint8),
        thread,
        np.zeros(len(row), np.bool_),
    )
