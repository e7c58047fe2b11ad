"""Functions that changed in each group of a fleet: everywhere, or in one region."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.judge.judgement import Judgement
from pprofdiff.analysis.profiles.compare import compare_sides
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.kinds import is_cpu
from pprofdiff.analysis.settings import Settings
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.side import Capture, Side

Captures = tuple[Capture[Profile], ...]


class GroupValue(NamedTuple):
    """A function's raw flat value in a group, and whether its change is noise."""

    base: int
    new: int
    noise: bool | None


@dataclass(frozen=True, eq=False)
class GroupDiff:
    """The CPU of one group of both fleets compared, as shares of its total.

    `diff` is None if a side does not have the group. Functions are compared by flat
    value, judged once.
    """

    name: str
    hosts: tuple[int, int]
    diff: ProfileDiff | None

    def moved(self, most: int | None = None) -> list[str]:
        """Return the functions that changed significantly, largest change first."""
        judged = self._judged
        if self.diff is None or judged is None:
            return []
        order: NDArray[np.int64] = np.argsort(-np.abs(judged.delta), kind="stable")
        names = self.diff.table("functions").names
        return [names[row] for row in order[~judged.noise[order]][:most].tolist()]

    def value(self, function: str) -> GroupValue:
        """Return a function's value, 0 on both sides if neither has it."""
        row = self._rows.get(function)
        if self.diff is None or row is None:
            return GroupValue(0, 0, None)
        base, new = self.diff.table("functions").raw("flat")
        judged = self._judged
        noise = None if judged is None else bool(judged.noise[row])
        return GroupValue(int(base[row]), int(new[row]), noise)

    @cached_property
    def _judged(self) -> Judgement | None:
        return None if self.diff is None else self.diff.table("functions").judge("flat")

    @cached_property
    def _rows(self) -> dict[str, int]:
        """The first row of each name."""
        names = [] if self.diff is None else self.diff.table("functions").names
        return {names[row]: row for row in reversed(range(len(names)))}


def moved_in_any(groups: Iterable[GroupDiff]) -> list[str]:
    """Return the functions that changed significantly in any group, each once."""
    return list(dict.fromkeys(name for group in groups for name in group.moved()))


def group_diffs(comparison: Comparison) -> Iterator[GroupDiff]:
    """Yield the CPU of two fleets, all ("") and by group; nothing without groups."""
    base, new = comparison.base.fleet, comparison.new.fleet
    if base is None or new is None or not (base.groups or new.groups):
        return
    whole = _of_cpu(comparison, comparison.base.captures, comparison.new.captures)
    if whole is None:
        return
    hosts = len(base.of("cpu")), len(new.of("cpu"))
    yield GroupDiff("", hosts, whole)
    for group in sorted({*base.groups, *new.groups}):
        here = base.groups.get(group), new.groups.get(group)
        old, now = (0 if one is None else one.hosts for one in here)
        diff = None
        if here[0] is not None and here[1] is not None:
            diff = _of_cpu(comparison, here[0].captures, here[1].captures)
        yield GroupDiff(group, (old, now), diff)


def _of_cpu(
    comparison: Comparison, base: Captures, new: Captures
) -> ProfileDiff | None:
    """Return the CPU of some captures compared by shares; None if a side has none."""
    old, current = (
        Side(side.label, tuple(c for c in captures if is_cpu(c.content)))
        for side, captures in ((comparison.base, base), (comparison.new, new))
    )
    how = Settings(identity=comparison.identity, same_hosts=comparison.same_hosts > 0)
    diffs = compare_sides(old, current, how)
    return diffs[0] if diffs else None
