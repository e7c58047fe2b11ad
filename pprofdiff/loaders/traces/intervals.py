"""Intervals of goroutines and processors: one generation's, then all together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.context import Context
from pprofdiff.loaders.traces.events import Events, marked
from pprofdiff.loaders.traces.goroutines import STATUS_SYSCALL, SWITCH_STARTS, Steps
from pprofdiff.loaders.traces.lives import CREATES
from pprofdiff.loaders.traces.numbering import Numbering
from pprofdiff.loaders.traces.pages import Store
from pprofdiff.loaders.traces.processors import ProcessorSteps
from pprofdiff.loaders.traces.schema import Kind
from pprofdiff.loaders.traces.strings import Places
from pprofdiff.model.csr import Offsets, chunks, expand, offsets_of
from pprofdiff.model.traces.trace import State

__all__ = [
    "Births",
    "Part",
    "Rows",
    "births",
    "first_stacks",
    "interval_store",
    "joined",
    "processor_part",
    "processor_store",
]

K = Kind
# Runs of so many rows and more, on average, are copied one by one.
_LONG_RUN = 64
# Effects that show a stack of the goroutine they are about.
_OWN_STACK = marked(
    (K.GO_CREATE, K.GO_CREATE_BLOCKED, K.GO_STOP, K.GO_BLOCK, K.GO_SYSCALL_BEGIN)
)


class Part(NamedTuple):
    """Whose the rows of a generation in a `Store` are, each owner's together.

    `owners` (int32) are the goroutines or processors that have rows, `counts` (int64)
    how many.
    """

    owners: NDArray[np.int32]
    counts: NDArray[np.int64]


class Births(NamedTuple):
    """Goroutines that a generation mentions first; fields as of `Goroutines`."""

    goroutine: NDArray[np.int32]
    born: NDArray[np.bool_]
    created_ns: NDArray[np.int64]
    seen_ns: NDArray[np.int64]
    creator: NDArray[np.int32]
    creation_stack: NDArray[np.int32]

    @classmethod
    def none(cls) -> Births:
        """Return the births of no goroutine."""
        index, time = np.zeros(0, np.int32), np.zeros(0, np.int64)
        return cls(index, np.zeros(0, np.bool_), time, time, index, index)


def interval_store() -> Store:
    """Return the columns of `model.traces.trace.Intervals`, without their owners."""
    return Store(np.int64, np.uint8, np.uint16, np.int32, np.int16, np.int32, np.int32)


def processor_store() -> Store:
    """Return where rows of `model.traces.trace.ProcessorIntervals` are kept."""
    return Store(np.int64, np.uint8, np.int32, np.bool_)


class Rows:
    """The rows of a generation that began at `since`, added some at a time."""

    def __init__(
        self,
        columns: list[NDArray[Any]],
        events: Events,
        context: Context,
        threads: Numbering,
        since: int,
    ) -> None:
        """Take where rows are put, and what steps refer to; times must be settled."""
        self._columns = columns
        self._owners: list[NDArray[np.int32]] = []
        self._counts: list[NDArray[np.int64]] = []
        self._size = 0
        self._said = events, context, threads
        self._thread = threads_of(events, threads)
        self._since = since

    def part(self) -> Part:
        """Return whose the rows are that were added so far."""
        owners = np.concatenate([*self._owners, np.zeros(0, np.int32)])
        counts = np.concatenate([*self._counts, np.zeros(0, np.int64)])
        return Part(owners, counts)

    def add(self, steps: Steps) -> None:
        """Add the rows of some steps."""
        events, context, threads = self._said
        chain = steps.chain
        owner, effect, event = chain.owner, steps.effect, chain.event
        state, unknown = steps.state, steps.unknown
        if not steps.changed.all():
            rows = np.flatnonzero(steps.changed)
            owner, effect, event = owner[rows], effect[rows], event[rows]
            state, unknown = state[rows], unknown[rows]
        time = events.time[event]
        processor = context.processor[event]
        # In a system call without a processor: blocked until that is mentioned.
        blocked = unknown & (state == State.SYSCALL) & (processor < 0)
        late = np.flatnonzero(blocked)
        known = time[late]
        time[unknown] = self._since
        by = context.goroutine[event]
        by[(by == owner) | (effect == SWITCH_STARTS)] = -1
        stack, reason = events.stack[event], events.reason[event]
        thread = self._thread[event]
        calls = np.flatnonzero(effect == STATUS_SYSCALL)
        thread[calls] = threads.find(events.argument(1, event[calls]))
        columns: list[NDArray[Any]] = [
            time,
            state,
            reason,
            stack,
            processor,
            thread,
            by,
        ]
        if len(late):
            twice = np.sort(np.concatenate((np.arange(len(time)), late)))
            owner = owner[twice]
            columns = [column[twice] for column in columns]
            second = late + np.arange(1, len(late) + 1)
            columns[0][second] = known
            columns[1][second - 1] = State.SYSCALL_BLOCKED
        here = slice(self._size, self._size + len(owner))
        for column, values in zip(self._columns, columns, strict=True):
            column[here] = values
        self._size = here.stop
        owners, counts = _runs(owner)
        self._owners.append(owners)
        self._counts.append(counts)


def _runs(owner: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the owners of rows that stand together, and how many rows each has."""
    fresh = np.ones(len(owner), np.bool_)
    np.not_equal(owner[1:], owner[:-1], out=fresh[1:])
    first = np.flatnonzero(fresh)
    return owner[first], np.diff(first, append=len(owner))


def threads_of(events: Events, threads: Numbering) -> NDArray[np.int32]:
    """Return the place of each event's thread, -1 if it is of none."""
    return np.repeat(threads.find(events.threads), np.diff(events.offsets))


def births(
    events: Events, context: Context, steps: Steps, since: int, known: int
) -> Births:
    """Return the goroutines that a generation mentions first: not the first `known`."""
    rows = np.flatnonzero(steps.fresh & (steps.chain.owner >= known))
    born = np.isin(steps.effect[rows], CREATES)
    mentioned = born | steps.unknown[rows]
    rows, born = rows[mentioned], born[mentioned]
    event = steps.chain.event[rows]
    time = events.time[event]
    return Births(
        steps.chain.owner[rows],
        born,
        np.where(born, time, since),
        time,
        np.where(born, context.goroutine[event], -1),
        np.where(born, events.stack[event], np.int32(0)),
    )


def first_stacks(
    events: Events, steps: Steps, stacks: Places, unnamed: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return goroutines of those unnamed, and the first stack of their own each has."""
    rows = np.flatnonzero(unnamed[steps.chain.owner] & steps.changed)
    effect = steps.effect[rows]
    rows = rows[np.take(_OWN_STACK, effect).view(np.bool_) | steps.unknown[rows]]
    event = steps.chain.event[rows]
    stack = events.stack[event]
    creates = np.flatnonzero(
        np.isin(events.kind[event], (K.GO_CREATE, K.GO_CREATE_BLOCKED))
    )
    stack[creates] = stacks(events.argument(1, event[creates]))
    rows, stack = rows[stack > 0], stack[stack > 0]
    owner = steps.chain.owner[rows]
    first = np.ones(len(owner), np.bool_)
    np.not_equal(owner[1:], owner[:-1], out=first[1:])
    return owner[first], stack[first]


def processor_part(
    events: Events,
    steps: ProcessorSteps,
    threads: Numbering,
    since: int | None,
    store: Store,
) -> Part:
    """Put the rows of processors in a generation into a store; times must be settled.

    Give `since`, its begin, for the first one: what is mentioned later is new.
    """
    rows = np.flatnonzero(steps.changed)
    event = steps.event[rows]
    start, state, thread, stolen = store.room(len(rows))
    np.take(events.time, event, out=start, mode="clip")
    if since is not None:
        start[steps.unknown[rows]] = since
    np.take(steps.state, rows, out=state, mode="clip")
    np.take(threads_of(events, threads), event, out=thread, mode="clip")
    np.take(steps.stolen, rows, out=stolen, mode="clip")
    return Part(*_runs(steps.owner[rows]))


def joined(
    parts: list[Part], store: Store, owners: int
) -> tuple[Offsets, list[NDArray[Any]]]:
    """Put rows of all generations together by owner; empties the store.

    Returned are the offsets (owners + 1) and the columns.
    """
    totals = np.zeros(owners, np.int64)
    for part in parts:
        np.add.at(totals, part.owners, part.counts)
    offsets = offsets_of(totals)
    if len(parts) == 1:
        return offsets, [column.copy() for column in store.drained()]
    free = offsets[:-1].copy()
    places = []
    for part in parts:
        # Rows of one owner stand together, in one run or, at a seam, in two.
        places.append(free[part.owners] + _before_in_owner(part.owners, part.counts))
        np.add.at(free, part.owners, part.counts)
    first = np.concatenate(places)
    count = np.concatenate([part.counts for part in parts])
    if len(first) * _LONG_RUN < store.size:
        return offsets, [_copied(column, first, count) for column in store.drained()]
    source = np.empty(store.size, np.int64)
    ends = offsets_of(count)
    for low, high in chunks(ends):
        rows = np.arange(ends[low], ends[high])
        source[expand(first[low:high], count[low:high])] = rows
    return offsets, [column.take(source) for column in store.drained()]


def _copied(
    column: NDArray[Any], first: NDArray[np.int64], count: NDArray[np.int64]
) -> NDArray[Any]:
    """Return a column, each run of so many rows at its place."""
    whole = np.empty_like(column)
    start = np.cumsum(count) - count
    for to, at, rows in zip(
        first.tolist(), start.tolist(), count.tolist(), strict=True
    ):
        whole[to : to + rows] = column[at : at + rows]
    return whole


def _before_in_owner(
    owner: NDArray[np.int32], count: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many rows of the same owner come before each run of a part."""
    ends = np.cumsum(count)
    fresh = np.ones(len(owner), np.bool_)
    np.not_equal(owner[1:], owner[:-1], out=fresh[1:])
    first = np.flatnonzero(fresh)
    start = ends - count
    return start - np.repeat(start[first], np.diff(first, append=len(owner)))
