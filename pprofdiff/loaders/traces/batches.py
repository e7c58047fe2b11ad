"""Header and batches: where each generation of a trace begins, ends, and has what.

A file is 16 bytes of header, then batches back to back. Each names its generation,
its thread, the time it starts from and how many bytes follow (internal/trace/batch.go).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pprofdiff.loaders.traces.schema import WIDEST, Kind

__all__ = ["HEADER_BYTES", "Batch", "Damage", "Generation", "generations", "version_of"]

HEADER_BYTES = 16
# internal/trace/tracev2.MaxBatchSize.
_LARGEST = 64 << 10
# Files of these formats mark the end of each generation.
_MARKS_ENDS = 26
_WORD = (1 << 64) - 1


class Damage(Exception):  # noqa: N818 - not an error by itself: what came before counts
    """A generation cannot be read; its text says what is wrong, in a few words."""


class Batch(NamedTuple):
    """One batch: bytes ``first:last`` of the file, and what its header says.

    `experiment` is 0 for ordinary batches; `time` is in units of the trace's clock.
    """

    thread: int
    time: int
    first: int
    last: int
    experiment: int


class Generation(NamedTuple):
    """A generation's batches in file order; ``stop`` is the byte after the last."""

    number: int
    batches: list[Batch]
    stop: int


def version_of(data: bytes) -> int | None:
    """Return NN of a header ``go 1.NN trace``, None if this is not one."""
    head = data[:HEADER_BYTES]
    words = head.rstrip(b"\0").split(b" ")
    if len(head) < HEADER_BYTES or len(words) != 3 or words[::2] != [b"go", b"trace"]:
        return None
    major, _, minor = words[1].partition(b".")
    return int(minor) if major == b"1" and minor.isdigit() else None


def generations(data: bytes, version: int) -> Iterator[Generation]:
    """Yield the whole generations of a trace, in order.

    Raises Damage after the last whole one if the file does not end there, or if its
    batches contradict each other.
    """
    at, number, held = HEADER_BYTES, 0, list[Batch]()
    fault = None
    while at < len(data):
        if version >= _MARKS_ENDS and data[at] == Kind.END_OF_GENERATION:
            if not held:
                fault = "a generation without batches"
                break
            at += 1
            yield Generation(number, held, at)
            number, held = 0, []
            continue
        try:
            generation, batch = _batch(data, at)
        except Damage as damage:
            fault = str(damage)
            break
        if held and generation == number + 1 and version < _MARKS_ENDS:
            yield Generation(number, held, at)
            held = []
        elif generation == 0 or (held and generation != number):
            fault = "generations out of order"
            break
        number, at = generation, batch.last
        held.append(batch)
    if held and version < _MARKS_ENDS:
        yield Generation(number, held, at)
    elif held and fault is None:
        fault = "the end of its last generation is missing"
    if fault is not None:
        raise Damage(fault)


def _batch(data: bytes, at: int) -> tuple[int, Batch]:
    """Read the batch that begins at a byte; return its generation, and it."""
    kind, experiment = data[at], 0
    at += 1
    if kind == Kind.EXPERIMENTAL_BATCH:
        experiment = int.from_bytes(data[at : at + 1])
        at += 1
    elif kind != Kind.EVENT_BATCH:
        raise Damage(f"byte {at - 1} should begin a batch")
    generation, at = number_at(data, at)
    thread, at = number_at(data, at)
    time, at = number_at(data, at)
    size, at = number_at(data, at)
    if size > _LARGEST:
        raise Damage(f"a batch of {size} bytes, where 65536 are the most")
    if at + size > len(data):
        raise Damage("the file ends within a batch")
    return generation, Batch(thread, time, at, at + size, experiment)


def number_at(data: bytes, at: int) -> tuple[int, int]:
    """Return the varint that begins at a byte, and where it ends."""
    value = 0
    for i, byte in enumerate(data[at : at + WIDEST]):
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            if value > _WORD:
                break
            return value, at + i + 1
    raise Damage(
        "the file ends within a number"
        if at + WIDEST > len(data)
        else "a number of more than 64 bits"
    )
