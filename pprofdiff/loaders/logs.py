"""A log of any size -> all that is known of it: GC lines, benchmarks, load reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from pprofdiff.loaders.benchmarks.load_summary import LoadScanner
from pprofdiff.loaders.benchmarks.reader import BenchmarkScanner
from pprofdiff.loaders.gclogs import GCScanner

if TYPE_CHECKING:
    from pprofdiff.model.benchmarks import Benchmarks, Load
    from pprofdiff.model.gclogs import GCLog

__all__ = ["Log", "LogReader"]

_BLOCK = 1 << 22
_LONGEST_LINE = 1 << 23


class Log(NamedTuple):
    """What one text holds; None for what it does not."""

    gc: GCLog | None
    benchmarks: Benchmarks | None
    load: Load | None


class _Scanner(Protocol):
    def feed(self, block: bytes) -> None:
        """Read one more block of whole lines."""


class LogReader:
    """Reads a log in pieces, cut anywhere, and hands it on in blocks of whole lines.

    Blocks hold 4 to 8 MiB; a line longer than 8 MiB is cut there. How the pieces are
    cut changes nothing. Memory: two blocks and what is found.
    """

    def __init__(self) -> None:
        self._gc = GCScanner()
        self._benchmarks = BenchmarkScanner()
        self._load = LoadScanner()
        self._scanners: tuple[_Scanner, ...] = (self._gc, self._benchmarks, self._load)
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

    def close(self) -> Log:
        """Return what was found, once all is fed."""
        if self._pending:
            self._hand_on(len(self._pending))
        return Log(self._gc.close(), self._benchmarks.close(), self._load.close())

    def _hand_on(self, size: int) -> None:
        with memoryview(self._pending) as view:
            block = bytes(view[:size])
        del self._pending[:size]
        for scanner in self._scanners:
            scanner.feed(block)
