"""profile.proto as ``runtime/pprof`` writes it, for a million messages at once.

What differs from `pprofdiff.loaders.profiles.encode` is what a reader notices: samples carry
their values before their locations, numbers are packed only if there are more than
two of them, and a location stands directly before the first sample that needs it
(src/runtime/pprof/proto.go and protobuf.go). Written apart from the package, so that
a mistake there does not cancel out here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """Encoded messages: message i is ``data[ends[i-1]:ends[i]]``."""

    data: bytes
    ends: list[int]

    def split(self) -> list[bytes]:
        """Return each message by itself."""
        starts = [0, *self.ends[:-1]]
        return [self.data[a:b] for a, b in zip(starts, self.ends, strict=True)]


def _sizes(numbers: Numbers) -> Numbers:
    """Return the bytes that each number (0 or more) takes as a varint."""
    sizes = np.ones(len(numbers), np.int64)
    for bits in range(7, 63, 7):
        sizes += numbers >= (1 << bits)
    return sizes


def _encoded(numbers: Numbers, row_ends: Numbers) -> Messages:
    """Return rows of varints; row i ends before number ``row_ends[i]``."""
    sizes = _sizes(numbers)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    out = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    for byte in range(int(sizes.max(initial=1))):
        rows = np.flatnonzero(sizes > byte)
        digit = (numbers[rows] >> (7 * byte)) & 0x7F
        out[starts[rows] + byte] = digit | ((sizes[rows] > byte + 1) << 7)
    return Messages(out.tobytes(), ends[row_ends - 1].tolist())


def _within(counts: Numbers) -> Numbers:
    """Return 0..count-1 for each count, one after another."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(
        ends - counts, counts
    )


def _sums(numbers: Numbers, counts: Numbers) -> Numbers:
    """Return the sum of each row's numbers; rows lie one after another."""
    total = np.concatenate((np.zeros(1, np.int64), np.cumsum(numbers)))
    ends = np.cumsum(counts)
    return total[ends] - total[ends - counts]


def sample_messages(
    values: Numbers, ids: Numbers, depths: Numbers, labels: Numbers
) -> Messages:
    """Return samples of two values each, and their location ids (all rows joined).

    `labels` are the strings (key, text) of each sample's labels: (samples, labels, 2).
    """
    packed = depths > 2
    tail = np.where(packed, 2 + depths, 2 * depths)
    labelled = 6 * labels.shape[1]
    ends = np.cumsum(6 + tail + labelled)
    at = ends - labelled - tail - 6
    out = np.empty(int(ends[-1]), np.int64)
    id_bytes = _sums(_sizes(ids), depths)
    tail_bytes = np.where(packed, 1 + _sizes(id_bytes) + id_bytes, depths + id_bytes)
    label_bytes = 2 + _sizes(labels.reshape(-1)).reshape(labels.shape).sum(axis=2)
    tail_bytes += (2 + label_bytes).sum(axis=1)
    body = 2 + _sizes(values[:, 0]) + _sizes(values[:, 1]) + tail_bytes
    heads = (2 << 3 | 2, body, 2 << 3, values[:, 0], 2 << 3, values[:, 1])
    for i, head in enumerate(heads):
        out[at + i] = head
    out[at[packed] + 6] = 1 << 3 | 2
    out[at[packed] + 7] = id_bytes[packed]
    within, row = _within(depths), np.repeat(np.arange(len(depths)), depths)
    long = packed[row]
    spot = at[row] + 6 + np.where(long, 2 + within, 2 * within + 1)
    out[spot] = ids
    out[spot[~long] - 1] = 1 << 3
    for place in range(labels.shape[1]):
        key, text = labels[:, place].T
        parts = (3 << 3 | 2, label_bytes[:, place], 1 << 3, key, 2 << 3, text)
        for i, part in enumerate(parts):
            out[ends - labelled + 6 * place + i] = part
    return _encoded(out, ends)


def location_messages(
    address: Numbers, counts: Numbers, function: Numbers, line: Numbers
) -> Messages:
    """Return locations 1, 2, ... of mapping 1, with ``counts[i]`` lines each."""
    ids = np.arange(1, len(address) + 1)
    ends = np.cumsum(8 + 6 * counts)
    at = ends - (8 + 6 * counts)
    out = np.empty(int(ends[-1]), np.int64)
    line_bytes = 2 + _sizes(function) + _sizes(line)
    body = 4 + _sizes(ids) + _sizes(address) + _sums(2 + line_bytes, counts)
    for i, head in enumerate((4 << 3 | 2, body, 1 << 3, ids, 3 << 3, address)):
        out[at + i] = head
    row = np.repeat(np.arange(len(counts)), counts)
    spot = at[row] + 6 + 6 * _within(counts)
    parts = (4 << 3 | 2, line_bytes, 1 << 3, function, 2 << 3, line)
    for i, part in enumerate(parts):
        out[spot + i] = part
    out[ends - 2], out[ends - 1] = 2 << 3, 1
    return _encoded(out, ends)


def function_messages(name: Numbers, filename: Numbers, start: Numbers) -> Messages:
    """Return functions 1, 2, ...; the system name is the name, as Go writes it."""
    ids = np.arange(1, len(name) + 1)
    columns = (ids, name, name, filename, start)
    out = np.empty((len(ids), 12), np.int64)
    out[:, 0] = 5 << 3 | 2
    out[:, 1] = len(columns) + np.sum([_sizes(c) for c in columns], axis=0)
    for i, column in enumerate(columns):
        out[:, 2 + 2 * i], out[:, 3 + 2 * i] = (i + 1) << 3, column
    ends = np.arange(1, len(ids) + 1) * 12
    return _encoded(out.reshape(-1), ends)
