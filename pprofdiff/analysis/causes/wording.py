"""Numbers and names in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from pprofdiff.analysis.policy import NAMED
from pprofdiff.goruntime.readable import distinct_names, short
from pprofdiff.units import percent, scale_for, scaled, times

__all__ = [
    "arrow",
    "factor",
    "listed",
    "listed_functions",
    "lists_apart",
    "parts_inside",
    "points",
    "short",
    "times",
]

# From this ratio on, one scale would leave the smaller value without digits.
_FAR = 100
# From this factor on, times reads better than percent.
_DOUBLE = 2


def arrow(base: float, new: float, unit: str) -> str:
    """Return two values in one scale, such as ``1.44 → 2.61 s``.

    Values far apart have a scale each: ``5.26 MiB → 8.1 KiB``.
    """
    low, high = sorted((abs(base), abs(new)))
    if low and high >= _FAR * low:
        return f"{scaled(base, unit)} → {scaled(new, unit)}"
    scale = scale_for((base, new), unit)
    return f"{scale.number(base)} → {scale.text(new)}"


def factor(ratio: float, noun: str) -> str:
    """Return a ratio as ``4.04× the bytes`` or ``12.0% fewer bytes``."""
    if ratio >= _DOUBLE:
        return f"{times(ratio)} the {noun}"
    change = percent(abs(ratio - 1), 1)
    return f"{change} {'more' if ratio > 1 else 'fewer'} {noun}"


def parts_inside(whole: str, parts: Sequence[str], *, new: bool) -> str:
    """Return a clause saying that functions are new inside another, or gone from it."""
    whole, *named = distinct_names([whole, *parts])
    if len(named) > NAMED:
        named = [*named[:NAMED], f"{len(named) - NAMED} more"]
    verb = "are" if len(parts) > 1 else "is"
    return f"{listed(named)} {verb} {'new inside' if new else 'gone from'} {whole}"


def points(base: tuple[float, float], new: tuple[float, float]) -> str:
    """Return (part, whole) of both sides as shares, such as ``11.0% → 21.1%``."""
    return f"{percent(*base)} → {percent(*new)}"


def listed_functions(names: Sequence[str]) -> str:
    """Return functions as one list in which no two read the same, see `short`."""
    return listed(distinct_names(names))


def lists_apart(before: Sequence[str], after: Sequence[str]) -> tuple[str, str]:
    """Return base's and new's functions as lists in which no two read the same."""
    names = distinct_names([*before, *after])
    return listed(names[: len(before)]), listed(names[len(before) :])


def listed(words: Sequence[str]) -> str:
    """Return words as one list, such as ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
