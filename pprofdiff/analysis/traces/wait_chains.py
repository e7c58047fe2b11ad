"""Whose work waiting goroutines wait for.

A trace names the goroutine that ends a wait: the waker. At any instant of a wait, the
waiting goroutine is held up by what its waker does at that instant. If that waits too,
it is held up by its own waker, and so on: a chain. A waker runs when it wakes, so each
wait of a chain ends before the one above it, and no chain returns to itself. It ends at
work: a goroutine that runs, that is in a system call or wants a processor, or a wait
that no goroutine ends (timer, network, GC). Nothing is estimated: the parts add up to
the wait in integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.traces.interval_rows import lengths, row_at, row_ends
from pprofdiff.model.csr import expand, grouped, row_of_item, sums
from pprofdiff.model.traces.trace import State, Trace

Column = NDArray[np.int64]

EndKind = Literal[
    "running", "processor", "syscall", "network", "timer", "gc", "blocked", "created"
]
"""What a chain of waits ends at.

``running`` is CPU time of a goroutine, ``processor`` its wait for a processor,
``syscall`` a system call, ``gc`` the garbage collector, ``blocked`` a wait that no
goroutine ended, ``created`` a goroutine that did not exist yet.
"""

ENDS: Mapping[str, EndKind] = MappingProxyType(
    {
        "network": "network",
        "sleep": "timer",
        "forever": "blocked",
        "preempted": "blocked",
        "wait for debug call": "blocked",
        "system goroutine wait": "blocked",
        "GC mark assist wait for work": "gc",
        "GC background sweeper wait": "gc",
        "GC weak to strong wait": "gc",
        "wait until GC ends": "gc",
    }
)
"""What waits are for these reasons, at which a chain ends even if a goroutine ran the
code that woke it (`traceBlockReasonStrings` in runtime/traceruntime.go)."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WaitChains:
    """The waits of a trace that a goroutine ended, and what held them up.

    `lengths` (int64 ns) is how long each row of `Trace.intervals` lasts, `wait_of`
    (int64) its wait, -1 for none. A piece is a time in which one goroutine of a chain
    holds up a wait; the pieces of wait i are ``offsets[i]:offsets[i+1]``. In each, all
    of the rows `first` to `last` (exclusive) count; `head` is the row that it begins in
    and `tail` the one it ends in, -1 for none, with the time in them that counts,
    `head_ns` and `tail_ns`. In `unborn_ns` of a wait, a goroutine that ended one had
    not been created. All are int64.
    """

    lengths: Column
    wait_of: Column
    unborn_ns: Column
    offsets: Column
    first: Column
    last: Column
    head: Column
    head_ns: Column
    tail: Column
    tail_ns: Column

    def resolve(self, rows: Column) -> tuple[Column, Column, int]:
        """Return what some waits waited for: rows of `Trace.intervals`, and ns in each.

        `rows` are rows in which goroutines wait. The last value is the time in which a
        goroutine that ended a wait had not been created. All are exact, and add up to
        the length of the waits.
        """
        ends: list[tuple[Column, Column]] = []
        unborn = 0
        at, many = np.unique(rows, return_counts=True)
        while len(at):
            wait = self.wait_of[at]
            chained = wait >= 0
            own = at[~chained]
            ends.append((own, many[~chained] * self.lengths[own]))
            wait, many = wait[chained], many[chained]
            unborn += int((self.unborn_ns[wait] * many).sum())
            counts = np.diff(self.offsets)[wait]
            piece = expand(self.offsets[:-1][wait], counts)
            many = np.repeat(many, counts)
            for row, part in ((self.head, self.head_ns), (self.tail, self.tail_ns)):
                some = row[piece] >= 0
                ends.append((row[piece[some]], many[some] * part[piece[some]]))
            at, many = _covered(self.first[piece], self.last[piece], many)
        every = [np.concatenate(column) for column in zip(*ends, strict=True)]
        if not every:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), 0
        row, code = grouped(every[0])
        spent = sums(code, every[1], len(row))
        return row[spent > 0], spent[spent > 0], unborn


def _covered(first: Column, last: Column, many: Column) -> tuple[Column, Column]:
    """Return the rows in ranges that count many times each, and how often in all."""
    place = np.concatenate((first, last))
    order = np.argsort(place, kind="stable")
    place = place[order]
    depth = np.cumsum(np.concatenate((many, -many))[order])
    deep = np.flatnonzero((depth[:-1] > 0) & (place[1:] > place[:-1]))
    sizes = place[deep + 1] - place[deep]
    return expand(place[deep], sizes), np.repeat(depth[deep], sizes)


def wait_chains(trace: Trace) -> WaitChains:
    """Return the waits of a trace that a goroutine ended, with their chains."""
    rows = trace.intervals
    owner = row_of_item(rows.offsets)
    waker = _wakers(trace, owner)
    waits = np.flatnonzero(waker >= 0)
    columns: list[tuple[Column, ...]] = []
    wait = np.arange(len(waits))
    goroutine = waker[waits]
    start, stop = rows.start_ns[waits], rows.start_ns[waits + 1]
    unborn = np.zeros(len(waits), np.int64)
    while len(wait):
        at = row_at(rows.offsets, rows.start_ns, goroutine, start)
        there = at >= 0
        first = np.where(there, at + 1, rows.offsets[:-1][goroutine])
        until = np.where(
            there,
            row_ends(trace, np.maximum(at, 0), goroutine),
            np.append(rows.start_ns, trace.end_ns)[first],
        )
        held = np.minimum(until, stop) - start
        unborn += sums(wait[~there], held[~there], len(waits))
        # A wait of the waker itself holds up the wait above: it ends before that.
        further = there & (np.append(waker, -1)[at] >= 0) & (until < stop)
        tail = row_at(rows.offsets, rows.start_ns, goroutine, stop - 1)
        # What ends with the wait itself is not followed: chains end before.
        whole = row_ends(trace, np.maximum(tail, 0), goroutine) < stop
        some = tail >= first
        cut = some & ~whole
        head = np.where(there & ~further, at, -1)
        columns.append(
            (
                wait,
                np.where(some, first, 0),
                np.where(some, np.where(whole, tail + 1, tail), 0),
                head,
                np.where(head >= 0, held, 0),
                np.where(cut, tail, -1),
                np.where(cut, stop - np.append(rows.start_ns, 0)[tail], 0),
            )
        )
        wait, start, stop = wait[further], start[further], until[further]
        goroutine = waker[at[further]]
    none = [np.zeros(0, np.int64)] * 7
    joined = [np.concatenate(parts) for parts in zip(*columns, strict=True)] or none
    order = np.argsort(joined[0], kind="stable")
    wait, *pieces = (column[order] for column in joined)
    offsets = np.searchsorted(wait, np.arange(len(waits) + 1))
    wait_of = np.full(len(rows), -1, np.int64)
    wait_of[waits] = np.arange(len(waits))
    lasts = lengths(trace, slice(0, len(rows)))
    return WaitChains(lasts, wait_of, unborn, offsets, *pieces)


def _wakers(trace: Trace, owner: Column) -> Column:
    """Return the goroutine that ended each row's wait, -1 where none did."""
    rows = trace.intervals
    waker = np.full(len(rows), -1, np.int64)
    ends = np.array([reason in ENDS for reason in trace.reasons], np.bool_)
    waits = (rows.state[:-1] == State.WAITING) & (rows.state[1:] == State.RUNNABLE)
    waits &= (owner[:-1] == owner[1:]) & ~ends[rows.reason[:-1]]
    waits &= (rows.by[1:] >= 0) & (rows.by[1:] != owner[:-1])
    waits &= rows.start_ns[1:] > rows.start_ns[:-1]
    at = np.flatnonzero(waits)
    waker[at] = rows.by[at + 1]
    return waker
