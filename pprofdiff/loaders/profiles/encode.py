"""Encode a `Profile` as profile.proto for ``go tool pprof``: reverse of `pprof`."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from itertools import islice, pairwise

import numpy as np

from pprofdiff.loaders.profiles.schema import message_class
from pprofdiff.model.profiles.profile import Profile, ValueType

# Samples that are objects of protobuf at a time: they take more memory than bytes.
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
        if string not in self.positions:
            self.positions[string] = len(self.strings)
            self.strings.append(string)
        return self.positions[string]

    def encode(self) -> bytes:
        message = message_class("Profile")()
        message.string_table.extend([s.encode() for s in self.strings])
        return bytes(message.SerializeToString())


def _head(profile: Profile, strings: _Strings) -> bytes:
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


def _samples(profile: Profile) -> Iterator[bytes]:
    labels = profile.labels
    for start in range(0, len(profile), _SAMPLES_AT_ONCE):
        stop = min(start + _SAMPLES_AT_ONCE, len(profile))
        message = message_class("Profile")()
        bounds = profile.stack_offsets[start : stop + 1]
        places = profile.stack_locations[int(bounds[0]) : int(bounds[-1])]
        ids, stacks = (places + 1).tolist(), pairwise((bounds - bounds[0]).tolist())
        values = profile.values[start:stop].tolist()
        for (first, last), own in zip(stacks, values, strict=True):
            message.sample.add(location_id=ids[first:last], value=own)
        rows = slice(*np.searchsorted(labels.sample, (start, stop)).tolist())
        for sample, key, text, number, unit in zip(
            (labels.sample[rows] - start).tolist(),
            labels.key[rows].tolist(),
            labels.text[rows].tolist(),
            labels.number[rows].tolist(),
            labels.unit[rows].tolist(),
            strict=True,
        ):
            added = message.sample[sample].label
            added.add(key=key, str=text, num=number, num_unit=unit)
        yield message.SerializeToString()


def _locations(profile: Profile) -> bytes:
    """Return the location table; locations without lines are written bare."""
    message, table = message_class("Profile")(), profile.locations
    lines = zip(
        (table.line_function + 1).tolist(),
        table.line_number.tolist(),
        table.line_column.tolist(),
        strict=True,
    )
    for number, (mapping, address, folded, count) in enumerate(
        zip(
            (table.mapping + 1).tolist(),
            table.address.tolist(),
            table.folded.tolist(),
            np.diff(table.line_offsets).tolist(),
            strict=True,
        ),
        start=1,
    ):
        location = message.location.add(
            id=number, mapping_id=mapping, address=address, is_folded=folded
        )
        own = list(islice(lines, count))
        for function, line, column in own if own != [(0, 0, 0)] else ():
            location.line.add(function_id=function, line=line, column=column)
    return bytes(message.SerializeToString())


def _functions(profile: Profile) -> bytes:
    message, table = message_class("Profile")(), profile.functions
    columns = table.name, table.system_name, table.filename, table.start_line
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for number, (name, system_name, filename, start_line) in enumerate(rows, start=1):
        message.function.add(
            id=number,
            name=name,
            system_name=system_name,
            filename=filename,
            start_line=start_line,
        )
    return bytes(message.SerializeToString())
