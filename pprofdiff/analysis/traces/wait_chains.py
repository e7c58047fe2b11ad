"""Whose work waiting goroutines wait for.

A trace names the goroutine that ends a wait: the waker. At any instant of a wait, what
its waker does then holds it up; if the waker waits too, its own waker does, and so on:
a chain. A waker runs when it wakes, so each wait of a chain ends before the one above
it. A chain ends at work (a goroutine that runs, is in a system call or is runnable) or
at a wait that no goroutine ends (timer, network, GC). The parts add up to the wait in
integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import numpy as np
from msgspec import Struct

from pprofdiff.analysis.traces.goroutines import of_tracing
from pprofdiff.analysis.traces.interval_rows import RowFinder, owners_of, row_ends
from pprofdiff.model.arrays import Column, Integers
from pprofdiff.model.csr import distinct, expand, offsets_of, order_of, slices
from pprofdiff.model.traces.trace import State, Trace

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

# Waits followed at a time: their pieces fit into the CPU cache.
_WAITS = 1 << 15
# Rows to look at after a given one before searching.
_NEAR = 3
# Stretches of the trace to order waits by; they fit into 16 bits.
_STRETCHES = 1 << 12


class WaitPaths(Struct, frozen=True, eq=False):
    """What waits waited for, as a tree of places: each waits for what is below it.

    A node has a `parent`, which comes before it (-1 at the top), and a `place` (int64).
    Chains begin in the first nodes, in the order given. Consecutive waits at one place,
    as in a queue, are one node; so are all waits deeper than the tree, at the place
    `SEVERAL`. `ns` (int64, nodes × ends) is how long a node's chains ended at each end.
    `unborn_ns` (int64) is a node's time before the goroutine that ended its waits was
    created.
    """

    parent: Column
    place: Column
    ns: Column
    unborn_ns: Column


class WaitChains(Struct, frozen=True, eq=False):
    """The waits of a trace that a goroutine ended, and what held them up.

    Waits are roughly in time order. `wait_of` maps rows of `Trace.intervals` to waits,
    -1 for none; `row` maps back. `waker` is the goroutine that ended a wait, `last` its
    row one nanosecond before.

    A piece is a time in which one goroutine of a chain holds up a wait: wait i has the
    pieces ``offsets[i]:offsets[i+1]`` (int64). `ends` is the wait that a piece ends:
    for the first piece wait i itself, for others a wait of the goroutine before. A
    piece begins when that wait begins, in the row `at` of its goroutine, -1 if that had
    not been created. All but offsets are int32, or int64 if rows need it.
    """

    trace: Trace
    wait_of: Integers
    row: Integers
    waker: Integers
    last: Integers
    offsets: Column
    ends: Integers
    at: Integers

    def paths(
        self, root_of: Integers, places: Sequence[int], row: Rows, deepest: int
    ) -> WaitPaths:
        """Return what waits waited for, by the places of the waits on the way.

        `root_of` maps rows of `Trace.intervals` to the roots of their chains, indices
        of `places` (`SEVERAL` for many places); rows of -1 are not followed. A chain
        has at most `deepest` nodes below its first.
        """
        follow = _Following(self, _Nodes(places, row, deepest), row)
        for here in slices(len(root_of)):
            rows = here.start + np.flatnonzero(
                (root_of[here] >= 0) & (self.wait_of[here] < 0)
            )
            owner = owners_of(self.trace.intervals.offsets, rows)
            start = self.trace.intervals.start_ns[rows]
            lasts = row_ends(self.trace, rows, owner) - start
            follow.nodes.charge(root_of[rows].astype(np.int64), row.end[rows], lasts)
        none = np.zeros(0, np.int64)
        held = none, none, none
        for first in range(0, len(self.row), _WAITS):
            wait = np.arange(first, min(first + _WAITS, len(self.row)))
            node = root_of[self.row[wait]]
            some = np.flatnonzero(node >= 0)
            # What is behind these waits is followed with those that come next.
            mine = node[some].astype(np.int64), wait[some], np.ones(len(some), np.int64)
            both = zip(mine, held, strict=True)
            held = follow.one_further(*map(np.concatenate, both))
        while len(held[0]):
            held = follow.one_further(*held)
        return follow.nodes.paths()


class Rows(Struct, frozen=True, eq=False):
    """What rows of `Trace.intervals` are, as waits and as ends of chains.

    `place` is the place of each row that is a wait, `end` each row's end, below `ends`.
    `ended` is, by wait of `WaitChains`, the end of the waker's row up to the wake-up.
    """

    place: Integers
    end: Integers
    ended: Integers
    ends: int


class _Following:
    """Follows chains from waits to what they waited for, and adds that up."""

    def __init__(self, chains: WaitChains, nodes: _Nodes, row: Rows) -> None:
        self.nodes = nodes
        self._chains = chains
        self._row = row
        self._intervals = chains.trace.intervals
        self._bits = len(self._intervals).bit_length()

    def one_further(
        self, node: Column, wait: Column, many: Column
    ) -> tuple[Column, Column, Column]:
        """Count what waits of nodes waited for, each `many` times.

        Returns the next waits of their chains in the same form.
        """
        chains, start_ns = self._chains, self._intervals.start_ns
        begin = chains.offsets[wait]
        counts = chains.offsets[wait + 1] - begin
        piece = expand(begin, counts)
        node = self._along(node, begin, counts)
        many = np.repeat(many, counts)
        since = np.repeat(start_ns[chains.row[wait]], counts)
        ended = chains.ends[piece]
        at, last = chains.at[piece], chains.last[ended]
        until = start_ns[chains.row[ended] + 1]
        first = at + 1
        missing = np.flatnonzero(at < 0)
        goroutine = chains.waker[ended[missing]]
        first[missing] = self._intervals.offsets[goroutine]
        # What its goroutine does at the end is cut off, unless it does so all along.
        cut = np.flatnonzero(last >= first)
        tail = last[cut]
        held = many[cut] * (until[cut] - start_ns[tail])
        self.nodes.charge(node[cut], self._row.ended[ended[cut]], held)
        until[cut] = start_ns[first[cut]]
        # All but the last piece begin with a wait, behind which is the next piece.
        final = np.cumsum(counts) - 1
        held = many[final] * (until[final] - since[final])
        born = at[final] >= 0
        throughout = born & (at[final] == last[final])
        some = final[throughout]
        self.nodes.charge(node[some], self._row.ended[ended[some]], held[throughout])
        some = final[born & ~throughout]
        self.nodes.charge(node[some], self._row.end[at[some]], held[born & ~throughout])
        self.nodes.charge(node[final[~born]], self._row.ends, held[~born])
        whole = cut[first[cut] < tail]
        return self._rows(node[whole], first[whole], last[whole], many[whole])

    def _along(self, node: Column, begin: Column, counts: Column) -> Column:
        """Return the node of each piece of some waits; `node` is the first piece's."""
        chains = self._chains
        starts = np.cumsum(counts) - counts
        found = np.repeat(node, counts)
        behind, live = 1, np.flatnonzero(counts > 1)
        while len(live):
            via = chains.row[chains.ends[begin[live] + behind]]
            here = starts[live] + behind
            found[here] = self.nodes.below(found[here - 1], self._row.place[via])
            behind += 1
            live = live[counts[live] > behind]
        return found

    def _rows(
        self, node: Column, first: Integers, last: Integers, many: Column
    ) -> tuple[Column, Column, Column]:
        """Count rows ``first[i]:last[i]`` at their ends; return the waits."""
        key = node << self._bits
        key, sizes, many = _covered(key | first, key | last, many)
        row = expand(key & ((1 << self._bits) - 1), sizes)
        node, many = np.repeat(key >> self._bits, sizes), np.repeat(many, sizes)
        wait = self._chains.wait_of[row]
        own = np.flatnonzero(wait < 0)
        held = row[own]
        start_ns = self._intervals.start_ns
        lasts = start_ns[held + 1] - start_ns[held]
        self.nodes.charge(node[own], self._row.end[held], many[own] * lasts)
        further = np.flatnonzero(wait >= 0)
        place = self._row.place[row[further]]
        node = self.nodes.below(node[further], place)
        return node, wait[further].astype(np.int64), many[further]


class _Nodes:
    """The nodes of a growing tree, first those in which chains begin."""

    def __init__(self, places: Sequence[int], row: Rows, deepest: int) -> None:
        self._deepest = deepest
        self._begins = len(places)
        self._parent = [-1] * len(places)
        self._depth = [0] * len(places)
        self._place = list(places)
        self._known: dict[tuple[int, int], int] = {}
        # The node below each node at each place, plus one; 0 if not known yet.
        self._below = np.zeros((0, int(row.place.max(initial=0)) + 1), np.int64)
        # The last column is for goroutines that had not been created.
        self._ns = np.zeros((0, row.ends + 1), np.int64)
        self._grow()

    def _grow(self) -> None:
        """Make room for twice the nodes; untouched pages take no memory."""
        nodes = len(self._parent)
        for name in ("_below", "_ns"):
            old = getattr(self, name)
            if len(old) < nodes:
                grown = np.zeros((2 * nodes, old.shape[1]), np.int64)
                grown[: len(old)] = old
                setattr(self, name, grown)

    def charge(self, node: Column, end: Integers | int, ns: Column) -> None:
        """Add ns of nodes at ends; behind the last is a goroutine not created yet."""
        np.add.at(self._ns.reshape(-1), node * self._ns.shape[1] + end, ns)

    def below(self, node: Column, place: Integers) -> Column:
        """Return the nodes of places below others; missing ones are made."""
        size = self._below.shape[1]
        key = node * size + place
        found: Column = self._below.reshape(-1)[key]
        missing = np.flatnonzero(found == 0)
        if len(missing):
            pairs = distinct(key[missing]).tolist()
            children = [1 + self._child(*divmod(pair, size)) for pair in pairs]
            self._below.reshape(-1)[pairs] = children
            found[missing] = self._below.reshape(-1)[key[missing]]
            self._grow()
        found -= 1
        return found

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

    def paths(self) -> WaitPaths:
        """Return the tree: by depth, then by parent, then by place."""
        parent, place, depth = (
            np.array(column, np.int64)
            for column in (self._parent, self._place, self._depth)
        )
        rank = np.arange(len(parent))
        size = self._begins
        for below in range(1, int(depth.max(initial=0)) + 1):
            here = np.flatnonzero(depth == below)
            here = here[np.lexsort((place[here], rank[parent[here]]))]
            rank[here] = size + np.arange(len(here))
            size += len(here)
        order = np.argsort(rank)
        above = parent[order]
        above = np.where(above < 0, -1, rank[above])
        ns = self._ns[order]
        return WaitPaths(above, place[order], ns[:, :-1], ns[:, -1])


def _covered(
    first: Column, last: Column, many: Column
) -> tuple[Column, Column, Column]:
    """Split ranges of rows, each counted `many` times, into ranges that do not overlap.

    Returns their first rows, their sizes and how often they count in all.
    """
    place = np.concatenate((first, last))
    order = order_of(place)
    place = place[order]
    depth = np.cumsum(np.concatenate((many, -many))[order])
    sizes = np.diff(place)
    deep = np.flatnonzero((depth[:-1] > 0) & (sizes > 0))
    return place[deep], sizes[deep], depth[deep]


def wait_chains(trace: Trace) -> WaitChains:
    """Return the waits of a trace that a goroutine ended, with their chains."""
    rows, kind = trace.intervals, _kind(trace)
    row, waker = _in_time(trace, *wakers(trace))
    wait_of: Integers = np.full(len(rows), -1, kind)
    wait_of[row] = np.arange(len(row), dtype=kind)
    find = RowFinder(trace)
    last: Integers = np.empty(len(row), kind)
    counts: list[Column] = [np.zeros(0, np.int64)]
    pieces: list[tuple[Integers, Integers]] = []
    for begin in range(0, len(row), _WAITS):
        here = slice(begin, min(begin + _WAITS, len(row)))
        until = rows.start_ns[row[here] + 1]
        since = rows.start_ns[row[here]]
        steps = [*_steps(trace, find, (wait_of, waker), here, since, until)]
        _, _, found = steps[0]
        last[here] = _last(trace, find, waker[here], found, until - 1)
        count = np.zeros(len(since), np.int64)
        for some, _, _ in steps:
            count[some] += 1
        counts.append(count)
        starts = np.cumsum(count) - count
        ends: Integers = np.empty(int(count.sum()), kind)
        at: Integers = np.empty(len(ends), kind)
        for behind, (some, ended, found) in enumerate(steps):
            place = starts[some] + behind
            ends[place], at[place] = ended, found
        pieces.append((ends, at))
    del find
    offsets = offsets_of(np.concatenate(counts))
    columns = [
        np.concatenate([np.zeros(0, kind), *(piece[i] for piece in pieces)])
        for i in (0, 1)
    ]
    return WaitChains(trace, wait_of, row, waker, last, offsets, *columns)


def _kind(trace: Trace) -> type[np.int32 | np.int64]:
    """Return an integer type in which rows of `Trace.intervals` fit."""
    return np.int32 if len(trace.intervals) <= np.iinfo(np.int32).max else np.int64


def _steps(
    trace: Trace,
    find: RowFinder,
    waits: tuple[Integers, Integers],
    here: slice,
    since: Column,
    until: Column,
) -> Iterator[tuple[Column, Integers, Column]]:
    """Yield the pieces of waits `here`: the first of each, then those behind them.

    A piece is an index of waits `here`, the wait it ends, and the row it begins at.
    `waits` are (wait of each row, waker of each wait); waits here last from `since` to
    `until` (ns).
    """
    wait_of, waker = waits
    start_ns = trace.intervals.start_ns
    some = np.arange(here.stop - here.start)
    ended: Integers = here.start + some
    while len(some):
        at = find.at(waker[ended], since)
        yield some, ended, at
        # A wait of the waker itself holds up the wait above: it ends before that.
        behind = np.flatnonzero((at >= 0) & (wait_of[at] >= 0))
        held = start_ns[at[behind] + 1]
        further = held < until[behind]
        behind, until = behind[further], held[further]
        some, since, ended = some[behind], since[behind], wait_of[at[behind]]


def _last(
    trace: Trace, find: RowFinder, waker: Integers, at: Column, time_ns: Column
) -> Column:
    """Return goroutines' rows at some times, given their rows `at` earlier ones.

    Most wakers do little before they end a wait, so few need `RowFinder.at`.
    """
    rows = trace.intervals
    last, until = at.copy(), rows.offsets[1:][waker] - 1
    some = np.flatnonzero(at >= 0)
    for _ in range(_NEAR):
        some = some[last[some] < until[some]]
        some = some[rows.start_ns[last[some] + 1] <= time_ns[some]]
        last[some] += 1
    far = np.concatenate((some, np.flatnonzero(at < 0)))
    last[far] = find.at(waker[far], time_ns[far])
    return last


def _in_time(trace: Trace, row: Integers, waker: Integers) -> tuple[Integers, Integers]:
    lasts = trace.end_ns - trace.start_ns + 1
    since = trace.intervals.start_ns[row] - trace.start_ns
    since //= lasts // _STRETCHES + 1
    order = np.argsort(since.astype(np.uint16), kind="stable")
    return row[order], waker[order]


def wakers(trace: Trace) -> tuple[Integers, Integers]:
    """Return the rows with a wait that a goroutine ended, in order, and the wakers.

    Not those that write and send profiles: where one starts a GC cycle, it wakes what
    waits for the network, and the program waits for none of what it did before.
    """
    rows, kind, tracing = trace.intervals, _kind(trace), of_tracing(trace)
    ends = np.array([reason in ENDS for reason in trace.reasons], np.bool_)
    found: list[tuple[Integers, Integers]] = [(np.zeros(0, kind), rows.by[:0])]
    for here in slices(len(rows) - 1):
        after = slice(here.start + 1, here.stop + 1)
        waits = (rows.state[here] == State.WAITING) & (rows.by[after] >= 0)
        waits &= rows.state[after] == State.RUNNABLE
        waits &= rows.start_ns[after] > rows.start_ns[here]
        row = here.start + np.flatnonzero(waits)
        row = row[~ends[rows.reason[row]]]
        owner, waker = owners_of(rows.offsets, row), rows.by[row + 1]
        other = (waker != owner) & (row + 1 < rows.offsets[owner + 1])
        other &= ~tracing[waker]
        found.append((row[other].astype(kind), waker[other]))
    return (
        np.concatenate([row for row, _ in found]),
        np.concatenate([waker for _, waker in found]),
    )
