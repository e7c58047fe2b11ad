"""The structural part of a generation: its clock, strings, stacks and CPU samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.loaders.traces.id_index import FRAME_NUMBERS, IdMap, Interner
from pprofdiff.loaders.traces.v2.batches import Generation
from pprofdiff.loaders.traces.v2.events import read_batch_varints
from pprofdiff.loaders.traces.v2.schema import EventType
from pprofdiff.loaders.traces.varints import TAIL, varint_at
from pprofdiff.model.arrays import Column, Index, Table
from pprofdiff.model.csr import expand
from pprofdiff.model.traces.trace import Sync

# The first format whose generations begin with a sync batch holding the clocks.
_MARKS_SYNCS = 25
# Numbers of a CPU sample, including its type.
_SAMPLE = 6
_SECOND = 1_000_000_000
# internal/trace/tracev2: MaxEventTrailerDataSize, MaxFramesPerStack.
_LONGEST_STRING = 1 << 10
_DEEPEST_STACK = 128
_MOST_REASONS = 1 << 16


class RawSamples(Table, frozen=True):
    """CPU samples as in the file, in any order; int64 columns.

    `time` is in units of the trace's clock (uint64 bits); the others are ids.
    """

    time: Column
    thread: Column
    processor: Column
    goroutine: Column
    stack: Column


class GenerationTables(Struct, frozen=True, eq=False):
    """Tables that the events of a generation refer to.

    `ns_per_unit` is the length of a clock unit; `strings` and `stacks` map the ids in
    its events to indices of the whole trace.
    """

    sync: Sync
    ns_per_unit: float
    strings: IdMap
    stacks: IdMap
    samples: RawSamples


class _Snapshot(NamedTuple):
    """The clocks at one moment: the trace's, in units, and the time since 1970."""

    time: int
    wall_ns: int


def read_tables(
    data: bytes, generation: Generation, version: int, interner: Interner
) -> GenerationTables:
    """Read a generation's clock and tables; adds strings and stacks to `interner`.

    Raises Damage if a table is malformed or the generation has no clock.
    """
    by_type: dict[int, list[tuple[int, int]]] = {}
    for batch in generation.batches:
        if not batch.experiment and batch.first < batch.last:
            by_type.setdefault(data[batch.first], []).append((batch.first, batch.last))
    least = min(batch.time for batch in generation.batches)
    begins = EventType.SYNC if version >= _MARKS_SYNCS else EventType.FREQUENCY
    clocks = [
        b for b in generation.batches if (b.first, b.last) in by_type.get(begins, ())
    ]
    frequency, snapshot = 0, None
    for batch in clocks:
        frequency, snapshot = _clocks(data, batch.first, batch.last, batch.time)
    if frequency == 0 or (version >= _MARKS_SYNCS and snapshot is None):
        raise Damage("a generation without a clock")
    ns_per_unit = 1.0 / (frequency / 1e9)
    sync = Sync(generation.number, int(least * ns_per_unit))
    if snapshot is not None:
        sync = sync._replace(
            snapshot_ns=int(snapshot.time * ns_per_unit), wall_ns=snapshot.wall_ns
        )
    texts: dict[int, str] = {}
    for first, last in by_type.get(EventType.STRINGS, ()):
        read_strings(data, first, last, texts)
    strings = interner.string_ids(texts, "string")
    view = memoryview(data)
    stacks = [view[first:last] for first, last in by_type.get(EventType.STACKS, ())]
    samples = [
        view[first:last] for first, last in by_type.get(EventType.CPU_SAMPLES, ())
    ]
    return GenerationTables(
        sync=sync,
        ns_per_unit=ns_per_unit,
        strings=strings,
        stacks=read_stacks(stacks, strings, interner),
        samples=_samples(samples),
    )


def _clocks(data: bytes, at: int, last: int, time: int) -> tuple[int, _Snapshot | None]:
    frequency, snapshot = 0, None
    if data[at] == EventType.SYNC:
        at += 1
    while at < last:
        type_ = data[at]
        if type_ == EventType.FREQUENCY:
            frequency, at = varint_at(data, at + 1)
        elif type_ == EventType.CLOCK_SNAPSHOT:
            later, at = varint_at(data, at + 1)
            _, at = varint_at(data, at)  # the monotonic clock
            second, at = varint_at(data, at)
            ns, at = varint_at(data, at)
            snapshot = _Snapshot(time + later, second * _SECOND + ns)
        else:
            raise Damage("an unexpected event in the clock batch")
    return frequency, snapshot


def _samples(parts: list[memoryview]) -> RawSamples:
    if not parts:
        return RawSamples.none()
    tokens = read_batch_varints(parts)
    values = np.delete(tokens.values[:-TAIL], tokens.starts).astype(np.uint64)
    if len(values) % _SAMPLE:
        raise Damage("a CPU sample that does not end")
    rows = values.reshape(-1, _SAMPLE)
    if (rows[:, 0] != EventType.CPU_SAMPLE).any():
        raise Damage("something else among the CPU samples")
    return RawSamples(*(rows[:, i].copy().view(np.int64) for i in range(1, _SAMPLE)))


class ReasonCodes:
    """Codes (uint16) of the strings that are reasons to block or stop; 0 is ""."""

    def __init__(self) -> None:
        self.strings = [0]
        self._codes = np.zeros(1, np.int32)

    def __call__(self, strings: Index) -> NDArray[np.uint16]:
        """Return the code of each string (an index); a new reason gets a new code.

        Raises Damage if the trace has more than 65 536 reasons.
        """
        most = int(strings.max()) + 1 if len(strings) else 0
        if most > len(self._codes):
            more = np.full(2 * most - len(self._codes), -1, np.int32)
            self._codes = np.append(self._codes, more)
        codes = self._codes[strings]
        if len(codes) and int(codes.min()) < 0:
            for index in dict.fromkeys(strings[codes < 0].tolist()):
                self._codes[index] = len(self.strings)
                self.strings.append(index)
            codes = self._codes[strings]
        if len(self.strings) > _MOST_REASONS:
            raise Damage("more reasons to block than there can be")
        return codes.astype(np.uint16)


def read_strings(data: bytes, first: int, last: int, strings: dict[int, str]) -> None:
    """Read a batch of strings, bytes ``first:last`` of `data`, into `strings` by id.

    Raises Damage if the batch is malformed or an id occurs twice.
    """
    at = first + 1
    while at < last:
        if data[at] != EventType.STRING:
            raise Damage("something else among the strings")
        name, at = varint_at(data, at + 1)
        size, at = varint_at(data, at)
        if size > _LONGEST_STRING or at + size > last:
            raise Damage("a string that does not end")
        if name in strings or name == 0:
            raise Damage("two strings of one number")
        strings[name] = data[at : at + size].decode("utf-8", "replace")
        at += size


def read_stacks(parts: list[memoryview], strings: IdMap, interner: Interner) -> IdMap:
    """Read a generation's batches of stacks; return the indices of their ids.

    Raises Damage for malformed batches, unknown strings, or repeated ids.
    """
    if not parts:
        return IdMap({0: 0}, "stack")
    tokens = read_batch_varints(parts)
    names, counts, at = _split(tokens.values[:-TAIL], tokens.starts.tolist())
    cells = expand(at, counts * FRAME_NUMBERS)
    numbers = tokens.values[cells].reshape(-1, FRAME_NUMBERS)
    if len({0, *names}) <= len(names):
        raise Damage("two stacks of one number")
    try:
        return interner.stack_ids(names, counts, numbers, strings, "stack")
    except Damage:
        raise Damage("a stack names a string that is not in the file") from None


def _split(
    values: NDArray[np.unsignedinteger], starts: list[int]
) -> tuple[list[int], Column, Column]:
    row = values.tolist()
    names, counts, places = list[int](), list[int](), list[int]()
    for begin, end in zip(starts, [*starts[1:], len(row)], strict=True):
        at = begin + 1
        while at < end:
            if (
                row[at] != EventType.STACK
                or at + 2 >= end
                or row[at + 2] > _DEEPEST_STACK
            ):
                raise Damage("something else among the stacks")
            names.append(row[at + 1])
            counts.append(row[at + 2])
            places.append(at + 3)
            at += 3 + FRAME_NUMBERS * counts[-1]
        if at != end:
            raise Damage("a stack that does not end")
    return names, np.array(counts, np.int64), np.array(places, np.int64)
