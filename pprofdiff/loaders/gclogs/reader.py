"""A text, block by block -> the collections in it: a plain state machine.

A regular expression finds where lines of gctrace begin and skips all else. From one
beginning to the next there is a whole line, or a torn one that may be put together, and
what the runtime prints beside it.
"""

from __future__ import annotations

from array import array
from itertools import pairwise

import numpy as np

from pprofdiff.errors import FormatError
from pprofdiff.loaders.gclogs.lines import (
    COLUMNS,
    GO_1_18,
    HEAD,
    TIMER,
    columns,
    numbers_of,
    read_line,
)
from pprofdiff.loaders.gclogs.repair import Repair
from pprofdiff.loaders.gclogs.runs import split
from pprofdiff.model.gclogs import Cycles, GCLog

__all__ = ["GCScanner", "parse"]

# How the program's own lines begin is learnt from so much of the text's beginning.
_SAMPLE = 1 << 20
# How far the pieces of a torn line are looked for.
_FARTHEST = 1 << 16
# More than the longest line has.
_LONGEST = 1 << 10
# Rows that become columns at once.
_BATCH = 1 << 12

# Bits of a line's flags. A torn line has its number and start, and nothing else.
_FORCED, _TIMER, _REPAIRED, _TORN = 1, 2, 4, 8


def parse(data: bytes, name: str) -> GCLog:
    """Return the collections that a log tells of.

    Raises FormatError, with `name` in front, where there is no gctrace line.
    """
    scanner = GCScanner()
    scanner.feed(data)
    log = scanner.close()
    if log is None:
        raise FormatError(
            f"{name}: no gctrace line of Go 1.5 or later in it; run the program with "
            "GODEBUG=gctrace=1 and keep its standard error"
        )
    return log


class GCScanner:
    """Reads gctrace lines from the blocks of a text, fed in order and cut anywhere.

    Memory: the block, 1 MiB, and 152 bytes a collection.
    """

    def __init__(self) -> None:
        self._pending = b""
        self._repair: Repair | None = None
        # The lines so far by column; the latest, all of one grammar, as they stand.
        self._columns = [array("q") for _ in (*COLUMNS, "flags")]
        self._numbers: list[bytes] = []
        self._flags: list[int] = []
        self._grammar = GO_1_18
        self._timer = False  # "GC forced" was printed since the last line
        self._open = False  # the last line has something right behind it

    def feed(self, block: bytes) -> None:
        """Read one more block."""
        text = self._pending + block
        if self._repair is None and len(text) < _SAMPLE:
            self._pending = text
        else:
            self._pending = text[self._read(text, _whole_lines(text)) :]

    def close(self) -> GCLog | None:
        """Return what was read, or None where there is no gctrace line, torn or whole.

        Lines of Go 1.4 and older count as none. Nothing can be fed afterwards.
        """
        self._read(self._pending, len(self._pending), last=True)
        self._pending = b""
        if not self._flags:
            return None
        self._pack()
        *numbers, flags = (np.frombuffer(c, np.int64) for c in self._columns)
        lines = Cycles(
            **dict(zip(COLUMNS, numbers, strict=True)),
            forced=flags & _FORCED != 0,
            timer=flags & _TIMER != 0,
            repaired=flags & _REPAIRED != 0,
        )
        runs, mixed = split(lines, flags & _TORN != 0)
        return GCLog(runs, mixed)

    def _read(self, text: bytes, stop: int, *, last: bool = False) -> int:
        """Read a text up to `stop`, or to a torn line that may go on; return where."""
        repair = self._repair = self._repair or Repair(text[:_SAMPLE])
        begins = [match.start() for match in repair.begins.finditer(text, 0, stop)]
        near = bool(begins) and stop - begins[-1] < _FARTHEST
        if near and not last and read_line(text, begins[-1]) is None:
            stop = begins.pop()
        self._between(text, 0, begins[0] if begins else stop)
        for begin, end in pairwise([*begins, stop]):
            if line := read_line(text, begin):
                self._add(line.numbers, line.grammar, _FORCED * line.forced)
                self._open = text[line.end : line.end + 1] not in (b"", b"\r", b"\n")
                if end - line.end > 1:
                    self._between(text, line.end, end)
            else:
                self._torn(text[begin : min(end, begin + _FARTHEST)], repair)
                self._between(text, begin, end)
        return stop

    def _torn(self, text: bytes, repair: Repair) -> None:
        """Read a line that is cut to pieces."""
        self._open = False
        if line := repair.mended(text):
            self._add(line.numbers, line.grammar, _REPAIRED | _FORCED * line.forced)
        elif head := HEAD.match(text):
            rest = b" 0" * (self._grammar - 2)
            self._add(numbers_of(head[0]) + rest, self._grammar, _TORN)

    def _add(self, numbers: bytes, grammar: int, flags: int) -> None:
        if len(self._flags) == _BATCH or grammar != self._grammar:
            self._pack()
            self._grammar = grammar
        self._numbers.append(numbers)
        self._flags.append(flags | _TIMER * self._timer)
        self._timer = False

    def _pack(self) -> None:
        """Read the latest lines' numbers."""
        if self._numbers:
            rows = np.vstack((columns(self._numbers), self._flags))
            for column, values in zip(self._columns, rows, strict=True):
                column.frombytes(values.tobytes())
        self._numbers.clear()
        self._flags.clear()

    def _between(self, text: bytes, begin: int, end: int) -> None:
        """Read what stands between lines: the end of one, or what comes before one."""
        if self._open and text.find(b"\n (forced)", begin, end) >= 0:
            self._flags[-1] |= _FORCED
        if TIMER.search(text, begin, end):
            self._timer = True


def _whole_lines(text: bytes) -> int:
    """Return up to where a text can be read: no line goes on behind it.

    That is before the last line end, so that it is seen with what follows. A very long
    line is cut, but not within a line of gctrace.
    """
    end = text.rfind(b"\n")
    if len(text) - end <= 2 * _LONGEST:
        return max(end, 0)
    end = len(text) - _LONGEST
    begin = text.rfind(b"gc ", end - _LONGEST, end + 2)
    return end if begin < 0 else begin
