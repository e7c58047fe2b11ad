"""Read generations into clocks, tables and events, not yet ordered.

Event batches are decoded into `Events` a few at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.byte_tables import byte_table, membership, rows_in
from pprofdiff.loaders.traces.damage import LATEST_TIME, Damage
from pprofdiff.loaders.traces.id_index import Interner
from pprofdiff.loaders.traces.v2.batches import Batch, generations
from pprofdiff.loaders.traces.v2.events import (
    FREQUENT,
    BatchVarints,
    EventFinder,
    Events,
    read_batch_varints,
)
from pprofdiff.loaders.traces.v2.schema import (
    FIRST_EXPERIMENTAL,
    EventType,
    argument_counts,
)
from pprofdiff.loaders.traces.v2.tables import (
    GenerationTables,
    ReasonCodes,
    read_tables,
)
from pprofdiff.loaders.traces.varints import WideValues
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import chunks, offsets_of

E = EventType
# Bytes of batches decoded at a time, to stay in the CPU cache.
_BYTES_AT_ONCE = 1 << 16
# Arguments kept for every event, and the maximum that one has.
_COLUMNS, _MOST = 2, 4
_STRUCTURAL = {E.STACKS, E.STRINGS, E.CPU_SAMPLES, E.FREQUENCY, E.SYNC}
_NONE = np.zeros(0, np.int64)
_RARE = 1 - membership(FREQUENT)
_REASONED = membership((E.GO_STOP, E.GO_BLOCK))
# The 1-based argument that is the event's stack.
_STACK = byte_table(
    {E.GO_CREATE: 3, E.GO_CREATE_BLOCKED: 3, E.GO_STOP: 2, E.GO_BLOCK: 2}
    | {E.GO_UNBLOCK: 3, E.GO_SYSCALL_BEGIN: 2, E.GO_STATUS_STACK: 4}
)


def event_batches(data: bytes, batches: list[Batch]) -> list[Batch]:
    """Return the batches that hold timed events, grouped by thread."""
    timed = [
        b
        for b in batches
        if not b.experiment and b.first < b.last and data[b.first] not in _STRUCTURAL
    ]
    return sorted(timed, key=lambda b: b.thread)


class _Columns:
    """The columns of a generation's events, filled from the front."""

    def __init__(
        self,
        most: int,
        finder: EventFinder,
        tables: GenerationTables,
        reasons: ReasonCodes,
    ) -> None:
        self._size = 0
        self._finder = finder
        self._tables = tables
        self._reasons = reasons
        self._type = np.empty(most, np.uint8)
        self._time = np.empty(most, np.int64)
        self._stack = np.empty(most, np.int32)
        self._reason = np.empty(most, np.uint16)
        self._arguments = [np.empty(most, np.uint32) for _ in range(_COLUMNS)]
        self._wide: list[list[WideValues]] = [[] for _ in range(_COLUMNS)]
        self._rare = [_NONE]
        self._rare_arguments = [np.zeros((_MOST, 0), np.int64)]
        self._counts = [_NONE]

    def add(self, tokens: BatchVarints, bases: list[int]) -> None:
        """Append the events of a few batches; `bases` are their starts in units."""
        head = self._finder.find(tokens)
        types = tokens.lead[head]
        here = slice(self._size, self._size + len(types))
        fused = types >= FIRST_EXPERIMENTAL
        # Position of the time delta: after the type, or merged with it.
        elapsed = head + 1
        if fused.any():
            elapsed -= fused
            units = tokens.values[elapsed]
            units[fused] >>= 7
        else:
            units = tokens.values[elapsed]
        begins = np.searchsorted(head, tokens.starts)
        counts = np.diff(begins, append=len(head))
        self._type[here] = types
        self._time[here] = _times(
            units, begins, counts, bases, self._tables.ns_per_unit
        )
        at = rows_in(_STACK, types)
        place = np.take(_STACK, types[at])
        stack = self._stack[here]
        stack[:] = 0
        stack[at] = self._tables.stacks(tokens.values[elapsed[at] + place])
        at = rows_in(_REASONED, types)
        reason = self._reason[here]
        reason[:] = 0
        strings = self._tables.strings(tokens.values[elapsed[at] + 1])
        reason[at] = self._reasons(strings)
        for nth, (column, wide) in enumerate(
            zip(self._arguments, self._wide, strict=True), start=1
        ):
            values = tokens.values[elapsed + nth]
            column[here] = values
            if values.itemsize > 4:
                rows = np.flatnonzero(values >> np.uint8(32))
                whole = values[rows].astype(np.uint64).view(np.int64)
                wide.append(WideValues(rows + here.start, whole))
        rare = rows_in(_RARE, types)
        arguments = tokens.values[elapsed[rare] + np.arange(1, _MOST + 1)[:, None]]
        self._rare.append(rare + here.start)
        self._rare_arguments.append(arguments.astype(np.uint64).view(np.int64))
        self._counts.append(counts)
        self._size = here.stop

    def events(self, threads: list[int]) -> Events:
        names = list(dict.fromkeys(threads))
        places = {thread: i for i, thread in enumerate(names)}
        owner = np.array([places[thread] for thread in threads], np.int64)
        counts = np.bincount(owner, np.concatenate(self._counts), len(names))
        rare = np.concatenate(self._rare)
        return Events(
            type=self._type[: self._size],
            time=self._time[: self._size],
            stack=self._stack[: self._size],
            reason=self._reason[: self._size],
            threads=np.array(names, np.uint64).view(np.int64),
            offsets=offsets_of(counts.astype(np.int64)),
            rare=rare,
            rare_type=self._type[rare],
            columns=[column[: self._size] for column in self._arguments],
            wide=[WideValues.concatenate(wide) for wide in self._wide],
            rare_arguments=np.concatenate(self._rare_arguments, axis=1),
        )


def read_events(
    data: bytes,
    batches: list[Batch],
    finder: EventFinder,
    tables: GenerationTables,
    reasons: ReasonCodes,
) -> Events:
    """Decode the timed events of a generation; new reasons are added to `reasons`.

    `batches` come from `event_batches`. Raises Damage if an event cannot be decoded.
    """
    view = memoryview(data)
    sizes = offsets_of(np.array([b.last - b.first for b in batches], np.int64))
    # An event has at least two bytes.
    columns = _Columns(int(sizes[-1]) // 2, finder, tables, reasons)
    for first, last in chunks(sizes, _BYTES_AT_ONCE) if batches else ():
        some = batches[first:last]
        tokens = read_batch_varints([view[b.first : b.last] for b in some])
        columns.add(tokens, [b.time for b in some])
    return columns.events([b.thread for b in batches])


def _times(
    units: NDArray[np.unsignedinteger],
    begins: Column,
    counts: Column,
    bases: list[int],
    ns_per_unit: float,
) -> Column:
    """Return the times of events (int64 ns); `units` are their deltas.

    As in Go's reader, each delta is converted to whole nanoseconds separately. `begins`
    is the first event of each batch, `counts` how many it has.
    """
    if max(bases) * ns_per_unit >= LATEST_TIME:
        raise Damage("an impossible time")
    if ns_per_unit.is_integer() and units.itemsize == 4:
        steps = units.astype(np.int64) * int(ns_per_unit)
    else:
        scaled = units * ns_per_unit
        if float(scaled.sum()) >= LATEST_TIME:
            raise Damage("an impossible time")
        steps = scaled.astype(np.int64)
    time = np.cumsum(steps)
    base = np.array([int(b * ns_per_unit) for b in bases], np.int64)
    base -= time[begins] - steps[begins]
    time += np.repeat(base, counts)
    if int(time.max()) >= LATEST_TIME:
        raise Damage("an impossible time")
    return time


class ReadGeneration(NamedTuple):
    """A generation as read; `stop` is the byte of the file after it."""

    tables: GenerationTables
    events: Events
    stop: int


class GenerationReader:
    """Reads the generations of a file; `interner` and `reasons` accumulate."""

    def __init__(self, data: bytes, version: int) -> None:
        self.interner = Interner()
        self.reasons = ReasonCodes()
        self._data = data
        self._version = version
        self._finder = EventFinder(argument_counts(version))

    def __iter__(self) -> Iterator[ReadGeneration]:
        data = self._data
        for generation in generations(data, self._version):
            tables = read_tables(data, generation, self._version, self.interner)
            batches = event_batches(data, generation.batches)
            events = read_events(data, batches, self._finder, tables, self.reasons)
            yield ReadGeneration(tables, events, generation.stop)
            # Free this generation before reading the next.
            del tables, events
