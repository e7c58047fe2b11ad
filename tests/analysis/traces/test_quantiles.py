"""Quantiles are elements of the sorted durations, of a whole and of each group."""

from __future__ import annotations

from math import ceil

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.analysis.traces.quantiles import (
    Quantiles,
    grouped_quantiles,
    quantiles,
)

_durations = st.lists(st.integers(0, 2**62 // 50), min_size=1, max_size=50)


def ranked(values):
    """Return the quantiles of some values, by sorting them."""
    order = sorted(values)
    # Shares are whole thousandths: no rounding decides a rank.
    places = (ceil(len(order) * share / 1000) - 1 for share in (500, 900, 990, 999))
    return Quantiles(
        len(order), sum(order), *(order[max(place, 0)] for place in places), order[-1]
    )


@given(_durations)
@settings(derandomize=True)
def test_quantiles_are_of_the_sorted_durations(values):
    assert quantiles(np.array(values, np.int64)) == ranked(values)


def test_of_nothing_there_are_none():
    nothing = quantiles(np.zeros(0, np.int64))
    assert nothing == Quantiles(0, 0, None, None, None, None, None)
    none = np.zeros(0, np.int64)
    assert grouped_quantiles(none, none, ("a",)) == {}


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=60))
@settings(derandomize=True)
def test_each_group_has_its_own(rows):
    names = ("a", "b", "a", "c")
    group, values = (np.array([row[i] for row in rows], np.int64) for i in (0, 1))
    table = grouped_quantiles(group, values, names)
    held = {}
    for place, value in rows:
        held.setdefault(names[place], []).append(value)
    assert table == {name: ranked(values) for name, values in held.items()}
    totals = [one.total_ns for one in table.values()]
    assert totals == sorted(totals, reverse=True)
    assert table.row("none such").count == 0
