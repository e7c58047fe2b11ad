"""What it takes to decide a rule whose limit lies inside the figure's interval."""

from __future__ import annotations

from math import log

from pprofdiff.analysis.gate.limits import Limit
from pprofdiff.analysis.gate.measures import Figure
from pprofdiff.analysis.judge.power import MOST_RUNS, times_as_many, wanted_runs

__all__ = ["needs"]

_SEVERAL = (
    "one run per side does not show how far runs differ: measure several, in turns "
    "(pprofdiff measure, or a folder per run)"
)


def needs(figure: Figure, limit: Limit, allowed: float) -> str:
    """Return what it takes to decide, as text without a full stop.

    An interval narrows with the square root of the runs, or samples. It has to end at
    the limit, which is `allowed` above base in the figure's unit.
    """
    if figure.by_ratio and figure.runs == 1:
        return _SEVERAL
    if not figure.runs or figure.worse is None:
        return "more runs like these would not decide"
    wanted = wanted_runs(figure.runs, _times(figure.worse, figure, allowed))
    if wanted is None:
        return _too_little(figure, limit)
    if figure.runs == 1 and figure.assumed:
        return _SEVERAL
    if figure.runs == 1:
        return f"to decide, take {wanted} times the samples: longer profiles, or more"
    return f"to decide, take about {wanted} runs per side, in turns"


def _times(worse: tuple[float, float], figure: Figure, allowed: float) -> float:
    """Return the factor by which the number of runs must grow to decide."""
    places = [*worse, figure.change, allowed]
    if figure.by_ratio and min(places) > -figure.base:
        places = [log(1 + place / figure.base) for place in places]
    low, high, change, limit = places
    reach = high - change if limit > change else change - low
    return times_as_many(reach, limit - change)


def _too_little(figure: Figure, limit: Limit) -> str:
    """Return why no practical number of runs would decide."""
    if limit.relative and not figure.by_ratio and figure.unit != "pp":
        return (
            f"over {MOST_RUNS} times the samples are needed: hold small rows against a "
            "limit in percentage points, such as +1pp"
        )
    return (
        f"over {MOST_RUNS} runs per side are needed: the change is too near the limit"
    )
