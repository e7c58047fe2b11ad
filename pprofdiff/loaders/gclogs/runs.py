"""Split GC cycles by process: a log may hold several, in sequence or interleaved.

A process numbers its cycles 1, 2, 3, … with increasing start times. If these do not
increase, a line is repeated, neighbours are swapped, another process started, or
several interleave; each line then continues the process whose next number it has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.loaders.gclogs.lines import COLUMNS, MISSING
from pprofdiff.model.arrays import Column, Mask
from pprofdiff.model.gclogs import Cycles, GCRun

# A few lost lines are likelier than another process at the same number.
_FEW_LOST = 8
# How many recent processes a line is compared with.
_LATEST = 32

_Rows = NDArray[np.intp]


def split(cycles: Cycles, torn: Mask) -> tuple[tuple[GCRun, ...], bool]:
    """Return the runs in the order they begin, and whether some are ambiguous.

    `cycles` holds all lines in text order; `torn` ones have a valid number and start
    only. Repeated lines count once, swapped neighbours are put in order, and repaired
    lines that do not fit between their neighbours count as torn.
    """
    none = np.zeros(len(cycles), np.int64)
    scanned = np.asarray(cycles.stacks_mb) != MISSING
    lines = _Lines(cycles, scanned, torn, none, none, np.arange(len(cycles)))
    if not (torn | cycles.repaired).any() and not lines.breaks().any():
        return (_run(lines, slice(None)),), False
    lines = _once(lines)
    for tried in dict.fromkeys((_in_order(lines), lines)):
        fitting = _fitting(tried)
        owner, mixed, alternate = _separated(fitting)
        if not (mixed or alternate):
            break
    order = np.argsort(owner, kind="stable")
    ends = np.flatnonzero(np.diff(owner[order])) + 1
    runs = np.split(fitting.rows[order], ends)
    return tuple(_run(fitting, rows) for rows in runs), mixed


class _Lines(Struct, frozen=True, eq=False):
    """All lines of a log; `rows` are the ones that count, in order.

    `scanned` lines have stacks and globals. `repeated` counts further copies of a line,
    and `swapped` is 1 for a line that stood after the one that follows it.
    """

    cycles: Cycles
    scanned: Mask
    torn: Mask
    repeated: Column
    swapped: Column
    rows: _Rows

    @property
    def number(self) -> Column:
        return self.cycles.number[self.rows]

    def breaks(self) -> Mask:
        """Return which of `rows` cannot be from the same process as the row before."""
        breaks = np.zeros(len(self.rows), np.bool_)
        start = self.cycles.start_ms[self.rows]
        breaks[1:] = (np.diff(self.number) <= 0) | (np.diff(start) < 0)
        known = np.flatnonzero(~self.torn[self.rows])
        breaks[known[1:]] |= np.diff(self.scanned[self.rows[known]])
        return breaks

    def follow(self, later: _Rows, earlier: _Rows) -> Mask:
        c = self.cycles
        same: Mask = c.procs[later] == c.procs[earlier]
        same &= self.scanned[later] == self.scanned[earlier]
        same |= self.torn[later] | self.torn[earlier]
        rise = c.number[later] > c.number[earlier]
        return same & rise & (c.start_ms[later] >= c.start_ms[earlier])


def _run(lines: _Lines, rows: _Rows | slice) -> GCRun:
    torn, whole = int(lines.torn[rows].sum()), rows
    if torn and not isinstance(rows, slice):
        whole = rows[~lines.torn[rows]]
    cycles = lines.cycles.take(whole)
    if not lines.scanned[whole].all():
        cycles = replace(cycles, stacks_mb=None, globals_mb=None)
    repeated, swapped = (int(c[rows].sum()) for c in (lines.repeated, lines.swapped))
    return GCRun(cycles, torn, repeated, swapped)


def _once(lines: _Lines) -> _Lines:
    c = lines.cycles
    order = np.lexsort((c.start_ms, c.number))
    order = order[~lines.torn[order]]
    same = np.ones(max(len(order) - 1, 0), np.bool_)
    for name in COLUMNS:
        column, at = getattr(c, name), np.flatnonzero(same)
        same[at] = column[order[at]] == column[order[at + 1]]
    if not same.any():
        return lines
    first = np.flatnonzero(np.append(True, ~same))
    repeated = np.zeros(len(c), np.int64)
    repeated[order[first]] = np.diff(first, append=len(order)) - 1
    rows = np.sort(np.append(order[first], np.flatnonzero(lines.torn)))
    return replace(lines, repeated=repeated, rows=rows)


def _in_order(lines: _Lines) -> _Lines:
    """Return the lines with swapped neighbours put in order.

    In the other order, their numbers are consecutive, and numbers and starts increase
    from the line before to the line after.
    """
    rows, last = lines.rows, len(lines.rows) - 1
    at = np.flatnonzero(np.diff(lines.number) == -1)
    if last < 2 or not len(at):
        return lines
    before, after = rows[np.maximum(at - 1, 0)], rows[np.minimum(at + 2, last)]
    at = at[
        lines.follow(rows[at], rows[at + 1])
        & (lines.follow(rows[at + 1], before) | (at == 0))
        & (lines.follow(after, rows[at]) | (at + 1 == last))
    ]
    rows, swapped = lines.rows.copy(), lines.swapped.copy()
    rows[at], rows[at + 1] = lines.rows[at + 1], lines.rows[at]
    swapped[rows[at]] = 1
    return replace(lines, swapped=swapped, rows=rows)


def _separated(lines: _Lines) -> tuple[Column, bool, bool]:
    """Return the process of each of `rows`, numbered in the order they begin.

    Also return whether a row may belong to either of two processes, and whether
    processes interleave rather than follow each other.
    """
    breaks = lines.breaks()
    in_turn = np.cumsum(breaks, dtype=np.int64)
    if not _may_alternate(lines.number, breaks):
        return in_turn, False, False
    processes = _Processes()
    owner = np.array([processes.take(line) for line in _each(lines)], np.int64)
    if processes.certain or processes.mixed or processes.returns > 1:
        return owner, processes.mixed, True
    return in_turn, processes.returns > 0, False


def _fitting(lines: _Lines) -> _Lines:
    """Return the lines, repaired ones marked torn unless they fit between others."""
    known = lines.rows[~lines.torn[lines.rows]]
    repaired = lines.cycles.repaired[known]
    follow = lines.follow(known[1:], known[:-1])
    fits = np.append(True, follow) & np.append(follow, True) & (len(known) > 1)
    torn = lines.torn.copy()
    torn[known] = repaired & ~fits
    return replace(lines, torn=torn)


def _may_alternate(number: Column, breaks: Mask) -> bool:
    """Return whether a line may directly continue one that is not its predecessor."""
    begin = np.flatnonzero(breaks | (np.diff(number, prepend=number[0] - 1) != 1))
    ends = np.append(begin[begin > 0] - 1, len(number) - 1)
    begin = begin[number[begin] != 1]
    return bool(np.isin(number[begin], number[ends] + 1).any())


class _Line(NamedTuple):
    """The values that distinguish processes; None is unknown."""

    number: int
    start: int
    procs: int | None
    scanned: bool | None

    def may_follow(self, earlier: _Line, *, procs: bool = True) -> bool:
        return (
            self.number > earlier.number
            and self.start >= earlier.start
            and (not procs or _agree(self.procs, earlier.procs))
            and _agree(self.scanned, earlier.scanned)
        )

    def after(self, earlier: _Line) -> _Line:
        """Return this line with its unknown values taken from an earlier one."""
        if self.procs is not None:
            return self
        return self._replace(procs=earlier.procs, scanned=earlier.scanned)


def _agree(one: int | None, other: int | None) -> bool:
    return one is None or other is None or one == other


def _each(lines: _Lines) -> Iterator[_Line]:
    c = lines.cycles
    columns = c.number, c.start_ms, c.procs, lines.scanned, lines.torn
    values = (column[lines.rows].tolist() for column in columns)
    for number, start, *rest, torn in zip(*values, strict=True):
        yield _Line(number, start, *((None, None) if torn else rest))


class _Processes:
    """Assigns each line to the process that it continues.

    A line that several could have written starts a new run, so runs never mix
    processes. `returns` counts lines that directly continue a process other than the
    previous line's; `certain` is set if one of them cannot follow the previous line.
    """

    def __init__(self) -> None:
        # The last line of each process, most recently seen at the end; and the
        # processes by the number they would print next.
        self._last: dict[int, _Line] = {}
        self._next: defaultdict[int, dict[int, None]] = defaultdict(dict)
        self.returns = 0
        self.certain = False
        self.mixed = False

    def take(self, line: _Line) -> int:
        process = self._writer(line) if self._last and line.number != 1 else None
        if process is None:
            process = len(self._last)
        else:
            earlier = self._last.pop(process)
            del self._next[earlier.number + 1][process]
            line = line.after(earlier)
        self._last[process] = line
        self._next[line.number + 1][process] = None
        return process

    def _writer(self, line: _Line) -> int | None:
        current = next(reversed(self._last))
        before = self._last[current]
        direct = self._earlier(reversed(self._next[line.number]), line)
        if len(direct) == 1:
            if direct[0] != current:
                self._returned(line, before)
            return direct[0]
        if not direct:
            # GOMAXPROCS may have changed.
            if line.number == before.number + 1 and line.may_follow(
                before, procs=False
            ):
                return current
            # Lines may be missing.
            later = self._earlier(reversed(self._last), line)
            if not later:
                return None
            if len(later) == 1 or (later[0] == current and not self.returns):
                return later[0]
        self.mixed = True
        return None

    def _earlier(self, processes: Iterator[int], line: _Line) -> list[int]:
        """Return which of the most recent processes may have written a line."""
        latest = islice(processes, _LATEST)
        return [p for p in latest if line.may_follow(self._last[p])]

    def _returned(self, line: _Line, current: _Line) -> None:
        """Count a line that continues a process other than the previous line's."""
        self.returns += 1
        lost = line.number - current.number - 1
        if lost > _FEW_LOST or not line.may_follow(current):
            self.certain = True
