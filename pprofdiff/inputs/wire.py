"""Check whether bytes parse like the top level of a profile.proto `Profile`."""

from __future__ import annotations

from typing import Final

_VARINT: Final = 0
_FIXED64: Final = 1
_BYTES: Final = 2
_FIXED32: Final = 5

_SAMPLE_TYPE: Final = 1
_STRING_TABLE: Final = 6
_PERIOD_TYPE: Final = 11

# profile.proto, message Profile. Repeated numbers may be packed (comment, 13).
_WIRE_TYPES: Final = {
    **dict.fromkeys((_SAMPLE_TYPE, 2, 3, 4, 5, _STRING_TABLE, _PERIOD_TYPE), (_BYTES,)),
    **dict.fromkeys((7, 8, 9, 10, 12, 14, 15), (_VARINT,)),
    13: (_VARINT, _BYTES),
}
_LATER_FIELD: Final = (_VARINT, _FIXED64, _BYTES, _FIXED32)

_WALKED = 4096


def looks_encoded(start: bytes, *, whole: bool) -> bool:
    """Return whether `start` begins (`whole`: is) an encoded Profile.

    Every top-level field must have its wire type, the value types must parse, and the
    string table must begin with the empty string. A profile shows a sample type or a
    string, unless it is longer than the part examined.
    """
    whole = whole and len(start) <= _WALKED
    start = start[:_WALKED]
    seen: set[int] = set()
    position = 0
    try:
        while position < len(start):
            tag, position = _varint(start, position)
            number, wire = tag >> 3, tag & 7
            if number == 0 or wire not in _WIRE_TYPES.get(number, _LATER_FIELD):
                return False
            after = _after(start, position, wire)
            if not _valid(number, start[position:after], first=number not in seen):
                return False
            seen.add(number)
            position = after
    except IndexError:  # truncated inside a number: what precedes it decides
        pass
    except ValueError:
        return False
    return bool(seen & {_SAMPLE_TYPE, _STRING_TABLE}) or (bool(seen) and not whole)


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Return a varint and the position after it.

    Raises IndexError if `data` ends first, ValueError beyond ten bytes.
    """
    value = 0
    for shift in range(0, 70, 7):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise ValueError


def _after(data: bytes, position: int, wire: int) -> int:
    """Return where the field value at `position` ends, possibly beyond `data`."""
    if wire == _VARINT:
        return _varint(data, position)[1]
    if wire == _BYTES:
        size, position = _varint(data, position)
        return position + size
    return position + (8 if wire == _FIXED64 else 4)


def _valid(number: int, field: bytes, *, first: bool) -> bool:
    """Return whether a field's bytes, including its length, are plausible."""
    if number in (_SAMPLE_TYPE, _PERIOD_TYPE):
        return _is_value_type(field)
    if number == _STRING_TABLE and first:
        return field == b"\0"
    return True


def _is_value_type(field: bytes) -> bool:
    """Return whether `field` is a length and a ValueType: type = 1, unit = 2."""
    size, position = _varint(field, 0)
    if size > 2 * (1 + 10):
        return False
    while position < len(field):
        if field[position] not in (1 << 3 | _VARINT, 2 << 3 | _VARINT):
            return False
        _, position = _varint(field, position + 1)
    return True
