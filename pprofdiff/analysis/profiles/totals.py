"""The ratio of two sides' totals by operation: one figure, wherever it is asked for.

The outcome's headline, the mark of the total and the gate's rule on it take it from
here, so that none says what another denies.
"""

from __future__ import annotations

from typing import NamedTuple

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.runs.costs import costs_by_run
from pprofdiff.analysis.stats.control import control
from pprofdiff.analysis.stats.totals import (
    Ratio,
    mean_of_runs,
    ratio_of_figure,
    ratio_of_runs,
    ratio_of_sums,
)
from pprofdiff.analysis.stats.turns import InTurns

__all__ = [
    "TotalRatio",
    "ratio_about",
    "ratio_of_totals",
    "total_noise",
    "total_of_turns",
]

_Costs = list[list[float]]


class TotalRatio(NamedTuple):
    """The ratio of totals by operation, and the profiles that each side is the sum of.

    `by_run` says whether what an operation costs is known of each of them. `means` are
    what it costs on either side: of runs that are known, their geometric means. Of
    turns, `low` and `high` of `ratio` are its 99 % interval, as in the outcome.
    """

    ratio: Ratio
    means: tuple[float, float]
    runs: tuple[int, int]
    by_run: bool


def ratio_of_totals(diff: ProfileDiff) -> TotalRatio | None:
    """Return how many times base's time an operation takes in new.

    Time is that of the CPU, or of the wall. None where the work is not known, a side is
    empty, or other values are compared: sampled counts say how sure those are.
    """
    timed = diff.is_cpu or diff.is_wall
    if diff.normalization.mode != "per_work" or not timed or min(diff.totals) <= 0:
        return None
    if diff.turns is not None:
        return total_of_turns(diff.turns)
    runs = len(diff.base.runs), len(diff.new.runs)
    costs = _cost_by_run(diff)
    if costs is None:
        sides = diff.normalization.scaled(*diff.totals)
        return TotalRatio(ratio_of_sums(*sides, runs), sides, runs, by_run=False)
    means = mean_of_runs(costs[0]), mean_of_runs(costs[1])
    ratio = ratio_of_runs(*costs, in_turns=diff.in_turns)
    return TotalRatio(ratio, means, runs, by_run=True)


def ratio_about(diff: ProfileDiff) -> TotalRatio | None:
    """Return how many times base's time about the same work takes in new.

    None where that is not how sides are compared.
    """
    by = diff.normalization
    if by.mode != "about" or not (diff.is_cpu or diff.is_wall):
        return None
    sides, runs = by.scaled(*diff.totals), (len(diff.base.runs), len(diff.new.runs))
    found = control(diff)
    if found is not None and found.shows_work:
        ratio = found.of_cost
    else:
        ratio = ratio_of_sums(*sides, runs, scale_sigma=by.sigma)
    return TotalRatio(ratio, sides, runs, by_run=False)


def total_of_turns(turns: InTurns) -> TotalRatio:
    """Return the ratio of what an operation costs, of sides measured in turns."""
    base, new = turns.base, turns.new
    ratio = ratio_of_figure(turns)
    low, high = ratio.wide
    means = mean_of_runs([[one] for one in base]), mean_of_runs([[one] for one in new])
    runs = len(base), len(new)
    return TotalRatio(ratio._replace(low=low, high=high), means, runs, by_run=True)


def _cost_by_run(diff: ProfileDiff) -> tuple[_Costs, _Costs] | None:
    """Return each run's total by operation, None where a run's work is not known."""
    sides = [costs_by_run(diff, number) for number in (0, 1)]
    if not all(sides):
        return None
    base, new = ([[cost] for cost in side.values()] for side in sides)
    return (base, new) if max(len(base), len(new)) > 1 else None


def total_noise(diff: ProfileDiff) -> bool | None:
    """Return whether chance explains how far the totals moved.

    Time by operation is no sum of independent samples: the machine moves it as a whole,
    so that runs of one build decide. None where nothing tells; shares have no total.
    """
    if diff.normalization.mode == "composition":
        return None
    told = ratio_of_totals(diff) or ratio_about(diff)
    if told is not None:
        return told.ratio.low <= 1 <= told.ratio.high
    judged = diff.judge_runs(diff.whole)
    return None if judged is None else bool(judged.noise[0])
