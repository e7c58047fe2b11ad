"""Reassemble gctrace lines torn by other output, where the result is certain.

The runtime passes each argument of a print to write(2) separately, and a logger writes
whole lines. A torn line is therefore its arguments in order, with whole lines of the
program in between. If it is known how those begin, they are removed, and the rest must
be a line exactly as the runtime prints it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import permutations

from pprofdiff.loaders.gclogs.lines import (
    GO_1_5,
    HEAD,
    PRINTED,
    Line,
    columns,
    read_line,
)

# How gctrace lines, and the pieces of torn ones, begin (except numbers).
_ARGUMENT = rb"gc | @|s |%|: |[+/]|-[>\\&]| ms c| MB| P| \((?:forced|checking)"
# Length of a line's beginning: enough for a date, or a level and a date.
_LENGTH = 12
_BEGINNING = re.compile(rb"(?m)^(?!%s).{%d}" % (_ARGUMENT, _LENGTH))
# A beginning must occur at least this often, and on one line in this many.
_TIMES, _SHARE = 4, 100
# Dates and times: numbers with a fixed count of digits.
_FIXED = re.compile(
    rb"9999[-/.]99[-/.]99|99/(?:99/99|[A-Z])|99:99:99|99 [A-Z][a-z][a-z] |9{8}[T ]99"
)
_DIGITS = bytes.maketrans(b"0123456789", b"9" * 10)
# Where the program's lines were removed; a number never spans a seam.
_SEAM = re.compile(rb"(?<![\d.])\0|\0(?![\d.])")
_LINE_END = re.compile(rb"\r?\n")


class Repair:
    """Finds and reassembles torn lines in a log, given a sample of the log.

    `begins` matches where a gctrace line begins, whole or torn.
    """

    def __init__(self, sample: bytes) -> None:
        starts = _starts(sample) or rb"(?!)"
        self._program_lines = re.compile(rb"(?:(?:%s)[^\n]*(?:\n|\Z))+" % starts)
        self.begins = re.compile(
            rb"%s|gc (?:\d{1,12}(?: @)?)?(?=%s)" % (HEAD.pattern, starts)
        )

    def mended(self, torn: bytes) -> Line | None:
        """Return the torn line that starts the text, up to the next one, reassembled.

        Returns None if the pieces are no line that the runtime prints.
        """
        text = _SEAM.sub(b"", self._program_lines.sub(b"\0", torn))
        line = read_line(text, grammars=PRINTED)
        if line is None or not _proportionate(line):
            return None
        # A forced line may be cut right before its end.
        ended = _LINE_END.match(text, line.end)
        return line if ended or (line.forced and line.end == len(text)) else None


def _starts(sample: bytes) -> bytes | None:
    """Return the pattern of how the program's lines begin, or None if unknown.

    A digit matches any digit. Rare beginnings are left out, since pieces of gctrace
    lines are rare, as are numbers that may gain a digit. It is also unknown if the
    program writes unterminated output, which may be part of a number.
    """
    seen = Counter(b.translate(_DIGITS) for b in _BEGINNING.findall(sample))
    least = max(_TIMES, seen.total() // _SHARE)
    common = [b for b, n in seen.items() if n >= least]
    common = [b for b in common if b[:1] not in b"9." or _FIXED.match(b)]
    if any(_glued(*pair) for pair in permutations(common, 2)):
        return None
    starts = b"|".join(re.escape(b).replace(b"9", rb"\d") for b in common)
    known = re.compile(starts)
    for line in _untouched(sample):
        if known.search(line, 1) and not known.match(line):
            return None
    return starts or None


def _glued(longer: bytes, shorter: bytes) -> bool:
    """Return whether a beginning reads like digits directly followed by another."""
    digits = len(longer) - len(longer.lstrip(b"9"))
    return any(shorter.startswith(longer[i:]) for i in range(1, digits))


def _untouched(sample: bytes) -> Iterator[bytes]:
    """Yield the lines that do not interleave with a gctrace line."""
    end: int | None = 0
    text = b"\n" + sample
    for begin in [*(m.start() for m in re.finditer(b"gc ", text)), len(text)]:
        if end is not None:
            for line in text[end:begin].split(b"\n")[1:-1]:
                yield line.removeprefix(b" (forced)")
        whole = read_line(text, begin)
        end = whole.end if whole else None


def _proportionate(line: Line) -> bool:
    """Return whether the CPU time of both pauses is wall time × one count of Ps.

    The runtime prints wall × min(GOMAXPROCS, CPUs), both truncated, except Go 1.5.
    """
    if line.grammar == GO_1_5:
        return True
    values = columns([line.numbers])[:, 0].tolist()
    least, most = 1, values[-1]
    for wall, cpu in ((3, 6), (5, 10)):
        (low, high), (cpu_low, cpu_high) = map(_range, (values[wall], values[cpu]))
        least = max(least, cpu_low // high + 1)
        if low:
            most = min(most, (cpu_high - 1) // low)
    return bool(least <= most)


def _range(printed: int) -> tuple[int, int]:
    """Return the half-open range of times in µs that print as `printed`."""
    step = next((s for s in (1, 10, 100) if printed < 100 * s), 1000)
    return printed, printed + step
