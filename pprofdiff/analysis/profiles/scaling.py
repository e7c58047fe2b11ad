"""The unit and decimals in which a comparison's scaled numbers are written."""

from __future__ import annotations

from collections.abc import Iterable

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.units import Scale, scale_for

__all__ = ["in_words", "mode_in_words", "scale_of"]

_NANOSECONDS = ("nanoseconds", "ns")


def scale_of(diff: ProfileDiff) -> Scale:
    """Return the scale for all scaled numbers of a comparison, chosen by its totals."""
    by = diff.normalization
    values = by.scaled(*diff.totals)
    if by.mode == "per_second" and diff.unit in _NANOSECONDS:
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


def in_words(diff: ProfileDiff) -> str:
    """Return what the numbers are in, and why: ``in cores (CPU seconds …)``."""
    return f"in {scale_of(diff).unit} ({mode_in_words(diff)})"


def mode_in_words(diff: ProfileDiff) -> str:
    """Return how the sides were made comparable, and why this way."""
    by, scale = diff.normalization, scale_of(diff)
    meaning = {
        "cores": "CPU seconds per second",
        "s/s": "seconds waited per second",
    }.get(scale.unit)
    mode = {
        "absolute": "absolute",
        "per_second": "per second",
        "per_work": "per operation",
        "share": "new scaled to base",
    }[by.mode]
    return f"{meaning or mode}; {by.reason}"
