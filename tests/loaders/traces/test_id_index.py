"""Ids get indices in the order in which they appear, as a dict would give them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.loaders.traces.damage import Damage
from pprofdiff.loaders.traces.id_index import _TABLE, IdIndex
from tests.examples import examples

# Of goroutines that a process begins with, of those of a long run, of none (-1), and
# what a broken file may have.
IDS = st.one_of(
    st.integers(0, 30),
    st.integers(_TABLE - 3, _TABLE + 3),
    st.integers(-3, -1),
    st.integers(-(2**63), 2**63 - 1),
)
PARTS = st.lists(st.lists(IDS, max_size=12), max_size=6)


@given(PARTS, st.lists(IDS, max_size=12))
@settings(max_examples=examples(300), deadline=None)
def test_indices_match_a_dict(parts, asked):
    index, places = IdIndex("goroutine"), {}
    for part in parts:
        index.add(np.array(part, np.int64))
        for id_ in part:
            places.setdefault(id_, len(places))
        wanted = [*asked, *places]
        indices = index.find(np.array(wanted, np.int64))
        assert indices.dtype == np.int32
        assert indices.tolist() == [places.get(id_, -1) for id_ in wanted]
        assert index.ids.tolist() == [*places]
        assert len(index) == len(places)


def test_an_id_that_was_never_mentioned_is_damage():
    index = IdIndex("goroutine")
    index.add(np.array([5, 3], np.int64))
    assert index.require(np.array([3, 5], np.int64)).tolist() == [1, 0]
    with pytest.raises(Damage, match="goroutine that was never mentioned"):
        index.require(np.array([3, 4], np.int64))
