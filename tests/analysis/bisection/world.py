"""Histories whose slow commits are known, and machines that measure them with noise.

How much turns and layouts differ is what CONTRIBUTING.md has measured.
"""

from __future__ import annotations

from math import log
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.bisection.search import Search, changed, chosen, most_builds
from pprofdiff.analysis.judge.totals import InTurns
from pprofdiff.analysis.policy import SAME_WITHIN

_TURNS, _ALIKE = 12, 4
# A build takes as long as this many rounds, as one of a small module does.
_BUILD_ROUNDS = 3.0
_ROUNDS, _BETWEEN = 20, 0.01


class Machine(NamedTuple):
    """How far readings differ: pairs of turns, builds by layout, and builds otherwise.

    All are deviations of logarithms.
    """

    turns: float
    layouts: float
    builds: float = 0.003


BUSY = Machine(0.18, 0.019)
QUIET = Machine(0.06, 0.037)


class Searched(NamedTuple):
    """How a search ended, the commits that were built, and the ones that were slow."""

    ending: str
    named: list[tuple[int, ...]]
    built: int
    slow: list[int]
    rounds: int

    @property
    def right(self):
        """Whether each slow commit was named, and no other."""
        return self.ending == "found" and self.named == [(one,) for one in self.slow]

    @property
    def wrong(self):
        """Whether something was named that is not so."""
        found = self.ending == "found" and any(
            not set(step) & set(self.slow) for step in self.named
        )
        return found or (self.ending == "drift" and len(self.slow) < 10)


def line(commits):
    """Return which commits each one of a history without merges contains."""
    contains = np.tri(commits + 1, commits + 1, dtype=bool)
    contains[:, 0] = False
    return contains


def merges(branches, of_branch):
    """Return the same of a history of branches, each merged before the next begins.

    The commit before a merge's first parent is on both sides of it.
    """
    count = branches * (of_branch + 2) + 1
    contains = np.zeros((count, count), bool)
    tip = 0
    for start in range(1, count, of_branch + 2):
        before, side, merge = (
            tip,
            range(start, start + of_branch),
            start + of_branch + 1,
        )
        for one, parent in zip(side, (before, *side), strict=False):
            contains[one] = contains[parent]
            contains[one, one] = True
        main = merge - 1
        contains[main] = contains[before]
        contains[main, main] = True
        contains[merge] = contains[main] | contains[side[-1]]
        contains[merge, merge] = True
        tip = merge
    return contains


def searched(seed, effects, machine=BUSY, contains=None, skipped=()):
    """Search a history for commits that slow by `effects`, at places drawn by `seed`."""
    rng = np.random.default_rng(seed)
    contains = line(64) if contains is None else contains
    last = len(contains) - 1
    slow = sorted(rng.choice(np.arange(1, last + 1), len(effects), False).tolist())
    sizes = np.zeros(last + 1)
    sizes[slow] = np.log1p(effects)
    levels = contains @ sizes + rng.normal(0, machine.builds, last + 1)
    turns = {}

    def measured(commit):
        pairs = turns.setdefault(commit, [])
        for _ in range(_TURNS // _ALIKE):
            layouts = rng.normal(0, machine.layouts * np.sqrt(2))
            pairs += (
                levels[commit] + layouts + rng.normal(0, machine.turns, _ALIKE)
            ).tolist()
        return InTurns([1.0] * len(pairs), np.exp(pairs).tolist(), _ALIKE, True).ratio()

    for rounds in range(1, _ROUNDS + 1):
        ends = measured(last)
        over = rounds == _ROUNDS
        known = changed([ends], SAME_WITHIN, last=over, rounds=rounds)
        if known is not None:
            break
    if known != [True] or log(ends.ratio) < 0:
        return Searched("none", [], 2, slow, rounds)
    search = Search(contains, _BETWEEN, _ROUNDS, skipped=set(skipped))
    search.add(last, ends, rounds)
    while True:
        posterior = search.posterior()
        over = search.conclusion(posterior)
        built = {0, *turns}
        gains = search.gains(posterior)
        if len(built) >= most_builds(last):
            gains = {commit: gain for commit, gain in gains.items() if commit in built}
        commit = None if over else chosen([gains], built, _BUILD_ROUNDS)
        if commit is None:
            over = over or search.undecided(posterior)
            named = [step.commits for step in over.steps]
            rounds = sum(map(len, turns.values())) // _TURNS
            return Searched(over.ending, named, len(built), slow, rounds)
        search.add(commit, measured(commit), len(turns[commit]) // _TURNS)
