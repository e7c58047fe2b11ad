"""The ratio of two sides' totals per op.

The outcome, the mark on the total and the gate's rule for it all use it, so that they
cannot contradict each other.
"""

from __future__ import annotations

from typing import NamedTuple

from pprofdiff.analysis.control.estimate import control
from pprofdiff.analysis.judge.totals import (
    InTurns,
    Ratio,
    mean_of_runs,
    ratio_of_runs,
    ratio_of_sums,
)
from pprofdiff.analysis.profiles.diff import ProfileDiff


def costs_by_run(diff: ProfileDiff, number: int) -> dict[int, float]:
    """Return the raw value per op of a side (0: base, 1: new), by run number.

    Empty if the operations of a run are unknown, or a run has no value above 0.
    """
    side, done = (diff.base, diff.new)[number], diff.exposures[number]
    column = (diff.base_column, diff.new_column)[number]
    totals = side.by_run[:, :, column].sum(axis=0)
    if done is None or len(done) != len(totals) or min(totals) <= 0:
        return {}
    sums: dict[int, tuple[float, float]] = {}
    for capture, value, operations in zip(
        side.runs, totals.tolist(), done.tolist(), strict=True
    ):
        before = sums.get(capture.run, (0.0, 0.0))
        sums[capture.run] = before[0] + value, before[1] + operations
    return {run: value / operations for run, (value, operations) in sums.items()}


class TotalRatio(NamedTuple):
    """The ratio of totals per op, and how many runs each side has.

    `by_run` says whether the cost per op of each run is known: then `means` are
    geometric. For interleaved runs, `ratio` has its 99% interval, as in the outcome.
    """

    ratio: Ratio
    means: tuple[float, float]
    runs: tuple[int, int]
    by_run: bool


def ratio_of_totals(diff: ProfileDiff) -> TotalRatio | None:
    """Return the ratio of CPU or wall time per op, new to base.

    None if the work is unknown, a side is empty, or other values are compared, whose
    uncertainty follows from sample counts.
    """
    timed = diff.is_cpu or diff.is_wall
    if diff.normalization.mode != "per_work" or not timed or min(diff.totals) <= 0:
        return None
    if diff.turns is not None:
        return total_of_turns(diff.turns)
    runs = len(diff.base.runs), len(diff.new.runs)
    sides_of = (costs_by_run(diff, number) for number in (0, 1))
    base, new = ([[cost] for cost in side.values()] for side in sides_of)
    if not (base and new) or max(len(base), len(new)) == 1:
        sides = diff.normalization.scaled(*diff.totals)
        return TotalRatio(ratio_of_sums(*sides, runs), sides, runs, by_run=False)
    means = mean_of_runs(base), mean_of_runs(new)
    ratio = ratio_of_runs(base, new, in_turns=diff.in_turns)
    return TotalRatio(ratio, means, runs, by_run=True)


def ratio_about(diff: ProfileDiff) -> TotalRatio | None:
    """Return the ratio of times for about the same work, if compared that way."""
    by = diff.normalization
    if by.mode != "about" or not (diff.is_cpu or diff.is_wall):
        return None
    sides, runs = by.scaled(*diff.totals), (len(diff.base.runs), len(diff.new.runs))
    found = control(diff)
    if found is not None and found.shows_work:
        ratio = found.cost
    else:
        ratio = ratio_of_sums(*sides, runs, scale_sigma=by.sigma)
    return TotalRatio(ratio, sides, runs, by_run=False)


def total_of_turns(turns: InTurns) -> TotalRatio:
    """Return the ratio of the cost per op of sides measured in interleaved rounds.

    Its interval is at 99%. With too few rounds only a large change has one.
    """
    base, new = turns.base, turns.new
    ratio = turns.ratio()
    if turns.few:
        ratio = ratio.of_few(len(turns.base))
    low, high = ratio.wide
    means = mean_of_runs([[one] for one in base]), mean_of_runs([[one] for one in new])
    runs = len(base), len(new)
    return TotalRatio(ratio._replace(low=low, high=high), means, runs, by_run=True)


def total_noise(diff: ProfileDiff) -> bool | None:
    """Return whether the change of the totals is within noise.

    Time per op is not a sum of independent samples: the machine shifts all of it, so
    runs of one build decide. None if not tested; shares have no total.
    """
    if diff.normalization.mode == "composition":
        return None
    total = ratio_of_totals(diff) or ratio_about(diff)
    if total is not None:
        return total.ratio.low <= 1 <= total.ratio.high
    judged = diff.judge_runs(diff.whole)
    return None if judged is None else bool(judged.noise[0])
