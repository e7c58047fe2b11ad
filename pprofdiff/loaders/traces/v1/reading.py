"""Read a trace of Go 1.11 to 1.21 into columns of events and tables, by chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.loaders.traces.byte_tables import membership
from pprofdiff.loaders.traces.damage import HEADER_BYTES, LATEST_TIME, Damage
from pprofdiff.loaders.traces.owner_rows import first_of_each
from pprofdiff.loaders.traces.v1.event_finder import FoundEvents, find_events
from pprofdiff.loaders.traces.v1.schema import LENGTH_PREFIXED, STACK_AT, V1Type
from pprofdiff.loaders.traces.varints import WideValues
from pprofdiff.model.arrays import Codes, Column, Mask
from pprofdiff.model.csr import offsets_of, take_rows

E = V1Type
# Bytes decoded at a time, and the maximum length of an event.
_BYTES_AT_ONCE = 1 << 16
_LONGEST_EVENT = 1 << 21
# Types that are not events of a P: tables and CPU samples.
_TABLES = membership((E.BATCH, E.FREQUENCY, E.STACK, E.TIMER_GOROUTINE, E.STRING))
_SAMPLES = membership((E.CPU_SAMPLE,))
# Types whose arguments are all kept, not just the first two.
_WHOLE = membership(
    {E.GO_SYSEXIT, E.GO_SYSEXIT_LOCAL, E.GO_START_LABEL, E.SWEEP_DONE}
    | {E.TASK_CREATE, E.TASK_END, E.REGION, E.LOG, E.CPU_SAMPLE}
)
_MOST = 4
_NONE = np.zeros(0, np.int64)


class V1Events(Struct, frozen=True, eq=False):
    """All events, grouped by P, in order for each P.

    Columns have one row per event. `type` (uint8) is a `V1Type`, `tick` (int64) a time
    in units of the trace's clock; `first` and `second` (uint32) are arguments truncated
    to 32 bits; `stack` (uint32) is a stack id, 0 if the type has none. Rows
    ``offsets[i]:offsets[i+1]`` belong to the P with id ``processors[i]`` (int64).

    `wide` are the first arguments that need more than 32 bits; `whole` (int64,
    increasing) are the rows whose arguments are all in `arguments` (int64, shape (4,
    rows)). Read these with `first_argument` and `argument`.
    """

    type: Codes
    tick: Column
    first: NDArray[np.uint32]
    second: NDArray[np.uint32]
    stack: NDArray[np.uint32]
    processors: Column
    offsets: Column
    wide: WideValues
    whole: Column
    arguments: Column

    def __len__(self) -> int:
        return len(self.type)

    def first_argument(self, rows: Column) -> Column:
        """Return the first argument of these events (int64)."""
        values = self.first[rows].astype(np.int64)
        self.wide.restore(values, rows)
        return values

    def argument(self, place: int, rows: Column) -> Column:
        """Return argument `place` (0 to 3) of these events, all of them in `whole`."""
        values: Column = self.arguments[place, np.searchsorted(self.whole, rows)]
        return values

    def where(self, *types: int) -> Column:
        """Return the rows of events of these types (int64, increasing)."""
        if len(types) == 1:
            return np.flatnonzero(self.type == types[0])
        return np.flatnonzero(membership(types).view(np.bool_)[self.type])


class FileTables(Struct, frozen=True, eq=False):
    """Tables that the events of a file refer to, keyed by the file's ids.

    `frequency` is the clock's, in ticks per second. `stacks` has, for each id, the
    numbers (pc, function, file, line) of its frames, concatenated. `timers` (int64) are
    ids of goroutines that only wake others, up to Go 1.13. `logs` has the texts of logs
    in row order. `samples` (int64, shape (4, samples)) are CPU samples: tick, P,
    goroutine, stack.
    """

    frequency: int
    strings: dict[int, str]
    stacks: dict[int, NDArray[np.unsignedinteger]]
    timers: Column
    logs: list[str]
    samples: Column


class _Reader:
    """The columns of a file, filled from the front."""

    def __init__(self, data: bytes, version: int) -> None:
        self._data, self._version = data, version
        most = len(data) // 2 + 1
        dtypes = np.uint8, np.int64, np.uint32, np.uint32, np.uint32
        # In the order of `V1Events`: type, tick, first, second, stack.
        self._columns = [np.empty(most, dtype) for dtype in dtypes]
        self._size = 0
        self._batches: list[tuple[Column, Column]] = []
        self._wide: list[WideValues] = []
        self._whole = [_NONE]
        self._arguments = [np.zeros((_MOST, 0), np.int64)]
        self._samples = [np.zeros((_MOST, 0), np.int64)]
        self._tick = -1
        self._frequency = 0
        self._strings: dict[int, str] = {}
        self._stacks: dict[int, NDArray[np.unsignedinteger]] = {}
        self._timers = [_NONE]
        self._logs: list[tuple[int, str]] = []

    def add(self, at: int, part: FoundEvents) -> None:
        self._at = at
        lead = part.numbers.lead[part.starts]
        types = lead & np.uint8(0x3F)
        if int(types.max()) == E.CPU_SAMPLE and self._version < 19:
            raise Damage("a type of event that its format does not have")
        top = lead >> np.uint8(6)
        values = part.numbers.values
        # A time delta merged with the type byte is not a number of its own.
        joined = top == LENGTH_PREFIXED - 1
        after = part.starts + np.where(joined, 1, 2)
        batches = np.flatnonzero(types == E.BATCH)
        pids = values[part.starts[batches] + 1].astype(np.uint64).view(np.int64)
        if len(pids) and not -1 <= int(pids.min()) <= int(pids.max()) < 1 << 31:
            raise Damage("an unknown processor number")
        strings, stacks, frequency = self._read_tables(part, types)
        tick = self._ticks(part, types, after, joined)
        kept = np.flatnonzero((_TABLES[types] | _SAMPLES[types]) == 0)
        rows = slice(self._size, self._size + len(kept))
        place = STACK_AT[types]
        stack = np.where(place, values[after + np.maximum(place, 1) - 1], 0)
        arguments = values[after], values[after + 1], stack
        for column, some in zip(self._columns, (types, tick, *arguments), strict=True):
            column[rows] = some[kept]
        self._keep(part, types, after, kept)
        self._batches.append((pids, np.searchsorted(kept, batches) + rows.start))
        self._size = rows.stop
        self._strings |= strings
        self._stacks |= stacks
        self._frequency = frequency or self._frequency
        timers = part.starts[types == E.TIMER_GOROUTINE]
        self._timers.append(values[timers + 1].astype(np.uint64).view(np.int64))

    def _ticks(
        self, part: FoundEvents, types: Codes, after: Column, joined: Mask
    ) -> Column:
        values = part.numbers.values
        step = values[after - 1]
        step[joined] >>= np.uint8(7)
        step[(_TABLES[types] | _SAMPLES[types]).view(np.bool_)] = 0
        batches = np.flatnonzero(types == E.BATCH)
        base = values[part.starts[batches] + 2]
        far = float(step.sum(dtype=np.float64)) + max(self._tick, 0)
        if len(base):
            far += float(base.max())
        if far >= LATEST_TIME:
            raise Damage("an impossible time")
        if self._tick < 0 and types[0] != E.BATCH:
            raise Damage("it does not begin with a batch of events")
        tick = np.cumsum(step, dtype=np.int64)
        change = base.astype(np.int64) - tick[batches]
        counts = np.diff(np.concatenate(([0], batches, [len(types)])))
        tick += np.repeat(np.append(self._tick, change), counts)
        self._tick = int(tick[-1])
        return tick

    def _keep(
        self, part: FoundEvents, types: Codes, after: Column, kept: Column
    ) -> None:
        """Keep the arguments that have no column, or are too wide for it."""
        values = part.numbers.values
        if values.itemsize > 4:
            named = values[after[kept]].astype(np.uint64)
            rows = np.flatnonzero(named >> np.uint8(32))
            self._wide.append(WideValues(rows + self._size, named[rows].view(np.int64)))
        whole = np.flatnonzero(_WHOLE[types])
        if not len(whole):
            return
        arguments = values[after[whole] + np.arange(_MOST)[:, None]]
        arguments = arguments.astype(np.uint64).view(np.int64)
        sampled = types[whole] == E.CPU_SAMPLE
        self._samples.append(arguments[:, sampled])
        self._arguments.append(arguments[:, ~sampled])
        rows = np.searchsorted(kept, whole[~sampled]) + self._size
        self._whole.append(rows)
        logs = np.flatnonzero(types[whole] == E.LOG)
        if len(logs):
            starts = part.starts[whole[logs]].tolist()
            rows = np.searchsorted(kept, whole[logs]) + self._size
            texts = [part.text(start) for start in starts]
            for row, (first, size) in zip(rows.tolist(), texts, strict=True):
                self._logs.append((row, self._text(first, size)))

    def _text(self, at: int, size: int) -> str:
        at += self._at
        return self._data[at : at + size].decode("utf-8", "replace")

    def _read_tables(
        self, part: FoundEvents, types: Codes
    ) -> tuple[dict[int, str], dict[int, NDArray[np.unsignedinteger]], int]:
        values, starts = part.numbers.values, part.starts
        strings: dict[int, str] = {}
        for start in starts[types == E.STRING].tolist():
            name = int(values[start + 1])
            first, size = part.text(start)
            if not name or not size or name in self._strings or name in strings:
                raise Damage("two strings of one number, or an empty one")
            strings[name] = self._text(first, size)
        frequency = 0
        for start in starts[types == E.FREQUENCY].tolist():
            frequency = int(values[start + 1])
            if not 0 < frequency < 1 << 63:
                raise Damage("a clock that runs backwards")
        stacks: dict[int, NDArray[np.unsignedinteger]] = {}
        begin = starts[types == E.STACK]
        size = (values[begin] >> np.uint8(7)).astype(np.int64)
        last = np.searchsorted(part.ends, part.ends[begin] + size)
        for start, end in zip(begin.tolist(), last.tolist(), strict=True):
            frames = values[start + 3 : end + 1]
            if end < start + 2 or len(frames) != 4 * int(values[start + 2]):
                raise Damage("a stack that does not end")
            name = int(values[start + 1]) & 0xFFFFFFFF
            if name and len(frames):
                stacks[name] = frames.copy()
        return strings, stacks, frequency

    @property
    def clocked(self) -> bool:
        return self._frequency > 0

    def events(self) -> V1Events:
        pids, begins = (np.concatenate(c) for c in zip(*self._batches, strict=True))
        offsets = np.append(begins, self._size)
        order = np.argsort(pids, kind="stable")
        columns: list[NDArray[Any]] = []
        while self._columns:
            column = self._columns.pop(0)[: self._size]
            columns.append(take_rows(offsets, column, order)[1])
        types, tick, first, second, stack = columns
        counts = np.diff(offsets)
        moved = np.empty_like(begins)
        moved[order] = offsets_of(counts[order])[:-1]
        is_first = first_of_each(pids[order])
        offsets_by_processor = np.append(moved[order][is_first], self._size)

        def moved_rows(rows: Column) -> Column:
            batch = np.searchsorted(begins, rows, side="right") - 1
            new_rows: Column = rows - begins[batch] + moved[batch]
            return new_rows

        wide = WideValues.concatenate(self._wide)
        wide_rows = moved_rows(wide.rows)
        whole = moved_rows(np.concatenate(self._whole))
        logged = moved_rows(np.array([row for row, _ in self._logs], np.int64))
        self._logs = [self._logs[i] for i in np.argsort(logged).tolist()]
        by_row, rows = np.argsort(wide_rows), np.argsort(whole)
        arguments = np.concatenate(self._arguments, axis=1)[:, rows]
        return V1Events(
            type=types,
            tick=tick,
            first=first,
            second=second,
            stack=stack,
            processors=pids[order][is_first],
            offsets=offsets_by_processor,
            wide=WideValues(wide_rows[by_row], wide.values[by_row]),
            whole=whole[rows],
            arguments=arguments,
        )

    def tables(self) -> FileTables:
        return FileTables(
            frequency=self._frequency,
            strings=self._strings,
            stacks=self._stacks,
            timers=np.concatenate(self._timers),
            logs=[text for _, text in self._logs],
            samples=np.concatenate(self._samples, axis=1),
        )


def _add_whole(reader: _Reader, at: int, part: FoundEvents) -> int:
    """Add the events before a malformed one; return their length in bytes.

    Raises Damage if the first one is malformed.
    """
    while True:
        try:
            reader.add(at, part)
        except Damage:
            if len(part.starts) == 1:
                raise
            part = part.half()
        else:
            return part.used


def read_v1(
    data: bytes, version: int, progress: Callable[[int], None]
) -> tuple[V1Events, FileTables, int, str | None]:
    """Read the events of a file of format `version` as far as possible.

    `progress` is called with the number of bytes read so far. Also returns how many
    bytes the events cover, and why the rest could not be read, None if there is none.
    Raises Damage if the file has no usable content.
    """
    view, reader = memoryview(data), _Reader(data, version)
    at, size, why = HEADER_BYTES, _BYTES_AT_ONCE, None
    while at < len(data) and why is None:
        part = find_events(view[at : at + size])
        if part.used:
            try:
                at, size = at + _add_whole(reader, at, part), _BYTES_AT_ONCE
            except Damage as damage:
                why = str(damage)
            progress(at)
        elif part.fault is not None or size > _LONGEST_EVENT:
            why = part.fault or "an event that does not end"
        elif at + size >= len(data):
            why = "the file ends within an event"
        else:
            size *= 2
    if not reader.clocked:
        raise Damage(why or "it ends before its clock, which comes after all events")
    return reader.events(), reader.tables(), at, why
