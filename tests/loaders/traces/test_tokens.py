"""Numbers and events told apart all at once, against one byte after another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.loaders.traces.batches import Damage
from pprofdiff.loaders.traces.schema import argument_counts
from pprofdiff.loaders.traces.tokens import TAIL, Heads, numbers

COUNTS = argument_counts(26)
TYPES = [kind for kind in range(256) if COUNTS[kind] >= 0]
VALUES = st.one_of(
    st.integers(0, 200),
    st.integers(0, 2**32),
    st.sampled_from([2**k + d for k in (7, 14, 21, 28, 35, 56, 63) for d in (-1, 0)]),
    st.just(2**64 - 1),
)


def spelled(value, padding=0):
    """Return a number's bytes, with so many more than it needs."""
    out = bytearray()
    while value > 0x7F or padding > 0:
        out.append(value & 0x7F | 0x80)
        padding -= value <= 0x7F
        value >>= 7
    return bytes((*out, value))


@st.composite
def events(draw):
    """Return one event: its type, its numbers, and its bytes."""
    kind = draw(st.sampled_from(TYPES))
    size = int(COUNTS[kind])
    values = draw(st.lists(VALUES, min_size=size, max_size=size))
    if kind > 127:
        # The time difference shares a number of 64 bits with the type.
        values[0] %= 2**57
    padding = draw(st.integers(0, 2))
    tail = b"".join(
        spelled(v, padding if v < 2**30 and (i or kind < 128) else 0)
        for i, v in enumerate(values)
    )
    return kind, values, bytes((kind,)) + tail


BATCHES = st.lists(st.lists(events(), min_size=1, max_size=12), min_size=1, max_size=4)


@given(BATCHES)
@settings(derandomize=True, max_examples=300)
def test_events_are_found_with_their_numbers(batches):
    parts = [memoryview(b"".join(e[2] for e in batch)) for batch in batches]
    tokens = numbers(parts)
    found = Heads(COUNTS).find(tokens)
    flat = [event for batch in batches for event in batch]
    assert tokens.lead[found].tolist() == [kind for kind, _, _ in flat]
    for at, (kind, values, _) in zip(found.tolist(), flat, strict=True):
        if kind < 128:
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
@settings(derandomize=True, max_examples=200)
def test_a_batch_that_is_cut_is_refused(batches, data):
    parts = [b"".join(e[2] for e in batch) for batch in batches]
    which = data.draw(st.integers(0, len(parts) - 1))
    edges = np.cumsum([len(e[2]) for e in batches[which]]).tolist()
    cut = data.draw(st.integers(1, len(parts[which])))
    if cut in edges:
        return
    parts[which] = parts[which][:cut]
    with pytest.raises(Damage):
        Heads(COUNTS).find(numbers([memoryview(part) for part in parts]))


def test_working_memory_may_be_used_again():
    heads = Heads(COUNTS)
    long = bytes((11, 1)) * 5000
    assert len(heads.find(numbers([memoryview(long)]))) == 5000
    assert heads.find(numbers([memoryview(b"\x0b\x01")])).tolist() == [0]


@pytest.mark.parametrize(
    "data", [b"\x10" + b"\xff" * 10 + b"\x01", b"\x0b" + b"\x80" * 9 + b"\x02"]
)
def test_numbers_of_more_than_64_bits_are_refused(data):
    with pytest.raises(Damage, match="64 bits"):
        numbers([memoryview(data)])
