"""The numbers of many gctrace lines at once, as integer columns.

No number goes through floating point: a number's eight bytes are one machine word, its
point is squeezed out, and eight digits become an integer in three multiplications.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.gclines import ARROW_ESCAPES, GRAMMARS

__all__ = [
    "COLUMNS",
    "MISSING",
    "START",
    "WORD",
    "Columns",
    "Places",
    "numbers",
    "places",
    "tokens",
    "unified",
    "values",
]

Columns = NDArray[np.int64]
_Words = NDArray[np.uint64]

COLUMNS = (
    "number",
    "start_ms",
    "percent",
    "sweep_termination_wall_us",
    "mark_wall_us",
    "mark_termination_wall_us",
    "sweep_termination_cpu_us",
    "assist_cpu_us",
    "background_cpu_us",
    "idle_cpu_us",
    "mark_termination_cpu_us",
    "heap_start_mb",
    "heap_end_mb",
    "heap_live_mb",
    "goal_mb",
    "stacks_mb",
    "globals_mb",
    "procs",
)
"""Rows of the arrays of `numbers`: the integer fields of `model.gclogs.Cycles`."""
MISSING = -1
"""What a line does not say."""
START = 1
"""Which of a line's numbers is the start, in seconds with three decimals."""
WORD = 8
"""How many bytes a number may have that `integers` reads (the start: four more)."""

_PADDING = bytes(WORD)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_PAIRS = np.uint64(0x00FF00FF00FF00FF)
_QUADS = np.uint64(0x0000FFFF0000FFFF)
# Of a point and digits only the digits have this bit, and both have the next one. A
# point may be the fifth, sixth or seventh byte.
_DIGIT = np.uint64(0x0010101000000000)
# Times a bit in one of those bytes, or none: the top three bits are the decimals.
_DECIMALS = np.uint64(3 << 29 | 2 << 21 | 1 << 13)
# By those three bits, which may be anything where a number has two points.
_TO_THOUSANDTHS = np.array([1000, 100, 10, 1, 0, 0, 0, 0], np.int64)


class Places(NamedTuple):
    """Lines of as many numbers each, in a text: arrays of numbers by lines, int64.

    `buffer` holds the text from its second byte on, and `WORD` bytes more. `first` is
    where a number begins there, `length` how many bytes it has and `gap` how many
    stand between it and the line's next.
    """

    buffer: NDArray[np.uint8]
    first: NDArray[np.int64]
    length: NDArray[np.int64]
    gap: NDArray[np.int64]


def numbers(lines: list[bytes]) -> Columns:
    """Return what whole lines say: int64, `COLUMNS` by lines.

    Every line must match `gclines.LINE` to its end. Times are µs, the start ms.
    """
    text = b"\n".join(lines)
    if b"\\" in text or b"&" in text:
        for escape in ARROW_ESCAPES:
            text = text.replace(escape, b">")
    buffer, edges = tokens(text)
    ends = np.flatnonzero(buffer == ord("\n"))
    counts = np.diff(
        np.searchsorted(edges[::2], ends), prepend=0, append=len(edges) // 2
    )
    held = np.empty((len(COLUMNS), len(lines)), np.int64)
    for count in GRAMMARS:
        rows = counts == count
        if rows.all():
            return unified(_values(places(buffer, edges, count)).T)
        if rows.any():
            mine = edges[np.repeat(rows, 2 * counts)]
            held[:, rows] = unified(_values(places(buffer, mine, count)).T)
    return held


def unified(values: Columns) -> Columns:
    """Return lines' numbers (lines by 16, 18 or 20, as printed) as `COLUMNS` by lines.

    Go 1.5's scan phase counts as marking (wall, and background CPU), and the phase in
    which all processors take notice of write barriers as mark termination.
    """
    count = values.shape[1]
    v = values.T
    if count == len(COLUMNS):
        return v
    absent = np.full(v.shape[1], MISSING, np.int64)
    if count == len("NTU") + 5 + 7 + len("HHHGP"):
        wall = [v[3], v[4] + v[6], v[5] + v[7]]
        cpu = [v[8], v[11], v[9] + v[12], v[13], v[10] + v[14]]
        return np.stack([*v[:3], *wall, *cpu, *v[15:19], absent, absent, v[19]])
    return np.stack([*v[:15], absent, absent, v[-1]])


def tokens(text: bytes) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return a buffer as in `Places`, and where digits and points begin and end.

    The text neither begins nor ends with one.
    """
    padded = np.frombuffer(text + _PADDING, np.uint8)
    # The point is before the slash, and that before the digits: point and slash change
    # places, and digits do so among themselves.
    inside = ((padded ^ 1) - np.uint8(ord("/"))) < 1 + 10
    return padded[1:], np.flatnonzero(inside[1:] != inside[:-1])


def places(buffer: NDArray[np.uint8], edges: NDArray[np.int64], count: int) -> Places:
    """Return the places in lines that have `count` numbers each."""
    by_line = np.ascontiguousarray(edges.reshape(-1, 2 * count).T)
    # Flat, which is one loop instead of one a row.
    flat = by_line.ravel()
    lines = by_line.shape[1]
    steps = (flat[lines:] - flat[:-lines]).reshape(-1, lines)
    return Places(buffer, by_line[::2], steps[::2], steps[1::2])


def values(found: Places) -> tuple[Columns, int]:
    """Return numbers as integers: times and the start in thousandths, others as is.

    Also returns how many times have a point, with one to three digits behind it and one
    or more before it. Of numbers with a point elsewhere, or the start's not before its
    last three digits, or of more than `WORD` bytes, the integers are wrong.
    """
    buffer, first, length, _ = found
    loaded = np.ndarray((len(buffer) - WORD + 1,), "<u8", buffer, strides=(1,))
    shift = WORD - length
    # Seconds and milliseconds apart: after some hours the start has nine bytes.
    shift[START] += len(".000")
    shift <<= 3
    words = loaded[first]
    words <<= shift.view(np.uint64)
    decimals, points = _squeezed(words[_times(len(first))])
    ending = loaded[first[START] + length[START] - len(".000")]
    numbers = _integers(words)
    numbers[_times(len(first))] *= _TO_THOUSANDTHS[decimals]
    numbers[START] *= 1000
    numbers[START] += _integers((ending >> np.uint64(8)) << np.uint64(40))
    return numbers, points


def _values(found: Places) -> Columns:
    """Return well-formed numbers of any length as integers."""
    numbers, _ = values(found)
    times = range(len(found.first))[_times(len(found.first))]
    long = found.length > WORD
    long[START] = found.length[START] > WORD + len(".000")
    for row, line in np.argwhere(long).tolist():
        first = found.first[row, line]
        number = found.buffer[first : first + found.length[row, line]].tobytes()
        whole, _, decimals = number.partition(b".")
        scaled = row == START or row in times
        numbers[row, line] = int(whole + (decimals.ljust(3, b"0") if scaled else b""))
    return numbers


def _times(count: int) -> slice:
    """Return which of a grammar's numbers are times."""
    letters = [a[1] for a in GRAMMARS[count] if a[0] == "#"]
    first = letters.index("t")
    return slice(first, first + letters.count("t"))


def _squeezed(words: _Words) -> tuple[NDArray[np.int64], int]:
    """Take the points out of words; return how many decimals each number has.

    Also returns how many numbers have a point, and a digit before it.
    """
    point = words >> np.uint64(1)
    point &= ~words
    point &= _DIGIT
    point >>= np.uint64(4)
    before = point - np.minimum(point, np.uint64(1))
    before &= words
    points = int(np.count_nonzero(before))
    before *= np.uint64(0xFF)
    words += before
    words -= point * np.uint64(ord("."))
    point *= _DECIMALS
    point >>= np.uint64(61)
    return point.view(np.int64), points


def _integers(words: _Words) -> Columns:
    """Turn words of eight digits, the first in the lowest byte, into their integers."""
    words &= _NIBBLES
    words *= np.uint64(10 << 8 | 1)
    words >>= np.uint64(8)
    words &= _PAIRS
    words *= np.uint64(100 << 16 | 1)
    words >>= np.uint64(16)
    words &= _QUADS
    words *= np.uint64(10000 << 32 | 1)
    words >>= np.uint64(32)
    return words.view(np.int64)
