"""The structural part of a generation: its clock, strings, stacks and CPU samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from msgspec import Struct

from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.loaders.traces.interning import IdMap, Interner
from pprofdiff.loaders.traces.v2.batches import Generation
from pprofdiff.loaders.traces.v2.event_finder import read_batch_varints
from pprofdiff.loaders.traces.v2.schema import EventType
from pprofdiff.loaders.traces.v2.strings import read_stacks, read_strings
from pprofdiff.loaders.traces.varints import TAIL, varint_at
from pprofdiff.model.arrays import Column
from pprofdiff.model.table import Table
from pprofdiff.model.traces.trace import Sync

# The first format whose generations begin with a sync batch holding the clocks.
_MARKS_SYNCS = 25
# Numbers of a CPU sample, including its type.
_SAMPLE = 6
_SECOND = 1_000_000_000


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
    """Return the frequency (units per second) and the snapshot of a clock batch."""
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
