"""Intervals of quantiles of durations that hang together, against drawing one by one."""

import numpy as np
import pytest

from pprofdiff.analysis.judge.durations import (
    Durations,
    changes_of_quantiles,
    nearest,
)


def intervals(base, new, ranks):
    """Return the intervals of new's quantiles minus base's, None where unknown."""
    changes = changes_of_quantiles(Durations(*base), Durations(*new), ranks)
    return [None if one.noise is None else (one.low, one.high) for one in changes]


def resampled(values, block, rank, other):
    """Return the bootstrap interval by drawing and sorting, one draw after another."""
    rng, drawn = np.random.default_rng(0), []
    for side in (values, block), other:
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
    order = sorted(new - base for base, new in zip(*drawn, strict=True))
    return order[24], order[975]


@pytest.mark.parametrize("rank", [500, 900, 990])
def test_the_interval_matches_redrawn_blocks(rank):
    rng = np.random.default_rng(rank)
    values, block = rng.integers(0, 30, 80), rng.integers(0, 9, 80)
    more, blocks = values * 2 + 3, rng.integers(0, 20, 80)
    blocks[blocks == 4] = 5  # a block without durations
    base, new = (values.tolist(), block.tolist()), (more.tolist(), blocks.tolist())
    difference = intervals((values, block), (more, blocks), [rank])
    assert difference == [resampled(*base, rank, new)]
    # What was asked before makes no difference.
    several = intervals((values, block), (more, blocks), [10, 999, rank])
    assert several[2:] == difference


def test_four_blocks_are_too_few():
    values = np.arange(100)
    enough, few = (values, values % 5), (values, values % 4)
    assert None not in intervals(enough, enough, [500])
    for sides in ((few, few), (few, enough), (enough, few)):
        assert intervals(*sides, [500, 900]) == [None, None]
    none = values[:0], values[:0]
    assert intervals(none, enough, [500]) == intervals(none, none, [500]) == [None]


def test_many_blocks_are_drawn_with_their_neighbours():
    values = np.random.default_rng(1).integers(0, 1000, 5000)
    block = np.arange(5000) // 5
    joined = np.arange(1000) * 64 // 1000
    alone, together = (values, block), (values, joined[block])
    assert intervals(alone, alone, [900]) == intervals(together, together, [900])
