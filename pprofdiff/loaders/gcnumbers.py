"""The numbers of many gctrace lines at once, as integer columns.

No number goes through floating point: a number's last eight bytes are one machine word,
its point is squeezed out, and eight digits become an integer in three multiplications.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.gclines import ARROW_ESCAPES, GRAMMARS

__all__ = ["COLUMNS", "MISSING", "Columns", "numbers", "unified"]

Columns = NDArray[np.int64]
_Words = NDArray[np.uint64]
_Places = NDArray[np.int64]

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
"""Rows of the arrays of `numbers`: the integer fields of `model.gclog.Cycles`."""
MISSING = -1
"""What a line does not say."""

_START = 1
_IS_NUMBER = bytes(chr(i) in "0123456789." for i in range(256))
_WORD = 8
_PADDING = bytes(2 * _WORD)
# By decimals: the bytes of a number's word behind its point (all, where it has none),
# and those before it.
_BEHIND = np.array([2**64 - 2**n for n in (0, 56, 48, 40)], np.uint64)
_BEFORE = np.array([0, 2**48 - 1, 2**40 - 1, 2**32 - 1], np.uint64)
_TO_THOUSANDTHS = np.array([1000, 100, 10, 1], np.int64)


def numbers(lines: list[bytes]) -> Columns:
    """Return what whole lines say: int64, `COLUMNS` by lines.

    Every line must match `gclines.LINE` to its end. Times are µs, the start ms.
    """
    text = b"\n".join(lines)
    if b"\\" in text or b"&" in text:
        for escape in ARROW_ESCAPES:
            text = text.replace(escape, b">")
    buffer, first, last = _tokens(text)
    ends = np.flatnonzero(buffer == ord("\n"))
    counts = np.diff(np.searchsorted(first, ends), prepend=0, append=len(first))
    held = np.empty((len(COLUMNS), len(lines)), np.int64)
    for count in GRAMMARS:
        rows = counts == count
        if rows.all():
            places = (first.reshape(-1, count), last.reshape(-1, count))
            return unified(_values(buffer, *places))
        if rows.any():
            mine = np.repeat(rows, counts)
            places = (first[mine].reshape(-1, count), last[mine].reshape(-1, count))
            held[:, rows] = unified(_values(buffer, *places))
    return held


def unified(values: Columns) -> Columns:
    """Return lines' numbers (lines by 16, 18 or 20, as printed) as `COLUMNS` by lines.

    Go 1.5's scan phase counts as marking (wall, and background CPU), and the phase in
    which all processors take notice of write barriers as mark termination.
    """
    count = values.shape[1]
    v = values.T
    absent = np.full(v.shape[1], MISSING, np.int64)
    if count == len("NTU") + 5 + 7 + len("HHHGP"):
        wall = [v[3], v[4] + v[6], v[5] + v[7]]
        cpu = [v[8], v[11], v[9] + v[12], v[13], v[10] + v[14]]
        tail = [*v[15:19], absent, absent, v[19]]
        return np.stack([*v[:3], *wall, *cpu, *tail])
    scan = [absent, absent] if count == 16 else [*v[15:17]]
    return np.stack([*v[:15], *scan, v[-1]])


class _Text(NamedTuple):
    """Bytes, and where each of the numbers in them begins and ends."""

    buffer: NDArray[np.uint8]
    first: _Places
    last: _Places


def _tokens(text: bytes) -> _Text:
    """Find the numbers: runs of digits and points."""
    padded = _PADDING + text + _PADDING
    inside = np.frombuffer(padded.translate(_IS_NUMBER), np.bool_)
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    return _Text(np.frombuffer(padded, np.uint8), edges[::2], edges[1::2])


def _values(buffer: NDArray[np.uint8], first: _Places, last: _Places) -> Columns:
    """Return numbers as integers: times in thousandths, others as they are."""
    count = first.shape[1]
    lengths = last - first
    words = np.ndarray((len(buffer) - _WORD + 1,), "<u8", buffer, strides=(1,))
    values = np.empty(first.shape, np.int64)
    times = slice(3, count - len(_after_times(count)))
    for part in (slice(0, times.start), slice(times.stop, count)):
        values[:, part] = _digits(words[last[:, part] - _WORD], lengths[:, part])
    values[:, times] = _times(words[last[:, times] - _WORD], lengths[:, times])
    # Seconds and milliseconds apart: after some hours the start has nine bytes.
    end, length = last[:, _START], lengths[:, _START]
    seconds = _digits(words[end - len(".000") - _WORD], length - len(".000"))
    values[:, _START] = seconds * 1000
    values[:, _START] += _digits(words[end - _WORD], np.full_like(length, 3))
    long = lengths > _WORD
    long[:, _START] = lengths[:, _START] > _WORD + 4
    for row, column in np.argwhere(long).tolist():
        number = buffer[first[row, column] : last[row, column]].tobytes()
        whole, _, decimals = number.partition(b".")
        scaled = column == _START or times.start <= column < times.stop
        values[row, column] = int(whole + (decimals.ljust(3, b"0") if scaled else b""))
    return values


def _after_times(count: int) -> tuple[str, ...]:
    """Return the integers that a grammar prints after its times."""
    printed = [a for a in GRAMMARS[count] if a[0] == "#"]
    return tuple(printed[len(printed) - printed[::-1].index("#t") :])


def _times(words: _Words, lengths: _Places) -> Columns:
    """Return times with up to three decimals in thousandths."""
    words = _cut(words, lengths)
    decimals = np.zeros(words.shape, np.uint8)
    for places in (1, 2, 3):
        point = (words >> np.uint64(56 - 8 * places)) & np.uint64(0xFF)
        decimals[point == ord(".")] = places
    words = (words & _BEHIND[decimals]) | ((words & _BEFORE[decimals]) << np.uint64(8))
    return _integer(words) * _TO_THOUSANDTHS[decimals]


def _digits(words: _Words, lengths: _Places) -> Columns:
    """Return numbers of up to eight digits and no point."""
    return _integer(_cut(words, lengths))


def _cut(words: _Words, lengths: _Places) -> _Words:
    """Clear what stands before each number in its word."""
    shift = (8 * (_WORD - np.clip(lengths, 1, _WORD))).astype(np.uint64)
    return (words >> shift) << shift


def _integer(words: _Words) -> Columns:
    """Return the integers of eight digits each, the first in the lowest byte."""
    words = words & np.uint64(0x0F0F0F0F0F0F0F0F)
    words = words * np.uint64(10) + (words >> np.uint64(8))
    low = words & np.uint64(0x000000FF000000FF)
    high = (words >> np.uint64(16)) & np.uint64(0x000000FF000000FF)
    low = low * np.uint64(0x000F424000000064) + high * np.uint64(0x0000271000000001)
    return (low >> np.uint64(32)).astype(np.int64)
