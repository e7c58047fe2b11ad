"""Choose iterations per side so that both run long enough and do equal work."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log
from typing import NamedTuple

from pprofdiff.measure.leaves import Leaf, Pilot
from pprofdiff.measure.sides import SIDES, SideName

# If the sides' speeds differ by less, both run the same number of iterations, since the
# cost per op may depend on b.N, as when a slice or map grows with it, or when set-up is
# timed. A pilot on a busy machine was off by a factor of two in 4 of 12 benchmarks, of
# three and of four in 2 of 57 commits. The faster side's turn of 0.1 s is 20 ms then.
_EQUAL_BELOW = 5.0
# Beyond this the faster side's iterations would overflow an int32.
_LARGEST_FACTOR = 100_000
FAST_S = 1e-10
"""The shortest time per op, in seconds, that iterations are chosen for."""


class Counts(NamedTuple):
    """Iterations of one benchmark on each side."""

    base: int
    new: int

    def of(self, side: SideName) -> int:
        """Return the iterations of a side."""
        return self.base if side == "base" else self.new


def any_unlike(pilots: Mapping[SideName, Mapping[Leaf, Pilot]]) -> bool:
    """Return whether pilots differ so much that one side would run more iterations."""
    base, new = (pilots[side] for side in SIDES)
    return any(
        unlike(own.seconds, new[leaf].seconds)
        for leaf, own in base.items()
        if leaf in new
    )


def unlike(one: float, other: float) -> bool:
    """Return whether two times per op differ by more than pilots of one build may."""
    return abs(log(max(one, FAST_S) / max(other, FAST_S))) >= log(_EQUAL_BELOW)


def counts_for(pilots: Mapping[SideName, Pilot], seconds: float) -> Counts:
    """Return iterations of a benchmark so that each side takes about `seconds`.

    The slower side takes that long. The faster one runs a whole multiple of its
    iterations: the ratio of the speeds; 1 if they are within a factor of five.
    """
    base, new = (max(pilots[side].seconds, FAST_S) for side in SIDES)
    factor = _factor(log(base / new))
    times = abs(factor)
    slow, fast = (base, new) if factor > 0 else (new, base)
    few = _two_digits(seconds / max(slow, times * fast))
    return Counts(few, few * times) if factor > 0 else Counts(few * times, few)


def raised(counts: Counts, took: Mapping[SideName, float], seconds: float) -> Counts:
    """Return more iterations if a side ran for less than half of `seconds`.

    `took` is each side's measured seconds per op. A pilot on a busy machine may have
    been many times too high.
    """
    ran = min(counts.of(side) * took[side] for side in SIDES)
    if ran >= seconds / 2:
        return counts
    pilots = {side: Pilot(took[side], 0.0) for side in SIDES}
    more = counts_for(pilots, seconds)
    longer = min(more.of(side) * took[side] for side in SIDES) > ran
    return more if longer else counts


def operations_in(iterations: int) -> int:
    """Return how many operations ``-benchtime=Nx`` runs: one, then N."""
    return iterations + 1 if iterations > 1 else 1


def _factor(faster: float) -> int:
    """Return how many times as often new runs; negative if base does, 1 if equal."""
    times = round(min(exp(abs(faster)), _LARGEST_FACTOR))
    if exp(abs(faster)) < _EQUAL_BELOW:
        return 1
    return times if faster > 0 else -times


def _two_digits(count: float) -> int:
    """Return a count rounded down to two digits, at least 1, easy to retype."""
    whole = max(1, int(min(count, 1e9)))
    unit: int = 10 ** max(0, len(str(whole)) - 2)
    return whole // unit * unit
