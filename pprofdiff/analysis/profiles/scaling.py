"""Units and decimals for a comparison's scaled numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.kinds import is_counted
from pprofdiff.units import Scale, clipped, scale_for

MODES: Final = {
    "absolute": "absolute",
    "per_second": "per second",
    "per_work": "per op",
    "share": "new scaled to base",
    "composition": "share of each side's total",
    "about": "new scaled to about equal work",
}
"""What scaled numbers mean, by `Normalization.mode`."""

# Plurals of sample types that name one item.
_COUNTED = {
    "alloc_objects": "objects",
    "goroutine": "goroutines",
    "goroutineleak": "leaked goroutines",
    "inuse_objects": "objects",
    "threadcreate": "threads",
}
_SUFFIXES = {"per_second": "/s", "per_work": "/op"}
_NANOSECONDS = ("nanoseconds", "ns")


def scale_of(diff: ProfileDiff) -> Scale:
    """Return the scale for all scaled numbers of a comparison, based on its totals."""
    values, mode = diff.normalization.scaled(*diff.totals), diff.normalization.mode
    noun = diff.name if is_counted(diff.new.profile) else diff.sample_type.type
    scale = scale_in_mode(values, diff.unit, mode, cpu=diff.is_cpu, noun=noun)
    if mode == "composition":
        return scale
    exact = scale.size == 1 and mode not in _SUFFIXES
    return scale._replace(decimals=0 if exact else _decimals(values, scale.size))


def change_scale_of(diff: ProfileDiff) -> Scale:
    """Return the scale for a difference shown by itself: shares differ by points."""
    scale = scale_of(diff)
    points = diff.normalization.mode == "composition"
    return scale._replace(unit="pp") if points else scale


def scale_in_mode(
    values: Collection[float], unit: str, mode: str, *, cpu: bool, noun: str = ""
) -> Scale:
    """Return a readable scale for scaled values, which include the largest.

    `unit` is the raw values' unit, `mode` a key of `MODES`. CPU time (`cpu`) per second
    is shown in cores. `noun` is what is counted if the unit has no name.
    """
    if mode == "composition":
        return Scale(1, "%", 2)
    if _is_time_per_second(unit, mode):
        return Scale(1e9, "cores" if cpu else "s/s", 2)
    scale = scale_for(values, unit)
    word = clipped(scale.unit or _COUNTED.get(noun, noun))
    if mode == "per_work" and not scale.unit:
        ops, size = _for_ops(max(map(abs, values), default=0.0))
        scale = scale._replace(size=size)
        return scale._replace(unit=f"{word}/{ops}")
    return scale._replace(unit=word + _SUFFIXES.get(mode, ""))


def _for_ops(largest: float) -> tuple[str, float]:
    """Return for how many ops a count per op is shown, and the count's size per op.

    Three decimals leave a smaller count per op no two digits.
    """
    for ops, size in (("op", 1.0), ("1k ops", 1e-3)):
        if largest >= 0.1 * size or not largest:
            return ops, size
    return "1M ops", 1e-6


def _decimals(values: Iterable[float], size: float) -> int:
    top = max((abs(v) for v in values), default=0.0) / size
    return next((3 - i for i, most in enumerate((10, 100, 1000)) if top < most), 0)


def words(diff: ProfileDiff, base: float, new: float) -> str:
    """Return raw values as ``base → new unit``, in the report's scale."""
    scale = scale_of(diff)
    sides = [scale.nonzero(side) for side in diff.normalization.scaled(base, new)]
    unit = scale.unit if scale.unit == "%" else f" {scale.unit}"
    return f"{' → '.join(sides)}{unit}"


def line_words(diff: ProfileDiff, base: float, new: float) -> str:
    """Return raw values of a line as `words`, in a scale of their own if it is finer.

    A line may allocate a few bytes of a total in KiB. Times are in the title's unit
    while that shows two digits.
    """
    by, sides = scale_of(diff), diff.normalization.scaled(base, new)
    mode, largest = diff.normalization.mode, max(map(abs, sides))
    least = by.size
    if diff.unit in _NANOSECONDS:
        least *= 10.0 ** (1 - by.decimals)
    if mode == "composition" or largest >= least:
        return words(diff, base, new)
    own = scale_in_mode(sides, diff.unit, mode, cpu=diff.is_cpu)
    if own.size >= by.size:
        return words(diff, base, new)
    return f"{own.nonzero(sides[0])} → {own.nonzero(sides[1])} {own.unit}"


def unit_words(diff: ProfileDiff) -> str:
    """Return the unit of scaled numbers and its meaning: ``cores (CPU seconds …)``."""
    return f"{scale_of(diff).unit} ({_meaning(diff)})"


def in_words(diff: ProfileDiff) -> str:
    """Return the unit of numbers and why it is used: ``in cores (CPU seconds …)``."""
    return f"in {scale_of(diff).unit} ({mode_in_words(diff)})"


def mode_in_words(diff: ProfileDiff) -> str:
    """Return how the sides were made comparable, and why.

    "per op" is left to units.
    """
    by = diff.normalization
    return by.reason if by.mode == "per_work" else f"{_meaning(diff)}; {by.reason}"


def _meaning(diff: ProfileDiff) -> str:
    mode = diff.normalization.mode
    if _is_time_per_second(diff.unit, mode):
        if diff.is_cpu:
            return "CPU seconds per second"
        waited = diff.sample_type.type == "delay"
        return "seconds waited per second" if waited else "seconds per second"
    return MODES[mode]


def _is_time_per_second(unit: str, mode: str) -> bool:
    return mode == "per_second" and unit in _NANOSECONDS
