"""Quantiles of durations: nearest rank, exact, of a whole or of each group."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.csr import sums

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "GroupQuantiles",
    "Quantiles",
    "grouped_quantiles",
    "nearest",
    "quantiles",
    "spread",
]

Column = NDArray[np.int64]
# In thousandths: 999 is the 99.9th percentile.
_RANKS = (500, 900, 990, 999, 1000)
_ROUNDS = 1000
_FEWEST, _MOST = 5, 64
_TAIL = 25  # thousandths on either side of a 95 % interval


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Durations in short, nanoseconds; what no duration tells is None.

    A quantile is the smallest duration that at least this share of them do not exceed
    (nearest rank), so it is always one of them.
    """

    count: int
    total_ns: int
    p50_ns: int | None
    p90_ns: int | None
    p99_ns: int | None
    p999_ns: int | None
    max_ns: int | None


_FIELDS = tuple(field.name for field in fields(Quantiles))


@dataclass(frozen=True, slots=True, eq=False)
class GroupQuantiles:
    """Durations by group, one row each: the longest total first; columns are int64.

    The columns are those of `Quantiles`, in nanoseconds; every group has a duration.
    """

    name: tuple[str, ...]
    count: Column
    total_ns: Column
    p50_ns: Column
    p90_ns: Column
    p99_ns: Column
    p999_ns: Column
    max_ns: Column

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self.name)

    def row(self, name: str) -> Quantiles:
        """Return one group's quantiles, those of nothing if there is no such group."""
        if name not in self.name:
            return quantiles(np.zeros(0, np.int64))
        i = self.name.index(name)
        columns = (getattr(self, field) for field in _FIELDS)
        return Quantiles(*(int(column[i]) for column in columns))

    def to_frame(self) -> pd.DataFrame:
        """Return one row a group: name, count, and the times in nanoseconds."""
        import pandas as pd

        names = ("name", *_FIELDS)
        return pd.DataFrame({name: getattr(self, name) for name in names})


def quantiles(durations_ns: Column) -> Quantiles:
    """Return the quantiles of durations (int64 nanoseconds), in any order."""
    count = len(durations_ns)
    if not count:
        return Quantiles(0, 0, None, None, None, None, None)
    places = [nearest(count, rank) for rank in _RANKS]
    ranked = np.partition(durations_ns, places)[places]
    return Quantiles(count, int(durations_ns.sum()), *ranked.tolist())


def nearest(count: int, rank: int) -> int:
    """Return the place of a quantile, in thousandths, among so many ranked values."""
    return max(-(-count * rank // 1000) - 1, 0)


def grouped_quantiles(
    group: NDArray[np.integer], durations_ns: Column, names: tuple[str, ...]
) -> GroupQuantiles:
    """Return the quantiles of each group that has durations.

    `group` says for each duration which of `names` it is of; equal names are one group.
    """
    place: dict[str, int] = {}
    one = np.array([place.setdefault(n, len(place)) for n in names], np.int64)
    group = one[group]
    count = np.bincount(group, minlength=len(place))
    total = sums(group, durations_ns, len(place))
    ranked = durations_ns[np.lexsort((durations_ns, group))]
    chosen = np.flatnonzero(count)
    chosen = chosen[np.lexsort((chosen, -total[chosen]))]
    first = (np.cumsum(count) - count)[chosen]
    size = count[chosen]
    found = (ranked[first + np.maximum(-(-size * r // 1000) - 1, 0)] for r in _RANKS)
    labels = list(place)
    return GroupQuantiles(
        tuple(labels[i] for i in chosen.tolist()), size, total[chosen], *found
    )


def spread(
    base: tuple[Column, Column],
    new: tuple[Column, Column] | None,
    rank: int,
    seed: int = 0,
) -> tuple[int, int] | None:
    """Return the 95 % bootstrap interval of a quantile, or of new's less base's.

    A side is (durations, the block that each belongs to: int64, from 0). Blocks, not
    durations, are drawn again, with replacement: what happens in one generation or
    GC cycle hangs together. Without `new` the interval is that of base's quantile.
    `rank` is in thousandths. None where a side has fewer than 5 blocks that hold
    durations; beyond 64, neighbours are drawn together. The same seed gives the same
    interval.
    """
    rng = np.random.default_rng(seed)
    drawn = _resampled(*base, rank, rng)
    if new is not None and drawn is not None:
        other = _resampled(*new, rank, rng)
        drawn = None if other is None else other - drawn
    if drawn is None:
        return None
    drawn.sort()
    low = nearest(_ROUNDS, _TAIL)
    return int(drawn[low]), int(drawn[_ROUNDS - 1 - low])


def _resampled(
    durations: Column, block: Column, rank: int, rng: np.random.Generator
) -> Column | None:
    """Return a quantile of each redrawn set of blocks (int64), None for too few."""
    sizes = np.bincount(block) if len(block) else np.zeros(0, np.int64)
    filled = np.flatnonzero(sizes)
    if len(filled) < _FEWEST:
        return None
    number = np.cumsum(sizes > 0) - 1
    blocks = min(len(filled), _MOST)
    block = number[block] * blocks // len(filled)
    order = np.argsort(durations, kind="stable")
    ranked, count = durations[order], len(durations)
    # Rank r of block b is the key b × count + r, so one search counts in any block.
    keys = np.sort(block[order] * count + np.arange(count))
    before = np.searchsorted(keys, np.arange(blocks) * count)
    weight = rng.multinomial(blocks, np.full(blocks, 1 / blocks), _ROUNDS)
    size = weight @ np.diff(np.append(before, count))
    wanted = np.maximum(-(-size * rank // 1000), 1)
    low, high = np.zeros(_ROUNDS, np.int64), np.full(_ROUNDS, count - 1)
    # The lowest rank that enough of the drawn durations do not exceed.
    for _ in range(count.bit_length()):
        middle = (low + high) >> 1
        bounds = np.arange(blocks) * count + middle[:, None]
        reached = np.searchsorted(keys, bounds.ravel(), "right").reshape(bounds.shape)
        enough = (weight * (reached - before)).sum(axis=1) >= wanted
        high = np.where(enough, middle, high)
        low = np.where(enough, low, np.minimum(middle + 1, high))
    chosen: Column = ranked[high]
    return chosen
