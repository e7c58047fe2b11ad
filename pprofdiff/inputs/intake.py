"""Take in an input as it arrives: keep binary data, scan text at once."""

from __future__ import annotations

from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct

from pprofdiff.errors import FormatError
from pprofdiff.inputs.decompression import decompressor, too_large
from pprofdiff.inputs.recognition import Foreign, binary_kind, text_kind
from pprofdiff.kinds import KINDS, KindId

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, BinaryIO


_HEAD = 1 << 16
_FIRST_CHUNK = 1 << 17
_BINARY_CHUNK = 1 << 26
_TEXT_CHUNK = 1 << 20


class Intake(Struct, frozen=True):
    """One input, as far as it was read."""

    kinds: tuple[KindId | Foreign, ...]
    """One kind, or all the kinds of log that a text contains."""
    start: bytes
    """The first 64 KiB, decompressed."""
    data: bytes
    """The bytes as read, still compressed; empty for texts and unsupported kinds."""
    scanned: dict[KindId, Any]
    """The contents of a text, by kind; empty for anything else."""


class _Opened(Struct, frozen=True):
    """An input whose first 64 KiB are known."""

    kind: KindId | Foreign | None
    """The kind shown by those bytes, None for a text."""
    start: bytes
    chunks: _Chunks
    plain: Iterator[bytes]
    """All of the input, decompressed."""


def take(file: BinaryIO, name: str, max_size: int) -> Intake:
    """Read `file` to its end; a text is never held in memory whole.

    For an unsupported kind, only the beginning is read. Raises DamagedError for a
    damaged gzip stream, FormatError for more than `max_size` bytes, and OSError.
    """
    opened = _opened(file, name, max_size)
    if opened.kind is None:
        return _text(opened)
    if opened.kind not in KINDS:  # a program may exceed `max_size`
        return Intake((opened.kind,), opened.start, b"", {})
    opened.chunks.size = _BINARY_CHUNK
    data = b"".join(chain(opened.chunks.kept, opened.chunks))
    return Intake((opened.kind,), opened.start, data, {})


def take_bytes(data: bytes, name: str, max_size: int) -> Intake:
    """Return what `data` is; see `take`. Binary data may exceed `max_size`."""
    opened = _opened(BytesIO(data), name, max_size)
    if opened.kind is None:
        return _text(opened)
    return Intake((opened.kind,), opened.start, data, {})


class _Chunks:
    """A file's bytes in pieces of `size`; FormatError beyond `max_size` bytes."""

    def __init__(self, file: BinaryIO, name: str, max_size: int) -> None:
        self.size = _FIRST_CHUNK
        self.kept: list[bytes] = []
        """The pieces read before `size` was changed."""
        self._file = file
        self._name = name
        self._max_size = self._room = max_size

    def __iter__(self) -> Iterator[bytes]:
        while chunk := self._file.read(min(self._room + 1, self.size)):
            self._room -= len(chunk)
            if self._room < 0:
                raise FormatError(too_large(self._name, self._max_size))
            if self.size == _FIRST_CHUNK:
                self.kept.append(chunk)
            yield chunk


def _opened(file: BinaryIO, name: str, max_size: int) -> _Opened:
    chunks = _Chunks(file, name, max_size)
    plain = _plain(chunks, name, max_size)
    pieces: list[bytes] = []
    size = 0
    while size < _HEAD and (piece := next(plain, b"")):
        pieces.append(piece)
        size += len(piece)
    start = b"".join(pieces)[:_HEAD]
    kind = binary_kind(start, whole=size < _HEAD) if start else Foreign.EMPTY
    return _Opened(kind, start, chunks, chain(pieces, plain))


def _plain(chunks: Iterable[bytes], name: str, max_size: int) -> Iterator[bytes]:
    chunks = iter(chunks)
    first = next(chunks, b"")
    stream = decompressor(first, name, max_size, piece=_TEXT_CHUNK)
    if stream is None:
        yield from chain((first,), chunks)
        return
    for chunk in chain((first,), chunks):
        yield from stream.feed(chunk)
    stream.close()


def _text(opened: _Opened) -> Intake:
    from pprofdiff.loaders.logs import LogReader

    opened.chunks.size = _TEXT_CHUNK
    opened.chunks.kept.clear()
    reader = LogReader()
    for piece in opened.plain:
        reader.feed(piece)
    scanned = reader.close()
    if not scanned:
        return Intake((text_kind(opened.start),), opened.start, b"", {})
    return Intake(tuple(scanned), opened.start, b"", scanned)
