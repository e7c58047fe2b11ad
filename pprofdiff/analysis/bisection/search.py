"""Choose which commit to measure next, and decide when the search is over."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import ceil, log, log2
from typing import Literal, NamedTuple

import numpy as np

from pprofdiff.analysis.bisection.posterior import (
    MOST_STEPS,
    Floats,
    Ints,
    Posterior,
    Reading,
    posterior,
)
from pprofdiff.analysis.judge.student import normal, two_sided
from pprofdiff.analysis.judge.totals import Ratio
from pprofdiff.model.arrays import Mask

SURE = 0.98
"""The probability from which a commit is named: 95% is what a reader asks for, and less
than half of the rest is left to the model's own errors."""

ALONE = 0.9
"""The probability from which the named steps are all there are."""

FEWEST_ROUNDS = 5
"""Rounds of the ends before anything is concluded: fewer hardly show their spread."""

_LAST, _EARLY = 0.01, 0.001

Ending = Literal["found", "drift", "none", "undecided"]

# Parts with less chance of a step are not worth a measurement of their own.
_WORTH = 0.01
# Hypotheses that predictions are made for: the likeliest ones, and how many at most.
_LIKELY, _MANY = 1e-3, 48
# Points at which densities are compared, and how many deviations they reach beyond.
_POINTS, _BEYOND = 64, 4.0
# Whether a commit contains each of a hypothesis's steps: all combinations.
_WAYS = np.array(list(product((0.0, 1.0), repeat=MOST_STEPS)))


class Step(NamedTuple):
    """A step of `size` ± `sigma`: the commits that may have made it."""

    commits: tuple[int, ...]
    chance: float
    size: float
    sigma: float


class Conclusion(NamedTuple):
    """How a search ended: the steps that are sure, or else the likeliest places."""

    ending: Ending
    steps: tuple[Step, ...]
    chance: float


def most_builds(commits: int) -> int:
    """Return how many commits a search may build, its ends included."""
    return 2 * ceil(log2(max(commits, 2))) + 4


@dataclass(eq=False)
class Search:
    """The search for the commits that changed one figure.

    `contains` and `between` are as `posterior` takes them. `rounds` is the most that
    one commit is measured. Commits in `skipped` cannot be measured.
    """

    contains: Mask
    between: float
    rounds: int
    readings: dict[int, Reading] = field(default_factory=dict)
    skipped: set[int] = field(default_factory=set)

    def posterior(self) -> Posterior:
        """Return what the readings so far say."""
        # If runs do not vary, as in allocation counts, builds do not either.
        exact = not any(one.sigma for one in self.readings.values())
        return posterior(self.contains, self.readings, 0.0 if exact else self.between)

    def add(self, commit: int, ratio: Ratio, rounds: int) -> None:
        """Take the measurements of a commit so far, as its ratio to the good end."""
        self.readings[commit] = Reading(
            log(ratio.ratio), ratio.sigma, rounds, ratio.freedom
        )

    def conclusion(self, known: Posterior) -> Conclusion | None:
        """Return how the search ended, None if it has not."""
        if known.drift >= SURE:
            return Conclusion("drift", (), known.drift)
        if known.none >= SURE:
            return Conclusion("none", (), known.none)
        final = np.array([not self._splits(known, p) for p in _parts(known)])
        named = final & (known.inclusion >= SURE)
        if named.any() and known.only(named) >= ALONE:
            steps = _steps(known, np.flatnonzero(named))
            return Conclusion("found", steps, min(step.chance for step in steps))
        return None

    def undecided(self, known: Posterior) -> Conclusion:
        """Return the likeliest places, as few as hold the step with `SURE`."""
        order = np.argsort(-known.inclusion, kind="stable")
        sums = np.cumsum(known.inclusion[order])
        few = int(np.searchsorted(sums, SURE * sums[-1])) + 1
        steps = _steps(known, order[:few])
        return Conclusion("undecided", steps, max((s.chance for s in steps), default=0))

    def left(self, known: Posterior) -> int:
        """Return how many commits hold the steps with `SURE`."""
        steps = self.undecided(known).steps
        return sum(len(step.commits) for step in steps)

    def gains(self, known: Posterior) -> dict[int, float]:
        """Return the expected information (nats) of one more round, by commit."""
        rounds = [reading.rounds for reading in self.readings.values()]
        round_sigma = float(np.sqrt(np.mean(known.sigma**2 * rounds)))
        wanted = {
            row for row, one in self.readings.items() if one.rounds < self.rounds
        } - self.skipped
        for part in _parts(known):
            if known.inclusion[part] >= _WORTH:
                wanted.update(self._splits(known, part))
        likely = _Likely.of(known)
        return {one: likely.information(one, round_sigma) for one in sorted(wanted)}

    def _splits(self, known: Posterior, part: int) -> list[int]:
        """Return the commit that splits a part most evenly; empty if none can."""
        members = np.flatnonzero(known.part == part)
        if len(members) == 1:
            return []
        # A commit that splits a part contains some of it, so it is one of the part or
        # a merge after it.
        share = self.contains[:, members].mean(axis=1)
        uneven = np.abs(share - 0.5)
        uneven[[*self.skipped, *self.readings]] = 1.0
        best = int(uneven.argmin())
        return [best] if uneven[best] < 0.5 else []


def changed(
    ratios: Sequence[Ratio], least: float, *, last: bool, rounds: int
) -> list[bool] | None:
    """Return which figures changed between the ends; None if more rounds should show.

    The `last` look has a false alarm in one of a hundred searches, over all figures;
    earlier looks are ten times as strict, as each could raise one. A change by `least`
    or less, as a fraction, is none.
    """
    level = (_LAST if last else _EARLY) / len(ratios)
    found = [
        abs(one.ratio - 1) > least
        and float(
            two_sided(
                normal(np.array([log(one.ratio) / one.sigma]), np.array([one.freedom]))
            )[0]
        )
        < level
        for one in ratios
    ]
    if last or (rounds >= FEWEST_ROUNDS and any(found)):
        return found
    return None


def chosen(
    gains: Collection[Mapping[int, float]], built: Collection[int], build_rounds: float
) -> int | None:
    """Return the commit to measure next, None if none is left.

    It has the largest expected information over all figures for its cost: one round,
    and `build_rounds` if it was not built.
    """
    worth: dict[int, float] = {}
    for one in gains:
        for commit, gain in one.items():
            cost = 1.0 if commit in built else 1.0 + build_rounds
            worth[commit] = worth.get(commit, 0.0) + gain / cost
    return max(worth, key=lambda commit: worth[commit], default=None)


def _parts(known: Posterior) -> range:
    return range(known.steps.shape[1])


def _steps(known: Posterior, parts: Ints) -> tuple[Step, ...]:
    sizes, deviations = known.sizes()
    return tuple(
        sorted(
            Step(
                tuple(np.flatnonzero(known.part == part).tolist()),
                float(known.inclusion[part]),
                float(sizes[part]),
                float(deviations[part]),
            )
            for part in parts.tolist()
        )
    )


@dataclass(frozen=True, eq=False)
class _Likely:
    """The likeliest hypotheses, and what predicts a reading under each.

    `own` are the parts of each one's steps, -1 beyond the last: int64 of shape
    (hypotheses, MOST_STEPS). `inverse` are inverse covariances of the readings.
    """

    known: Posterior
    which: Ints
    chance: Floats
    own: Ints
    inverse: Floats

    @classmethod
    def of(cls, known: Posterior) -> _Likely:
        order = np.argsort(-known.chance, kind="stable")[:_MANY]
        which = order[known.chance[order] >= _LIKELY]
        own = np.full((len(which), MOST_STEPS), -1, np.int64)
        for i, h in enumerate(which.tolist()):
            parts = np.flatnonzero(known.steps[h])
            own[i, : len(parts)] = parts
        covariances = np.array([known.covariance(h) for h in which.tolist()])
        inverse: Floats = np.linalg.inv(covariances)
        chance = known.chance[which] / known.chance[which].sum()
        return cls(known, which, chance, own, inverse)

    def information(self, commit: int, round_sigma: float) -> float:
        """Return the mutual information of the hypothesis and one more round."""
        weight, mean, variance = self._predicted(commit, round_sigma)
        some = weight > _LIKELY / 10
        weight, mean, sigma = weight[some], mean[some], np.sqrt(variance[some])
        low = float((mean - _BEYOND * sigma).min())
        high = float((mean + _BEYOND * sigma).max())
        # Not evenly spaced: narrow densities need points where they are.
        grid = np.unique(
            np.concatenate(
                [
                    np.linspace(low, high, _POINTS),
                    (mean + sigma * np.linspace(-_BEYOND, _BEYOND, 9)[:, None]).ravel(),
                ]
            )
        )
        z = (grid - mean[:, None]) / sigma[:, None]
        each = np.exp(-0.5 * z**2) / (sigma[:, None] * np.sqrt(2 * np.pi))
        mixed = weight @ each
        with np.errstate(divide="ignore", invalid="ignore"):
            surprise = np.where(each > 0, each * np.log(each / mixed), 0.0)
        return max(float(np.trapezoid(weight @ surprise, grid)), 0.0)

    def _predicted(
        self, commit: int, round_sigma: float
    ) -> tuple[Floats, Floats, Floats]:
        """Return the weight, mean and variance of a reading, flat over hypotheses.

        A hypothesis counts once for each way in which the commit may contain its steps.
        """
        known = self.known
        parts = known.steps.shape[1]
        held = known.contains[commit, 1:]
        count = np.bincount(known.part[1:], minlength=parts)
        inside = np.bincount(known.part[1:], weights=held, minlength=parts)
        # The last column is for steps that a hypothesis lacks.
        share = np.append(inside / count, 0.0)
        signs = np.column_stack([known.signs, np.zeros(len(known.rows))])
        of_step = share[self.own][:, None, :]
        weight = self.chance[:, None] * np.where(_WAYS, of_step, 1 - of_step).prod(-1)
        marks = signs[:, self.own].transpose(1, 2, 0)
        between, span = known.between**2, known.span**2
        same = np.array([row == commit for row in known.rows])
        shared = between * (1.0 + same)
        across = shared + span * np.einsum("ws,hsr->hwr", _WAYS, marks)
        own = np.broadcast_to(
            2 * between + round_sigma**2 + span * _WAYS.sum(axis=1), weight.shape
        ).copy()
        self._add_drifts(commit, across, own)
        gain = np.einsum("hwr,hrq->hwq", across, self.inverse)
        mean = gain @ known.values
        variance = own - np.einsum("hwr,hwr->hw", gain, across)
        variance = np.maximum(variance, (round_sigma * 1e-3) ** 2)
        return weight.ravel(), mean.ravel(), variance.ravel()

    def _add_drifts(self, commit: int, across: Floats, own: Floats) -> None:
        """Add what the two drifts have in place of steps."""
        known = self.known
        rows = known.contains[list(known.rows)][:, 1:].astype(np.float64)
        held = known.contains[commit, 1:].astype(np.float64)
        count = len(held)
        first = len(known.chance) - 2
        for i, h in enumerate(self.which.tolist()):
            if h == first:
                across[i] += known.span**2 * (rows @ held) / count
                own[i] += known.span**2 * held.sum() / count
            elif h > first:
                along = held.sum() / count
                across[i] += known.span**2 * along * rows.sum(axis=1) / count
                own[i] += known.span**2 * along**2
