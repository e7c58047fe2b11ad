"""How many more runs, or samples, it takes to make a change significant."""

from __future__ import annotations

from math import ceil, inf

__all__ = ["MOST_RUNS", "times_as_many", "wanted_runs"]

MOST_RUNS = 200
"""The most runs per side, or times as long a profile, worth suggesting."""


def times_as_many(reach: float, goal: float) -> float:
    """Return the factor by which runs, or samples, must grow to narrow an interval.

    `reach` is how far the interval extends on the side in question, `goal` how far it
    may: it narrows with the square root of the count. Infinite for no `goal`.
    """
    return (reach / goal) ** 2 if goal and reach < inf else inf


def wanted_runs(have: int, times: float) -> int | None:
    """Return how many runs per side to suggest, None above `MOST_RUNS`."""
    if have * times > MOST_RUNS:
        return None
    return max(ceil(have * times), have + 1)
