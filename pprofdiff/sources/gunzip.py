"""Bounded decompression: gzip as the Go runtime, servers and log rotation write it."""

from __future__ import annotations

from pprofdiff.errors import FormatError
from pprofdiff.sources.model import DEFAULT_MAX_SIZE
from pprofdiff.sources.wording import too_large

GZIP_MAGIC = b"\x1f\x8b"

_GZIP = 31  # zlib's window bits: 15, plus 16 for a gzip header and its checksum
_FIRST_BITE = 512
_MAX_MEMBERS = 1 << 17


def decompress(data: bytes, name: str, max_size: int = DEFAULT_MAX_SIZE) -> bytes:
    """Return `data` gunzipped, or as it is when it is not gzip.

    Several gzip members in a row are joined; zero padding after them is ignored.
    Memory stays below `max_size` plus one member's output, whatever the input.

    Raises
    ------
    FormatError
        The stream is cut off or damaged, something else follows it, or the result
        holds more than `max_size` bytes.

    """
    if not data.startswith(GZIP_MAGIC):
        if len(data) > max_size:
            raise FormatError(too_large(name, max_size))
        return data
    parts: list[bytes] = []
    position = used = 0
    for _ in range(_MAX_MEMBERS):
        output, position = _member(data, position, used, max_size, name)
        used += len(output)
        parts.append(output)
        position = _after_padding(data, position)
        if position == len(data):
            return parts[0] if len(parts) == 1 else b"".join(parts)
        if not data.startswith(GZIP_MAGIC, position):
            rest = len(data) - position
            msg = f"{name}: {rest} bytes that are not gzip follow its gzip stream"
            raise FormatError(f"{msg}; fetch it again")
    msg = f"{name}: holds more than {_MAX_MEMBERS} gzip members; gunzip it first"
    raise FormatError(msg)


def head(data: bytes, name: str, size: int) -> bytes:
    """Return the first `size` bytes of `data` gunzipped, or all if there are fewer.

    A stream that is cut off gives what it holds.

    Raises
    ------
    FormatError
        The gzip stream is damaged within the bytes asked for.

    """
    if not data.startswith(GZIP_MAGIC):
        return data[:size]
    import zlib

    stream = zlib.decompressobj(_GZIP)
    try:
        return stream.decompress(data[: size + (1 << 16)], size)
    except zlib.error as error:
        raise FormatError(_damaged(name, error)) from None


def _member(
    data: bytes, start: int, used: int, max_size: int, name: str
) -> tuple[bytes, int]:
    """Return one gzip member's content and the position after it."""
    import zlib

    stream = zlib.decompressobj(_GZIP)
    view = memoryview(data)
    # zlib copies what follows the member, so later members are fed in growing bites:
    # a file of many tiny members stays linear. The first, usually the only one, whole.
    bite = _FIRST_BITE if start else len(data)
    parts: list[bytes] = []
    position = start
    while not stream.eof:
        if position >= len(data):
            msg = f"{name}: gzip stream is cut off after {len(data)} bytes"
            raise FormatError(f"{msg}; fetch it again")
        fed = view[position : position + bite]
        try:
            parts.append(stream.decompress(fed, max_size - used + 1))
        except zlib.error as error:
            raise FormatError(_damaged(name, error)) from None
        used += len(parts[-1])
        if used > max_size:
            raise FormatError(too_large(name, max_size))
        position += len(fed) - len(stream.unused_data)
        bite *= 2
    return (parts[0] if len(parts) == 1 else b"".join(parts)), position


def _after_padding(data: bytes, position: int) -> int:
    """Return the position of the first byte that is not zero."""
    if not data.startswith(b"\0", position):
        return position
    return len(data) - len(data[position:].lstrip(b"\0"))


def _damaged(name: str, error: Exception) -> str:
    cause = str(error).rpartition(": ")[2]
    return f"{name}: gzip stream is damaged ({cause}); fetch it again"
