"""The unit and decimals in which a comparison's scaled numbers are written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.units import Scale, scale_for

__all__ = [
    "MODES",
    "in_words",
    "mode_in_words",
    "scale_of",
    "scaled_totals",
    "unit_words",
]

MODES: Final = {
    "absolute": "absolute",
    "per_second": "per second",
    "per_work": "per operation",
    "share": "new scaled to base",
}
"""What scaled numbers are, by `Normalization.mode`."""

_NANOSECONDS = ("nanoseconds", "ns")


def scale_of(diff: ProfileDiff) -> Scale:
    """Return the scale for all scaled numbers of a comparison, chosen by its totals."""
    values, by = scaled_totals(diff), diff.normalization
    if _is_time_per_second(diff):
        return Scale(1e9, "cores" if diff.is_cpu else "s/s", _decimals(values, 1e9))
    scale = scale_for(values, diff.unit)
    suffix = {"per_second": "/s", "per_work": "/op"}.get(by.mode, "")
    return scale._replace(
        unit=(scale.unit or diff.sample_type.type) + suffix,
        decimals=_decimals(values, scale.size) if suffix or scale.size != 1 else 0,
    )


def _decimals(values: Iterable[float], size: float) -> int:
    """Return decimals that show a thousandth of the largest value."""
    top = max((abs(v) for v in values), default=0.0) / size
    return 3 if top < 10 else 2 if top < 100 else 1


def scaled_totals(diff: ProfileDiff) -> tuple[float, float]:
    """Return the totals of base and new after scaling."""
    return diff.normalization.scaled(*diff.totals)


def unit_words(diff: ProfileDiff) -> str:
    """Return the unit of scaled numbers and its meaning: ``cores (CPU seconds …)``."""
    return f"{scale_of(diff).unit} ({_meaning(diff)})"


def in_words(diff: ProfileDiff) -> str:
    """Return what the numbers are in, and why: ``in cores (CPU seconds …)``."""
    return f"in {scale_of(diff).unit} ({mode_in_words(diff)})"


def mode_in_words(diff: ProfileDiff) -> str:
    """Return how the sides were made comparable, and why this way."""
    return f"{_meaning(diff)}; {diff.normalization.reason}"


def _meaning(diff: ProfileDiff) -> str:
    if _is_time_per_second(diff):
        return "CPU seconds per second" if diff.is_cpu else "seconds waited per second"
    return MODES[diff.normalization.mode]


def _is_time_per_second(diff: ProfileDiff) -> bool:
    return diff.normalization.mode == "per_second" and diff.unit in _NANOSECONDS
