"""Which runs are base and which new: as `pprofdiff measure` would have taken them.

Runs of two sides alternate, so that a drift of the machine is in both alike. All splits
are of that design: the runs that a split takes, in the order of time, are neighbours in
pairs, one of each side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Split(NamedTuple):
    """Positions of runs; the first of base was run next to the first of new."""

    base: tuple[int, ...]
    new: tuple[int, ...]


def of_unchanged(
    runs: Sequence[int], size: int, splits: int, rng: np.random.Generator
) -> Iterator[Split]:
    """Yield random splits of runs of one build; `runs` are in the order of time.

    Of each pair of neighbours, either may be base. Nothing is yielded where there are
    too few runs.
    """
    for _ in range(splits if len(runs) >= 2 * size else 0):
        chosen = np.sort(rng.choice(np.asarray(runs), 2 * size, replace=False))
        pairs = rng.permuted(chosen.reshape(size, 2), axis=1)
        yield Split(*(tuple(side.tolist()) for side in pairs.T))


def of_planted(
    unchanged: NDArray[np.int64],
    planted: NDArray[np.int64],
    size: int,
    splits: int,
    rng: np.random.Generator,
) -> Iterator[Split]:
    """Yield random splits with a planted build as new.

    Next to each planted run stands an unchanged one that was run shortly before or
    after, and next to no other. Positions are in the order of time.
    """
    if len(planted) < size or len(unchanged) < 2 * size:
        return
    for _ in range(splits):
        new = np.sort(rng.choice(planted, size, replace=False))
        left, base = list(unchanged.tolist()), []
        for position in new.tolist():
            near = sorted(left, key=lambda other: abs(other - position))[:2]
            base.append(near[int(rng.integers(len(near)))])
            left.remove(base[-1])
        yield Split(tuple(base), tuple(new.tolist()))
