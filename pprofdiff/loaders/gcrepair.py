"""Lines of gctrace that other output cut to pieces, put together where that is certain.

The runtime hands every argument of a print to write(2) by itself, so what a goroutine
writes meanwhile lands between two arguments, never inside a number. What a logger
writes is a whole line. A torn line therefore is its arguments in order, with whole
lines of the program between some of them; `mended` tries every way to read it so, with
the program's lines known by how they begin, and takes what all the ways agree on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pprofdiff.loaders.gclines import GRAMMARS, LINE, SHORTEST

__all__ = ["MOST_BYTES", "MOST_LINES", "Mended", "beginnings", "mended"]

MOST_LINES, MOST_BYTES = 512, 1 << 16
"""How far the pieces of a torn line are looked for."""

# Bytes that tell how a program's lines begin: a date, or a level and a date.
_LENGTH = 12
# How often a beginning must be seen: at least so many times, one line in so many.
_TIMES, _SHARE = 4, 100
# Dates and times: digits that are always as many.
_FIXED = re.compile(
    rb"9999[-/.]99[-/.]99|99/(?:99/99|[A-Z])|99:99:99|99 [A-Z][a-z][a-z] |9{8}[T ]99"
)
_DIGITS = bytes.maketrans(b"0123456789", b"9" * 10)
# Exactly what the runtime prints (fmtNSAsMS: two digits below 10 ms, none after; no
# zero in front): a number that ran into another seldom looks so.
_INTEGER = rb"0|[1-9]\d{0,11}"
_PRINTED = {
    "#i": re.compile(_INTEGER),
    "#s": re.compile(rb"(?:" + _INTEGER + rb")\.\d{3}"),
    "#t": re.compile(rb"0\.0\d\d|0\.[1-9]\d|[1-9]\.\d|[1-9]\d{1,11}|0"),
}
_RUN = re.compile(rb"[\d.]+")
_LONGEST = 16
# Go 1.26 may say so before the colon.
_LEAKS, _LEAKS_AT = b" (checking for goroutine leaks)", 7
_FORCED = b" (forced)"
_STEPS = 20_000


def beginnings(sample: bytes) -> re.Pattern[bytes] | None:
    """Return the pattern of how a program's lines begin, or None if that is unknown.

    Digits stand for any digit. Left out are beginnings that are rare, as those of the
    pieces of gctrace lines are, and numbers that may grow a digit. None as well if the
    program writes something else before its lines, without ending it: what stands
    behind a number could be part of that number.
    """
    found = Counter(
        line[:_LENGTH].translate(_DIGITS)
        for line in sample.split(b"\n")
        if len(line) >= _LENGTH and not line.startswith(b"gc ")
    )
    least = max(_TIMES, found.total() // _SHARE)
    kept: list[bytes] = []
    for start, count in found.most_common():
        tails = [start[i:] for i in range(1, _LENGTH - 3)]
        if count >= least and not any(k.startswith(t) for k in kept for t in tails):
            kept.append(start)
    kept = [k for k in kept if k[:1] not in b"9." or _FIXED.match(k)]
    if not kept:
        return None
    starts = re.compile(b"|".join(re.escape(k).replace(b"9", rb"\d") for k in kept))
    for line in _untouched(sample):
        if starts.search(line, 1) and not starts.match(line):
            return None
    return starts


def _untouched(sample: bytes) -> Iterator[bytes]:
    """Yield the lines that no gctrace line is being written into."""
    parts = LINE.split(sample)
    yield from parts[0].split(b"\n")[:-1]
    for line, behind in zip(parts[1::2], parts[2::2], strict=True):
        if len(line) > SHORTEST:
            for text in behind.split(b"\n")[1:-1]:
                yield text.removeprefix(_FORCED)


class Mended(NamedTuple):
    """A line put together: its numbers (µs, ms) as printed, and if it is forced."""

    values: tuple[int, ...]
    forced: bool


def mended(
    lines: list[bytes], starts: re.Pattern[bytes], grammars: Iterable[int]
) -> Mended | None:
    """Return the torn line that begins with the first of `lines`, or None.

    `lines` are without their ends and reach to the next gctrace line; `starts` matches
    where a line of the program begins. None where there is no way to read the line,
    or several that differ, or where the two stop-the-world phases do not take CPU time
    in the same whole proportion to their wall time, as the runtime prints it.
    """
    found: set[Mended] = set()
    for count in grammars:
        for reading in _readings(lines, starts, GRAMMARS[count]):
            found.add(reading)
            if len(found) > 1:
                return None
    return next((line for line in found if _proportionate(line.values)), None)


def _readings(
    lines: list[bytes], starts: re.Pattern[bytes], arguments: tuple[str, ...]
) -> Iterator[Mended]:
    """Yield every way to read `arguments` from pieces at the beginnings of lines."""
    # Line, offset, argument, numbers so far; "gc " is read already.
    open_ends: list[tuple[int, int, int, tuple[int, ...]]] = [(0, 3, 1, ())]
    for _ in range(_STEPS):
        if not open_ends:
            return
        at, offset, argument, values = open_ends.pop()
        line = lines[at]
        if argument == len(arguments):
            forced = line.startswith(_FORCED, offset)
            after = offset + len(_FORCED) * forced
            whole = after == len(line)
            if whole or (forced and starts.match(line, after)):
                yield Mended(values, forced)
                continue
        else:
            for after, number in _continued(line, offset, arguments[argument], starts):
                read = values if number is None else (*values, number)
                open_ends.append((at, after, argument + 1, read))
            if argument == _LEAKS_AT and line.startswith(_LEAKS, offset):
                open_ends.append((at, offset + len(_LEAKS), argument, values))
        if at + 1 < len(lines) and starts.match(line, offset):
            open_ends.append((at + 1, 0, argument, values))
    # Too many ways: two that differ make the caller give up.
    yield Mended((), forced=False)
    yield Mended((), forced=True)


def _continued(
    line: bytes, offset: int, argument: str, starts: re.Pattern[bytes]
) -> Iterator[tuple[int, int | None]]:
    """Yield where an argument that stands here may end, and its number if it is one."""
    pattern = _PRINTED.get(argument)
    if pattern is None:
        if line.startswith(argument.encode(), offset):
            yield offset + len(argument), None
        return
    digits = _RUN.match(line, offset)
    if digits is None:
        return
    for after in range(offset + 1, min(digits.end(), offset + _LONGEST) + 1):
        text = line[offset:after]
        # No argument after a number begins with a digit, so a line of the program must.
        if pattern.fullmatch(text) and (
            after == digits.end() or starts.match(line, after)
        ):
            yield after, _integer(text, scaled=argument == "#t")


def _integer(text: bytes, *, scaled: bool) -> int:
    """Return a number without its point, a time in thousandths."""
    whole, _, decimals = text.partition(b".")
    return int(whole + (decimals.ljust(3, b"0") if scaled else decimals))


def _proportionate(values: tuple[int, ...]) -> bool:
    """Tell if CPU time of the pauses is wall time × one number of processors.

    The runtime prints wall × min(GOMAXPROCS, CPUs), each with digits cut off. Go 1.5's
    lines show their parts otherwise and are not judged.
    """
    if len(values) not in (16, 18):
        return bool(values)
    least, most = 1, values[-1]
    for wall, cpu in ((3, 6), (5, 10)):
        (low, high), (cpu_low, cpu_high) = map(_range, (values[wall], values[cpu]))
        least = max(least, cpu_low // high + 1)
        if low:
            most = min(most, (cpu_high - 1) // low)
    return least <= most


def _range(printed: int) -> tuple[int, int]:
    """Return from which to below which µs a time prints as this one."""
    step = next((s for s in (1, 10, 100) if printed < 100 * s), 1000)
    return printed, printed + step
