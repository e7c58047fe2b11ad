"""What rules about traces share: what is worth a sentence, and words for times."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

from pprofdiff.analysis.findings.model import Fact
from pprofdiff.analysis.findings.wording import arrow

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import GroupPair, TraceDiff
    from pprofdiff.analysis.traces.side import TraceSide

__all__ = [
    "MANY_POINTS",
    "POINTS",
    "RATIO",
    "UNSURE_RATIO",
    "WAITS",
    "cycles_tell",
    "direction",
    "far",
    "foreign",
    "long",
    "pair_of",
    "per",
    "runnable_ns",
    "scaled",
    "shares_differ",
    "sides_of",
    "time_fact",
]

POINTS, MANY_POINTS = 0.02, 0.10
"""Shares of life, and of capacity, that are worth a sentence, and those that matter."""

_LONG_NS = 1_000_000_000
# Traces of 0.2 s of one program show moments: of ten such, on a machine that did other
# work too, 99 % of waits were within 11 to 31 ms, and GC took 13 to 33 % of another.
RATIO, UNSURE_RATIO = 1.5, 2.0
"""Runs of one build differ by more than chance within each: ratios worth a sentence."""

WAITS = 200
"""Quantiles of fewer waits than this say little."""

# Of fewer GC cycles a trace shows what happened, not what is usual; unless the numbers
# are further apart than chance has them (chi square of one degree, 1 %).
_FEW_CYCLES, _CHANCE = 3, 6.63


def cycles_tell(diff: TraceDiff) -> bool:
    """Tell whether traces hold GC cycles enough to say that GC moved."""
    base, new = (side.collections.begun for side in diff.sides)
    return min(base, new) >= _FEW_CYCLES or (new - base) ** 2 > _CHANCE * (new + base)


def long(diff: TraceDiff) -> bool:
    """Tell whether both traces are long enough to speak of a build, not of a moment."""
    return min(side.wall_ns for side in diff.sides) >= _LONG_NS


def direction(base: float, new: float) -> str:
    """Return the direction of a cost that was `base` and is `new`."""
    return "worse" if new > base else "better" if new < base else "neutral"


def far(base: float, new: float, ratio: float) -> bool:
    """Tell whether two amounts, of which either may be 0, differ by a ratio or more."""
    if min(base, new) <= 0:
        return base != new
    return abs(log(new / base)) >= log(ratio)


def shares_differ(base: float, new: float) -> bool:
    """Tell whether shares differ by more than the large ones of one build do."""
    moved = abs(new - base)
    return moved >= MANY_POINTS or (moved >= POINTS and far(base, new, RATIO))


def pair_of(diff: TraceDiff, base_ns: float, new_ns: float) -> tuple[float, float]:
    """Return raw times of both sides, scaled: ns a second, or an operation."""
    return base_ns * diff.factors[0], new_ns * diff.factors[1]


def per(diff: TraceDiff) -> str:
    """Return what scaled times are by."""
    return "a second" if diff.rates is None else "an operation"


def scaled(diff: TraceDiff, base_ns: float, new_ns: float) -> str:
    """Return raw times as ``base → new`` in the mode of the comparison."""
    return f"{arrow(*pair_of(diff, base_ns, new_ns), 'ns')} {per(diff)}"


def time_fact(what: str, base_ns: float | None, new_ns: float | None) -> Fact:
    """Return raw times of the traces as evidence."""
    return Fact(what, "trace", base_ns, new_ns, "ns")


def sides_of(diff: TraceDiff, pair: GroupPair) -> list[tuple[TraceSide, int]]:
    """Return each side with the row of a group there."""
    return list(zip(diff.sides, (pair.base, pair.new), strict=True))


def foreign(side: TraceSide, row: int) -> bool:
    """Tell whether goroutines are not the program's; -1 stands for none."""
    held = side.groups
    return row >= 0 and bool(held.system[row] or held.tracing[row])


def runnable_ns(diff: TraceDiff, pair: GroupPair) -> tuple[int, int]:
    """Return how long both sides' goroutines of a root function were runnable."""
    base, new = (
        0 if row < 0 else int(side.groups.sched_wait_ns[row])
        for side, row in sides_of(diff, pair)
    )
    return base, new
