"""The parts of a generation that are not events: clock, tables, CPU samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.traces.batches import Damage, Generation, number_at
from pprofdiff.loaders.traces.schema import Kind
from pprofdiff.loaders.traces.strings import (
    Interned,
    Places,
    read_stacks,
    read_strings,
)
from pprofdiff.loaders.traces.tokens import TAIL, numbers
from pprofdiff.model.traces.trace import Sync

__all__ = ["Samples", "Structure", "read_structure"]

# Formats whose generations begin with a marked batch that holds the clocks.
_MARKS_SYNCS = 25
_SAMPLE = 6
_SECOND = 1_000_000_000


class Samples(NamedTuple):
    """CPU samples as in the file: times in units, ids on the wire; int64 columns."""

    time: NDArray[np.int64]
    thread: NDArray[np.int64]
    processor: NDArray[np.int64]
    goroutine: NDArray[np.int64]
    stack: NDArray[np.int64]


class Structure(NamedTuple):
    """What a generation's events refer to; `ns_per_unit` is the length of a unit."""

    sync: Sync
    ns_per_unit: float
    strings: Places
    stacks: Places
    samples: Samples


def read_structure(
    data: bytes, generation: Generation, version: int, interned: Interned
) -> Structure:
    """Read a generation's clock and tables. Raises Damage where they are unreadable."""
    held: dict[int, list[tuple[int, int]]] = {}
    for batch in generation.batches:
        if not batch.experiment and batch.first < batch.last:
            held.setdefault(data[batch.first], []).append((batch.first, batch.last))
    least = min(batch.time for batch in generation.batches)
    begins = Kind.SYNC if version >= _MARKS_SYNCS else Kind.FREQUENCY
    clocks = [
        b for b in generation.batches if (b.first, b.last) in held.get(begins, ())
    ]
    frequency, snapshot = 0, None
    for batch in clocks:
        frequency, snapshot = _clocks(data, batch.first, batch.last, batch.time)
    if frequency == 0 or (version >= _MARKS_SYNCS and snapshot is None):
        raise Damage("a generation without a clock")
    ns_per_unit = 1.0 / (frequency / 1e9)
    sync = Sync(generation.number, int(least * ns_per_unit), frequency)
    if snapshot is not None:
        unit, mono, wall = snapshot
        sync = sync._replace(
            snapshot_ns=int(unit * ns_per_unit), mono_ns=mono, wall_ns=wall
        )
    texts: dict[int, str] = {}
    for first, last in held.get(Kind.STRINGS, ()):
        read_strings(data, first, last, texts)
    known = {0: 0} | {name: interned.string(text) for name, text in texts.items()}
    view = memoryview(data)
    stacks = [view[first:last] for first, last in held.get(Kind.STACKS, ())]
    samples = [view[first:last] for first, last in held.get(Kind.CPU_SAMPLES, ())]
    return Structure(
        sync,
        ns_per_unit,
        Places("string", known),
        read_stacks(stacks, {0: ""} | texts, interned),
        _samples(samples),
    )


def _clocks(
    data: bytes, at: int, last: int, time: int
) -> tuple[int, tuple[int, int, int] | None]:
    """Return a clock batch's frequency, and (time in units, mono ns, wall ns)."""
    frequency, snapshot = 0, None
    if data[at] == Kind.SYNC:
        at += 1
    while at < last:
        kind = data[at]
        if kind == Kind.FREQUENCY:
            frequency, at = number_at(data, at + 1)
        elif kind == Kind.CLOCK_SNAPSHOT:
            later, at = number_at(data, at + 1)
            mono, at = number_at(data, at)
            second, at = number_at(data, at)
            ns, at = number_at(data, at)
            snapshot = time + later, mono, second * _SECOND + ns
        else:
            raise Damage("something else beside the clock")
    return frequency, snapshot


def _samples(parts: list[memoryview]) -> Samples:
    """Read batches of CPU samples."""
    if not parts:
        none = np.zeros(0, np.int64)
        return Samples(none, none, none, none, none)
    tokens = numbers(parts)
    values = np.delete(tokens.values[:-TAIL], tokens.starts).astype(np.uint64)
    if len(values) % _SAMPLE:
        raise Damage("a CPU sample that does not end")
    rows = values.reshape(-1, _SAMPLE)
    if (rows[:, 0] != Kind.CPU_SAMPLE).any():
        raise Damage("something else among the CPU samples")
    return Samples(*(rows[:, i].copy().view(np.int64) for i in range(1, _SAMPLE)))
