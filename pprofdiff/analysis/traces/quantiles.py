"""Quantiles of durations: nearest rank, exact, of a whole or of each group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.csr import grouped, sums

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "GroupQuantiles",
    "Quantiles",
    "Resampled",
    "grouped_quantiles",
    "nearest",
    "quantiles",
    "spreads",
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
    ranked = _ranked(group, durations_ns)
    chosen = np.flatnonzero(count)
    chosen = chosen[np.lexsort((chosen, -total[chosen]))]
    first = (np.cumsum(count) - count)[chosen]
    size = count[chosen]
    found = (ranked[first + np.maximum(-(-size * r // 1000) - 1, 0)] for r in _RANKS)
    labels = list(place)
    return GroupQuantiles(
        tuple(labels[i] for i in chosen.tolist()), size, total[chosen], *found
    )


def _ranked(group: NDArray[np.integer], durations_ns: Column) -> Column:
    """Return the durations of one group after the other, each group's rising."""
    span = int(durations_ns.max(initial=0)) + 1
    if span * (int(group.max(initial=0)) + 1) >= 1 << 62:
        return durations_ns[np.lexsort((durations_ns, group))]
    keys = group.astype(np.int64) * span
    keys += durations_ns
    keys.sort()
    keys %= span
    return keys


class Resampled:
    """Durations whose blocks are drawn again, with replacement, a thousand times.

    Blocks, not durations, are drawn: what happens in one generation or GC cycle hangs
    together. Beyond 64, neighbours are drawn together.
    """

    def __init__(
        self, durations: Column, block: Column, rng: np.random.Generator
    ) -> None:
        """Take durations, and the block that each belongs to (int64, from 0)."""
        sizes = np.bincount(block) if len(block) else np.zeros(0, np.int64)
        filled = int(np.count_nonzero(sizes))
        self.enough = filled >= _FEWEST
        if not self.enough:
            return
        self._blocks = blocks = min(filled, _MOST)
        number = (np.cumsum(sizes > 0) - 1) * blocks // filled
        order = np.argsort(durations, kind="stable")
        self._ranked, self._count = durations[order], len(durations)
        # Rank r of block b is the key b × count + r: one search counts in any block.
        keys = number[block][order]
        keys *= self._count
        keys += np.arange(self._count)
        keys.sort()
        self._keys = keys
        self._before = np.searchsorted(keys, np.arange(blocks) * self._count)
        self._weight = rng.multinomial(blocks, np.full(blocks, 1 / blocks), _ROUNDS)

    def quantile(self, rank: int) -> Column:
        """Return a quantile, in thousandths, of each redrawn set (int64)."""
        sizes = np.diff(np.append(self._before, self._count))
        wanted = np.maximum(-(-(self._weight @ sizes) * rank // 1000), 1)
        low, high = np.zeros(_ROUNDS, np.int64), np.full(_ROUNDS, self._count - 1)
        # The lowest rank that enough of the drawn durations do not exceed.
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


def spreads(
    base: tuple[Column, Column],
    new: tuple[Column, Column] | None,
    ranks: Iterable[int],
    seed: int = 0,
) -> list[tuple[int, int] | None]:
    """Return 95 % bootstrap intervals of quantiles, or of new's less base's.

    A side is what `Resampled` takes: durations, and the block of each. Without `new`
    the intervals are those of base's quantiles. `ranks` are in thousandths. None where
    a side has fewer than 5 blocks that hold durations. The same seed gives the same
    intervals.
    """
    rng = np.random.default_rng(seed)
    sides = [Resampled(*side, rng) for side in (base, new) if side is not None]
    if not all(side.enough for side in sides):
        return [None for _ in ranks]
    found: list[tuple[int, int] | None] = []
    tail = nearest(_ROUNDS, _TAIL)
    for rank in ranks:
        first, *rest = (side.quantile(rank) for side in sides)
        drawn = np.sort(rest[0] - first if rest else first)
        found.append((int(drawn[tail]), int(drawn[_ROUNDS - 1 - tail])))
    return found
