"""A trace of Go 1.11 to 1.21 to columns, some thousand bytes at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.batches import HEADER_BYTES, Damage
from pprofdiff.loaders.traces.events import Wide, marked
from pprofdiff.loaders.traces.v1columns import Footer, V1Events
from pprofdiff.loaders.traces.v1schema import LENGTH_PREFIXED, STACK_AT, V1
from pprofdiff.loaders.traces.v1tokens import Piece, piece
from pprofdiff.model.csr import offsets_of, take_rows

__all__ = ["read_v1"]

# Bytes decoded at a time, and the most that one event can have.
_BYTES_AT_ONCE = 1 << 16
_LONGEST_EVENT = 1 << 21
# Ticks that leave room for sums.
_LAST_TICK = 1 << 62
_TABLES = marked((V1.BATCH, V1.FREQUENCY, V1.STACK, V1.TIMER_GOROUTINE, V1.STRING))
_APART = marked((V1.CPU_SAMPLE,))
# Types whose arguments are kept whole, beside the first two of every event.
_WHOLE = marked(
    {V1.GO_SYSEXIT, V1.GO_SYSEXIT_LOCAL, V1.GO_START_LABEL, V1.SWEEP_DONE}
    | {V1.TASK_CREATE, V1.TASK_END, V1.REGION, V1.LOG, V1.CPU_SAMPLE}
)
_MOST = 4
_NONE = np.zeros(0, np.int64)


class _Reader:
    """The columns of a file, filled from the front."""

    def __init__(self, data: bytes, version: int) -> None:
        """Take the file; what stays empty of a column takes no memory."""
        self._data, self._version = data, version
        most = len(data) // 2 + 1
        kinds = np.uint8, np.int64, np.uint32, np.uint32, np.uint32
        self._columns = [np.empty(most, kind) for kind in kinds]
        self._size = 0
        self._batches: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._wide: list[Wide] = [Wide(_NONE, _NONE)]
        self._whole = [_NONE]
        self._arguments = [np.zeros((_MOST, 0), np.int64)]
        self._samples = [np.zeros((_MOST, 0), np.int64)]
        self._tick = -1
        self._frequency = 0
        self._strings: dict[int, str] = {}
        self._stacks: dict[int, NDArray[np.unsignedinteger]] = {}
        self._timers = [_NONE]
        self._logs: list[tuple[int, str]] = []

    def take(self, at: int, found: Piece) -> None:
        """Take the events of a piece that begins at a byte of the file."""
        lead = found.tokens.lead[found.heads]
        kind = lead & np.uint8(0x3F)
        if int(kind.max()) == V1.CPU_SAMPLE and self._version < 19:
            raise Damage("a type of event that its format does not have")
        top = lead >> np.uint8(6)
        values = found.tokens.values
        # A time difference that the type's byte runs into is no number of its own.
        joined = top == LENGTH_PREFIXED - 1
        after = found.heads + np.where(joined, 1, 2)
        batches = np.flatnonzero(kind == V1.BATCH)
        pids = values[found.heads[batches] + 1].astype(np.uint64).view(np.int64)
        if len(pids) and not -1 <= int(pids.min()) <= int(pids.max()) < 1 << 31:
            raise Damage("a processor of a number that there is not")
        strings, stacks, frequency = self._tables(at, found, kind)
        tick = self._ticks(found, kind, after, joined)
        kept = np.flatnonzero((_TABLES[kind] | _APART[kind]) == 0)
        rows = slice(self._size, self._size + len(kept))
        place = STACK_AT[kind]
        stack = np.where(place, values[after + np.maximum(place, 1) - 1], 0)
        spent = values[after], values[after + 1], stack
        for column, some in zip(self._columns, (kind, tick, *spent), strict=True):
            column[rows] = some[kept]
        self._keep(found, kind, after, kept)
        self._batches.append((pids, np.searchsorted(kept, batches) + rows.start))
        self._size = rows.stop
        self._strings |= strings
        self._stacks |= stacks
        self._frequency = frequency or self._frequency
        timers = found.heads[kind == V1.TIMER_GOROUTINE]
        self._timers.append(values[timers + 1].astype(np.uint64).view(np.int64))

    def _ticks(
        self,
        found: Piece,
        kind: NDArray[np.uint8],
        after: NDArray[np.int64],
        joined: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        """Return the ticks of events, and keep where the next go on from."""
        values = found.tokens.values
        step = values[after - 1]
        step[joined] >>= np.uint8(7)
        step[(_TABLES[kind] | _APART[kind]).view(np.bool_)] = 0
        batches = np.flatnonzero(kind == V1.BATCH)
        base = values[found.heads[batches] + 2]
        far = float(step.sum(dtype=np.float64)) + max(self._tick, 0)
        if len(base):
            far += float(base.max())
        if far >= _LAST_TICK:
            raise Damage("a time that no clock has")
        if self._tick < 0 and kind[0] != V1.BATCH:
            raise Damage("it does not begin with a batch of events")
        tick = np.cumsum(step, dtype=np.int64)
        change = base.astype(np.int64) - tick[batches]
        counts = np.diff(np.concatenate(([0], batches, [len(kind)])))
        tick += np.repeat(np.append(self._tick, change), counts)
        self._tick = int(tick[-1])
        return tick

    def _keep(
        self,
        found: Piece,
        kind: NDArray[np.uint8],
        after: NDArray[np.int64],
        kept: NDArray[np.int64],
    ) -> None:
        """Keep the arguments that columns do not hold, or have no room for."""
        values = found.tokens.values
        if values.itemsize > 4:
            named = values[after[kept]].astype(np.uint64)
            rows = np.flatnonzero(named >> np.uint8(32))
            self._wide.append(Wide(rows + self._size, named[rows].view(np.int64)))
        whole = np.flatnonzero(_WHOLE[kind])
        if not len(whole):
            return
        held = values[after[whole] + np.arange(_MOST)[:, None]]
        held = held.astype(np.uint64).view(np.int64)
        sampled = kind[whole] == V1.CPU_SAMPLE
        self._samples.append(held[:, sampled])
        self._arguments.append(held[:, ~sampled])
        rows = np.searchsorted(kept, whole[~sampled]) + self._size
        self._whole.append(rows)
        logs = np.flatnonzero(kind[whole] == V1.LOG)
        if len(logs):
            heads = found.heads[whole[logs]].tolist()
            places = np.searchsorted(kept, whole[logs]) + self._size
            texts = [found.text(head) for head in heads]
            for row, (first, size) in zip(places.tolist(), texts, strict=True):
                self._logs.append((row, self._text(first, size)))

    def _text(self, at: int, size: int) -> str:
        """Return a text of the piece that is being taken."""
        at += self._at
        return self._data[at : at + size].decode("utf-8", "replace")

    def _tables(
        self, at: int, found: Piece, kind: NDArray[np.uint8]
    ) -> tuple[dict[int, str], dict[int, NDArray[np.unsignedinteger]], int]:
        """Return the strings, the stacks and the clock of a piece, 0 for none."""
        self._at = at
        tokens, heads = found.tokens, found.heads
        strings: dict[int, str] = {}
        for head in heads[kind == V1.STRING].tolist():
            name = int(tokens.values[head + 1])
            first, size = found.text(head)
            if not name or not size or name in self._strings or name in strings:
                raise Damage("two strings of one number, or an empty one")
            strings[name] = self._text(first, size)
        frequency = 0
        for head in heads[kind == V1.FREQUENCY].tolist():
            frequency = int(tokens.values[head + 1])
            if not 0 < frequency < 1 << 63:
                raise Damage("a clock that runs backwards")
        stacks: dict[int, NDArray[np.unsignedinteger]] = {}
        begin = heads[kind == V1.STACK]
        size = (tokens.values[begin] >> np.uint8(7)).astype(np.int64)
        last = np.searchsorted(found.ends, found.ends[begin] + size)
        for head, end in zip(begin.tolist(), last.tolist(), strict=True):
            frames = tokens.values[head + 3 : end + 1]
            if end < head + 2 or len(frames) != 4 * int(tokens.values[head + 2]):
                raise Damage("a stack that does not end")
            name = int(tokens.values[head + 1]) & 0xFFFFFFFF
            if name and len(frames):
                stacks[name] = frames.copy()
        return strings, stacks, frequency

    @property
    def clocked(self) -> bool:
        """Tell whether the file's clock was read."""
        return self._frequency > 0

    def events(self) -> V1Events:
        """Return all events taken, by processor."""
        pids, begins = (np.concatenate(c) for c in zip(*self._batches, strict=True))
        offsets = np.append(begins, self._size)
        order = np.argsort(pids, kind="stable")
        columns: list[NDArray[Any]] = []
        while self._columns:
            column = self._columns.pop(0)[: self._size]
            columns.append(take_rows(offsets, column, order)[1])
        kind, tick, first, second, stack = columns
        counts = np.diff(offsets)
        moved = np.empty_like(begins)
        moved[order] = offsets_of(counts[order])[:-1]
        fresh = np.ones(len(pids), np.bool_)
        np.not_equal(pids[order][1:], pids[order][:-1], out=fresh[1:])
        places = np.append(moved[order][fresh], self._size)

        def new(rows: NDArray[np.int64]) -> NDArray[np.int64]:
            batch = np.searchsorted(begins, rows, side="right") - 1
            found: NDArray[np.int64] = rows - begins[batch] + moved[batch]
            return found

        wide, values = (np.concatenate(c) for c in zip(*self._wide, strict=True))
        wide, whole = new(wide), new(np.concatenate(self._whole))
        logged = new(np.array([row for row, _ in self._logs], np.int64))
        self._logs = [self._logs[i] for i in np.argsort(logged).tolist()]
        by_row, rows = np.argsort(wide), np.argsort(whole)
        arguments = np.concatenate(self._arguments, axis=1)[:, rows]
        return V1Events(
            kind=kind,
            tick=tick,
            first=first,
            second=second,
            stack=stack,
            processors=pids[order][fresh],
            offsets=places,
            wide=Wide(wide[by_row], values[by_row]),
            whole=whole[rows],
            arguments=arguments,
        )

    def footer(self) -> Footer:
        """Return what the events refer to."""
        return Footer(
            self._frequency,
            self._strings,
            self._stacks,
            np.concatenate(self._timers),
            [text for _, text in self._logs],
            np.concatenate(self._samples, axis=1),
        )


def _taken(reader: _Reader, at: int, found: Piece) -> int:
    """Take the events of a piece before one that is odd; return their bytes."""
    while True:
        try:
            reader.take(at, found)
        except Damage:
            if len(found.heads) == 1:
                raise
            found = found.half()
        else:
            return found.used


def read_v1(
    data: bytes, version: int, said: Callable[[int], None]
) -> tuple[V1Events, Footer, int, str | None]:
    """Return the events of a file, how many bytes they are, and why not all of it.

    `said` is told how many bytes were read so far. Raises Damage where nothing can be
    made of the file.
    """
    view, reader = memoryview(data), _Reader(data, version)
    at, size, why = HEADER_BYTES, _BYTES_AT_ONCE, None
    while at < len(data) and why is None:
        found = piece(view[at : at + size])
        if found.used:
            try:
                at, size = at + _taken(reader, at, found), _BYTES_AT_ONCE
            except Damage as damage:
                why = str(damage)
            said(at)
        elif found.fault is not None or size > _LONGEST_EVENT:
            why = found.fault or "an event that does not end"
        elif at + size >= len(data):
            why = "the file ends within an event"
        else:
            size *= 2
    if not reader.clocked:
        raise Damage(why or "it ends before its clock, which comes after all events")
    return reader.events(), reader.footer(), at, why
