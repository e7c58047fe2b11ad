"""Numbers and events decoded all at once, against one byte after another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.loaders.traces.v2.events import EventFinder, read_batch_varints
from pprofdiff.loaders.traces.v2.schema import argument_counts
from pprofdiff.loaders.traces.varints import TAIL
from tests.examples import examples
from tests.loaders.profiles.spelling import varint

COUNTS = argument_counts(26)
TYPES = [type_ for type_ in range(256) if COUNTS[type_] >= 0]
VALUES = st.one_of(
    st.integers(0, 200),
    st.integers(0, 2**32),
    st.sampled_from([2**k + d for k in (7, 14, 21, 28, 35, 56, 63) for d in (-1, 0)]),
    st.just(2**64 - 1),
)


@st.composite
def events(draw):
    """Return one event: its type, its numbers, and its bytes."""
    type_ = draw(st.sampled_from(TYPES))
    size = int(COUNTS[type_])
    values = draw(st.lists(VALUES, min_size=size, max_size=size))
    if type_ > 127:
        # The time difference shares a number of 64 bits with the type.
        values[0] %= 2**57
    padding = draw(st.integers(0, 2))
    tail = b"".join(
        varint(v, padding if v < 2**30 and (i or type_ < 128) else 0)
        for i, v in enumerate(values)
    )
    return type_, values, bytes((type_,)) + tail


BATCHES = st.lists(st.lists(events(), min_size=1, max_size=12), min_size=1, max_size=4)


@pytest.mark.slow
@given(BATCHES)
@settings(derandomize=True, max_examples=examples(300))
def test_events_are_found_with_their_numbers(batches):
    parts = [memoryview(b"".join(e[2] for e in batch)) for batch in batches]
    tokens = read_batch_varints(parts)
    found = EventFinder(COUNTS).find(tokens)
    flat = [event for batch in batches for event in batch]
    assert tokens.lead[found].tolist() == [type_ for type_, _, _ in flat]
    for at, (type_, values, _) in zip(found.tolist(), flat, strict=True):
        if type_ < 128:
            row = tokens.values[at + 1 : at + 1 + len(values)].tolist()
        else:
            row = tokens.values[at : at + len(values)].tolist()
            row[0] >>= 7
        assert row == values
    begins = np.cumsum([0, *(len(batch) for batch in batches[:-1])])
    assert tokens.starts.tolist() == found[begins].tolist()
    assert not tokens.values[len(tokens.lead) :].any()
    assert len(tokens.values) == len(tokens.lead) + TAIL


@given(BATCHES, st.data())
@settings(derandomize=True, max_examples=examples(200))
def test_a_batch_that_is_cut_is_refused(batches, data):
    parts = [b"".join(e[2] for e in batch) for batch in batches]
    which = data.draw(st.integers(0, len(parts) - 1))
    edges = np.cumsum([len(e[2]) for e in batches[which]]).tolist()
    cut = data.draw(st.integers(1, len(parts[which])))
    if cut in edges:
        return
    parts[which] = parts[which][:cut]
    with pytest.raises(Damage):
        EventFinder(COUNTS).find(
            read_batch_varints([memoryview(part) for part in parts])
        )


def test_working_memory_may_be_used_again():
    finder = EventFinder(COUNTS)
    long = bytes((11, 1)) * 5000
    assert len(finder.find(read_batch_varints([memoryview(long)]))) == 5000
    assert finder.find(read_batch_varints([memoryview(b"\x0b\x01")])).tolist() == [0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "data", [b"\x10" + b"\xff" * 10 + b"\x01", b"\x0b" + b"\x80" * 9 + b"\x02"]
)
def test_numbers_of_more_than_64_bits_are_refused(data):
    with pytest.raises(Damage, match="64 bits"):
        read_batch_varints([memoryview(data)])
