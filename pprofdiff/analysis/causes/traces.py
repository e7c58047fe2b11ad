"""What rules on traces share: tests of significance, and times in words."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from math import inf, log
from typing import TYPE_CHECKING

from pprofdiff.analysis.causes.finding import Direction, Fact
from pprofdiff.analysis.causes.wording import arrow
from pprofdiff.analysis.judge.calibration import SHARE, Prior
from pprofdiff.analysis.judge.judge import change_by_prior, enough_events
from pprofdiff.analysis.judge.judgement import Observed

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import GroupPair, TraceDiff
    from pprofdiff.analysis.traces.side import TraceSide


def enough_cycles(diff: TraceDiff) -> bool:
    """Return whether traces hold enough GC cycles to say that GC changed."""
    base, new = (side.collections.started for side in diff.sides)
    return enough_events(base, new)


def collecting(diff: TraceDiff) -> tuple[float, float] | None:
    """Return GC's shares of capacity, base and new; None if they did not change.

    A program that does less work collects less: where the work is unknown, a share that
    falls mostly as goroutines run less is not a change of GC.
    """
    base, new = (side.collections.gc_fraction for side in diff.sides)
    if base is None or new is None or not enough_cycles(diff):
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
    """Return whether figures, base and new, differ more than runs of one build do.

    `events` are how many events the figures rest on: too few show nothing, and
    neither does a trace shorter than the prior requires.
    """
    base, new = (
        Observed(figure, number, side.wall_ns)
        for figure, number, side in zip(figures, events, diff.sides, strict=True)
    )
    return change_by_prior(prior, base, new).significant


def mostly(figures: tuple[float, float], *, left: tuple[float, float]) -> bool:
    """Return whether most of a change in `figures` is gone in those that are `left`.

    `left` is `figures` relative to something else that changed: if more than half of
    the log ratio is gone, it is not a change of its own.
    """
    if min(*figures, *left) <= 0:
        return False
    whole, rest = (log(new / base) for base, new in (figures, left))
    return whole * (whole - rest) > 0 and abs(rest) < abs(whole) / 2


def varies(diff: TraceDiff, table: str, row: Hashable) -> bool:
    """Return whether traces of one build may differ as much in a row as the sides do.

    False with one trace a side.
    """
    change = diff.changes(table).get(row)
    return diff.several and not (change is not None and change.significant)


def direction(base: float, new: float) -> Direction:
    """Return the direction of a cost that was `base` and is `new`."""
    return "worse" if new > base else "better" if new < base else "neutral"


def pair_of(diff: TraceDiff, base_ns: float, new_ns: float) -> tuple[float, float]:
    """Return raw times of both sides, scaled: ns per second, or per op."""
    return diff.normalization.scaled(base_ns, new_ns)


def per(diff: TraceDiff) -> str:
    """Return the unit that times are scaled by."""
    return "per second" if diff.rates is None else "per op"


def scaled(diff: TraceDiff, base_ns: float, new_ns: float) -> str:
    """Return raw times as ``base → new``, scaled as in the comparison."""
    return f"{arrow(*pair_of(diff, base_ns, new_ns), 'ns')} {per(diff)}"


def time_fact(what: str, base_ns: float | None, new_ns: float | None) -> Fact:
    """Return raw times of the traces as evidence."""
    return Fact(what, "trace", base_ns, new_ns, "ns")


def sides_of(diff: TraceDiff, pair: GroupPair) -> list[tuple[TraceSide, int]]:
    """Return each side with the row of a group there."""
    return list(zip(diff.sides, (pair.base, pair.new), strict=True))


def foreign(side: TraceSide, row: int) -> bool:
    """Return whether goroutines are not the program's; False for row -1."""
    groups = side.groups
    return row >= 0 and bool(groups.system[row] or groups.tracing[row])


def own_groups(diff: TraceDiff) -> Iterator[GroupPair]:
    """Yield the program's root functions."""
    for pair in diff.groups:
        if not any(foreign(side, row) for side, row in sides_of(diff, pair)):
            yield pair


def of_tracer(diff: TraceDiff, pair: GroupPair) -> bool:
    """Return whether a function's goroutines exist only because of the trace."""
    return any(
        row >= 0 and bool(side.groups.tracing[row])
        for side, row in sides_of(diff, pair)
    )


def group_ns(diff: TraceDiff, pair: GroupPair, column: str) -> tuple[int, int]:
    """Return a time of a root function's goroutines (ns), base and new.

    `column` is one of `Groups`. 0 where a side lacks the function.
    """
    base, new = (
        0 if row < 0 else int(getattr(side.groups, column)[row])
        for side, row in sides_of(diff, pair)
    )
    return base, new


def runnable_ns(diff: TraceDiff, pair: GroupPair) -> tuple[int, int]:
    """Return how long (ns) a root function's goroutines were runnable, base and new."""
    return group_ns(diff, pair, "sched_wait_ns")
