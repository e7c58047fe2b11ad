"""A log of any size -> all that is known of it: GC lines, benchmarks, load reports."""

from __future__ import annotations

from typing import Any, Protocol

from pprofdiff.kinds import KindId, of_texts, resolve

__all__ = ["LogReader"]

_BLOCK = 1 << 22
_LONGEST_LINE = 1 << 23


class _Scanner(Protocol):
    def feed(self, block: bytes) -> None:
        """Read one more block of whole lines."""

    def close(self) -> Any | None:  # noqa: ANN401 - what a kind decodes to
        """Return what all blocks hold, None for nothing of the kind."""


class LogReader:
    """Reads a log in pieces, cut anywhere, and hands it on in blocks of whole lines.

    Blocks hold 4 to 8 MiB; a line longer than 8 MiB is cut there. How the pieces are
    cut changes nothing. Memory: two blocks and what is found.
    """

    def __init__(self) -> None:
        self._scanners: dict[KindId, _Scanner] = {
            kind.id: resolve(kind.scanner)() for kind in of_texts()
        }
        self._pending = bytearray()  # begins where a line does

    def feed(self, data: bytes) -> None:
        """Read one more piece."""
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
        """Return what the log holds by kind, once all is fed; no entry for nothing."""
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
