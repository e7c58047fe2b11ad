"""Times that wait for what they follow, against one event at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.loaders.traces import clock_order as module
from pprofdiff.loaders.traces.clock_order import HappensBefore, enforce_happens_before
from pprofdiff.loaders.traces.damage import Damage
from tests.examples import examples


@st.composite
def traces(draw):
    """Return times, and sequences that all agree with one hidden order of events."""
    size = draw(st.integers(1, 24))
    hidden = draw(st.permutations(range(size)))
    rank = {event: i for i, event in enumerate(hidden)}
    far = draw(st.sampled_from((30, 1 << 61)))
    times = draw(st.lists(st.integers(0, far), min_size=size, max_size=size))
    sequences = []
    for _ in range(draw(st.integers(0, 3))):
        owner = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
        rows = sorted(range(size), key=lambda e: (owner[e], rank[e]))
        begins = [i == 0 or owner[rows[i]] != owner[rows[i - 1]] for i in range(size)]
        sequences.append((rows, begins))
    return times, sequences, hidden


def plainly(times, sequences, hidden):
    """Return the times, each the latest of its own and of all it follows."""
    found = list(times)
    before = {event: set() for event in hidden}
    for rows, begins in sequences:
        for left, right, begin in zip(rows, rows[1:], begins[1:], strict=False):
            if not begin:
                before[right].add(left)
    for event in hidden:
        found[event] = max([found[event], *(found[e] for e in before[event])])
    return found


def as_arrays(sequences):
    """Return sequences as enforce_happens_before takes them."""
    return [
        HappensBefore(np.array(rows, np.int64), np.array(begins, np.bool_))
        for rows, begins in sequences
    ]


@given(traces())
@settings(derandomize=True, max_examples=examples(400))
def test_every_event_is_as_late_as_what_it_follows(drawn):
    times, sequences, hidden = drawn
    settled = np.array(times, np.int64)
    enforce_happens_before(settled, as_arrays(sequences))
    assert settled.tolist() == plainly(times, sequences, hidden)


@pytest.mark.slow
@given(traces())
@settings(derandomize=True, max_examples=examples(200))
def test_both_ways_give_the_same(drawn):
    times, sequences, hidden = drawn
    settled = np.array(times, np.int64)
    module._enforce_one_by_one(settled, as_arrays(sequences))
    assert settled.tolist() == plainly(times, sequences, hidden)


def test_a_chain_that_zigzags_is_settled_in_the_end():
    # Each round of running maxima carries a time two steps of 400 further.
    size = 400
    times = np.arange(size, 0, -1)
    even = np.arange(size) % 2 == 0
    whole = np.arange(size)
    enforce_happens_before(
        times, [HappensBefore(whole, even), HappensBefore(whole, ~even | (whole == 0))]
    )
    assert set(times.tolist()) == {size}


def test_events_that_wait_for_each_other_are_refused():
    both = np.array([True, False])
    there = HappensBefore(np.array([0, 1]), both)
    back = HappensBefore(np.array([1, 0]), both)
    with pytest.raises(Damage, match="wait for each other"):
        module._enforce_one_by_one(np.array([2, 1]), [there, back])
