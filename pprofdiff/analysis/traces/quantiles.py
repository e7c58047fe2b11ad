"""Exact nearest-rank quantiles of durations, overall or by group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pprofdiff.analysis.judge.durations import RANKS, nearest
from pprofdiff.model.arrays import Column, Integers
from pprofdiff.model.csr import sums

QUANTILES = {"p50": "p50_ns", "p90": "p90_ns", "p99": "p99_ns", "p99.9": "p999_ns"}
"""The fields of `Quantiles`, by their names in reports."""

_RANKS = (*RANKS.values(), 1000)


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Summary of durations, in nanoseconds; quantiles of no durations are None.

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


NONE = Quantiles(0, 0, None, None, None, None, None)
"""The summary of no durations."""


class GroupQuantiles(dict[str, Quantiles]):
    """Durations by group, longest total first; every group has some."""

    def row(self, name: str) -> Quantiles:
        """Return one group's quantiles, empty ones if there is no such group."""
        return self.get(name, NONE)


def quantiles(durations_ns: Column) -> Quantiles:
    """Return the quantiles of durations (int64 nanoseconds), in any order."""
    count = len(durations_ns)
    if not count:
        return NONE
    places = [nearest(count, rank) for rank in _RANKS]
    ranked = np.partition(durations_ns, places)[places]
    return Quantiles(count, int(durations_ns.sum()), *ranked.tolist())


def grouped_quantiles(
    group: Integers, durations_ns: Column, names: tuple[str, ...]
) -> GroupQuantiles:
    """Return quantiles by name: `group` indexes `names`, equal names are one group."""
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
    ends = (np.maximum(-(-size * r // 1000) - 1, 0) for r in _RANKS)
    columns = size, total[chosen], *(ranked[first + end] for end in ends)
    rows = map(Quantiles, *(column.tolist() for column in columns))
    labels = list(place)
    return GroupQuantiles(zip([labels[i] for i in chosen.tolist()], rows, strict=True))


def _ranked(group: Integers, durations_ns: Column) -> Column:
    span = int(durations_ns.max(initial=0)) + 1
    if span * (int(group.max(initial=0)) + 1) >= 1 << 62:
        return durations_ns[np.lexsort((durations_ns, group))]
    keys = group.astype(np.int64) * span
    keys += durations_ns
    keys.sort()
    keys %= span
    return keys
