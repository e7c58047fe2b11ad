"""A profile as plain Python values, and a slow reader that makes them.

`read` is the decoder that one would write first: protobuf's typed classes and loops.
What it returns, and what it refuses, is what `pprofdiff.loaders.profiles.pprof.decode` must.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import DecodeError

from pprofdiff.errors import FormatError
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.loaders.profiles.schema import message_class
from pprofdiff.model.profiles.profile import Profile

_HEADER = (
    "period_type", "period", "time_ns", "duration_ns", "default_sample_type",
    "drop_frames", "keep_frames", "comments", "doc_url",
)  # fmt: skip


class Refused(Exception):  # noqa: N818 - a verdict, not an error
    """The bytes are no profile, or contradict themselves."""


def plain(profile: Profile) -> dict[str, Any]:
    """Return the columns of a profile as rows of Python values."""
    functions, locations, labels = profile.functions, profile.locations, profile.labels
    lines = list(
        zip(
            locations.line_function.tolist(),
            locations.line_number.tolist(),
            locations.line_column.tolist(),
            strict=True,
        )
    )
    label_rows = zip(
        labels.key.tolist(), labels.text.tolist(), labels.number.tolist(),
        labels.unit.tolist(), strict=True,
    )  # fmt: skip
    label_lists: list[list[Any]] = [[] for _ in range(len(profile))]
    for sample, row in zip(labels.sample.tolist(), label_rows, strict=True):
        label_lists[sample].append(row)
    stacks = _rows(profile.stack_offsets, profile.stack_locations.tolist())
    return {
        "strings": profile.strings,
        "sample_types": [(t.type, t.unit) for t in profile.sample_types],
        "functions": list(
            zip(
                functions.name.tolist(), functions.system_name.tolist(),
                functions.filename.tolist(), functions.start_line.tolist(), strict=True,
            )
        ),
        "locations": list(
            zip(
                locations.address.tolist(), locations.mapping.tolist(),
                locations.folded.tolist(), _rows(locations.line_offsets, lines), strict=True,
            )
        ),
        "mappings": [
            (m.start, m.limit, m.offset, m.file, m.build_id, m.has_functions,
             m.has_filenames, m.has_line_numbers, m.has_inline_frames)
            for m in profile.mappings
        ],
        "samples": list(zip(stacks, profile.values.tolist(), label_lists, strict=True)),
        "header": {name: _field(getattr(profile, name)) for name in _HEADER},
    }  # fmt: skip


def frozen(profile: Profile) -> None:
    """Fail unless the columns have the dtypes and shapes that `Profile` promises."""
    functions, locations, labels = profile.functions, profile.locations, profile.labels
    dtypes = {
        np.int32: (functions.name, functions.system_name, functions.filename,
                   locations.mapping, locations.line_function, profile.stack_locations,
                   labels.key, labels.text, labels.unit),
        np.int64: (functions.start_line, locations.line_offsets, locations.line_number,
                   locations.line_column, profile.stack_offsets, profile.values,
                   labels.sample, labels.number),
        np.uint64: (locations.address,),
        np.bool_: (locations.folded,),
    }  # fmt: skip
    for dtype, columns in dtypes.items():
        assert [c.dtype for c in columns] == [np.dtype(dtype)] * len(columns)
    assert profile.values.shape == (len(profile), len(profile.sample_types))
    for offsets, rows, items in (
        (profile.stack_offsets, len(profile), len(profile.stack_locations)),
        (locations.line_offsets, len(locations), len(locations.line_function)),
    ):
        assert len(offsets) == rows + 1
        assert (offsets[0], offsets[-1]) == (0, items)
        assert (np.diff(offsets) >= 0).all()
    assert (np.diff(locations.line_offsets) >= 1).all()
    assert (np.diff(labels.sample) >= 0).all()
    assert profile.strings[0] == ""


def _rows(offsets: np.ndarray, items: list[Any]) -> list[list[Any]]:
    return [items[a:b] for a, b in pairwise(offsets.tolist())]


def _field(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return (value.type, value.unit) if hasattr(value, "unit") else value


def read(data: bytes) -> dict[str, Any]:
    """Return the profile in these bytes as `plain` would; raises Refused."""
    try:
        message = message_class("Profile").FromString(data)
    except DecodeError as error:
        raise Refused from error
    strings = tuple(s.decode("utf-8", "replace") for s in message.string_table) or ("",)
    if strings[0]:
        raise Refused

    def position(number: int) -> int:
        if not 0 <= number < len(strings):
            raise Refused
        return number

    def text(number: int) -> str:
        return strings[position(number)]

    mappings, functions, locations = (
        _positions(table)
        for table in (message.mapping, message.function, message.location)
    )

    def defined(function: int) -> int:
        if function not in functions:
            raise Refused
        return functions[function]

    kind = (text(message.period_type.type), text(message.period_type.unit))
    types = [(text(t.type), text(t.unit)) for t in message.sample_type]
    return {
        "strings": strings,
        "sample_types": types,
        "functions": [
            (position(f.name), position(f.system_name), position(f.filename), f.start_line)
            for f in message.function
        ],
        "locations": [
            (x.address, mappings.get(x.mapping_id, -1), x.is_folded,
             [(defined(n.function_id), n.line, n.column) for n in x.line]
             or [(-1, 0, 0)])
            for x in message.location
        ],
        "mappings": [
            (m.memory_start, m.memory_limit, m.file_offset, text(m.filename),
             text(m.build_id), m.has_functions, m.has_filenames, m.has_line_numbers,
             m.has_inline_frames)
            for m in message.mapping
        ],
        "samples": [_sample(s, locations, len(types), position) for s in message.sample],
        "header": {
            "period_type": kind if message.HasField("period_type") else None,
            "period": message.period if message.period > 0 else None,
            "time_ns": message.time_nanos or None,
            "duration_ns": message.duration_nanos if message.duration_nanos > 0 else None,
            "default_sample_type": text(message.default_sample_type) or None,
            "drop_frames": text(message.drop_frames),
            "keep_frames": text(message.keep_frames),
            "comments": [text(c) for c in message.comment],
            "doc_url": text(message.doc_url),
        },
    }  # fmt: skip


def same(data: bytes) -> bool:
    """Fail unless decode agrees with the slow reader; return whether it was read."""
    try:
        expected = read(data)
    except Refused:
        with pytest.raises(FormatError, match=r"^cpu: ") as caught:
            decode(data, "cpu")
        assert "\n" not in str(caught.value)
        return False
    profile = decode(data, "cpu")
    frozen(profile)
    assert plain(profile) == expected
    return True


def _sample(
    sample: Any, locations: dict[int, int], types: int, position: Any
) -> tuple[list[int], list[int], list[Any]]:
    if len(sample.value) != types or not set(sample.location_id) <= set(locations):
        raise Refused
    labels = [
        (position(x.key), position(x.str), x.num, position(x.num_unit))
        for x in sample.label
    ]
    return [locations[i] for i in sample.location_id], list(sample.value), labels


def _positions(table: Any) -> dict[int, int]:
    """Return where each id is defined; 0 means "none" and cannot be defined."""
    places: dict[int, int] = {}
    for i, row in enumerate(table):
        if row.id in places or row.id == 0:
            raise Refused
        places[row.id] = i
    return places
