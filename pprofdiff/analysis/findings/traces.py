"""What rules about traces share: what is more than chance, and words for times."""

from __future__ import annotations

from collections.abc import Hashable
from math import inf
from typing import TYPE_CHECKING

from pprofdiff.analysis.findings.model import Direction, Fact
from pprofdiff.analysis.findings.wording import arrow
from pprofdiff.analysis.stats.calibration import Prior
from pprofdiff.analysis.stats.judge import Judge
from pprofdiff.analysis.stats.judgement import Observed

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import GroupPair, TraceDiff
    from pprofdiff.analysis.traces.side import TraceSide
    from pprofdiff.analysis.traces.tables import TableName

__all__ = [
    "beyond",
    "cycles_tell",
    "direction",
    "foreign",
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
