"""Scan a text for GC cycles, block by block.

Between two places where gctrace lines begin lies a whole line, or a torn one that may
be repaired, plus whatever else the runtime prints there.
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
    Repair,
    columns,
    numbers_of,
    read_line,
)
from pprofdiff.loaders.gclogs.runs import split
from pprofdiff.model.gclogs import Cycles, GCLog

# Bytes at the start of the text used to learn how the program's lines begin.
_SAMPLE = 1 << 20
# How far to look for the pieces of a torn line.
_FARTHEST = 1 << 16
# Longer than any gctrace line.
_LONGEST = 1 << 10
# Rows converted to columns at once.
_BATCH = 1 << 12

# Flag bits of a line. A torn line has a valid number and start, nothing else.
_FORCED, _TIMER, _REPAIRED, _TORN = 1, 2, 4, 8


def parse(data: bytes, name: str) -> GCLog:
    """Return the GC cycles in a log; raises FormatError, with `name`, without any."""
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
    """Reads gctrace lines from blocks of a text, fed in order and cut anywhere."""

    def __init__(self) -> None:
        self._pending = b""
        self._repair: Repair | None = None
        # Columns of the packed lines; below, the latest lines, all of one grammar.
        self._columns = [array("q") for _ in (*COLUMNS, "flags")]
        self._numbers: list[bytes] = []
        self._flags: list[int] = []
        self._grammar = GO_1_18
        self._timer = False  # "GC forced" was printed after the last line
        self._open = False  # the last line is followed directly by other text

    def feed(self, block: bytes) -> None:
        """Read the next block."""
        text = self._pending + block
        if self._repair is None and len(text) < _SAMPLE:
            self._pending = text
        else:
            self._pending = text[self._read(text, _whole_lines(text)) :]

    def close(self) -> GCLog | None:
        """Return the log, or None if it has no gctrace line of Go 1.5 or later."""
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
        """Read up to `stop`, or to a torn line that may go on; return the position."""
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
        if self._numbers:
            rows = np.vstack((columns(self._numbers), self._flags))
            for column, values in zip(self._columns, rows, strict=True):
                column.frombytes(values.tobytes())
        self._numbers.clear()
        self._flags.clear()

    def _between(self, text: bytes, begin: int, end: int) -> None:
        if self._open and text.find(b"\n (forced)", begin, end) >= 0:
            self._flags[-1] |= _FORCED
        if TIMER.search(text, begin, end):
            self._timer = True


def _whole_lines(text: bytes) -> int:
    """Return the length of the text that can be read now: to before the last newline.

    A very long line is cut, but not inside a gctrace line.
    """
    end = text.rfind(b"\n")
    if len(text) - end <= 2 * _LONGEST:
        return max(end, 0)
    end = len(text) - _LONGEST
    begin = text.rfind(b"gc ", end - _LONGEST, end + 2)
    return end if begin < 0 else begin
