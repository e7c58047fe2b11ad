"""Models of duration quantiles: pauses, latencies.

All quantiles are nearest rank: the smallest duration that at least this share of them
do not exceed. Ranks are in thousandths: 990 is p99.

Three models answer three questions. `ExceedanceModel`: do two sets of independent
durations have the same quantile? `CeilingModel`: is one set's quantile above a limit?
`BootstrapModel`: how large is the difference of quantiles if durations are correlated
within blocks?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.calibration import (
    CEILING,
    DRAWS,
    FEWEST_BLOCKS,
    MOST_BLOCKS,
)
from pprofdiff.analysis.judge.judgement import Judgement, Model, Runs
from pprofdiff.model.csr import grouped

Column = NDArray[np.int64]

RANKS = {"p50": 500, "p90": 900, "p99": 990, "p99.9": 999}
"""The quantiles of reports, in thousandths."""

_TAIL = 25  # thousandths in each tail of a 95% interval


@dataclass(frozen=True, eq=False)
class Durations:
    """The durations of one run, and the correlated blocks they come from.

    `values` are int64 nanoseconds, in any order; `block` (int64, from 0) is the
    generation or GC cycle of each, None if each is independent.
    """

    values: Column
    block: Column | None = None


def nearest(count: int, rank: int) -> int:
    """Return the index of a quantile, in thousandths, among `count` ranked values."""
    return max(-(-count * rank // 1000) - 1, 0)


def quantile(values: Column, rank: int) -> int:
    """Return a quantile, in thousandths, of one or more int64 values in any order."""
    place = nearest(len(values), rank)
    return int(np.partition(values, place)[place])


@dataclass(frozen=True)
class ExceedanceModel(Model[Durations]):
    """Whether one quantile, in thousandths, differs between independent durations."""

    rank: int

    def rows(self, runs: Runs[Durations]) -> Judgement:
        """Judge the difference of quantiles; the durations of all runs are pooled.

        Returns one row without an interval. It is unknown if the difference would not
        be significant even if all durations of the side with the higher quantile were
        longer.
        """
        base, new = _pooled(runs.base).values, _pooled(runs.new).values
        delta = quantile(new, self.rank) - quantile(base, self.rank)
        low, high = (new, base) if delta < 0 else (base, new)
        least, p = _chances_of_passing(low, high, self.rank)
        noise = None if least > CEILING else p > CEILING
        return Judgement.of_one(delta, p=p, noise=noise)


@dataclass(frozen=True)
class CeilingModel(Model[Durations]):
    """Whether new's quantile, in thousandths, is above `limit_ns`."""

    rank: int
    limit_ns: float

    def rows(self, runs: Runs[Durations]) -> Judgement:
        """Judge how far new's quantile is above the limit; base is ignored.

        Returns one row, whose delta is new's quantile minus the limit. If the limit is
        the quantile q of n durations, each is longer with probability 1 - q, and the
        number of longer ones is binomial. The longest duration needs no test.
        """
        new = _pooled(runs.new).values
        delta = quantile(new, self.rank) - self.limit_ns
        p = self._chance(len(new), int((new > self.limit_ns).sum()))
        return Judgement.of_one(delta, p=p, noise=p > CEILING)

    def _chance(self, count: int, over: int) -> float:
        """Return the chance that `over` or more of `count` exceed the limit."""
        share = 1 - self.rank / 1000
        if not share:
            return 0.0
        more = np.arange(over, count + 1)
        chance = _choices(np.array(count), more)
        chance = chance + more * log(share) + (count - more) * log(1 - share)
        return float(np.exp(chance).sum())


@dataclass(frozen=True)
class BootstrapModel(Model[Durations]):
    """Intervals for differences of quantiles, in thousandths.

    The same seed gives the same bounds.
    """

    ranks: tuple[int, ...]
    seed: int = 0

    def rows(self, runs: Runs[Durations]) -> Judgement:
        """Judge new's quantiles minus base's, one row per rank, each with its interval.

        The 95% interval comes from resampling blocks. A row is noise if it includes 0,
        and unknown if a side has fewer than 5 blocks with durations.
        """
        pooled = _pooled(runs.base), _pooled(runs.new)
        rng = np.random.default_rng(self.seed)
        base, new = (_Resampled(side.values, _blocks(side), rng) for side in pooled)
        rows = len(self.ranks)
        low, high, delta, none = np.full((4, rows), np.nan)
        known = base.enough and new.enough
        tail = nearest(DRAWS, _TAIL)
        for row, rank in enumerate(self.ranks):
            if known:
                drawn = np.sort(new.quantile(rank) - base.quantile(rank))
                low[row], high[row] = drawn[tail], drawn[DRAWS - 1 - tail]
            if all(len(side.values) for side in pooled):
                before, after = (quantile(side.values, rank) for side in pooled)
                delta[row] = after - before
        noise = ~((low > 0) | (high < 0))
        every = np.full(rows, known)
        return Judgement(delta, low, high, none, none, none, noise, every)


def _pooled(runs: Sequence[Durations]) -> Durations:
    """Return the durations of several runs as those of one; blocks stay separate."""
    if len(runs) == 1:
        return runs[0]
    blocks, begin = [], 0
    for run in runs:
        own = _blocks(run)
        blocks.append(own + begin)
        begin += int(own.max(initial=-1)) + 1
    return Durations(
        np.concatenate([run.values for run in runs]), np.concatenate(blocks)
    )


def _blocks(run: Durations) -> Column:
    """Return each duration's block; those without one are a block each."""
    return np.arange(len(run.values)) if run.block is None else run.block


def _chances_of_passing(low: Column, high: Column, rank: int) -> tuple[float, float]:
    """Return how likely it is that high exceeds low's quantile at least this often.

    The exceedance test: how many of n values exceed one of m that j others exceed
    follows from counting orders alone, whatever the distribution. The first chance is
    the smallest possible one: that all of high exceeds it.
    """
    limit = quantile(low, rank)
    above, over = int((low > limit).sum()), int((high > limit).sum())
    m, n = len(low), len(high)
    passed = np.arange(n + 1)
    chance = np.exp(
        _choices(passed + above, above)
        + _choices(m - above - 1 + n - passed, n - passed)
        - _choices(np.array(m + n), n)
    )
    return float(chance[-1]), float(chance[over:].sum())


def _choices(
    of: NDArray[np.integer], some: NDArray[np.integer] | int
) -> NDArray[np.float64]:
    """Return the logarithm of the number of ways to choose `some` out of `of`."""
    factorial = np.zeros(int(of.max()) + 1)
    factorial[1:] = np.cumsum(np.log(np.arange(1, len(factorial))))
    ways: NDArray[np.float64] = factorial[of] - factorial[some] - factorial[of - some]
    return ways


class _Resampled:
    """Durations whose blocks are resampled with replacement, a thousand times.

    Blocks, not durations, are drawn: durations of one generation or GC cycle are
    correlated. Beyond 64 blocks, neighbors are drawn together.
    """

    def __init__(
        self, durations: Column, block: Column, rng: np.random.Generator
    ) -> None:
        """Take durations, and the block of each (int64, from 0)."""
        sizes = np.bincount(block) if len(block) else np.zeros(0, np.int64)
        filled = int(np.count_nonzero(sizes))
        self.enough = filled >= FEWEST_BLOCKS
        if not self.enough:
            return
        self._blocks = blocks = min(filled, MOST_BLOCKS)
        number = (np.cumsum(sizes > 0) - 1) * blocks // filled
        order = np.argsort(durations, kind="stable")
        self._ranked, self._count = durations[order], len(durations)
        # The key b × count + r is rank r in block b, so one search counts in any block.
        keys = number[block][order]
        keys *= self._count
        keys += np.arange(self._count)
        keys.sort()
        self._keys = keys
        self._before = np.searchsorted(keys, np.arange(blocks) * self._count)
        self._weight = rng.multinomial(blocks, np.full(blocks, 1 / blocks), DRAWS)

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
