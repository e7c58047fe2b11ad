"""How often a benchmark runs on each side, so that both get time and do equal work."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log
from typing import NamedTuple

from pprofdiff.measure.leaves import Leaf, Pilot
from pprofdiff.measure.sides import SIDES, SideName

__all__ = [
    "Counts",
    "alike_counts",
    "any_unlike",
    "counts_for",
    "operations_in",
    "raised",
]

# Below this ratio of speeds both sides run equally often: the cost of an operation may
# depend on b.N, as where a slice or a map grows with it. A pilot on a busy machine was
# off by a factor of two in 4 of 12 benchmarks.
_EQUAL_BELOW = 3.0
# Beyond this the faster side would need more iterations than an int32 holds.
_LARGEST_FACTOR = 100_000
_FAST_S = 1e-10


class Counts(NamedTuple):
    """Iterations of one benchmark on each side."""

    base: int
    new: int

    def of(self, side: SideName) -> int:
        """Return the iterations of a side."""
        return self.base if side == "base" else self.new


def any_unlike(pilots: Mapping[SideName, Mapping[Leaf, Pilot]]) -> bool:
    """Return whether a side's pilot was so much faster that it would run more often."""
    base, new = (pilots[side] for side in SIDES)
    return any(
        abs(log(max(own.seconds, _FAST_S) / max(new[leaf].seconds, _FAST_S)))
        >= log(_EQUAL_BELOW)
        for leaf, own in base.items()
        if leaf in new
    )


def counts_for(
    pilots: Mapping[SideName, Pilot], seconds: float, factor: int | None = None
) -> Counts:
    """Return how often a benchmark runs so that each side takes about `seconds`.

    The slower side takes that long. The faster one runs a whole number of times as
    often, `factor` or as many times as it is faster; that is 1 where the speeds are
    within a factor of three. A negative `factor` has base run more often.
    """
    base, new = (max(pilots[side].seconds, _FAST_S) for side in SIDES)
    if factor is None:
        factor = _factor(log(base / new))
    times = abs(factor)
    slow, fast = (base, new) if factor > 0 else (new, base)
    few = _two_digits(seconds / max(slow, times * fast))
    return Counts(few, few * times) if factor > 0 else Counts(few * times, few)


def raised(counts: Counts, took: Mapping[SideName, float], seconds: float) -> Counts:
    """Return more iterations where a side ran for less than half of `seconds`.

    `took` is how long an operation of each side took, in seconds. A pilot on a busy
    machine may have made it many times as long.
    """
    ran = min(counts.of(side) * took[side] for side in SIDES)
    if ran >= seconds / 2:
        return counts
    pilots = {side: Pilot(took[side], 0.0) for side in SIDES}
    more = counts_for(pilots, seconds)
    longer = min(more.of(side) * took[side] for side in SIDES) > ran
    return more if longer else counts


def alike_counts(
    pilots: Mapping[SideName, Mapping[Leaf, Pilot]],
    leaves: list[Leaf],
    seconds: float,
) -> dict[Leaf, Counts]:
    """Return how often benchmarks run that are added up.

    New runs each the same number of times as often as base does, so that both sides'
    sums are of one mix of operations.
    """
    of_leaf = {
        leaf: {side: own[leaf] for side, own in pilots.items()} for leaf in leaves
    }
    logs = [
        log(
            max(both["base"].seconds, _FAST_S) / max(both["new"].seconds, _FAST_S),
        )
        for both in of_leaf.values()
    ]
    factor = _factor(sum(logs) / len(logs))
    return {
        leaf: _with_first(counts_for(both, seconds, factor), factor)
        for leaf, both in of_leaf.items()
    }


def operations_in(iterations: int) -> int:
    """Return how many operations ``-benchtime=Nx`` runs: one, then N of them."""
    return iterations + 1 if iterations > 1 else 1


def _with_first(counts: Counts, factor: int) -> Counts:
    """Return counts whose operations are in the ratio `factor`, with Go's first one."""
    if abs(factor) == 1:
        return counts
    few = max(2, min(counts))
    many = abs(factor) * operations_in(few) - 1
    return Counts(few, many) if factor > 0 else Counts(many, few)


def _factor(faster: float) -> int:
    """Return how many times as often new runs; negative where base does, 1 if equal."""
    times = round(min(exp(abs(faster)), _LARGEST_FACTOR))
    if exp(abs(faster)) < _EQUAL_BELOW:
        return 1
    return times if faster > 0 else -times


def _two_digits(count: float) -> int:
    """Return a count that is easy to type again: at least 1, with two digits."""
    whole = max(1, int(min(count, 1e9)))
    unit: int = 10 ** max(0, len(str(whole)) - 2)
    return whole // unit * unit
