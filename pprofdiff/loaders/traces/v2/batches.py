"""Split a file into generations of batches.

Each batch states its generation, thread, start time and length in bytes
(internal/trace/batch.go). A generation never refers to another one's strings, stacks or
sequence numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pprofdiff.loaders.traces.damage import HEADER_BYTES, Damage
from pprofdiff.loaders.traces.v2.schema import EventType
from pprofdiff.loaders.traces.varints import varint_at

# internal/trace/tracev2.MaxBatchSize.
_LARGEST = 64 << 10
# The first format that marks the end of each generation.
_MARKS_ENDS = 26


class Batch(NamedTuple):
    """One batch: bytes ``first:last`` of the file, and the fields of its header.

    `thread` is Go's id of an M, 2**64 - 1 for none. `time` is in units of the trace's
    clock. `experiment` is 0 for ordinary batches.
    """

    thread: int
    time: int
    first: int
    last: int
    experiment: int


class Generation(NamedTuple):
    """The batches of a generation, in file order; `stop` is the byte after the last."""

    number: int
    batches: list[Batch]
    stop: int


def generations(data: bytes, version: int) -> Iterator[Generation]:
    """Yield the whole generations of a trace of format ``go 1.NN``, in order.

    Raises Damage after the last whole one if the file does not end there, or if batches
    contradict each other.
    """
    at, number, batches = HEADER_BYTES, 0, list[Batch]()
    fault = None
    while at < len(data):
        if version >= _MARKS_ENDS and data[at] == EventType.END_OF_GENERATION:
            if not batches:
                fault = "a generation without batches"
                break
            at += 1
            yield Generation(number, batches, at)
            number, batches = 0, []
            continue
        try:
            generation, batch = _batch(data, at)
        except Damage as damage:
            fault = str(damage)
            break
        if batches and generation == number + 1 and version < _MARKS_ENDS:
            yield Generation(number, batches, at)
            batches = []
        elif generation == 0 or (batches and generation != number):
            fault = "generations out of order"
            break
        number, at = generation, batch.last
        batches.append(batch)
    if batches and version < _MARKS_ENDS:
        yield Generation(number, batches, at)
    elif batches and fault is None:
        fault = "the end of its last generation is missing"
    if fault is not None:
        raise Damage(fault)


def _batch(data: bytes, at: int) -> tuple[int, Batch]:
    types, experiment = data[at], 0
    at += 1
    if types == EventType.EXPERIMENTAL_BATCH:
        experiment = int.from_bytes(data[at : at + 1])
        at += 1
    elif types != EventType.EVENT_BATCH:
        raise Damage(f"byte {at - 1} should begin a batch")
    generation, at = varint_at(data, at)
    thread, at = varint_at(data, at)
    time, at = varint_at(data, at)
    size, at = varint_at(data, at)
    if size > _LARGEST:
        raise Damage(f"a batch of {size} bytes, where 65536 are the most")
    if at + size > len(data):
        raise Damage("the file ends within a batch")
    return generation, Batch(thread, time, at, at + size, experiment)
