"""Lines of several processes that alternate, told apart by how their numbers go on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.gcrows import FLAGS, NUMBER, PROCS, STACKS, START, TORN, Rows

__all__ = ["Told", "told_apart"]

# A line lost now and then is likelier than another process at the very number.
_FEW_LOST = 8
# How many processes a line with lines missing before it is compared with.
_LATEST = 32
# How far ahead lines of the same number are looked for.
_AHEAD = 256


class Told(NamedTuple):
    """Which process each line is of, in the order they begin.

    `mixed`: some lines may be of either of two processes. `alternate`: False if it is
    explained as well by one process after the other.
    """

    owner: NDArray[np.int64]
    mixed: bool
    alternate: bool


class _Line(NamedTuple):
    """What tells processes apart; None is unknown."""

    number: int
    start: int
    procs: int | None
    scanned: bool | None

    def may_follow(self, earlier: _Line, *, procs: bool = True) -> bool:
        """Tell if this can be a later line of the process that wrote another."""
        return (
            self.number > earlier.number
            and self.start >= earlier.start
            and (not procs or _agree(self.procs, earlier.procs))
            and _agree(self.scanned, earlier.scanned)
        )

    def after(self, earlier: _Line) -> _Line:
        """Return this line with what it leaves unknown from an earlier one."""
        if self.procs is not None:
            return self
        return self._replace(procs=earlier.procs, scanned=earlier.scanned)


def _agree(one: int | None, other: int | None) -> bool:
    return one is None or other is None or one == other


def told_apart(rows: Rows) -> Told:
    """Give each line to the process whose lines it continues.

    A line that several could have written, with nothing that tells which, begins a run
    of its own: what a run holds is of one process.
    """
    known = rows[FLAGS] & TORN == 0
    lines = [
        _Line(n, t, p if k else None, s >= 0 if k else None)
        for n, t, p, s, k in zip(
            *(rows[c].tolist() for c in (NUMBER, START, PROCS, STACKS)),
            known.tolist(),
            strict=True,
        )
    ]
    streams = _Streams(lines)
    owner = np.array([streams.take(at) for at in range(len(lines))], np.int64)
    alternate = streams.certain or streams.mixed or streams.returns > 1
    doubtful = streams.mixed if alternate else streams.returns > 0
    return Told(owner, doubtful, alternate)


class _Streams:
    """The processes so far, by the last line of each.

    `returns` counts lines that directly continue another process than the line before
    does; `certain` if one of them cannot be a later line of that.
    """

    def __init__(self, lines: list[_Line]) -> None:
        self._lines = lines
        self._last: list[_Line] = []
        # By the number that a process would print next; and those heard of last.
        self._next: dict[int, list[int]] = {}
        self._latest: dict[int, None] = {}
        self.returns = 0
        self.certain = False
        self.mixed = False

    def take(self, at: int) -> int:
        """Return which process the next line is of."""
        line = self._lines[at]
        stream = None if line.number == 1 else self._writer(at, line)
        if stream is None:
            stream = len(self._last)
            self._last.append(line)
        else:
            earlier = self._last[stream]
            waiting = self._next[earlier.number + 1]
            waiting.remove(stream)
            if not waiting:
                del self._next[earlier.number + 1]
            self._last[stream] = line.after(earlier)
        self._next.setdefault(line.number + 1, []).append(stream)
        self._latest.pop(stream, None)
        self._latest[stream] = None
        if len(self._latest) > _LATEST:
            del self._latest[next(iter(self._latest))]
        return stream

    def _writer(self, at: int, line: _Line) -> int | None:
        """Return which process so far wrote a line, or None."""
        if not self._last:
            return None
        current = next(reversed(self._latest))
        waiting = self._next.get(line.number, ())
        direct = [s for s in waiting[-_LATEST:] if line.may_follow(self._last[s])]
        if len(direct) > 1:
            return self._matched(at, direct)
        if direct:
            if direct[0] != current:
                self._returned(line, self._last[current])
            return direct[0]
        # GOMAXPROCS may change.
        if current in waiting and line.may_follow(self._last[current], procs=False):
            return current
        return self._after_a_gap(line, current)

    def _after_a_gap(self, line: _Line, current: int) -> int | None:
        """Return which process wrote a line that continues none directly, or None."""
        later = [s for s in self._latest if line.may_follow(self._last[s])]
        if len(later) < 2:
            return later[0] if later else None
        if current in later and not self.returns:
            return current
        self.mixed = True
        return None

    def _returned(self, line: _Line, current: _Line) -> None:
        """Count a line that continues another process than the one before it."""
        self.returns += 1
        lost = line.number - current.number - 1
        if lost > _FEW_LOST or not line.may_follow(current):
            self.certain = True

    def _matched(self, at: int, streams: list[int]) -> int | None:
        """Return which of several processes at one number wrote a line, or None.

        Each of them is about to print that number. By start, the lines that do so go to
        them in order, unless an earlier start could as well follow a later one.
        """
        number = self._lines[at].number
        ahead = range(at, min(at + _AHEAD, len(self._lines)))
        rivals = [i for i in ahead if self._lines[i].number == number][: len(streams)]
        rivals.sort(key=lambda i: self._lines[i].start)
        streams = sorted(streams, key=lambda s: self._last[s].start)
        starts = [self._last[s].start for s in streams[1:]]
        if len(rivals) == len(streams) and all(
            self._lines[i].start < start
            for i, start in zip(rivals, starts, strict=False)
        ):
            return streams[rivals.index(at)]
        self.mixed = True
        return None
