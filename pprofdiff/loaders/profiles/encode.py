"""Encode a `Profile` as profile.proto for ``go tool pprof``.

The inverse of `pprof.decode`: messages are ragged rows of varints, joined and wrapped
as columns, so no Python loop runs over samples.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.profiles.schema import message_class
from pprofdiff.model.csr import Offsets, expand, offsets_of
from pprofdiff.model.profiles.profile import Labels, Profile, ValueType

_SAMPLES_AT_ONCE = 1 << 14


def compress(data: bytes) -> bytes:
    """Return the data gzipped, deterministically."""
    return gzip.compress(data, compresslevel=6, mtime=0)


def encode(profile: Profile) -> bytes:
    """Return the profile encoded as profile.proto, not gzipped.

    `pprof.decode` returns a profile with the same columns.
    """
    strings = _Strings(profile.strings)
    head = _head(profile, strings)
    parts = [head, *_samples(profile), _locations(profile), _functions(profile)]
    return b"".join((*parts, strings.encode()))


class _Strings:
    """The string table, to which the header's strings are added."""

    def __init__(self, strings: tuple[str, ...]) -> None:
        self.strings = list(strings)
        self.positions: dict[str, int] = {}
        for i, string in enumerate(strings):
            self.positions.setdefault(string, i)

    def position(self, string: str) -> int:
        """Return the string's index, adding it if new."""
        if string not in self.positions:
            self.positions[string] = len(self.strings)
            self.strings.append(string)
        return self.positions[string]

    def encode(self) -> bytes:
        """Return the table as the repeated field 6 of Profile."""
        message = message_class("Profile")()
        message.string_table.extend([s.encode() for s in self.strings])
        return bytes(message.SerializeToString())


def _head(profile: Profile, strings: _Strings) -> bytes:
    """Return everything except samples, locations, functions and strings."""
    message = message_class("Profile")()

    def value_type(target: object, given: ValueType) -> None:
        target.type = strings.position(given.type)  # type: ignore[attr-defined]
        target.unit = strings.position(given.unit)  # type: ignore[attr-defined]

    for sample_type in profile.sample_types:
        value_type(message.sample_type.add(), sample_type)
    for i, mapping in enumerate(profile.mappings, start=1):
        message.mapping.add(
            id=i,
            memory_start=mapping.start,
            memory_limit=mapping.limit,
            file_offset=mapping.offset,
            filename=strings.position(mapping.file),
            build_id=strings.position(mapping.build_id),
            has_functions=mapping.has_functions,
            has_filenames=mapping.has_filenames,
            has_line_numbers=mapping.has_line_numbers,
            has_inline_frames=mapping.has_inline_frames,
        )
    message.drop_frames = strings.position(profile.drop_frames)
    message.keep_frames = strings.position(profile.keep_frames)
    message.time_nanos = profile.time_ns or 0
    message.duration_nanos = profile.duration_ns or 0
    if profile.period_type is not None:
        value_type(message.period_type, profile.period_type)
    message.period = profile.period or 0
    message.comment.extend(strings.position(c) for c in profile.comments)
    message.default_sample_type = strings.position(profile.default_sample_type or "")
    message.doc_url = strings.position(profile.doc_url)
    return bytes(message.SerializeToString())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Rows:
    """Messages as rows of varints: message i is ``tokens[offsets[i]:offsets[i+1]]``."""

    offsets: Offsets
    tokens: NDArray[np.uint64]

    def wrapped(self, tag: int) -> _Rows:
        """Return each row prefixed with a tag and its length in bytes."""
        sizes = np.zeros(len(self.tokens) + 1, np.int64)
        np.cumsum(_sizes(self.tokens), out=sizes[1:])
        lengths = np.diff(sizes[self.offsets])
        rows = len(self.offsets) - 1
        head = np.empty((rows, 2), np.uint64)
        head[:, 0] = tag
        head[:, 1] = lengths
        return _side_by_side([_table(head), self])

    def grouped(self, offsets: Offsets) -> _Rows:
        """Return rows ``offsets[i]:offsets[i+1]`` joined into row i."""
        return _Rows(self.offsets[offsets], self.tokens)

    def encode(self) -> bytes:
        """Return all rows, concatenated, as varints."""
        sizes = _sizes(self.tokens)
        starts = offsets_of(sizes)
        out = np.empty(int(starts[-1]), np.uint8)
        rows, numbers, at = np.arange(len(sizes)), self.tokens, starts[:-1]
        while len(rows):
            more = numbers >= 0x80
            out[at] = (numbers & np.uint64(0x7F)).astype(np.uint8) | (more * 0x80)
            rows = np.flatnonzero(more)
            numbers, at = numbers[rows] >> np.uint64(7), at[rows] + 1
        return out.tobytes()


def _sizes(numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the length in bytes of each number as a varint."""
    sizes = np.ones(len(numbers), np.int64)
    bound = 0x80
    while bound < 1 << 64:
        longer = numbers >= np.uint64(bound)
        if not longer.any():
            break
        sizes += longer
        bound <<= 7
    return sizes


def _table(columns: NDArray[np.uint64]) -> _Rows:
    """Return rows of equal length."""
    rows, width = columns.shape
    return _Rows(np.arange(rows + 1, dtype=np.int64) * width, columns.reshape(-1))


def _fields(*columns: tuple[int, NDArray[np.generic]]) -> _Rows:
    """Return rows of single-varint fields: (field number, column) each."""
    rows = len(columns[0][1])
    table = np.empty((rows, 2 * len(columns)), np.uint64)
    for i, (number, column) in enumerate(columns):
        table[:, 2 * i] = number << 3
        table[:, 2 * i + 1] = _unsigned(column)
    return _table(table)


def _unsigned(column: NDArray[np.generic]) -> NDArray[np.uint64]:
    """Return integers as protobuf encodes them: two's complement in 64 bits."""
    if column.dtype == np.uint64:
        return column.astype(np.uint64, copy=False)
    return column.astype(np.int64).view(np.uint64)


def _side_by_side(parts: list[_Rows]) -> _Rows:
    """Return rows that concatenate the rows of all parts."""
    counts = [np.diff(p.offsets) for p in parts]
    offsets = offsets_of(np.sum(counts, axis=0, dtype=np.int64))
    tokens = np.empty(int(offsets[-1]), np.uint64)
    starts = offsets[:-1].copy()
    for part, count in zip(parts, counts, strict=True):
        tokens[expand(starts, count)] = part.tokens[
            int(part.offsets[0]) : int(part.offsets[-1])
        ]
        starts += count
    return _Rows(offsets, tokens)


def _samples(profile: Profile) -> Iterator[bytes]:
    """Yield the samples' bytes, a chunk at a time."""
    label_offsets = np.searchsorted(
        profile.labels.sample, np.arange(len(profile) + 1)
    ).astype(np.int64)
    labels = _labels(profile.labels)
    for start in range(0, len(profile), _SAMPLES_AT_ONCE):
        stop = min(start + _SAMPLES_AT_ONCE, len(profile))
        offsets = profile.stack_offsets[start : stop + 1]
        items = profile.stack_locations[int(offsets[0]) : int(offsets[-1])]
        stacks = _Rows(offsets - offsets[0], _unsigned(items + 1))
        values = _table(_unsigned(profile.values[start:stop]))
        row = _side_by_side(
            [
                stacks.wrapped(1 << 3 | 2),
                values.wrapped(2 << 3 | 2),
                labels.grouped(label_offsets[start : stop + 1]),
            ]
        )
        yield row.wrapped(2 << 3 | 2).encode()


def _labels(labels: Labels) -> _Rows:
    """Return each label as a wrapped message."""
    fields = _fields(
        (1, labels.key), (2, labels.text), (3, labels.number), (4, labels.unit)
    )
    return fields.wrapped(3 << 3 | 2)


def _locations(profile: Profile) -> bytes:
    """Return the location table; locations without lines are written bare."""
    locations = profile.locations
    bare = (locations.line_function < 0) & (locations.line_number == 0)
    bare &= locations.line_column == 0
    alone = np.diff(locations.line_offsets) == 1
    bare &= np.repeat(alone, np.diff(locations.line_offsets))
    kept = np.flatnonzero(~bare)
    lines = _fields(
        (1, locations.line_function[kept] + 1),
        (2, locations.line_number[kept]),
        (3, locations.line_column[kept]),
    ).wrapped(4 << 3 | 2)
    fields = _fields(
        (1, np.arange(1, len(locations) + 1)),
        (2, locations.mapping + 1),
        (3, locations.address),
        (5, locations.folded),
    )
    line_offsets = np.searchsorted(kept, locations.line_offsets).astype(np.int64)
    rows = _side_by_side([fields, lines.grouped(line_offsets)])
    return rows.wrapped(4 << 3 | 2).encode()


def _functions(profile: Profile) -> bytes:
    """Return the function table."""
    functions = profile.functions
    rows = _fields(
        (1, np.arange(1, len(functions) + 1)),
        (2, functions.name),
        (3, functions.system_name),
        (4, functions.filename),
        (5, functions.start_line),
    )
    return rows.wrapped(5 << 3 | 2).encode()
