"""Numbers and names inside sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pprofdiff.goruntime.names import package_end, shown
from pprofdiff.units import SMALL, inverse, percent, scale_for, scaled

__all__ = ["arrow", "listed", "points", "short", "times"]

# From this ratio on, one scale would leave the smaller value without digits.
_FAR = 100
# A type argument with more characters does not help to tell functions apart.
_LONG = 16


def short(name: str) -> str:
    """Return a function's name by its package's last element: ``lru.(*Cache[…]).Add``.

    A major version is none: of ``x/lru/v2`` that is ``lru``. Type arguments lose their
    packages and what the compiler adds to them; long ones are ``…``.
    """
    name = shown(name)
    end = package_end(name)
    if not end:
        head, bracket, rest = name.partition("[")
        return head.rpartition("/")[2] + bracket + rest
    path = name[:end].split("/")
    if len(path) > 1 and re.fullmatch(r"v\d+", path[-1]):
        path.pop()
    return path[-1] + _with_short_arguments(name[end:])


def _with_short_arguments(name: str) -> str:
    """Return what a package defines with short type arguments ``[…]``."""
    begin = name.find("[")
    depth = 0
    parts, start = [], begin + 1
    for at in range(begin, len(name)) if begin >= 0 else ():
        char = name[at]
        depth += (char in "[{(") - (char in "]})")
        if (char == "," and depth == 1) or depth == 0:
            parts.append(_argument(name[start:at]))
            start = at + 1
        if depth == 0:
            rest = _with_short_arguments(name[at + 1 :])
            return f"{name[:begin]}[{','.join(parts)}]{rest}"
    return name


def _argument(text: str) -> str:
    """Return a type argument without its packages and the mark of a shape."""
    text = text.removeprefix("go.shape.")
    if re.search(r"[\[({ ]", text):
        return "…" if len(text) > _LONG else text
    stars = text[: len(text) - len(text.lstrip("*"))]
    own = text.rpartition("/")[2].lstrip("*")
    return stars + own if len(own) <= _LONG else "…"


def times(ratio: float) -> str:
    """Return a factor as people say it: 1.73×, 0.094×, 120×, 1/31,000."""
    if ratio >= 100:
        return f"{ratio:,.0f}×"
    if ratio >= 10:
        return f"{ratio:.1f}×"
    if 0 < ratio < SMALL:
        return inverse(ratio)
    return f"{ratio:.2f}×" if ratio >= 0.095 or ratio == 0 else f"{ratio:.2g}×"


def arrow(base: float, new: float, unit: str) -> str:
    """Return two values of a unit in one scale, such as ``1.44 → 2.61 s``.

    Values far apart have a scale each: ``5.26 MB → 8.1 kB``.
    """
    low, high = sorted((abs(base), abs(new)))
    if low and high >= _FAR * low:
        return f"{scaled(base, unit)} → {scaled(new, unit)}"
    scale = scale_for((base, new), unit)
    return f"{scale.number(base)} → {scale.text(new)}"


def points(base: tuple[float, float], new: tuple[float, float]) -> str:
    """Return (part, whole) of both sides as shares, such as ``11.0% → 21.1%``."""
    return f"{percent(*base)} → {percent(*new)}"


def listed(words: Sequence[str]) -> str:
    """Return words as one list, such as ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
