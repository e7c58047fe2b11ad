"""Lines of gctrace that other output cut to pieces, put together where that is certain.

The runtime hands every argument of a print to write(2) by itself, so what a goroutine
writes meanwhile lands between two arguments, never inside a number. What a logger
writes is a whole line. A torn line therefore is its arguments in order, with whole
lines of the program between some of them. Where it is known how the program's lines
begin, they are taken out, and what is left must be a line as the runtime prints it.
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

__all__ = ["Repair"]

# How gctrace's lines begin, and the pieces of torn ones, but for numbers.
_ARGUMENT = rb"gc | @|s |%|: |[+/]|-[>\\&]| ms c| MB| P| \((?:forced|checking)"
# Bytes that tell how a program's lines begin: a date, or a level and a date.
_LENGTH = 12
_BEGINNING = re.compile(rb"(?m)^(?!%s).{%d}" % (_ARGUMENT, _LENGTH))
# How often a beginning must be seen: at least so many times, one line in so many.
_TIMES, _SHARE = 4, 100
# Dates and times: digits that are always as many.
_FIXED = re.compile(
    rb"9999[-/.]99[-/.]99|99/(?:99/99|[A-Z])|99:99:99|99 [A-Z][a-z][a-z] |9{8}[T ]99"
)
_DIGITS = bytes.maketrans(b"0123456789", b"9" * 10)
# Where the program's lines were; no piece goes on within a number.
_SEAM = re.compile(rb"(?<![\d.])\0|\0(?![\d.])")
_LINE_END = re.compile(rb"\r?\n")


class Repair:
    """Finds torn lines in a log and puts them together, given a sample of the log.

    `begins` matches where a gctrace line begins, whole or torn.
    """

    def __init__(self, sample: bytes) -> None:
        starts = _starts(sample) or rb"(?!)"
        self._program_lines = re.compile(rb"(?:(?:%s)[^\n]*(?:\n|\Z))+" % starts)
        self.begins = re.compile(
            rb"%s|gc (?:\d{1,12}(?: @)?)?(?=%s)" % (HEAD.pattern, starts)
        )

    def mended(self, torn: bytes) -> Line | None:
        """Return the line that begins a text and is torn, or None.

        The text reaches to the next gctrace line. None where its pieces do not make a
        line, or one whose two stop-the-world phases do not take CPU time in the same
        whole proportion to their wall time, as the runtime prints it.
        """
        text = _SEAM.sub(b"", self._program_lines.sub(b"\0", torn))
        line = read_line(text, grammars=PRINTED)
        if line is None or not _proportionate(line):
            return None
        # A forced line may be cut right before its end.
        ended = _LINE_END.match(text, line.end)
        return line if ended or (line.forced and line.end == len(text)) else None


def _starts(sample: bytes) -> bytes | None:
    """Return the pattern of how a program's lines begin, or None if that is unknown.

    Digits stand for any digit. Left out are beginnings that are rare, as those of the
    pieces of gctrace lines are, and numbers that may grow a digit. None as well if the
    program writes something else before its lines, without ending it: what stands
    behind a number could be part of that number.
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
    """Tell if one beginning reads like digits and another right behind them."""
    digits = len(longer) - len(longer.lstrip(b"9"))
    return any(shorter.startswith(longer[i:]) for i in range(1, digits))


def _untouched(sample: bytes) -> Iterator[bytes]:
    """Yield the lines that no gctrace line is being written into."""
    end: int | None = 0
    text = b"\n" + sample
    for begin in [*(m.start() for m in re.finditer(b"gc ", text)), len(text)]:
        if end is not None:
            for line in text[end:begin].split(b"\n")[1:-1]:
                yield line.removeprefix(b" (forced)")
        whole = read_line(text, begin)
        end = whole.end if whole else None


def _proportionate(line: Line) -> bool:
    """Tell if CPU time of the pauses is wall time × one number of processors.

    The runtime prints wall × min(GOMAXPROCS, CPUs), each with digits cut off. Go 1.5's
    lines show their parts otherwise and are not judged.
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
    """Return from which to below which µs a time prints as this one."""
    step = next((s for s in (1, 10, 100) if printed < 100 * s), 1000)
    return printed, printed + step
