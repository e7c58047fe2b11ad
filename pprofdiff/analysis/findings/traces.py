"""What rules about traces share: what is more than chance, and words for times."""

from __future__ import annotations

from collections.abc import Hashable
from math import inf, log
from typing import TYPE_CHECKING

from pprofdiff.analysis.findings.model import Direction, Fact
from pprofdiff.analysis.findings.wording import arrow
from pprofdiff.analysis.stats.calibration import SHARE, Prior
from pprofdiff.analysis.stats.judge import Judge
from pprofdiff.analysis.stats.judgement import Observed

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import GroupPair, TraceDiff
    from pprofdiff.analysis.traces.side import TraceSide
    from pprofdiff.analysis.traces.tables import TableName

__all__ = [
    "beyond",
    "collecting",
    "cycles_tell",
    "direction",
    "foreign",
    "mostly",
    "pair_of",
    "per",
    "runnable_ns",
    "scaled",
    "sides_of",
    "time_fact",
    "varies",
]


def cycles_tell(diff: TraceDiff) -> bool:
    """Tell whether traces hold GC cycles enough to say that GC moved."""
    base, new = (side.collections.begun for side in diff.sides)
    return Judge.of_events().pair(base, new).mark != "unknown"


def collecting(diff: TraceDiff) -> tuple[float, float] | None:
    """Return what shares of capacity GC takes, None where it is no other share.

    A program that does less work collects less: where the work is not known, GC that
    takes less mostly as goroutines run for less is no change of GC.
    """
    base, new = (side.collections.gc_fraction for side in diff.sides)
    if base is None or new is None or not cycles_tell(diff):
        return None
    if not beyond(diff, SHARE, (base, new)) or diff.varies("gc.share"):
        return None
    ran = [side.processors.utilisation or 0.0 for side in diff.sides]
    if diff.rates is not None or min(ran) <= 0:
        return base, new
    as_they_run = mostly((base, new), left=(base / ran[0], new / ran[1]))
    return None if as_they_run else (base, new)


def beyond(
    diff: TraceDiff,
    prior: Prior,
    figures: tuple[float, float],
    events: tuple[float, float] = (inf, inf),
) -> bool:
    """Tell whether figures, base and new, differ by more than runs of one build do.

    `events` are what the figures are made of; too few of them tell nothing, nor does a
    trace that is shorter than the prior asks for.
    """
    base, new = (
        Observed(figure, number, side.wall_ns)
        for figure, number, side in zip(figures, events, diff.sides, strict=True)
    )
    return Judge.of_figure(prior).pair(base, new).told


def mostly(figures: tuple[float, float], *, left: tuple[float, float]) -> bool:
    """Tell whether most of what figures moved by is gone in those that are left.

    Both are of base and new; the latter are the former by something else that moved.
    What goes with that, by more than half of its factor, is no change of its own.
    """
    if min(*figures, *left) <= 0:
        return False
    whole, rest = (log(new / base) for base, new in (figures, left))
    return whole * (whole - rest) > 0 and abs(rest) < abs(whole) / 2


def varies(diff: TraceDiff, table: TableName, row: Hashable) -> bool:
    """Tell whether traces of one build may differ as much in a row as base and new.

    False with one trace a side, which does not tell.
    """
    change = diff.changes(table).get(row)
    return diff.several and not (change is not None and change.told)


def direction(base: float, new: float) -> Direction:
    """Return the direction of a cost that was `base` and is `new`."""
    return "worse" if new > base else "better" if new < base else "neutral"


def pair_of(diff: TraceDiff, base_ns: float, new_ns: float) -> tuple[float, float]:
    """Return raw times of both sides, scaled: ns a second, or an operation."""
    return diff.normalization.scaled(base_ns, new_ns)


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
    groups = side.groups
    return row >= 0 and bool(groups.system[row] or groups.tracing[row])


def runnable_ns(diff: TraceDiff, pair: GroupPair) -> tuple[int, int]:
    """Return how long both sides' goroutines of a root function were runnable."""
    base, new = (
        0 if row < 0 else int(side.groups.sched_wait_ns[row])
        for side, row in sides_of(diff, pair)
    )
    return base, new
