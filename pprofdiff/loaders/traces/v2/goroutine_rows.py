"""Turn the state changes of goroutines in a generation into rows, and sort all rows.

Effects come in chunks, which keeps temporary columns small. If a goroutine's times run
backwards, the times of its events are raised first, and the rows rewritten.

Columns live in private pages: these go back to the system when dropped, and pages never
written to take no memory. From malloc, decoding a long trace left as much unused memory
behind as the result takes.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import DTypeLike, NDArray

from pprofdiff.loaders.traces.byte_tables import UNKNOWN, membership
from pprofdiff.loaders.traces.clock_order import HappensBefore, enforce_happens_before
from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.loaders.traces.id_index import IdIndex, IdMap
from pprofdiff.loaders.traces.owner_rows import counts_of_each, first_of_each
from pprofdiff.loaders.traces.v2.context import Context
from pprofdiff.loaders.traces.v2.effects import EffectOrder
from pprofdiff.loaders.traces.v2.events import Events
from pprofdiff.loaders.traces.v2.goroutine_states import (
    CREATES,
    STATUS_SYSCALL,
    SWITCH_STARTS,
    StateChanges,
    goroutine_state_changes,
)
from pprofdiff.loaders.traces.v2.processor_states import ProcessorLosses
from pprofdiff.loaders.traces.v2.schema import EventType
from pprofdiff.model.arrays import (
    Codes,
    Column,
    Index,
    Integers,
    Mask,
    Table,
    dtypes_of,
)
from pprofdiff.model.csr import Offsets, chunks, expand, offsets_of, slices
from pprofdiff.model.traces.trace import Intervals, ProcessorIntervals

E = EventType
# Effects with a stack of the goroutine that they affect.
_OWN_STACK = membership(
    (E.GO_CREATE, E.GO_CREATE_BLOCKED, E.GO_STOP, E.GO_BLOCK, E.GO_SYSCALL_BEGIN)
)
# Blocks of at least this many rows on average are copied one by one.
_LONG_BLOCK = 64
# Rows placed at a time, which limits temporaries to a few megabytes.
_ROWS = 1 << 17
# Minimum sizes in bytes for private pages and for huge pages.
_FEWEST_BYTES, _MANY_BYTES = 1 << 16, 1 << 22
_PRIVATE = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS}
    if hasattr(mmap, "MAP_ANONYMOUS")
    else {}
)
# Growth estimates the rows of the whole file from those so far, times this.
_MARGIN = 1.5


class GoroutineStates(Table, frozen=True):
    """The state of each goroutine between two generations, one row each.

    `state` (uint8) is its `State`, `UNKNOWN` if never mentioned; `first_stack` (int32)
    its first known stack, 0 if none.
    """

    state: Codes
    first_stack: Index

    def grown(self, size: int) -> GoroutineStates:
        """Return a copy with `size` rows; new ones are unknown."""
        more = size - len(self)
        return GoroutineStates(
            np.append(self.state, np.full(more, UNKNOWN, np.uint8)),
            np.append(self.first_stack, np.zeros(more, np.int32)),
        )


class GenerationEvents(Struct, frozen=True, eq=False):
    """The events of a generation and the data derived from them.

    The generation began at `since` (ns). Goroutines with indices below `known` were
    mentioned before it. `thread` (int32) is the index of each event's thread, -1 for
    none; `threads` and `stacks` translate the ids in arguments.
    """

    events: Events
    context: Context
    losses: ProcessorLosses
    thread: Index
    threads: IdIndex
    stacks: IdMap
    since: int
    known: int


class NewGoroutines(Table, frozen=True):
    """Goroutines first mentioned by a generation; columns as in `Goroutines`."""

    goroutine: Index
    born: Mask
    created_ns: Column
    seen_ns: Column
    creator: Index
    creation_stack: Index


class GoroutineRows(Struct, frozen=True, eq=False):
    """A generation's results on goroutines, in addition to the rows in the store."""

    counts: OwnerCounts
    new: NewGoroutines
    states: GoroutineStates


def goroutine_rows(
    generation: GenerationEvents,
    order: EffectOrder,
    constraints: list[HappensBefore],
    before: GoroutineStates,
    store: RowStore,
) -> GoroutineRows:
    """Write the rows of a generation's goroutines to `store`; the caller keeps them.

    Raises the times of events, in place, until no thread, goroutine or P runs
    backwards. `constraints` are all except the goroutines' own; `before` has a row for
    each goroutine that the generation mentions. Raises Damage if events contradict each
    other.
    """
    events = generation.events
    enforce_happens_before(events.time, constraints)
    rows = _rows_in_order(generation, order, before, store)
    if rows is None:
        changes = list(_state_changes(generation, order, before.state.copy()))
        of_goroutines = HappensBefore(
            np.concatenate([some.effects.event for some in changes]),
            np.concatenate([some.is_first for some in changes]),
        )
        enforce_happens_before(events.time, [*constraints, of_goroutines])
        rows = _rows_in_order(generation, order, before, store)
    if rows is None:
        raise Damage("its events wait for each other")
    return rows


def _state_changes(
    generation: GenerationEvents, order: EffectOrder, state: Codes
) -> Iterator[StateChanges]:
    return goroutine_state_changes(
        order, generation.events, generation.context, state, generation.losses
    )


def _rows_in_order(
    generation: GenerationEvents,
    order: EffectOrder,
    before: GoroutineStates,
    store: RowStore,
) -> GoroutineRows | None:
    """Like `goroutine_rows`; return None if a goroutine's time runs backwards."""
    events = generation.events
    state, first_stack = before.state.copy(), before.first_stack.copy()
    writer = _RowWriter(generation, store.room(len(order)))
    new = []
    last = 0
    for changes in _state_changes(generation, order, state):
        time = events.time[changes.effects.event]
        falls = np.diff(time, prepend=last) < 0
        if (falls & ~changes.is_first).any():
            return None
        last = int(time[-1])
        writer.add(changes)
        new.append(_new_goroutines(generation, changes))
        owner, stack = _first_stacks(generation, changes, first_stack == 0)
        first_stack[owner] = stack
    return GoroutineRows(
        counts=writer.counts(),
        new=NewGoroutines.concatenate(new),
        states=GoroutineStates(state, first_stack),
    )


class _RowWriter:
    """Writes changes of state as rows of `model.traces.trace.Intervals`."""

    def __init__(
        self, generation: GenerationEvents, columns: list[NDArray[Any]]
    ) -> None:
        self._generation = generation
        self._columns = columns
        self._counts: list[OwnerCounts] = []
        self._size = 0

    def counts(self) -> OwnerCounts:
        return OwnerCounts.concatenate(self._counts)

    def add(self, changes: StateChanges) -> None:
        generation = self._generation
        events, context = generation.events, generation.context
        owner, event = changes.effects.owner, changes.effects.event
        effect, state = changes.effect, changes.state
        first_mention = changes.first_mention
        if not changes.changed.all():
            rows = np.flatnonzero(changes.changed)
            owner, effect, event = owner[rows], effect[rows], event[rows]
            state, first_mention = state[rows], first_mention[rows]
        here = slice(self._size, self._size + len(owner))
        rows_of = [column[here] for column in self._columns]
        time, to, reason, stack, processor, thread, by = rows_of
        to[:] = state
        # Take directly into place, without a temporary array.
        for column, values in (
            (time, events.time),
            (reason, events.reason),
            (stack, events.stack),
            (processor, context.processor),
            (thread, generation.thread),
            (by, context.goroutine),
        ):
            np.take(values, event, out=column, mode="clip")
        time[np.flatnonzero(first_mention)] = generation.since
        by[np.flatnonzero((by == owner) | (effect == SWITCH_STARTS))] = -1
        calls = np.flatnonzero(effect == STATUS_SYSCALL)
        thread[calls] = generation.threads.find(events.argument(1, event[calls]))
        self._size = here.stop
        self._counts.append(OwnerCounts(*counts_of_each(owner)))


def _new_goroutines(
    generation: GenerationEvents, changes: StateChanges
) -> NewGoroutines:
    events, effects = generation.events, changes.effects
    rows = np.flatnonzero(changes.is_first & (effects.owner >= generation.known))
    born = np.isin(changes.effect[rows], CREATES)
    mentioned = born | changes.first_mention[rows]
    rows, born = rows[mentioned], born[mentioned]
    event = effects.event[rows]
    time = events.time[event]
    return NewGoroutines(
        goroutine=effects.owner[rows],
        born=born,
        created_ns=np.where(born, time, generation.since),
        seen_ns=time,
        creator=np.where(born, generation.context.goroutine[event], -1),
        creation_stack=np.where(born, events.stack[event], np.int32(0)),
    )


def _first_stacks(
    generation: GenerationEvents, changes: StateChanges, unnamed: Mask
) -> tuple[Index, Index]:
    """Return goroutines among `unnamed`, and the first stack of each."""
    events, effects = generation.events, changes.effects
    rows = np.flatnonzero(unnamed[effects.owner] & changes.changed)
    own = np.take(_OWN_STACK, changes.effect[rows]).view(np.bool_)
    rows = rows[own | changes.first_mention[rows]]
    event = effects.event[rows]
    stack = events.stack[event]
    creates = np.flatnonzero(
        np.isin(events.type[event], (E.GO_CREATE, E.GO_CREATE_BLOCKED))
    )
    stack[creates] = generation.stacks(events.argument(1, event[creates]))
    rows, stack = rows[stack > 0], stack[stack > 0]
    owner = effects.owner[rows]
    first = first_of_each(owner)
    return owner[first], stack[first]


class RowStore:
    """Columns that grow together; the first `size` rows are kept.

    `share` is the fraction of the file read once the next rows are kept: it predicts
    how many are to come.
    """

    def __init__(self, *dtypes: DTypeLike) -> None:
        self.size = 0
        self.share = 1.0
        self._capacity = 0
        self._columns = [np.empty(0, dtype) for dtype in dtypes]

    def room(self, rows: int) -> list[NDArray[Any]]:
        """Return the columns for the next rows, at most `rows` of them."""
        needed = self.size + rows
        if needed > self._capacity:
            self._capacity = max(needed, int(needed / self.share * _MARGIN))
            for place, column in enumerate(self._columns):
                grown = _empty(self._capacity, column.dtype)
                grown[: self.size] = column[: self.size]
                self._columns[place] = grown
        return [column[self.size : needed] for column in self._columns]

    def keep(self, rows: int) -> None:
        """Keep the first `rows` of the rows from `room`."""
        self.size += rows

    def columns(self) -> list[NDArray[Any]]:
        """Return the rows kept."""
        return [column[: self.size] for column in self._columns]


def _empty(size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array, in private pages if it is large."""
    length = size * dtype.itemsize
    if length < _FEWEST_BYTES:
        return np.empty(size, dtype)
    pages = mmap.mmap(-1, length, **_PRIVATE)
    if length >= _MANY_BYTES and hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, dtype, size)


class OwnerCounts(Table, frozen=True):
    """The owners of one generation's rows in a `RowStore`, grouped by owner.

    `owner` (int32) are goroutines or Ps in the order of their rows, `count` (int64) is
    how many rows each has. An owner may appear twice in a row.
    """

    owner: Index
    count: Column


def store_of(intervals: type[Intervals | ProcessorIntervals]) -> RowStore:
    """Return a store for the columns of intervals, except `offsets`."""
    _, *dtypes = dtypes_of(intervals)
    return RowStore(*dtypes)


def rows_by_owner(
    parts: list[OwnerCounts], store: RowStore, owners: int
) -> tuple[Offsets, list[NDArray[Any]]]:
    """Return the rows of all generations by owner, in the memory of the store.

    `parts` are the generations in the order of their rows; the list is emptied. Returns
    the offsets (int64, owners + 1) and the columns.
    """
    totals = np.zeros(owners, np.int64)
    for part in parts:
        np.add.at(totals, part.owner, part.count)
    offsets, columns = offsets_of(totals), store.columns()
    del totals
    if len(parts) == 1:
        return offsets, columns
    whole = np.int32 if store.size < 1 << 31 else np.int64
    first, count = np.empty((2, sum(map(len, parts))), whole)
    _find_blocks(parts, offsets[:-1].astype(whole), first, count)
    source: Integers | None = None
    if len(first) * _LONG_BLOCK >= store.size:
        source = np.empty(store.size, whole)
        ends = offsets_of(count)
        for low, high in chunks(ends, _ROWS):
            rows = np.arange(ends[low], ends[high])
            source[expand(first[low:high], count[low:high])] = rows
        # Free what only served to find the order before moving columns.
        del ends
        first = count = first[:0].copy()
    # First touch costs more than moving the data, so the buffer is shared.
    spare = np.empty(store.size * max(c.itemsize for c in columns), np.uint8)
    for column in columns:
        before = spare[: column.nbytes].view(column.dtype)
        before[:] = column
        if source is None:
            _move_blocks(before, column, first, count)
        else:
            for here in slices(store.size):
                np.take(before, source[here], out=column[here], mode="clip")
    return offsets, columns


def _find_blocks(
    parts: list[OwnerCounts], free: Integers, first: Integers, count: Integers
) -> None:
    """Write the target of each block of rows to `first`, its size to `count`.

    `free` is the first free row of each owner, updated in place; `parts` is emptied.
    """
    done = 0
    parts.reverse()
    while parts:
        part = parts.pop()
        here = slice(done, done + len(part))
        # Rows of one owner form one block or, across two chunks, two.
        first[here] = free[part.owner] + _before_in_owner(part.owner, part.count)
        count[here] = part.count
        np.add.at(free, part.owner, part.count.astype(free.dtype))
        done = here.stop


def _move_blocks(
    rows: NDArray[Any], to: NDArray[Any], first: Integers, count: Integers
) -> None:
    """Copy each block of `count` consecutive rows to its target `first`."""
    start = np.cumsum(count) - count
    for place, at, size in zip(
        first.tolist(), start.tolist(), count.tolist(), strict=True
    ):
        to[place : place + size] = rows[at : at + size]


def _before_in_owner(owner: Index, count: Column) -> Column:
    """Return how many rows of the same owner precede each block of a part."""
    ends = np.cumsum(count)
    first = np.flatnonzero(first_of_each(owner))
    start = ends - count
    return start - np.repeat(start[first], np.diff(first, append=len(owner)))
