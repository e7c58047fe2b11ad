"""gctrace lines with nothing else between them, read by their shape, all at once.

Without digits and points, lines of one grammar are all the same text. Where a text is
that, what is left to prove is that every number stands in its place and is well-formed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.gclines import GRAMMARS
from pprofdiff.loaders.gcnumbers import (
    START,
    WORD,
    Columns,
    Places,
    places,
    tokens,
    unified,
    values,
)

__all__ = ["Pure", "pure"]

_POINT = ord(".")
_NUMERIC = b"0123456789."
_BEGIN, _FORCED_END, _END = b"gc ", b" (forced)\n", b"\n"
# What a line is besides its numbers, to its end.
_SHAPES = {
    "".join(a for a in arguments if a[0] != "#").encode() + _END: count
    for count, arguments in GRAMMARS.items()
}


class Pure(NamedTuple):
    """Whole lines: what they say as `gcnumbers.numbers` has it, and where they are.

    `last` is where a line's ``P`` or ``(forced)`` ends.
    """

    columns: Columns
    forced: NDArray[np.bool_]
    first: NDArray[np.int64]
    last: NDArray[np.int64]


def pure(text: bytes) -> Pure | None:
    """Read a text that is whole lines of one grammar; None where it may be another.

    What is read is what `gclines.LINE` matches and `gcnumbers.numbers` reads there.
    None as well for a line that warns of leaks, for escaped arrows, other line ends
    than a newline, and numbers of more than eight bytes (the start: twelve).
    """
    begin = text.rfind(_END, 0, -1) + 1
    if not (text.startswith(_BEGIN) and text.startswith(_BEGIN, begin)):
        return None
    skeleton = text.translate(None, _NUMERIC)
    if b"(" in skeleton:
        skeleton = skeleton.replace(_FORCED_END, _END)
    shape = skeleton[: skeleton.find(_END) + 1]
    count = _SHAPES.get(shape)
    lines = len(skeleton) // len(shape) if shape else 0
    if count is None or skeleton != shape * lines:
        return None
    buffer, edges = tokens(text)
    if len(edges) != 2 * count * lines:
        return None
    found = places(buffer, edges, count)
    forced = _placed(found, count)
    if forced is None or not _sized(found) or not _starts(found):
        return None
    numbers, points = values(found)
    # With one in each start, there is none elsewhere.
    if points + lines != np.count_nonzero(buffer == _POINT):
        return None
    last = found.first[-1] + found.length[-1] + len(" P") + 1
    last[forced] += len(_FORCED_END) - len(_END)
    return Pure(unified(numbers.T), forced, found.first[0] - len(_BEGIN) + 1, last)


def _placed(found: Places, count: int) -> NDArray[np.bool_] | None:
    """Return which lines are forced, or None if some number is not in its place.

    The text besides numbers is known to be that of lines, so distances are enough: the
    first number's from the beginning, and that of each from the one before. How far a
    line's last number is from the next line's first depends on what follows ``P``.
    """
    texts = _between(count)
    if found.first[0, 0] + 1 != len(texts[0]):
        return None
    if (found.gap != np.array([[len(t)] for t in texts[1:-1]])).any():
        return None
    last = found.first[-1] + found.length[-1]
    forced: NDArray[np.bool_] = found.buffer[last + len(" P")] == ord(" ")
    gap = found.first[0, 1:] - last[:-1]
    gap -= forced[:-1] * (len(_FORCED_END) - len(_END))
    return None if (gap != len(texts[-1] + "\n" + texts[0])).any() else forced


def _between(count: int) -> list[str]:
    """Return the texts of a grammar before, between and behind its numbers."""
    texts = [""]
    for argument in GRAMMARS[count]:
        if argument[0] == "#":
            texts.append("")
        else:
            texts[-1] += argument
    return texts


def _starts(found: Places) -> bool:
    """Tell if each start has a point before its last three digits."""
    point = found.first[START] + found.length[START] - len(".000")
    return bool((found.buffer[point] == _POINT).all())


def _sized(found: Places) -> bool:
    """Tell if all numbers are short enough, and the start long enough."""
    longest = found.length.max(axis=1)
    longest[START] -= len(".000")
    least = int(found.length[START].min())
    return bool((longest <= WORD).all()) and least > len(".000")
