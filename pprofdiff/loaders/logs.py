"""Read logs of any size: GC traces, benchmark results and load reports."""

from __future__ import annotations

from typing import Any, Protocol

from pprofdiff.kinds import KindId, of_texts, resolve

_BLOCK = 1 << 22
_LONGEST_LINE = 1 << 23


class _Scanner(Protocol):
    def feed(self, block: bytes) -> None:
        """Read the next block of whole lines."""

    def close(self) -> Any | None:  # noqa: ANN401 - what a kind decodes to
        """Return what the blocks contained, or None if nothing of this kind."""


class LogReader:
    """Reads a log in pieces cut anywhere and feeds the scanners whole lines.

    Blocks are 4 to 8 MiB; a longer line is split at 8 MiB.
    """

    def __init__(self) -> None:
        self._scanners: dict[KindId, _Scanner] = {
            kind.id: resolve(kind.scanner)() for kind in of_texts()
        }
        self._pending = bytearray()  # starts at a line start

    def feed(self, data: bytes) -> None:
        """Read the next piece."""
        view = memoryview(data)
        while view:
            size = min(_BLOCK, _LONGEST_LINE - len(self._pending))
            self._pending += view[:size]
            view = view[size:]
            if len(self._pending) >= _BLOCK:
                end = self._pending.rfind(b"\n") + 1
                if end or len(self._pending) == _LONGEST_LINE:
                    self._hand_on(end or _LONGEST_LINE)

    def close(self) -> dict[KindId, Any]:
        """Return the log's contents by kind, without kinds that found nothing."""
        if self._pending:
            self._hand_on(len(self._pending))
        contents = {kind: one.close() for kind, one in self._scanners.items()}
        return {
            kind: content for kind, content in contents.items() if content is not None
        }

    def _hand_on(self, size: int) -> None:
        with memoryview(self._pending) as view:
            block = bytes(view[:size])
        del self._pending[:size]
        for scanner in self._scanners.values():
            scanner.feed(block)
