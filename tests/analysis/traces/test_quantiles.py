"""Quantiles are elements of the sorted durations; intervals are those of resampling."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.analysis.traces.quantiles import (
    Quantiles,
    grouped_quantiles,
    nearest,
    quantiles,
    spreads,
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
    assert (
        grouped_quantiles(np.zeros(0, np.int64), np.zeros(0, np.int64), ("a",)).name
        == ()
    )


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=60))
@settings(derandomize=True)
def test_each_group_has_its_own(rows):
    names = ("a", "b", "a", "c")
    group, values = (np.array([row[i] for row in rows], np.int64) for i in (0, 1))
    table = grouped_quantiles(group, values, names)
    held = {}
    for place, value in rows:
        held.setdefault(names[place], []).append(value)
    assert {name: table.row(name) for name in table.name} == {
        name: ranked(values) for name, values in held.items()
    }
    assert table.total_ns.tolist() == sorted(table.total_ns.tolist(), reverse=True)
    assert table.row("none such").count == 0
    assert table.to_frame().set_index("name").total_ns.to_dict() == {
        name: sum(values) for name, values in held.items()
    }


def resampled(values, block, rank, seed, other=None):
    """Return the bootstrap interval by drawing and sorting, one draw after another."""
    rng, drawn = np.random.default_rng(seed), []
    for side in ((values, block), other) if other else ((values, block),):
        groups = [
            v
            for b in range(max(side[1]) + 1)
            if (v := [x for x, k in zip(*side, strict=True) if k == b])
        ]
        weight = rng.multinomial(len(groups), [1 / len(groups)] * len(groups), 1000)
        found = []
        for times in weight:
            chosen = sorted(
                x for g, n in zip(groups, times, strict=True) for x in g * n
            )
            found.append(chosen[nearest(len(chosen), rank)])
        drawn.append(found)
    if other:
        drawn = [[new - base for base, new in zip(*drawn, strict=True)]]
    order = sorted(drawn[0])
    return order[24], order[975]


@pytest.mark.parametrize("rank", [500, 900, 990])
def test_the_interval_is_that_of_redrawn_blocks(rank):
    rng = np.random.default_rng(rank)
    values, block = rng.integers(0, 30, 80), rng.integers(0, 9, 80)
    more, blocks = values * 2 + 3, rng.integers(0, 20, 80)
    blocks[blocks == 4] = 5  # a block without durations
    base, new = (values.tolist(), block.tolist()), (more.tolist(), blocks.tolist())
    assert spreads((values, block), None, [rank], seed=7) == [resampled(*base, rank, 7)]
    difference = spreads((values, block), (more, blocks), [rank], seed=7)
    assert difference == [resampled(*base, rank, 7, new)]
    assert difference == spreads((values, block), (more, blocks), [rank], seed=7)
    # What was asked before makes no difference.
    several = spreads((values, block), (more, blocks), [10, 999, rank], seed=7)
    assert several[2:] == difference


def test_four_blocks_are_too_few():
    values = np.arange(100)
    enough, few = (values, values % 5), (values, values % 4)
    assert spreads(enough, None, [500]) != [None]
    for sides in ((few, None), (few, enough), (enough, few)):
        assert spreads(*sides, [500, 900]) == [None, None]
    assert spreads((values[:0], values[:0]), None, [500]) == [None]


def test_many_blocks_are_drawn_with_their_neighbours():
    values = np.random.default_rng(1).integers(0, 1000, 5000)
    block = np.arange(5000) // 5
    joined = np.arange(1000) * 64 // 1000
    assert spreads((values, block), None, [900], 3) == spreads(
        (values, joined[block]), None, [900], 3
    )
