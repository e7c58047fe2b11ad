"""Durations of user tasks and regions in traces, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from pprofdiff.analysis.busy import clock_sigma
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.judge.totals import Ratio, ratio_of_runs, ratio_of_sums
from pprofdiff.analysis.judge.turns import all_paired

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.side import TraceSide
    from pprofdiff.analysis.traces.tasks import Durations

__all__ = ["Named", "UserTime", "user_times"]

Named = Literal["task", "region"]

# With fewer complete tasks on a side, their mean duration is too uncertain.
_FEW_TASKS = 20


class UserTime(NamedTuple):
    """User tasks, or regions, of one name on both sides.

    `seconds` are mean durations and `counts` complete tasks, as (base, new); `runs` is
    the number of traces a side, `by_run` whether `ratio` is computed over them.
    """

    name: str
    counts: tuple[int, int]
    seconds: tuple[float, float]
    ratio: Ratio
    runs: tuple[int, int]
    by_run: bool


def user_times(comparison: Comparison, kind: Named) -> list[UserTime]:
    """Return the tasks or regions that both sides have often, most frequent first."""
    trace = comparison.trace
    if trace is None:
        return []

    def of(side: TraceSide) -> Durations:
        return side.tasks if kind == "task" else side.regions

    sides = [of(side) for side in trace.sides]
    old, now = (
        dict(zip(side.name, side.complete.tolist(), strict=True)) for side in sides
    )
    counts = {name: (old[name], now[name]) for name in old if name in now and name}
    clock = clock_sigma(comparison)
    found = []
    for name, both in counts.items():
        quantiles = [side.durations.row(name) for side in sides]
        base, new = (one.total_ns / max(one.count, 1) / 1e9 for one in quantiles)
        if min(both) < _FEW_TASKS or min(base, new) <= 0:
            continue
        ratio, runs = ratio_of_sums(base, new, prior_sigma=clock), (1, 1)
        if trace.several:
            parts = [
                [of(p).durations.row(name) for p in side.parts] for side in trace.sides
            ]
            old_runs, new_runs = (
                [[one.total_ns / one.count] for one in side if one.total_ns]
                for side in parts
            )
            in_turns = all_paired(old_runs, new_runs, comparison.pairs)
            ratio = ratio_of_runs(old_runs, new_runs, clock, in_turns=in_turns)
            runs = len(old_runs), len(new_runs)
        found.append(UserTime(name, both, (base, new), ratio, runs, trace.several))
    found.sort(key=lambda one: (min(one.counts), one.name), reverse=True)
    return found
