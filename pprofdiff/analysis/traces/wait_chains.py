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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.traces.interval_rows import RowFinder, lengths, row_ends
from pprofdiff.model.csr import expand, grouped, order_of, row_of_item, sums
from pprofdiff.model.traces.trace import State, Trace

Column = NDArray[np.int64]
Places = NDArray[np.integer]

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

TIMED = ("select", "chan receive")
"""Reasons of waits that a timer ended if no goroutine did: it sends on its channel
(`sendTime` in time/sleep.go)."""


SEVERAL = -1
"""The place of nodes that stand for several."""

# Bits of a place in a key of node and place.
_PLACE_BITS = 32


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WaitPaths:
    """What waits waited for, as a tree of places: each waits for what is below it.

    A node has a `parent`, which comes before it, -1 for the first, and a `place`. Waits
    at one place behind each other, as in a queue, are one node, and so are all that are
    deeper than the tree: their place is `SEVERAL`. Chains end at rows of
    `Trace.intervals`: the columns `node`, `row` and `ns` say where and for how long,
    some pairs several times. A `row` past the last of the trace, by i, is that in which
    a goroutine ended wait i of `WaitChains`, up to then. In `unborn_ns` of a node, a
    goroutine that ended its waits had not been created. All are int64; the times add up
    to the length of the waits.
    """

    parent: Column
    place: Column
    node: Column
    row: Column
    ns: Column
    unborn_ns: Column


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WaitChains:
    """The waits of a trace that a goroutine ended, and what held them up.

    `lengths` (int64 ns) is how long each row of `Trace.intervals` lasts, `wait_of`
    (int64) its wait, -1 for none. `row` is the row of each wait, and `ended_in` that in
    which the waker ended it. A piece is a time in which one goroutine of a chain
    holds up a wait; the pieces of wait i are ``offsets[i]:offsets[i+1]``. All but the
    first are behind the piece before them, and behind the wait in row `via`. In each,
    all of the rows `first` to `last` (exclusive) count; `head` is the row that it
    begins in and `tail` the one it ends in, -1 for none, with the time in them that
    counts, `head_ns` and `tail_ns`; without a head, its goroutine had not been created
    for `head_ns`. All are int64.
    """

    lengths: Column
    wait_of: Column
    row: Column
    ended_in: Column
    offsets: Column
    via: Column
    first: Column
    last: Column
    head: Column
    head_ns: Column
    tail: Column
    tail_ns: Column

    def paths(self, rows: Column, place: Places, begin: int, deepest: int) -> WaitPaths:
        """Return what some waits waited for, by the places of the waits on the way.

        Parameters
        ----------
        rows
            Rows in which goroutines wait, each once.
        place
            The place of each row of `Trace.intervals` that is a wait.
        begin
            The place of `rows`, at which all chains begin, `SEVERAL` for many places.
        deepest
            How many nodes a chain may have below its first.

        """
        nodes = _Nodes(begin, deepest)
        ends: list[tuple[Column, Column, Column]] = []
        unborn: list[tuple[Column, Column]] = []
        size = len(self.lengths) + 1
        at, many = rows, np.ones(len(rows), np.int64)
        node = np.zeros(len(rows), np.int64)
        behind = False
        while len(at):
            wait = self.wait_of[at]
            chained = wait >= 0
            own = at[~chained]
            ends.append((node[~chained], own, many[~chained] * self.lengths[own]))
            wait, many, node = wait[chained], many[chained], node[chained]
            if behind:
                node = nodes.below(node, place[at[chained]])
            counts = np.diff(self.offsets)[wait]
            piece = expand(self.offsets[:-1][wait], counts)
            node = self._along(nodes, node, wait, place)
            many = np.repeat(many, counts)
            missing = np.flatnonzero(self.head[piece] < 0)
            held = self.head_ns[piece[missing]]
            unborn.append((node[missing], many[missing] * held))
            # What each piece ends is the wait itself, or one that it is behind.
            via = self.via[piece]
            ended = np.where(via < 0, np.repeat(wait, counts), self.wait_of[via])
            for row, part in ((self.head, self.head_ns), (self.tail, self.tail_ns)):
                some = np.flatnonzero(row[piece] >= 0)
                held, at_end = piece[some], ended[some]
                last = row[held] == self.ended_in[at_end]
                until = np.where(last, at_end + len(self.lengths), row[held])
                ends.append((node[some], until, many[some] * part[held]))
            # Each node counts its rows by itself.
            shift = node * size
            ranges = shift + self.first[piece], shift + self.last[piece]
            key, many = _covered(*ranges, many)
            node, at = np.divmod(key, size)
            behind = True
        parent, places = nodes.columns()
        of, row, ns = _joined(ends, 3)
        created, held = _joined(unborn, 2)
        unborn_ns = sums(created, held, len(parent))
        return WaitPaths(parent, places, of, row, ns, unborn_ns)

    def _along(
        self, nodes: _Nodes, node: Column, wait: Column, place: Places
    ) -> Column:
        """Return the node of each piece of some waits; `node` is that of the first."""
        counts = np.diff(self.offsets)[wait]
        starts = np.cumsum(counts) - counts
        found = np.repeat(node, counts)
        behind, live = 1, np.flatnonzero(counts > 1)
        while len(live):
            via = self.via[self.offsets[:-1][wait[live]] + behind]
            here = starts[live] + behind
            found[here] = nodes.below(found[here - 1], place[via])
            behind += 1
            live = live[counts[live] > behind]
        return found


class _Nodes:
    """The nodes of a tree while it grows, the one in which chains begin first."""

    def __init__(self, begin: int, deepest: int) -> None:
        self._deepest = deepest
        self._known: dict[tuple[int, int], int] = {}
        self._parent = [-1]
        self._depth = [0]
        self._place = [begin]

    def below(self, node: Column, place: Places) -> Column:
        """Return the nodes of places below others, which are made where missing."""
        pairs, code = grouped(node << _PLACE_BITS | place)
        found = [
            self._child(pair >> _PLACE_BITS, pair & ((1 << _PLACE_BITS) - 1))
            for pair in pairs.tolist()
        ]
        return np.array(found, np.int64)[code]

    def _child(self, node: int, place: int) -> int:
        depth = self._depth[node]
        if depth > self._deepest or self._place[node] == place:
            return node
        place = SEVERAL if depth == self._deepest else place
        known = self._known.setdefault((node, place), len(self._parent))
        if known == len(self._parent):
            self._parent.append(node)
            self._place.append(place)
            self._depth.append(depth + 1)
        return known

    def columns(self) -> tuple[Column, Column]:
        """Return each node's parent and place."""
        return np.array(self._parent, np.int64), np.array(self._place, np.int64)


def _joined(parts: Sequence[tuple[Column, ...]], columns: int) -> list[Column]:
    """Return so many columns, each of all parts together."""
    none = [np.zeros(0, np.int64)] * columns
    return [np.concatenate(one) for one in zip(*parts, strict=True)] or none


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
    waker = wakers(trace)
    waits = np.flatnonzero(waker >= 0)
    columns: list[tuple[Column, ...]] = []
    find = RowFinder(trace)
    # One more row, that begins when the trace ends, stands for none.
    starts, awaited = np.append(rows.start_ns, trace.end_ns), np.append(waker, -1)
    wait = np.arange(len(waits))
    chain = wait
    start, stop = rows.start_ns[waits], rows.start_ns[waits + 1]
    # What the waker does when it ends a wait, at whichever place of a chain that is.
    last_of_wait = find.at(waker[waits], stop - 1)
    wait_of = np.full(len(rows), -1, np.int64)
    wait_of[waits] = wait
    via = np.full(len(waits), -1, np.int64)
    while len(wait):
        goroutine = waker[waits[chain]]
        at = find.at(goroutine, start)
        there = at >= 0
        first = np.where(there, at + 1, rows.offsets[:-1][goroutine])
        until = np.where(
            there, row_ends(trace, np.maximum(at, 0), goroutine), starts[first]
        )
        held = np.minimum(until, stop) - start
        # A wait of the waker itself holds up the wait above: it ends before that.
        further = there & (awaited[at] >= 0) & (until < stop)
        tail = last_of_wait[chain]
        # What ends with the wait itself is not followed: chains end before.
        whole = row_ends(trace, np.maximum(tail, 0), goroutine) < stop
        some = tail >= first
        cut = some & ~whole
        head = np.where(there & ~further, at, -1)
        columns.append(
            (
                wait,
                via,
                np.where(some, first, 0),
                np.where(some, np.where(whole, tail + 1, tail), 0),
                head,
                np.where(further, 0, held),
                np.where(cut, tail, -1),
                np.where(cut, stop - starts[tail], 0),
            )
        )
        wait, start, stop = wait[further], start[further], until[further]
        via = at[further]
        chain = wait_of[via]
    none = (np.zeros(0, np.int64),) * 8
    of_wait, *others = zip(*columns, strict=True) if columns else ((n,) for n in none)
    columns.clear()
    wait = np.concatenate(of_wait)
    order = order_of(wait)
    offsets = np.searchsorted(wait[order], np.arange(len(waits) + 1))
    # One after the other: there are more pieces than waits.
    pieces = [np.concatenate(others.pop(0))[order] for _ in range(len(others))]
    lasts = lengths(trace, slice(0, len(rows)))
    return WaitChains(lasts, wait_of, waits, last_of_wait, offsets, *pieces)


def wakers(trace: Trace) -> Column:
    """Return the goroutine that ended each row's wait, -1 where none did."""
    rows = trace.intervals
    owner = row_of_item(rows.offsets)
    waker = np.full(len(rows), -1, np.int64)
    ends = np.array([reason in ENDS for reason in trace.reasons], np.bool_)
    waits = (rows.state[:-1] == State.WAITING) & (rows.state[1:] == State.RUNNABLE)
    waits &= (owner[:-1] == owner[1:]) & ~ends[rows.reason[:-1]]
    waits &= (rows.by[1:] >= 0) & (rows.by[1:] != owner[:-1])
    waits &= rows.start_ns[1:] > rows.start_ns[:-1]
    at = np.flatnonzero(waits)
    waker[at] = rows.by[at + 1]
    return waker
