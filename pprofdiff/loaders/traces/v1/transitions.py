"""State changes of goroutines in a trace of Go 1.11 to 1.21, and where they happen.

An event that moves a goroutine to another P carries a sequence number: how many events
moved it before. A local event, on the P that moved the goroutine last, has none and
stands for one more (internal/trace/internal/tracev1/order.go). (goroutine, number,
position on the P) orders events regardless of their timestamps.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.loaders.traces.byte_tables import (
    UNKNOWN,
    all_allowed,
    lookup,
    membership,
    rows_in,
    transition_tables,
)
from pprofdiff.loaders.traces.damage import MOST_PROCESSORS, Damage
from pprofdiff.loaders.traces.id_index import IdIndex, Ids
from pprofdiff.loaders.traces.owner_rows import first_of_each, forward_fill, shifted
from pprofdiff.loaders.traces.v1.reading import V1Events
from pprofdiff.loaders.traces.v1.schema import (
    BLOCKS,
    EXITS,
    STARTS,
    STOPS,
    UNBLOCKS,
    V1Type,
)
from pprofdiff.model.arrays import Codes, Column, Index, Mask, Table
from pprofdiff.model.traces.trace import State

# No goroutine, no P, no thread.
NOBODY = -1
E = V1Type
S = State
# Events on a P with a system call: a slow call begins, a call ends, the P stops.
_BEGINS, _OVER, _STOPS = 0, 1, 2
# The state after blocking forever: nothing follows.
_BLOCKED_FOREVER = 6
_OWN = (*STOPS, E.GO_SYSCALL)
_STATUSES = (E.GO_WAITING, E.GO_IN_SYSCALL)
_NAMED = (E.GO_CREATE, *_STATUSES, *STARTS, *UNBLOCKS, *EXITS)
_CHANGES_STATE, _NAMES_OWNER = membership((*_OWN, *_NAMED)), membership(_NAMED)
_LOCAL = membership((E.GO_START_LOCAL, E.GO_UNBLOCK_LOCAL, E.GO_SYSEXIT_LOCAL))
_NUMBERED = membership((E.GO_START, E.GO_START_LABEL, E.GO_UNBLOCK, E.GO_SYSEXIT))
# The sequence number after an event that nothing moved before.
_FIRST = np.zeros(64, np.int8)
_FIRST[E.GO_CREATE] = 1
_FIRST[list(_STATUSES)] = 2
_WAITS = (S.WAITING, S.SYSCALL)
# Types, the states that they may follow, and the state they lead to.
_TRANSITIONS: list[tuple[tuple[V1Type, ...], tuple[int, ...], int]] = [
    ((E.GO_CREATE,), (UNKNOWN,), S.RUNNABLE),
    ((E.GO_WAITING,), (S.RUNNABLE,), S.WAITING),
    ((E.GO_IN_SYSCALL,), (S.RUNNABLE,), S.SYSCALL),
    (STARTS, (S.RUNNABLE,), S.RUNNING),
    (UNBLOCKS, _WAITS, S.RUNNABLE),
    (EXITS, (S.SYSCALL,), S.RUNNABLE),
    (BLOCKS, (S.RUNNING,), S.WAITING),
    ((E.GO_SCHED, E.GO_PREEMPT), (S.RUNNING,), S.RUNNABLE),
    ((E.GO_STOP,), (S.RUNNING,), _BLOCKED_FOREVER),
    ((E.GO_END,), (S.RUNNING,), S.GONE),
    ((E.GO_SYSCALL,), (S.RUNNING,), S.RUNNING),
    ((E.GO_SYSBLOCK,), (S.RUNNING,), S.SYSCALL),
]
_ALLOWED, _NEXT = transition_tables(
    {type_: (states, state) for types, states, state in _TRANSITIONS for type_ in types}
)


class V1Context(Struct, frozen=True, eq=False):
    """The goroutine, P and thread of each event before it happens, -1 for none.

    `goroutine` and `thread` (int32) and `processor` (int16) are indices of `ids`.
    `initial` is the row that ends the list of what existed when the trace began.
    """

    goroutine: Index
    processor: NDArray[np.int16]
    thread: Index
    ids: Ids
    initial: int

    def lists_start(self, events: V1Events, rows: Column) -> Mask:
        """Mark the events that list what existed when the trace began."""
        at = self.initial
        before = events.tick[rows] < events.tick[at]
        same = self.processor[rows] == self.processor[at]
        return np.where(same, rows < at, before)


def v1_context(events: V1Events) -> V1Context:
    """Return the context of a trace's events.

    Raises Damage if events contradict each other, or the trace does not list what
    existed when it began.
    """
    initial = events.where(E.GOMAXPROCS)
    if not len(initial):
        raise Damage("it does not record the state at its start")
    limits = events.first_argument(initial)
    if not 0 < int(limits.min()) <= int(limits.max()) < MOST_PROCESSORS:
        raise Damage("an impossible GOMAXPROCS")
    ids = Ids.none()
    created = events.where(E.GO_CREATE)
    # In order of creation; rows are grouped by P.
    created = created[np.argsort(events.tick[created], kind="stable")]
    ids.goroutines.add(events.first_argument(created))
    ids.processors.add(events.processors[events.processors >= 0])
    if len(ids.processors) >= MOST_PROCESSORS:
        raise Damage("more processors than there can be")
    ids.threads.add(events.first_argument(events.where(E.PROC_START)))
    processor = ids.processors.find(events.processors).astype(np.int16)
    return V1Context(
        goroutine=_running(events, ids.goroutines),
        processor=np.repeat(processor, np.diff(events.offsets)),
        thread=_threads(events, ids.threads),
        ids=ids,
        initial=int(initial[np.argmin(events.tick[initial])]),
    )


def _running(events: V1Events, goroutines: IdIndex) -> Index:
    rows = events.where(*STARTS, *STOPS)
    values = np.full(len(rows), NOBODY, np.int32)
    starts = np.isin(events.type[rows], STARTS)
    values[starts] = goroutines.require(events.first_argument(rows[starts]))
    nobody = [NOBODY] * len(events.processors)
    column = forward_fill(events.offsets, rows, values, nobody, np.int32).column
    if (column[rows[starts]] != NOBODY).any():
        raise Damage("a processor runs two goroutines at a time")
    stops = events.where(E.PROC_STOP)
    if (column[stops] != NOBODY).any():
        raise Damage("a processor stops that runs a goroutine")
    running: Index = column.astype(np.int32, copy=False)
    return running


def _threads(events: V1Events, threads: IdIndex) -> Index:
    rows = events.where(E.PROC_START, E.PROC_STOP)
    starts = events.type[rows] == E.PROC_START
    values = np.full(len(rows), NOBODY, np.int32)
    values[starts] = threads.find(events.first_argument(rows[starts]))
    nobody = [NOBODY] * len(events.processors)
    has = forward_fill(events.offsets, rows, values, nobody, np.int32).column
    # The starts and stops of a P alternate, beginning with a start.
    if ((has[rows] != NOBODY) == starts).any():
        raise Damage("a processor that runs starts, or one that does not stops")
    column: Index = has.astype(np.int32, copy=False)
    return column


class Transitions(Table, frozen=True):
    """Events that change a goroutine's state, grouped by goroutine, each in order.

    `owner` (int32, increasing) is the goroutine, `row` (int64) the event's row, `type`
    (uint8) its `V1Type`; `is_first` (bool) marks the first event of each goroutine.
    """

    owner: Index
    row: Column
    type: Codes
    is_first: Mask


def transitions_of(events: V1Events, context: V1Context) -> Transitions:
    """Return all transitions; correct the ticks of system call exits in place.

    Raises Damage if events contradict each other.
    """
    row, owner = _by_goroutine(events, context)
    types = events.type[row]
    number = _numbers(events, context, owner, row, types)
    if not _rising(owner, number):
        # A stable sort keeps the order of rows with the same number.
        order = np.argsort(owner.astype(np.int64) << 32 | number, kind="stable")
        owner, row, number = owner[order], row[order], number[order]
        types = types[order]
    is_first = first_of_each(owner)
    _check(types, number, is_first)
    _check_times(events.tick[row], is_first)
    transitions = Transitions(owner, row, types, is_first)
    _put_exits(events, transitions)
    return transitions


def _by_goroutine(events: V1Events, context: V1Context) -> tuple[Column, Index]:
    row = rows_in(_CHANGES_STATE, events.type)
    owner = context.goroutine[row]
    named = lookup(_NAMES_OWNER, events.type[row]).view(np.bool_)
    owner[named] = context.ids.goroutines.require(events.first_argument(row[named]))
    if len(owner) and int(owner.min()) < 0:
        raise Damage("an event of a goroutine on a processor that runs none")
    bits = len(events.type).bit_length()
    key = owner.astype(np.int64)
    key <<= bits
    key |= row
    del row, owner
    key.sort()
    owner = (key >> bits).astype(np.int32)
    key &= (1 << bits) - 1
    return key, owner


def _numbers(
    events: V1Events, context: V1Context, owner: Index, row: Column, types: Codes
) -> Index:
    """Return the sequence number after each transition (int32)."""
    number = _FIRST[types].astype(np.int32)
    numbered = rows_in(_NUMBERED, types)
    numbers = events.second[row[numbered]]
    if len(numbers) and int(numbers.max()) >= 1 << 30:
        raise Damage("a goroutine's events are not in sequence")
    number[numbered] = numbers + np.uint32(1)
    known = np.flatnonzero(number)
    local = np.cumsum(lookup(_LOCAL, types), dtype=np.int32)
    place = np.zeros(len(types), np.int32)
    place[known] = known
    np.maximum.accumulate(place, out=place)
    processor = context.processor[row]
    # On each P, an event with a number comes first.
    moved = (owner[1:] != owner[:-1]) | (processor[1:] != processor[:-1])
    if len(number) and (number[0] == 0 or (moved & (number[1:] == 0)).any()):
        raise Damage("no order of its events is possible")
    return number[place] + local - local[place]


def _rising(owner: Index, number: Index) -> bool:
    falls = (number[1:] < number[:-1]) & (owner[1:] == owner[:-1])
    return not falls.any()


def _check(types: Codes, number: Index, is_first: Mask) -> None:
    moved = (lookup(_LOCAL, types) | lookup(_NUMBERED, types)).view(np.bool_)
    moved |= _FIRST[types] > 0
    step = np.diff(number, prepend=np.int32(0))
    step[is_first] = number[is_first]
    if (step != moved).any():
        raise Damage("a goroutine's events are not in sequence")
    before = shifted(_NEXT[types])
    before[is_first] = UNKNOWN
    if not all_allowed(_ALLOWED, types, before):
        raise Damage("a goroutine does what its state does not allow")


def _check_times(tick: Column, is_first: Mask) -> None:
    if ((tick[1:] < tick[:-1]) & ~is_first[1:]).any():
        raise Damage("time stamps out of order: clocks of its processors disagree")


def _put_exits(events: V1Events, transitions: Transitions) -> None:
    at = np.flatnonzero(np.isin(transitions.type, EXITS))
    rows = transitions.row[at]
    place = np.where(transitions.type[at] == E.GO_SYSEXIT, 2, 1)
    real = np.where(place == 2, events.argument(2, rows), events.argument(1, rows))
    known = real != 0
    rows, at, real = rows[known], at[known], real[known]
    events.tick[rows] = real
    near = np.concatenate((at, at - 1))
    after = np.minimum(near + 1, len(transitions.row) - 1)
    tick = events.tick
    falls = tick[transitions.row[after]] < tick[transitions.row[near]]
    if (falls & (transitions.owner[after] == transitions.owner[near])).any():
        raise Damage("time stamps out of order: a system call ends before it began")


class Syscalls(Struct, frozen=True, eq=False):
    """System calls among the transitions, as their rows (int64, increasing).

    A fast call has no end: it takes one nanosecond, as in Go's reader
    (internal/trace/tracev1.go). The others lose their P when it stops (summary.go).
    `fast` calls ended at once; in `lost` calls the goroutine lost its P, to the events
    in rows `stops` (int64, same length as `lost`).
    """

    fast: Column
    lost: Column
    stops: Column


def syscalls_of(
    events: V1Events, context: V1Context, transitions: Transitions
) -> Syscalls:
    """Return the system calls among goroutine transitions."""
    syscalls = np.flatnonzero(transitions.type == E.GO_SYSCALL)
    after = np.minimum(syscalls + 1, len(transitions.type) - 1)
    lasts = transitions.type[after] == E.GO_SYSBLOCK
    lasts &= transitions.owner[after] == transitions.owner[syscalls]
    fast = syscalls[~lasts]
    began = syscalls[lasts]
    over = began + 2
    ends = np.minimum(over, len(transitions.type) - 1)
    ended = (over < len(transitions.type)) & (
        transitions.owner[ends] == transitions.owner[began]
    )
    stops = events.where(E.PROC_STOP)
    rows = transitions.row
    # One row for each event that affects the last system call of a P.
    row = np.concatenate((rows[began], rows[fast], stops))
    what = np.repeat((_BEGINS, _OVER, _STOPS), (len(began), len(fast), len(stops)))
    place = np.concatenate((np.arange(len(began)), np.full(len(row) - len(began), -1)))
    processor = context.processor[row]
    order = np.lexsort((row, events.tick[row], processor))
    what, row, place = what[order], row[order], place[order]
    processor = processor[order]
    taken = np.flatnonzero(
        (what[:-1] == _BEGINS)
        & (what[1:] == _STOPS)
        & (processor[:-1] == processor[1:])
    )
    place, stop = place[taken], row[taken + 1]
    # A call may have ended before the stop of its P was recorded.
    late = ended[place] & (events.tick[rows[ends[place]]] < events.tick[stop])
    place, stop = place[~late], stop[~late]
    order = np.argsort(began[place])
    return Syscalls(fast, began[place][order], stop[order])
