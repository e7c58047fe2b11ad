"""What a search over commits found: for reports, and to read again."""

from __future__ import annotations

from typing import NamedTuple

from pprofdiff.analysis.bisection.search import Conclusion
from pprofdiff.model.source import Revision


class Point(NamedTuple):
    """A measured commit's figure ÷ that of the good end, with its 95% interval.

    `commit` is its number in `Bisection.commits`.
    """

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
    the refs as typed. `faster` is set if the search was for what became faster. `built`
    is the number of commits that were built. `stopped` says why the search ended early,
    "" if it did not.
    """

    commits: tuple[Revision, ...]
    ends: tuple[str, str]
    faster: bool
    curves: tuple[Curve, ...]
    skipped: tuple[Skipped, ...]
    built: int
    stopped: str = ""

    @property
    def culprits(self) -> tuple[int, ...]:
        """The commits that are named as single steps, those with most curves first."""
        found: dict[int, list[float]] = {}
        for curve in self.curves:
            if curve.conclusion.ending == "found":
                for step in curve.conclusion.steps:
                    if len(step.commits) == 1:
                        found.setdefault(step.commits[0], []).append(abs(step.size))
        return tuple(sorted(found, key=lambda c: (-len(found[c]), -max(found[c]))))
