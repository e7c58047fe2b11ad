"""Search the commits between two refs for the ones that changed a figure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import exp
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.bisection.result import Bisection, Curve, Point, Skipped
from pprofdiff.analysis.bisection.search import (
    Conclusion,
    Search,
    chosen,
    most_builds,
)
from pprofdiff.analysis.judge.calibration import LAYOUT_SIGMA
from pprofdiff.analysis.judge.student import NORMAL
from pprofdiff.errors import MeasureError, UsageError
from pprofdiff.inputs.sources.git import GitError, Repository
from pprofdiff.measure.against_good import AgainstGood
from pprofdiff.measure.figures import Figures
from pprofdiff.measure.goflags import GoTest
from pprofdiff.measure.search_state import Built, SearchState, search_state
from pprofdiff.measure.sides import SideName
from pprofdiff.model.arrays import Mask
from pprofdiff.model.source import Revision
from pprofdiff.units import printable

MOST_COMMITS = 10_000
"""More would need over 100 MB for which commit contains which."""
# Where orders of functions vary from turn to turn, their deviation is in the spread of
# turns; this is what other properties of a build may add.
_BETWEEN = 0.01


def history(
    repository: Repository,
    ends: tuple[str, str],
    warn: Callable[[str], None],
    *,
    first_parent: bool,
) -> tuple[Revision, ...]:
    """Return the good end, and the commits up to the bad one, after their parents.

    Raises UsageError for unknown refs, or if there are no commits between them.
    """
    good, bad = map(repository.commit, ends)
    first, last = map(printable, ends)
    if good == bad:
        raise UsageError(f"bisect: {first} and {last} are the same commit")
    parted = repository.merge_base(good, bad)
    if parted == bad:
        raise UsageError(
            f"bisect: {first} contains {last}: give the older one first, "
            f"pprofdiff bisect {last} {first}"
        )
    if parted != good:
        warn(
            f"{first} is not in the history of {last}: the search begins where they "
            f"diverged, at {parted[:9]}"
        )
    try:
        commits = repository.history((parted, bad), first_parent=first_parent)
    except GitError as error:
        raise UsageError(f"bisect: git: {error}") from None
    if len(commits) > MOST_COMMITS:
        raise UsageError(
            f"bisect: {len(commits) - 1:,} commits: name ends with at most "
            f"{MOST_COMMITS:,} between them, or follow --first-parent"
        )
    return commits


def contained(commits: Sequence[Revision]) -> Mask:
    """Return which commits each commit contains, as `posterior` takes it."""
    number = {commit.id: i for i, commit in enumerate(commits)}
    found = np.zeros((len(commits), len(commits)), np.bool_)
    for i, commit in enumerate(commits[1:], 1):
        found[i, i] = True
        for parent in commit.parents:
            if parent in number:
                found[i] |= found[number[parent]]
    found[:, 0] = False
    return found


def aside(commits: Sequence[Revision]) -> set[int]:
    """Return the commits that do not contain the good end, but are merged after it.

    They cannot be compared with it; what they change shows where they are merged.
    """
    after = {commits[0].id}
    for commit in commits[1:]:
        if not after.isdisjoint(commit.parents):
            after.add(commit.id)
    return {i for i, commit in enumerate(commits) if commit.id not in after}


class Question(NamedTuple):
    """What to search for, and how.

    `ends` are refs, the good one first; `words` are what `Bisection.question` has.
    `rounds` is the most that one commit is measured, `seconds` how long the search may
    take. `state` is the folder that keeps builds and runs of one search. `go_words` are
    what `asked` was parsed from.
    """

    ends: tuple[str, str]
    asked: GoTest
    words: str
    first_parent: bool
    rounds: int
    seconds: float | None
    profile_s: float
    state: str
    go_words: tuple[str, ...]


def _ignore(*_: object) -> None:
    """Do nothing."""


class Watcher(NamedTuple):
    """Receives progress; each callable may be left out.

    `began` gets the commits and how many are built at most, `ends` how figures differ
    at the bad end, `learned` a commit that was measured, its rounds, and the searches;
    `skipped` a commit and why. `doing` and `warn` get text.
    """

    doing: Callable[[str], None] = _ignore
    warn: Callable[[str], None] = _ignore
    began: Callable[[tuple[Revision, ...], int], None] = _ignore
    ends: Callable[[dict[str, Point]], None] = _ignore
    learned: Callable[[Revision, int, Mapping[str, Search]], None] = _ignore
    skipped: Callable[[Revision, str], None] = _ignore


class Bisected(NamedTuple):
    """What was found; `built` returns the builds of two commits, given by id."""

    found: Bisection
    asked: GoTest
    built: Callable[[str, str], dict[SideName, Built]]


@contextmanager
def bisected(
    question: Question, figures: Figures, watcher: Watcher
) -> Iterator[Bisected]:
    """Search, and yield what was found; temporary files are removed at the end.

    Raises UsageError without repository, ref, Go, benchmark or commits between the
    ends, or for the folder of another search; MeasureError if an end does not compile
    or run; FetchError if the folder cannot be written to; KeyboardInterrupt if the ends
    are not compared yet.
    """
    repository = Repository("", "bisect")
    commits = history(
        repository, question.ends, watcher.warn, first_parent=question.first_parent
    )
    follow = f"first-parent={question.first_parent}"
    ends = commits[0].id, commits[-1].id
    about = (*ends, question.words, follow, *question.go_words)
    with search_state(question.state, about) as state:
        listener = watcher.doing, watcher.warn
        measuring = AgainstGood(repository, commits[0].id, figures, state, listener)
        measuring.ask(question.asked, question.profile_s)
        run = _Run(question, figures, watcher, commits, (state, measuring))
        yield Bisected(run.found(), measuring.asked, measuring.pair)


class _Run:
    """One run of a search: decides what to measure, and when to end."""

    def __init__(
        self,
        question: Question,
        figures: Figures,
        watcher: Watcher,
        commits: tuple[Revision, ...],
        on: tuple[SearchState, AgainstGood],
    ) -> None:
        self._question = question
        self._figures = figures
        self._watcher = watcher
        self._commits = commits
        self._state, self._measuring = on
        self._began = time.monotonic()
        self._searches: dict[str, Search] = {}
        self._most = min(most_builds(len(commits) - 1), len(commits))

    def found(self) -> Bisection:
        self._watcher.began(self._commits, self._most)
        if self._state.chosen is None:
            self._compare_ends()
        noted = self._state.chosen or {}
        self._figures.chosen_before(noted)
        asked = self._figures.narrowed(self._question.asked)
        self._measuring.ask(asked, self._question.profile_s)
        contains = contained(self._commits)
        between = _BETWEEN if noted["vary"] else LAYOUT_SIGMA
        skipped = {
            i for i, c in enumerate(self._commits) if c.id in self._state.skipped
        }
        if not self._question.first_parent:
            skipped |= aside(self._commits)
        for name in self._figures.chosen():
            search = Search(contains, between, self._question.rounds)
            search.skipped |= skipped
            self._searches[name] = search
        for commit in self._measured():
            self._take(commit)
        return self._result(self._search())

    def _compare_ends(self) -> None:
        bad = self._commits[-1].id
        while True:
            rounds = self._state.rounds(bad)
            last = rounds >= self._question.rounds or self._late()
            out = self._state.out(bad)
            if rounds and self._figures.at_ends(out, rounds, last=last) is not None:
                break
            self._watcher.doing(f"comparing the ends, round {rounds + 1}")
            self._measuring.measure(bad)
        noted = {**self._figures.noted(), "vary": self._measuring.vary}
        self._state.choose(noted)
        at = len(self._commits) - 1
        self._watcher.ends(
            {
                self._figures.shown(name): Point(
                    at, one.ratio, one.low, one.high, rounds
                )
                for name, one in self._figures.at(out).items()
            }
        )

    def _search(self) -> str:
        """Measure commits until every search is over; return why if not."""
        try:
            while True:
                wanted = [
                    search.gains(known)
                    for search in self._searches.values()
                    if search.conclusion(known := search.posterior()) is None
                ]
                if not wanted:
                    return ""
                commit = self._next(wanted)
                if commit is None:
                    return "rounds"
                if self._late():
                    return "time"
                self._look(commit)
        except KeyboardInterrupt:
            return "interrupted"

    def _next(self, wanted: list[dict[int, float]]) -> int | None:
        built = {0, *self._measured()}
        if len(built) >= self._most:
            wanted = [{c: g for c, g in one.items() if c in built} for one in wanted]
        return chosen(wanted, built, self._measuring.build_rounds())

    def _look(self, commit: int) -> None:
        one = self._commits[commit]
        rounds = self._state.rounds(one.id)
        self._watcher.doing(f"measuring {one.short}, round {rounds + 1}")
        try:
            self._measuring.measure(one.id)
        except (MeasureError, UsageError) as error:
            reason = str(error).removeprefix("measure: ").removeprefix(f"{one.short}: ")
            self._state.skip(one.id, reason)
            for search in self._searches.values():
                search.skipped.add(commit)
            self._watcher.skipped(one, reason)
            return
        self._take(commit)
        self._watcher.learned(one, commit, self._searches)

    def _take(self, commit: int) -> None:
        own = self._commits[commit].id
        ratios = self._figures.at(self._state.out(own))
        for name, search in self._searches.items():
            if name in ratios:
                search.add(commit, ratios[name], self._state.rounds(own))
            else:
                search.skipped.add(commit)

    def _late(self) -> bool:
        limit = self._question.seconds
        return limit is not None and time.monotonic() - self._began > limit

    def _measured(self) -> list[int]:
        return [i for i, c in enumerate(self._commits) if self._state.rounds(c.id)]

    def _result(self, stopped: str) -> Bisection:
        number = {commit.id: i for i, commit in enumerate(self._commits)}
        return Bisection(
            self._commits,
            self._question.ends,
            self._question.words,
            tuple(
                Curve(
                    self._figures.shown(name),
                    self._figures.figure(),
                    _concluded(search),
                    tuple(_points(search)),
                )
                for name, search in self._searches.items()
            ),
            tuple(Skipped(number[c], why) for c, why in self._state.skipped.items()),
            len(self._measured()) + 1,
            stopped,
        )


def _concluded(search: Search) -> Conclusion:
    known = search.posterior()
    return search.conclusion(known) or search.undecided(known)


def _points(search: Search) -> Iterator[Point]:
    for commit, one in sorted(search.readings.items()):
        far = NORMAL.of_95 * one.sigma
        low, middle, high = (exp(one.value + way) for way in (-far, 0.0, far))
        yield Point(commit, middle, low, high, one.rounds)
