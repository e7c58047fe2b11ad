"""What waits waited for: every nanosecond once, at the end of its chain."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.analysis.traces.wait_chains import ENDS, wait_chains
from pprofdiff.model.traces.trace import State
from tests.analysis.traces.built import REASONS, SOME, rows_of, traces

UNBORN = -1


@st.composite
def woken(draw):
    """Return a trace in which goroutines wake each other, in any order."""
    trace = draw(traces())
    held = trace.intervals
    last = len(trace.goroutines) - 1
    by = draw(st.lists(st.integers(-1, last), min_size=len(held), max_size=len(held)))
    return replace(trace, intervals=replace(held, by=np.array(by, np.int32)))


def waker_of(trace, g, row):
    """Return the goroutine that ended the wait in a row of g, None if none did."""
    held = trace.intervals
    after = row + 1
    ended = after < held.offsets[g + 1] and held.state[after] == State.RUNNABLE
    if held.state[row] != State.WAITING or not ended or held.by[after] in (-1, g):
        return None
    return None if REASONS[held.reason[row]] in ENDS else int(held.by[after])


def holder(trace, g, row, time):
    """Return the row that holds up the wait in a row of g at a time."""
    rows = {one[3]: one for one in rows_of(trace, g)}
    stop = rows[row][1]
    while (waker := waker_of(trace, g, row)) is not None:
        here = [one for one in rows_of(trace, waker) if one[0] <= time < one[1]]
        if not here:
            return UNBORN
        ((_, end, _, next_row),) = here
        g, row = waker, next_row
        if end >= stop:
            break
        stop = end
    return row


@SOME
@given(woken())
def test_each_nanosecond_is_at_the_end_of_its_chain(trace):
    chains = wait_chains(trace)
    waits = np.flatnonzero(trace.intervals.state == State.WAITING)
    expected = Counter()
    for g in range(len(trace.goroutines)):
        for start, end, state, row in rows_of(trace, g):
            if state == State.WAITING:
                for time in range(start, end):
                    expected[holder(trace, g, row, time)] += 1
    rows, spent, unborn = chains.resolve(waits)
    found = Counter(dict(zip(rows.tolist(), spent.tolist(), strict=True)))
    if unborn:
        found[UNBORN] = unborn
    assert found == expected
