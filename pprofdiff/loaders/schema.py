"""profile.proto, described at run time: no generated code, no protoc.

Field numbers and types are those of
https://github.com/google/pprof/blob/main/proto/profile.proto. `view_class` is a
second reading of the same wire format in which samples, locations, functions and
strings stay bytes: protobuf then only splits the file, in C, and numpy decodes the
pieces together.
"""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["message_class", "view_class"]

# name: [(number, field, type, repeated)]; a capitalised type names a message.
_MESSAGES = {
    "ValueType": [(1, "type", "int64", False), (2, "unit", "int64", False)],
    "Label": [
        (1, "key", "int64", False),
        (2, "str", "int64", False),
        (3, "num", "int64", False),
        (4, "num_unit", "int64", False),
    ],
    "Sample": [
        (1, "location_id", "uint64", True),
        (2, "value", "int64", True),
        (3, "label", "Label", True),
    ],
    "Mapping": [
        (1, "id", "uint64", False),
        (2, "memory_start", "uint64", False),
        (3, "memory_limit", "uint64", False),
        (4, "file_offset", "uint64", False),
        (5, "filename", "int64", False),
        (6, "build_id", "int64", False),
        (7, "has_functions", "bool", False),
        (8, "has_filenames", "bool", False),
        (9, "has_line_numbers", "bool", False),
        (10, "has_inline_frames", "bool", False),
    ],
    "Line": [
        (1, "function_id", "uint64", False),
        (2, "line", "int64", False),
        (3, "column", "int64", False),
    ],
    "Location": [
        (1, "id", "uint64", False),
        (2, "mapping_id", "uint64", False),
        (3, "address", "uint64", False),
        (4, "line", "Line", True),
        (5, "is_folded", "bool", False),
    ],
    "Function": [
        (1, "id", "uint64", False),
        (2, "name", "int64", False),
        (3, "system_name", "int64", False),
        (4, "filename", "int64", False),
        (5, "start_line", "int64", False),
    ],
}


def _profile(part: str) -> list[tuple[int, str, str, bool]]:
    """Return Profile's fields, its big lists typed or, for the view, as bytes."""
    view = part == "view"
    return [
        (1, "sample_type", "ValueType", True),
        (2, "sample", "bytes" if view else "Sample", True),
        (3, "mapping", "Mapping", True),
        (4, "location", "bytes" if view else "Location", True),
        (5, "function", "bytes" if view else "Function", True),
        (6, "string_table", "bytes", True),
        (7, "drop_frames", "int64", False),
        (8, "keep_frames", "int64", False),
        (9, "time_nanos", "int64", False),
        (10, "duration_nanos", "int64", False),
        (11, "period_type", "ValueType", False),
        (12, "period", "int64", False),
        (13, "comment", "int64", True),
        (14, "default_sample_type", "int64", False),
        (15, "doc_url", "int64", False),
    ]


@cache
def _classes() -> dict[str, Any]:
    """Build every message class in a pool of our own, so that none can clash."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name="pprofdiff/profile.proto", package="pprofdiff", syntax="proto3"
    )
    tables = {**_MESSAGES, "Profile": _profile("typed"), "View": _profile("view")}
    for name, fields in tables.items():
        message = file.message_type.add(name=name)
        for number, field, kind, repeated in fields:
            added = message.field.add(name=field, number=number)
            added.label = kinds.LABEL_REPEATED if repeated else kinds.LABEL_OPTIONAL
            if kind[0].isupper():
                added.type = kinds.TYPE_MESSAGE
                added.type_name = f".pprofdiff.{kind}"
            else:
                added.type = getattr(kinds, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: message_factory.GetMessageClass(
            pool.FindMessageTypeByName(f"pprofdiff.{name}")
        )
        for name in tables
    }


def message_class(name: str) -> Any:  # noqa: ANN401 - protobuf makes it at run time
    """Return the message class of this name, such as ``Profile`` or ``Sample``."""
    return _classes()[name]


def view_class() -> Any:  # noqa: ANN401 - protobuf makes it at run time
    """Return Profile with samples, locations and functions left as bytes."""
    return _classes()["View"]
