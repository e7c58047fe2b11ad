"""Quantiles of durations, and intervals for how they differ.

All quantiles are nearest rank: the smallest duration that at least this share of them
do not exceed. Ranks are in thousandths: 990 is p99.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.calibration import DRAWS, FEWEST_BLOCKS, MOST_BLOCKS
from pprofdiff.analysis.judge.judgement import Change
from pprofdiff.model.csr import grouped

Column = NDArray[np.int64]

RANKS = {"p50": 500, "p90": 900, "p99": 990, "p99.9": 999}
"""The quantiles of reports, in thousandths."""

_TAIL = 25  # thousandths in each tail of a 95% interval


class Durations(NamedTuple):
    """The durations of one side (int64 ns), and the generation or GC cycle of each."""

    values: Column
    block: Column


def nearest(count: int, rank: int) -> int:
    """Return the index of a quantile, in thousandths, among `count` ranked values."""
    return max(-(-count * rank // 1000) - 1, 0)


def quantile(values: Column, rank: int) -> int:
    """Return a quantile, in thousandths, of one or more int64 values in any order."""
    place = nearest(len(values), rank)
    return int(np.partition(values, place)[place])


def changes_of_quantiles(
    base: Durations, new: Durations, ranks: Iterable[int]
) -> list[Change]:
    """Return new's quantiles, in thousandths, minus base's, each with its interval.

    The 95% interval comes from resampling blocks. A change is noise if it includes 0,
    and unknown if a side has fewer than 5 blocks with durations.
    """
    rng, ranks = np.random.default_rng(0), [*ranks]
    # One side at a time: ranked durations take several times their size.
    old, now = (_resampled(*side, ranks, rng) for side in (base, new))
    tail = nearest(DRAWS, _TAIL)
    changes = []
    for i in range(len(ranks)):
        delta = np.nan
        if len(base.values) and len(new.values):
            delta = now.values[i] - old.values[i]
        if not (old.drawn and now.drawn):
            changes.append(Change(delta, None, None, None, None))
            continue
        drawn = np.sort(now.drawn[i] - old.drawn[i])
        low, high = float(drawn[tail]), float(drawn[DRAWS - 1 - tail])
        changes.append(Change(delta, low, high, None, low <= 0 <= high))
    return changes


class _Quantiles(NamedTuple):
    """Quantiles of one side, and each in all resampled sets: none if too few blocks."""

    values: list[int]
    drawn: list[Column]


def _resampled(
    durations: Column, block: Column, ranks: list[int], rng: np.random.Generator
) -> _Quantiles:
    sizes = np.bincount(block) if len(block) else np.zeros(0, np.int64)
    if np.count_nonzero(sizes) < FEWEST_BLOCKS:
        some = ranks if len(durations) else []
        return _Quantiles([quantile(durations, rank) for rank in some], [])
    one = _Resampled(durations, block, sizes, rng)
    return _Quantiles(
        [one.value(rank) for rank in ranks], [one.quantile(rank) for rank in ranks]
    )


class _Resampled:
    """Durations whose blocks are resampled with replacement, a thousand times.

    Durations of one block are correlated. Beyond 64 blocks, neighbors are drawn
    together.
    """

    def __init__(
        self,
        durations: Column,
        block: Column,
        sizes: Column,
        rng: np.random.Generator,
    ) -> None:
        filled = int(np.count_nonzero(sizes))
        self._blocks = blocks = min(filled, MOST_BLOCKS)
        number = ((np.cumsum(sizes > 0) - 1) * blocks // filled).astype(np.uint8)
        self._ranked, number = _ranked(durations, number[block])
        self._count = len(durations)
        # The key b × count + r is rank r in block b, so one search counts in any block.
        self._keys = np.argsort(number, kind="stable")
        counts = np.bincount(number, minlength=blocks)
        self._before = np.cumsum(counts) - counts
        self._keys += np.repeat(np.arange(blocks) * self._count, counts)
        self._weight = rng.multinomial(blocks, np.full(blocks, 1 / blocks), DRAWS)

    def value(self, rank: int) -> int:
        """Return a quantile, in thousandths, of the durations themselves."""
        return int(self._ranked[nearest(self._count, rank)])

    def quantile(self, rank: int) -> Column:
        """Return a quantile, in thousandths, of each resampled set (int64)."""
        sizes = np.diff(np.append(self._before, self._count))
        wanted = np.maximum(-(-(self._weight @ sizes) * rank // 1000), 1)
        low, high = np.zeros(DRAWS, np.int64), np.full(DRAWS, self._count - 1)
        # Bisect for the lowest rank that enough of the drawn durations do not exceed.
        for _ in range(self._count.bit_length()):
            middle = (low + high) >> 1
            at, place = grouped(middle)
            bounds = np.arange(self._blocks) * self._count + at[:, None]
            reached = np.searchsorted(self._keys, bounds.ravel(), "right")
            reached = (reached.reshape(bounds.shape) - self._before)[place]
            enough = (self._weight * reached).sum(axis=1) >= wanted
            high = np.where(enough, middle, high)
            low = np.where(enough, low, np.minimum(middle + 1, high))
        chosen: Column = self._ranked[high]
        return chosen


def _ranked(
    durations: Column, number: NDArray[np.uint8]
) -> tuple[Column, NDArray[np.uint8]]:
    """Return sorted durations, and the block of each; blocks are below `MOST_BLOCKS`.

    Sorting both in one word takes a third of the time of an argsort.
    """
    bits = MOST_BLOCKS.bit_length()
    if int(durations.max()).bit_length() + bits > np.iinfo(np.int64).bits - 1:
        order = np.argsort(durations, kind="stable")
        return durations[order], number[order]
    words = durations << bits
    words |= number
    words.sort()
    number = words.astype(np.uint8)
    number &= np.uint8((1 << bits) - 1)
    words >>= bits
    return words, number
