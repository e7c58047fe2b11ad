"""Which user tasks, or regions, of traces hold nearly all of a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.analysis.outcome.by_unit import user_times
from pprofdiff.analysis.policy import ENOUGH, MOST, NEARLY_ALL
from pprofdiff.analysis.traces.unit_time import (
    UnitKind,
    Within,
    starts,
    unit_kind,
    waiting_ns,
)

if TYPE_CHECKING:
    from pprofdiff.analysis.causes.off_cpu import Off
    from pprofdiff.analysis.comparison import Comparison
    from pprofdiff.analysis.traces.compare import TraceDiff

NONE = ("", "")


def unit_of_waits(diff: TraceDiff, places: Sequence[Off]) -> tuple[str, str]:
    """Return the kind and name of the tasks with nearly all of the change at places.

    Time outside all tasks counts. ("", "") if there are none. Of nested tasks of
    several names, the one with the least time there.
    """
    kind = unit_kind(diff)
    if kind is None:
        return NONE
    base, new = Counter[str](), Counter[str]()
    for total, side in zip(
        (base, new), _waiting_there(diff, kind, places), strict=True
    ):
        for at, ns in side:
            total[at.name] += ns
    delta = diff.normalization.delta
    whole = sum(delta(*off.times_ns) for off in places)
    parts = {name: delta(base[name], new[name]) for name in {*base, *new}}
    found = [name for name, ns in parts.items() if ns * whole > 0]
    found = [name for name in found if abs(parts[name]) >= NEARLY_ALL * abs(whole)]
    if not found:
        return NONE
    return kind, min(found, key=lambda name: (abs(parts[name]), name))


def _waiting_there(
    diff: TraceDiff, kind: UnitKind, places: Sequence[Off]
) -> Iterator[list[tuple[Within, int]]]:
    """Yield the time of each side at places of waiting, raw ns, within tasks."""
    for side, keys in zip(diff.sides, diff.identity.sides, strict=True):
        # Places have new's names, or base's where new lacks them.
        wanted = {
            (name, off.wait.reason, off.wait.call)
            for off in places
            for name in (off.wait.function, keys.function(off.wait.function))
        }
        yield [
            (at, ns)
            for at, ns in waiting_ns(side, kind).items()
            for name in (keys.function(at.wait.function),)
            if (name, at.wait.reason, at.wait.call) in wanted
        ]


class PerTask(NamedTuple):
    """How long complete tasks of a name wait at some places, and last: mean ns."""

    waits_ns: tuple[float, float]
    lasts_ns: tuple[float, float]

    @property
    def slows(self) -> bool:
        """Whether the wait is most of the change in how long they last."""
        waits, lasts = (new - base for base, new in self)
        return waits * lasts > 0 and abs(waits) >= MOST * abs(lasts)


def per_task(
    comparison: Comparison, unit: tuple[str, str], places: Sequence[Off]
) -> PerTask | None:
    """Return how long the tasks of a unit wait; None if there are too few."""
    diff, name = comparison.trace, unit[1]
    kind = None if diff is None else unit_kind(diff)
    if diff is None or kind is None:
        return None
    for one in user_times(comparison, kind):
        if one.name == name:
            base, new = (
                sum(ns for at, ns in side if at.whole and at.name == name) / number
                for side, number in zip(
                    _waiting_there(diff, kind, places), one.counts, strict=True
                )
            )
            old, now = (seconds * 1e9 for seconds in one.mean.means)
            return PerTask((base, new), (old, now))
    return None


def unit_of_starts(diff: TraceDiff, root: str) -> tuple[str, str]:
    """Return the kind and name of the tasks that start nearly all of a root function.

    ("", "") if there are none, or too few starts.
    """
    kind = unit_kind(diff)
    if kind is None:
        return NONE
    by_name: Counter[str] = Counter()
    for side in diff.sides:
        for (name, started), number in starts(side, kind).items():
            if started == root:
                by_name[name] += number
    for name, number in by_name.most_common(1):
        if name and number >= max(ENOUGH, NEARLY_ALL * by_name.total()):
            return kind, name
    return NONE
