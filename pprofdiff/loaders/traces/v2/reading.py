"""Decode event batches into `Events`, a few batches at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.byte_tables import byte_table, membership, rows_in
from pprofdiff.loaders.traces.damage import LATEST_TIME, Damage
from pprofdiff.loaders.traces.v2.batches import Batch
from pprofdiff.loaders.traces.v2.event_finder import (
    BatchVarints,
    EventFinder,
    read_batch_varints,
)
from pprofdiff.loaders.traces.v2.events import FREQUENT, Events
from pprofdiff.loaders.traces.v2.schema import FIRST_EXPERIMENTAL, EventType
from pprofdiff.loaders.traces.v2.strings import ReasonCodes
from pprofdiff.loaders.traces.v2.tables import GenerationTables
from pprofdiff.loaders.traces.wide_values import WideValues
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


@dataclass(frozen=True, slots=True, eq=False)
class _Decoded:
    """The events of a few batches: fields as in `Events`; `counts` are per batch."""

    type: NDArray[np.uint8]
    time: NDArray[np.int64]
    stack: NDArray[np.int32]
    reason: NDArray[np.uint16]
    columns: list[NDArray[np.unsignedinteger]]
    counts: NDArray[np.int64]
    rare: NDArray[np.int64]
    rare_arguments: NDArray[np.int64]


class _Columns:
    """The columns of a generation, filled from the front."""

    def __init__(self, most: int) -> None:
        self.size = 0
        self._type = np.empty(most, np.uint8)
        self._time = np.empty(most, np.int64)
        self._stack = np.empty(most, np.int32)
        self._reason = np.empty(most, np.uint16)
        self._arguments = [np.empty(most, np.uint32) for _ in range(_COLUMNS)]
        self._wide: list[list[WideValues]] = [
            [WideValues(_NONE, _NONE)] for _ in range(_COLUMNS)
        ]
        self._rare = [_NONE]
        self._rare_arguments = [np.zeros((_MOST, 0), np.int64)]
        self._counts = [_NONE]

    def add(self, part: _Decoded) -> None:
        """Append events."""
        rows = slice(self.size, self.size + len(part.type))
        self._type[rows] = part.type
        self._time[rows] = part.time
        self._stack[rows] = part.stack
        self._reason[rows] = part.reason
        for place, values in enumerate(part.columns):
            self._arguments[place][rows] = values
            if values.itemsize > 4:
                wide = np.flatnonzero(values >> np.uint8(32))
                whole = values[wide].astype(np.uint64).view(np.int64)
                self._wide[place].append(WideValues(wide + self.size, whole))
        self._rare.append(part.rare + self.size)
        self._rare_arguments.append(part.rare_arguments)
        self._counts.append(part.counts)
        self.size = rows.stop

    def events(self, threads: list[int]) -> Events:
        """Return all events; `threads` has the thread of each batch."""
        names = list(dict.fromkeys(threads))
        places = {thread: i for i, thread in enumerate(names)}
        owner = np.array([places[thread] for thread in threads], np.int64)
        counts = np.bincount(owner, np.concatenate(self._counts), len(names))
        rare = np.concatenate(self._rare)
        return Events(
            type=self._type[: self.size],
            time=self._time[: self.size],
            stack=self._stack[: self.size],
            reason=self._reason[: self.size],
            threads=np.array(names, np.uint64).view(np.int64),
            offsets=offsets_of(counts.astype(np.int64)),
            rare=rare,
            rare_type=self._type[rare],
            columns=[column[: self.size] for column in self._arguments],
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
    columns = _Columns(int(sizes[-1]) // 2)
    for first, last in chunks(sizes, _BYTES_AT_ONCE) if batches else ():
        some = batches[first:last]
        tokens = read_batch_varints([view[b.first : b.last] for b in some])
        bases = [b.time for b in some]
        columns.add(_decode(tokens, bases, finder, tables, reasons))
    return columns.events([b.thread for b in batches])


def _decode(
    tokens: BatchVarints,
    bases: list[int],
    finder: EventFinder,
    tables: GenerationTables,
    reasons: ReasonCodes,
) -> _Decoded:
    """Decode a few batches; `bases` are their start times in clock units."""
    head = finder.find(tokens)
    types = tokens.lead[head]
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
    at = rows_in(_STACK, types)
    place = np.take(_STACK, types[at])
    stack = np.zeros(len(types), np.int32)
    stack[at] = tables.stacks(tokens.values[elapsed[at] + place])
    at = rows_in(_REASONED, types)
    reason = np.zeros(len(types), np.uint16)
    reason[at] = reasons(tables.strings(tokens.values[elapsed[at] + 1]))
    rare = rows_in(_RARE, types)
    rare_arguments = tokens.values[elapsed[rare] + np.arange(1, _MOST + 1)[:, None]]
    return _Decoded(
        type=types,
        time=_times(units, begins, counts, bases, tables.ns_per_unit),
        stack=stack,
        reason=reason,
        columns=[tokens.values[elapsed + place] for place in range(1, _COLUMNS + 1)],
        counts=counts,
        rare=rare,
        rare_arguments=rare_arguments.astype(np.uint64).view(np.int64),
    )


def _times(
    units: NDArray[np.unsignedinteger],
    begins: NDArray[np.int64],
    counts: NDArray[np.int64],
    bases: list[int],
    ns_per_unit: float,
) -> NDArray[np.int64]:
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
