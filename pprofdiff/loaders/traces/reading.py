"""Event batches to `Events`, a few batches at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.batches import Batch, Damage
from pprofdiff.loaders.traces.events import FREQUENT, Events, Wide, looked_up, marked
from pprofdiff.loaders.traces.schema import FIRST_EXPERIMENTAL, Kind, table
from pprofdiff.loaders.traces.strings import Reasons
from pprofdiff.loaders.traces.structure import Structure
from pprofdiff.loaders.traces.tokens import Heads, Tokens, numbers
from pprofdiff.model.csr import chunks, offsets_of

__all__ = ["event_batches", "read_events"]

K = Kind
# Bytes of batches decoded at a time: their numbers stay in the processor's cache.
_BYTES_AT_ONCE = 1 << 16
# Arguments of every event that are kept, and the most that one has.
_COLUMNS, _MOST = 2, 4
_STRUCTURAL = {K.STACKS, K.STRINGS, K.CPU_SAMPLES, K.FREQUENCY, K.SYNC}
# Nanoseconds that leave room for sums: 146 years.
_LAST_TIME = 1 << 62
_NONE = np.zeros(0, np.int64)
_RARE = 1 - marked(FREQUENT)
_REASONED = marked((K.GO_STOP, K.GO_BLOCK))
# Which argument is the stack of the event, counted from 1.
_STACK = table(
    {K.GO_CREATE: 3, K.GO_CREATE_BLOCKED: 3, K.GO_STOP: 2, K.GO_BLOCK: 2}
    | {K.GO_UNBLOCK: 3, K.GO_SYSCALL_BEGIN: 2, K.GO_STATUS_STACK: 4}
)


def event_batches(data: bytes, batches: list[Batch]) -> list[Batch]:
    """Return the batches that hold timed events, one thread's after another's."""
    held = [
        b
        for b in batches
        if not b.experiment and b.first < b.last and data[b.first] not in _STRUCTURAL
    ]
    return sorted(held, key=lambda b: b.thread)


class _Part(NamedTuple):
    """The events of a few batches; fields as of `Events`, `counts` by batch."""

    kind: NDArray[np.uint8]
    time: NDArray[np.int64]
    stack: NDArray[np.int32]
    reason: NDArray[np.uint16]
    columns: list[NDArray[np.unsignedinteger]]
    counts: NDArray[np.int64]
    rare: NDArray[np.int64]
    rarely: NDArray[np.int64]


class _Columns:
    """The columns of a generation, filled from the front."""

    def __init__(self, most: int) -> None:
        """Take the most events there can be; what stays empty takes no memory."""
        self.size = 0
        kinds = (np.uint8, np.int64, np.int32, np.uint16)
        self._columns: list[NDArray[Any]] = [np.empty(most, kind) for kind in kinds]
        self._arguments = [np.empty(most, np.uint32) for _ in range(_COLUMNS)]
        self._wide: list[list[Wide]] = [[] for _ in range(_COLUMNS)]
        self._rare = [_NONE]
        self._rarely = [np.zeros((_MOST, 0), np.int64)]
        self._counts = [_NONE]

    def add(self, part: _Part) -> None:
        """Put some events after those already there."""
        rows = slice(self.size, self.size + len(part.kind))
        for column, values in zip(self._columns, part[:4], strict=True):
            column[rows] = values
        for place, values in enumerate(part.columns):
            self._arguments[place][rows] = values
            if values.itemsize > 4:
                wide = np.flatnonzero(values >> np.uint8(32))
                held = values[wide].astype(np.uint64).view(np.int64)
                self._wide[place].append(Wide(wide + self.size, held))
        self._rare.append(part.rare + self.size)
        self._rarely.append(part.rarely)
        self._counts.append(part.counts)
        self.size = rows.stop

    def events(self, threads: list[int]) -> Events:
        """Return all events; `threads` has the thread of each batch."""
        names = list(dict.fromkeys(threads))
        places = {thread: i for i, thread in enumerate(names)}
        owner = np.array([places[thread] for thread in threads], np.int64)
        counts = np.bincount(owner, np.concatenate(self._counts), len(names))
        wide = [
            Wide(
                np.concatenate([_NONE, *(w.rows for w in held)]),
                np.concatenate([_NONE, *(w.values for w in held)]),
            )
            for held in self._wide
        ]
        kind, time, stack, reason = (c[: self.size] for c in self._columns)
        return Events(
            kind=kind,
            time=time,
            stack=stack,
            reason=reason,
            threads=np.array(names, np.uint64).view(np.int64),
            offsets=offsets_of(counts.astype(np.int64)),
            rare=np.concatenate(self._rare),
            columns=[column[: self.size] for column in self._arguments],
            wide=wide,
            rarely=np.concatenate(self._rarely, axis=1),
        )


def read_events(
    data: bytes,
    batches: list[Batch],
    heads: Heads,
    structure: Structure,
    reasons: Reasons,
) -> Events:
    """Decode the timed events of a generation; `batches` as of `event_batches`.

    Raises Damage where one cannot be decoded.
    """
    view = memoryview(data)
    sizes = offsets_of(np.array([b.last - b.first for b in batches], np.int64))
    # An event is two bytes or more.
    columns = _Columns(int(sizes[-1]) // 2)
    for first, last in chunks(sizes, _BYTES_AT_ONCE) if batches else ():
        some = batches[first:last]
        tokens = numbers([view[b.first : b.last] for b in some])
        bases = [b.time for b in some]
        columns.add(_part(tokens, bases, heads, structure, reasons))
    return columns.events([b.thread for b in batches])


def _part(
    tokens: Tokens,
    bases: list[int],
    heads: Heads,
    structure: Structure,
    reasons: Reasons,
) -> _Part:
    """Decode a few batches, which begin at these times."""
    found = heads.find(tokens)
    kind = tokens.lead[found]
    fused = kind >= FIRST_EXPERIMENTAL
    # Where the time difference stands: after the type, or with it.
    spent = found + 1
    if fused.any():
        spent -= fused
        units = tokens.values[spent]
        units[fused] >>= 7
    else:
        units = tokens.values[spent]
    begins = np.searchsorted(found, tokens.starts)
    counts = np.diff(begins, append=len(found))
    at = np.flatnonzero(looked_up(_STACK, kind))
    place = np.take(_STACK, kind[at])
    stack = np.zeros(len(kind), np.int32)
    stack[at] = structure.stacks(tokens.values[spent[at] + place])
    at = np.flatnonzero(looked_up(_REASONED, kind))
    reason = np.zeros(len(kind), np.uint16)
    reason[at] = reasons(structure.strings(tokens.values[spent[at] + 1]))
    rare = np.flatnonzero(looked_up(_RARE, kind))
    rarely = tokens.values[spent[rare] + np.arange(1, _MOST + 1)[:, None]]
    return _Part(
        kind,
        _times(units, begins, counts, bases, structure.ns_per_unit),
        stack,
        reason,
        [tokens.values[spent + place] for place in range(1, _COLUMNS + 1)],
        counts,
        rare,
        rarely.astype(np.uint64).view(np.int64),
    )


def _times(
    units: NDArray[np.unsignedinteger],
    begins: NDArray[np.int64],
    counts: NDArray[np.int64],
    bases: list[int],
    ns_per_unit: float,
) -> NDArray[np.int64]:
    """Return events' times: each difference becomes whole nanoseconds by itself."""
    if max(bases) * ns_per_unit >= _LAST_TIME:
        raise Damage("a time that no clock has")
    if ns_per_unit.is_integer() and units.itemsize == 4:
        steps = units.astype(np.int64) * int(ns_per_unit)
    else:
        scaled = units * ns_per_unit
        if float(scaled.sum()) >= _LAST_TIME:
            raise Damage("a time that no clock has")
        steps = scaled.astype(np.int64)
    time = np.cumsum(steps)
    base = np.array([int(b * ns_per_unit) for b in bases], np.int64)
    base -= time[begins] - steps[begins]
    time += np.repeat(base, counts)
    if int(time.max()) >= _LAST_TIME:
        raise Damage("a time that no clock has")
    return time
