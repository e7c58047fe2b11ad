"""The sets of rows that changes move, against the same as a table of booleans."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.analysis.control.rows import Changes

ROWS = 6
PAIRS = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, ROWS - 1)), min_size=1, max_size=30
)


@given(PAIRS, st.data())
def test_changes_are_the_distinct_sets(pairs, data):
    sets, items = np.array(pairs).T
    changes = Changes.of(sets, items, ROWS)
    dense = np.zeros((9, ROWS), bool)
    dense[sets, items] = True
    # Sets are few, and ordered by number.
    wanted = list(dict.fromkeys(tuple(row) for row in dense.tolist() if any(row)))
    found = changes.inside(np.arange(len(changes)))
    assert [tuple(row) for row in found.tolist()] == wanted
    values = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=6, max_size=6)))
    assert changes.sums(values).tolist() == (found @ values).tolist()
    some = np.flatnonzero(data.draw(st.lists(st.booleans(), max_size=len(changes))))
    assert (changes.inside(some) == found[some]).all()
