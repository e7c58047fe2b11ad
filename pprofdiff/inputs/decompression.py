"""Bounded decompression of gzip, and of zstd, which Datadog's profilers upload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pprofdiff.errors import DamagedError, FormatError
from pprofdiff.units import printable

if TYPE_CHECKING:
    import zlib
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

DEFAULT_MAX_SIZE = 1 << 30
"""Maximum size of one input in bytes, on the wire and decompressed (`--max-size`)."""

GZIP_MAGIC = b"\x1f\x8b"

_GZIP = 31  # zlib window bits: 15, plus 16 for a gzip header and checksum
_FIRST_BITE = 512
_PIECE = 1 << 24
_MAX_MEMBERS = 1 << 17
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def decompress(data: bytes, name: str, max_size: int = DEFAULT_MAX_SIZE) -> bytes:
    """Return `data` decompressed, or unchanged if it is neither gzip nor zstd.

    Consecutive gzip members or zstd frames are joined; zero padding after members is
    ignored. Oversized data is rejected while inflating.

    Raises DamagedError: the stream is truncated or damaged, or other data follows it.
    Raises FormatError: the result exceeds `max_size` bytes, or it is zstd and no
    library for that is installed.
    """
    stream = decompressor(data, name, max_size, piece=_PIECE)
    if stream is None:
        if len(data) > max_size:
            raise FormatError(too_large(name, max_size))
        return data
    parts = list(stream.feed(data))
    stream.close()
    return parts[0] if len(parts) == 1 else b"".join(parts)


def decompressor(
    start: bytes, name: str, max_size: int, piece: int
) -> Gunzip | Unzstd | None:
    """Return what decompresses a stream that begins with `start`; None: it is plain."""
    if start.startswith(GZIP_MAGIC):
        return Gunzip(name, max_size, piece)
    if start.startswith(ZSTD_MAGIC):
        return Unzstd(name, max_size, piece)
    return None


class Gunzip:
    """Gunzips, like `decompress`, data fed in pieces of at least two bytes."""

    def __init__(self, name: str, max_size: int, piece: int) -> None:
        self._name = name
        self._max_size = self._left = max_size
        self._piece = piece
        self._stream: zlib._Decompress | None = None
        self._bite = 0
        self._members = 0
        self._fed = 0
        self._half = b""  # first of a member's two magic bytes
        self._stray = 0  # bytes after the gzip data that are not gzip

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the output of `data`, which is consumed only as it is iterated."""
        self._fed += len(data)
        if self._half:
            data, self._half = self._half + data, b""
        position = 0
        while position < len(data):
            if self._stream is None:
                position = self._begin(data, position)
            else:
                output, position = self._take(self._stream, data, position)
                if output:
                    yield output

    def close(self) -> None:
        """Check that the stream is complete and nothing follows it."""
        rest = self._stray + len(self._half)
        if rest:
            msg = f"{self._name}: {rest} bytes that are not gzip follow its gzip stream"
            raise DamagedError(f"{msg}; fetch it again")
        if self._stream is not None:
            msg = f"{self._name}: gzip stream is cut off after {self._fed} bytes"
            raise DamagedError(f"{msg}; fetch it again")

    def _begin(self, data: bytes, position: int) -> int:
        import zlib

        if self._members and not self._stray:
            position = _after_padding(data, position)
        if data.startswith(GZIP_MAGIC, position) and not self._stray:
            self._members += 1
            if self._members > _MAX_MEMBERS:
                msg = f"{self._name}: holds more than {_MAX_MEMBERS} gzip members"
                raise FormatError(f"{msg}; gunzip it first")
            self._stream = zlib.decompressobj(_GZIP)
            # zlib copies what follows a member: many tiny ones stay linear if fed
            # in growing bites, the first whole.
            self._bite = _FIRST_BITE if self._members > 1 else len(data)
            return position
        if data[position:] == GZIP_MAGIC[:1] and not self._stray:
            self._half = data[position:]
        else:
            self._stray += len(data) - position
        return len(data)

    def _take(
        self, stream: zlib._Decompress, data: bytes, position: int
    ) -> tuple[bytes, int]:
        import zlib

        fed = memoryview(data)[position : position + self._bite]
        try:
            output = stream.decompress(fed, min(self._piece, self._left + 1))
        except zlib.error as error:
            cause = str(error).rpartition(": ")[2]
            msg = f"{self._name}: gzip stream is damaged ({cause}); fetch it again"
            raise DamagedError(msg) from None
        self._left -= len(output)
        if self._left < 0:
            raise FormatError(too_large(self._name, self._max_size))
        self._bite *= 2
        if stream.eof:
            self._stream = None
        rest = len(stream.unused_data) + len(stream.unconsumed_tail)
        return output, position + len(fed) - rest


def _after_padding(data: bytes, position: int) -> int:
    if not data.startswith(b"\0", position):
        return position
    return len(data) - len(data[position:].lstrip(b"\0"))


class NoZstdError(FormatError):
    """The input is zstd, and no library that reads it is installed."""


_BITE = 1 << 16  # the decoder copies what follows a frame: small bites keep it linear
_MAX_FRAMES = 1 << 17


class Unzstd:
    """Decompresses zstd as `Gunzip` does gzip: the same arguments, methods and errors.

    Consecutive frames are joined. The decoder holds at most a window of 128 MiB, its
    own limit, whatever the stream asks for.

    Raises NoZstdError when made: no zstd library is installed.
    """

    def __init__(self, name: str, max_size: int, piece: int) -> None:
        """Yield at most `piece` bytes at a time, `max_size` in total."""
        self._zstd = _library(name)
        self._name = name
        self._max_size = self._left = max_size
        self._piece = piece
        self._frame: Any = None
        self._frames = 0
        self._fed = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the output of `data`, which is consumed only as it is iterated."""
        self._fed += len(data)
        view = memoryview(data)
        for start in range(0, len(data), _BITE):
            yield from self._bite(bytes(view[start : start + _BITE]))

    def close(self) -> None:
        """Check that the stream is complete."""
        if self._frame is not None:
            msg = f"{self._name}: zstd stream is cut off after {self._fed} bytes"
            raise DamagedError(f"{msg}; fetch it again")

    def _bite(self, data: bytes) -> Iterator[bytes]:
        while data or (self._frame is not None and not self._frame.needs_input):
            if self._frame is None:
                self._frames += 1
                if self._frames > _MAX_FRAMES:
                    msg = f"{self._name}: holds more than {_MAX_FRAMES} zstd frames"
                    raise FormatError(f"{msg}; decompress it first")
                self._frame = self._zstd.ZstdDecompressor()
            try:
                limit = min(self._piece, self._left + 1)
                output = self._frame.decompress(data, limit)
            except self._zstd.ZstdError as error:
                cause = str(error).rpartition(": ")[2]
                msg = f"{self._name}: zstd stream is damaged ({cause}); fetch it again"
                raise DamagedError(msg) from None
            self._left -= len(output)
            if self._left < 0:
                raise FormatError(too_large(self._name, self._max_size))
            data = b""
            if self._frame.eof:
                data, self._frame = self._frame.unused_data, None
            if output:
                yield output


def _library(name: str) -> ModuleType:
    """Return Python's zstd module (3.14), or the package that has it for older ones."""
    import importlib

    for module in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(module)
        except ImportError:
            continue
    msg = f"{name}: compressed with zstd; pip install backports.zstd"
    raise NoZstdError(f"{msg}, or decompress it first")


def shortened(text: str, limit: int) -> str:
    """Return `text` on one line, truncated to `limit` characters."""
    shown = printable(text)
    return f"{shown[:limit]}…" if len(shown) > limit else shown


def size_text(size: int) -> str:
    """Return a number of bytes in the largest binary unit that it fills."""
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << shift:
            return f"{size / (1 << shift):.4g} {unit}"
    return f"{size} bytes"


def too_large(name: str, size: int) -> str:
    """Return the message for an input that exceeds `--max-size`."""
    return f"{name}: holds more than {size_text(size)}; raise --max-size to read it"
