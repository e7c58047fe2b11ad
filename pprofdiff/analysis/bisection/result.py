"""What a search over commits found: for reports, and to read again."""

from __future__ import annotations

from typing import NamedTuple

from pprofdiff.analysis.bisection.search import Conclusion, Step
from pprofdiff.model.source import Revision


class Point(NamedTuple):
    """A measured commit's figure ÷ the good end's, with its 95% interval."""

    commit: int
    ratio: float
    low: float
    high: float
    rounds: int


class Curve(NamedTuple):
    """One figure over the history: what was measured, and what that shows.

    `name` is a benchmark, or a rule of the gate; `figure` is what was measured of it,
    such as time/op, "" for what the rule measures. `points` are in the order of
    commits.
    """

    name: str
    figure: str
    conclusion: Conclusion
    points: tuple[Point, ...]


class Skipped(NamedTuple):
    """A commit that cannot be measured, and why."""

    commit: int
    reason: str


class Bisection(NamedTuple):
    """A search over the commits between two refs.

    `commits` are the good end, then all candidates, each after its parents; `ends` are
    the refs as typed. `question` is what was searched for: ``slower``, ``faster``, or
    rules of the gate. `built` is the number of commits that were built. `stopped` says
    why the search ended early, "" if it did not.
    """

    commits: tuple[Revision, ...]
    ends: tuple[str, str]
    question: str
    curves: tuple[Curve, ...]
    skipped: tuple[Skipped, ...]
    built: int
    stopped: str = ""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps that were found, by most curves first, then by size."""
        found: dict[tuple[int, ...], list[Step]] = {}
        for curve in self.curves:
            if curve.conclusion.ending == "found":
                for step in curve.conclusion.steps:
                    found.setdefault(step.commits, []).append(step)
        alike = sorted(found.values(), key=lambda some: (-len(some), -_size(some[0])))
        return tuple(max(some, key=_size) for some in alike)

    @property
    def compared(self) -> tuple[int, int]:
        """The commits to compare: around the first of `steps`, else both ends."""
        if not self.steps:
            return 0, len(self.commits) - 1
        number = {commit.id: i for i, commit in enumerate(self.commits)}
        without = {*self.steps[0].commits, *(one.commit for one in self.skipped)}
        base = new = self.steps[0].commits[-1]
        while base in without:
            base = number.get(self.commits[base].parents[0], 0)
        return base, new


def _size(step: Step) -> float:
    return abs(step.size)
