"""Ragged rows against the loops that one would write first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.model import csr

rows = st.lists(st.lists(st.integers(0, 6), max_size=6), max_size=12)


def ragged(lists):
    offsets = csr.offsets_of(np.array([len(x) for x in lists], np.int64))
    return offsets, np.array([i for x in lists for i in x], np.int32)


# Ids that are far apart share cells of the table.
@pytest.mark.parametrize("apart", [1, 1 << 17])
@given(rows)
def test_once_per_row_marks_the_last_of_each(apart, lists):
    offsets, items = ragged(lists)
    want = [i not in row[at + 1 :] for row in lists for at, i in enumerate(row)]
    assert csr.once_per_row(offsets, items * apart, 7 * apart).tolist() == want


@given(rows)
def test_first_last_and_count_in_row(lists):
    offsets, items = ragged(lists)
    hits = [
        [offsets[i] + at for at, x in enumerate(row) if x > 3]
        for i, row in enumerate(lists)
    ]
    assert csr.first_in_row(items > 3, offsets).tolist() == [
        h[0] if h else -1 for h in hits
    ]
    assert csr.last_in_row(items > 3, offsets).tolist() == [
        h[-1] if h else -1 for h in hits
    ]
    assert csr.count_in_row(items > 3, offsets).tolist() == [len(h) for h in hits]


@given(rows, st.booleans(), st.data())
def test_unique_rows_groups_equal_rows_in_order_of_appearance(lists, extra, data):
    offsets, items = ragged(lists)
    marks = data.draw(
        st.lists(st.integers(-1, 1), min_size=len(lists), max_size=len(lists))
    )
    keys = [(tuple(x), m if extra else 0) for x, m in zip(lists, marks, strict=True)]
    order = list(dict.fromkeys(keys))
    first, group = csr.unique_rows(
        offsets, (items,), (np.array(marks, np.int64),) if extra else ()
    )
    assert first.tolist() == [keys.index(key) for key in order]
    assert group.tolist() == [order.index(key) for key in keys]


@given(rows)
def test_unique_rows_compares_items_by_all_columns(lists):
    offsets, items = ragged(lists)
    columns = items // 2, (items % 2) << 62
    keys = [tuple(x) for x in lists]
    first, group = csr.unique_rows(offsets, columns)
    assert first.tolist() == [keys.index(key) for key in dict.fromkeys(keys)]
    assert (first[group] == [keys.index(key) for key in keys]).all()


@given(
    st.lists(
        st.tuples(st.integers(-2, 2), st.integers(-(1 << 63), 1 << 62)), max_size=12
    )
)
def test_unique_tuples_groups_equal_tuples(pairs):
    columns = np.array(pairs, np.int64).reshape(-1, 2)
    order = list(dict.fromkeys(pairs))
    first, group = csr.unique_tuples([columns[:, 0], columns[:, 1]])
    assert first.tolist() == [pairs.index(pair) for pair in order]
    assert group.tolist() == [order.index(pair) for pair in pairs]


def test_hashes_that_agree_in_one_half_alone_are_distinguished():
    hashes = np.array([[1, 1, 1, 0], [2, 3, 2, 2]], np.uint64)
    first, group = csr._groups(hashes)
    assert (first.tolist(), group.tolist()) == ([0, 1, 3], [0, 1, 0, 2])


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [1, 3, 1000])
@given(lists=rows, data=st.data())
def test_chunks_make_no_difference(at_once, lists, data):
    offsets, items = ragged(lists)
    chosen = data.draw(st.lists(st.integers(0, max(len(lists) - 1, 0)), max_size=8))
    chosen = chosen if lists else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csr, "_CHUNK", at_once)
        taken = csr.take_rows(offsets, items, np.array(chosen, np.int64))
        places = csr.first_places(items, 7)
        cuts = csr.chunks(offsets, at_once)
    want = ragged([lists[i] for i in chosen])
    assert [t.tolist() for t in taken] == [w.tolist() for w in want]
    assert places.tolist() == [
        items.tolist().index(i) if i in items else -1 for i in range(7)
    ]
    assert [row for low, high in cuts for row in range(low, high)] == list(
        range(len(lists))
    )


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-(1 << 60), 1 << 60)), max_size=8)
)
def test_sums_are_exact(pairs):
    ids = np.array([i for i, _ in pairs], np.int64)
    values = np.array([v for _, v in pairs], np.int64)
    want = [sum(v for i, v in pairs if i == key) for key in range(4)]
    if all(abs(w) < 1 << 63 for w in want):
        assert csr.sums(ids, values, 4).tolist() == want
