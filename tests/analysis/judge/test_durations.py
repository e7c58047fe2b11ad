"""Intervals of quantiles of durations that hang together, against drawing one by one."""

from __future__ import annotations

import numpy as np
import pytest

from pprofdiff.analysis.judge.durations import BootstrapModel, Durations, nearest
from pprofdiff.analysis.judge.judgement import Runs


def intervals(base, new, ranks, seed=0):
    """Return the intervals of new's quantiles minus base's, None where unknown."""
    runs = Runs.single(Durations(*base), Durations(*new))
    judged = BootstrapModel(tuple(ranks), seed).rows(runs)
    columns = judged.low.tolist(), judged.high.tolist(), judged.known.tolist()
    return [(a, b) if known else None for a, b, known in zip(*columns, strict=True)]


def resampled(values, block, rank, seed, other):
    """Return the bootstrap interval by drawing and sorting, one draw after another."""
    rng, drawn = np.random.default_rng(seed), []
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
def test_the_interval_is_that_of_redrawn_blocks(rank):
    rng = np.random.default_rng(rank)
    values, block = rng.integers(0, 30, 80), rng.integers(0, 9, 80)
    more, blocks = values * 2 + 3, rng.integers(0, 20, 80)
    blocks[blocks == 4] = 5  # a block without durations
    base, new = (values.tolist(), block.tolist()), (more.tolist(), blocks.tolist())
    difference = intervals((values, block), (more, blocks), [rank], seed=7)
    assert difference == [resampled(*base, rank, 7, new)]
    assert difference == intervals((values, block), (more, blocks), [rank], seed=7)
    # What was asked before makes no difference.
    several = intervals((values, block), (more, blocks), [10, 999, rank], seed=7)
    assert several[2:] == difference


def test_four_blocks_are_too_few():
    values = np.arange(100)
    enough, few = (values, values % 5), (values, values % 4)
    assert None not in intervals(enough, enough, [500])
    for sides in ((few, few), (few, enough), (enough, few)):
        assert intervals(*sides, [500, 900]) == [None, None]
    assert intervals((values[:0], values[:0]), enough, [500]) == [None]


def test_many_blocks_are_drawn_with_their_neighbours():
    values = np.random.default_rng(1).integers(0, 1000, 5000)
    block = np.arange(5000) // 5
    joined = np.arange(1000) * 64 // 1000
    alone, together = (values, block), (values, joined[block])
    assert intervals(alone, alone, [900], 3) == intervals(together, together, [900], 3)
