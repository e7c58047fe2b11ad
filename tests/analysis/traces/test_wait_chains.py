"""What waits waited for: every nanosecond once, at the end of its chain of places."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from pprofdiff.analysis.traces.wait_chains import ENDS, SEVERAL, Rows, wait_chains
from pprofdiff.model.traces.trace import State
from tests.analysis.traces.built import REASONS, SOME, rows_of, traces

UNBORN = -2


@st.composite
def woken(draw):
    """Return a trace in which goroutines wake each other, in any order."""
    trace = draw(traces())
    held = trace.intervals
    last = len(trace.goroutines) - 1
    by = draw(st.lists(st.integers(-1, last), min_size=len(held), max_size=len(held)))
    return replace(trace, intervals=structs.replace(held, by=np.array(by, np.int32)))


def waker_of(trace, g, row):
    """Return the goroutine that ended the wait in a row of g, None if none did."""
    held = trace.intervals
    after = row + 1
    ended = after < held.offsets[g + 1] and held.state[after] == State.RUNNABLE
    if held.state[row] != State.WAITING or not ended or held.by[after] in (-1, g):
        return None
    return None if REASONS[held.reason[row]] in ENDS else int(held.by[after])


def chain(trace, g, row, time, place, deepest):
    """Return what holds up the wait in a row of g at a time, and the places before it.

    A place that follows itself is there once; from the one below the deepest on, they
    are `SEVERAL`. Last is the wait that the goroutine ended in that row, -1 for none.
    """
    rows = {one[3]: one for one in rows_of(trace, g)}
    stop = rows[row][1]
    path = [place[row]]
    while (waker := waker_of(trace, g, row)) is not None:
        if len(path) <= deepest + 1 and place[row] != path[-1]:
            path.append(place[row] if len(path) <= deepest else SEVERAL)
        here = [one for one in rows_of(trace, waker) if one[0] <= time < one[1]]
        if not here:
            return (*path, UNBORN, -1)
        ((_, end, _, next_row),) = here
        if end >= stop:
            return (*path, next_row, row)
        g, row, stop = waker, next_row, end
    return (*path, row, -1)


def paths_of(tree):
    """Return the places of each node, first to last."""
    paths = []
    for parent, place in zip(tree.parent.tolist(), tree.place.tolist(), strict=True):
        assert parent < len(paths)
        paths.append((*(paths[parent] if parent >= 0 else ()), place))
    return paths


@SOME
@given(woken(), st.data(), st.integers(1, 3))
def test_each_nanosecond_is_at_the_end_of_its_chain(trace, data, deepest):
    held = trace.intervals
    some = st.lists(st.integers(0, 2), min_size=len(held), max_size=len(held))
    place = np.array(data.draw(some), np.int64)
    waits = np.flatnonzero(held.state == State.WAITING)
    expected = Counter()
    for g in range(len(trace.goroutines)):
        for start, end, state, row in rows_of(trace, g):
            if state == State.WAITING:
                for time in range(start, end):
                    expected[chain(trace, g, row, time, place, deepest)] += 1
    chains = wait_chains(trace)
    begun = np.full(len(held), -1, np.int64)
    begun[waits] = place[waits]
    # Each row is an end of its own, and so is that in which a wait ends.
    last = [(row, -1) for row in range(len(held))]
    last += zip(chains.last.tolist(), chains.row.tolist(), strict=True)
    end = np.arange(len(last))
    row = Rows(place, end[: len(held)], end[len(held) :], len(last))
    tree = chains.paths(begun, range(3), row, deepest)
    paths, found = paths_of(tree), Counter()
    assert paths[:3] == [(0,), (1,), (2,)]
    for node, one in np.argwhere(tree.ns).tolist():
        found[(*paths[node], *last[one])] += int(tree.ns[node, one])
    for path, ns in zip(paths, tree.unborn_ns, strict=True):
        found[(*path, UNBORN, -1)] += int(ns)
    assert +found == expected
