"""Bounded decompression of zstd streams, which Datadog's profilers upload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pprofdiff.errors import DamagedError, FormatError
from pprofdiff.inputs.wording import too_large

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


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
