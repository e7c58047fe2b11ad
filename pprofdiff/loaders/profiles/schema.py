"""Describe profile.proto at run time: no generated code, no protoc.

Field numbers and types are as in
https://github.com/google/pprof/blob/main/proto/profile.proto. `view_class` is an
alternative schema for the same wire format in which samples, locations, functions and
strings stay bytes: protobuf then only splits the file, in C, and numpy decodes the
pieces together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

# name: [(number, field, type, repeated)]; a capitalized type names a message.
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
    """Return Profile's fields, the large lists typed or, for the view, as bytes."""
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


# Numbers from descriptor.proto, which describes messages
# (https://github.com/protocolbuffers/protobuf, google/protobuf/descriptor.proto).
_TYPES = {"int64": 3, "uint64": 4, "bool": 8, "bytes": 12}
_MESSAGE_TYPE = 11
_OPTIONAL, _REPEATED = 1, 3


@cache
def _classes() -> dict[str, Any]:
    """Build every message class in a private pool, to avoid name clashes.

    The descriptor is encoded by hand: importing protobuf's own classes for it takes
    longer than everything else.
    """
    tables = {**_MESSAGES, "Profile": _profile("typed"), "View": _profile("view")}
    file = [_bytes(1, b"pprofdiff/profile.proto"), _bytes(2, b"pprofdiff")]
    for name, fields in tables.items():
        described = b"".join(_bytes(2, _field(*field)) for field in fields)
        file.append(_bytes(4, _bytes(1, name.encode()) + described))
    pool, made = _implementation()
    pool.AddSerializedFile(b"".join((*file, _bytes(12, b"proto3"))))
    return {
        name: made(pool.FindMessageTypeByName(f"pprofdiff.{name}")) for name in tables
    }


def _implementation() -> tuple[Any, Callable[[Any], Any]]:
    """Return a new descriptor pool, and what makes a class of a message's descriptor.

    `descriptor_pool` and `message_factory` import protobuf's implementation in Python
    even where that in C is in use: three quarters of what protobuf takes to start. So
    the latter is asked itself, as they do; nested messages come first.
    """
    from google.protobuf import descriptor, message

    in_c = getattr(descriptor, "_message", None)
    if in_c is None:
        from google.protobuf import descriptor_pool, message_factory

        return descriptor_pool.DescriptorPool(), message_factory.GetMessageClass

    def made(described: Any) -> Any:  # noqa: ANN401 - protobuf's
        contents = {"DESCRIPTOR": described, "__module__": __name__}
        return in_c.MessageMeta(described.name, (message.Message,), contents)

    return in_c.DescriptorPool(), made


def _field(number: int, name: str, type_name: str, repeated: bool) -> bytes:  # noqa: FBT001 - a row of the table
    label = _REPEATED if repeated else _OPTIONAL
    head = _bytes(1, name.encode()) + bytes((3 << 3, number, 4 << 3, label))
    if type_name in _TYPES:
        return head + bytes((5 << 3, _TYPES[type_name]))
    typed = bytes((5 << 3, _MESSAGE_TYPE))
    return head + typed + _bytes(6, f".pprofdiff.{type_name}".encode())


def _bytes(number: int, content: bytes) -> bytes:
    """Return a length-delimited field; contents are shorter than 2**14 bytes."""
    size = len(content)
    length = (size,) if size < 0x80 else (size & 0x7F | 0x80, size >> 7)
    return bytes((number << 3 | 2, *length)) + content


def message_class(name: str) -> Any:  # noqa: ANN401 - protobuf makes it at run time
    """Return the message class with this name, such as ``Profile`` or ``Sample``."""
    return _classes()[name]


def view_class() -> Any:  # noqa: ANN401 - protobuf makes it at run time
    """Return the class of Profile with samples, locations and functions as bytes."""
    return _classes()["View"]
