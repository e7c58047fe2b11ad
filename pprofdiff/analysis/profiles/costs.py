"""Cost per op of each run whose operations are known."""

from __future__ import annotations

from pprofdiff.analysis.profiles.diff import ProfileDiff

__all__ = ["costs_by_run"]


def costs_by_run(diff: ProfileDiff, number: int) -> dict[int, float]:
    """Return a side's raw value per op, by run number.

    `number` is 0 for base and 1 for new. Empty if the operations of a run are unknown,
    or a run has no value above 0.
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
