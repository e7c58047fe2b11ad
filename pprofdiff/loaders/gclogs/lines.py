"""Grammars of ``GODEBUG=gctrace=1`` lines, and the repair of torn ones.

Source: the end of gcMarkTermination in runtime/mgc.go, Go 1.5 to 1.27. Go 1.5 prints
five clock and seven CPU times, Go 1.6 three and five; Go 1.18 adds stacks and globals.

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
from typing import NamedTuple

import numpy as np

from pprofdiff.model.arrays import Column
from pprofdiff.model.gclogs import Cycles

COLUMNS = tuple(
    name
    for name in Cycles.__struct_fields__
    if name not in ("forced", "timer", "repaired")
)
"""The integer fields of `model.gclogs.Cycles`, in the order a line prints them."""
MISSING = -1
"""The value of a column that a line does not print."""

# {i} is an integer, {s} the start in seconds, {t} a time in milliseconds. Go 1.26 may
# note a goroutine leak check; log shippers that write JSON or HTML escape the arrow.
_BEGIN = r"gc {i} @{s}s {i}%(?: \(checking for goroutine leaks\))?: "
_TIMES = r"{t}\+{t}\+{t} ms clock, {t}\+{t}/{t}/{t}\+{t} ms cpu, "
_TIMES_GO_1_5 = (
    r"{t}\+{t}\+{t}\+{t}\+{t} ms clock, {t}\+{t}\+{t}\+{t}/{t}/{t}\+{t} ms cpu, "
)
_HEAP = r"{i}{to}{i}{to}{i} MB, {i} MB goal, "
_SCANNED = r"{i} MB stacks, {i} MB globals, "
_END = r"{i} P(?P<forced> \(forced\))?"
_ARROW = r"-(?:>|\\u003[eE]|&gt;)"
# Grammars, keyed by how many numbers a line has.
GO_1_5, GO_1_6, GO_1_18 = 20, 16, 18
_GRAMMARS = {
    GO_1_18: _BEGIN + _TIMES + _HEAP + _SCANNED + _END,
    GO_1_6: _BEGIN + _TIMES + _HEAP + _END,
    GO_1_5: _BEGIN + _TIMES_GO_1_5 + _HEAP + _END,
}
# How gctrace lines, and the pieces of torn ones, begin (except numbers).
_ARGUMENT = rb"gc | @|s |%|: |[+/]|-[>\\&]| ms c| MB| P| \((?:forced|checking)"
# Length of a line's beginning: enough for a date, or a level and a date.
_LENGTH = 12
_BEGINNING = re.compile(rb"(?m)^(?!%s).{%d}" % (_ARGUMENT, _LENGTH))
# A beginning must occur at least this often, and on one line in this many.
_OFTEN, _SHARE = 4, 100
# Dates and times: numbers with a fixed count of digits.
_FIXED = re.compile(
    rb"9999[-/.]99[-/.]99|99/(?:99/99|[A-Z])|99:99:99|99 [A-Z][a-z][a-z] |9{8}[T ]99"
)
_DIGITS = bytes.maketrans(b"0123456789", b"9" * 10)
# Where the program's lines were removed; a number never spans a seam.
_SEAM = re.compile(rb"(?<![\d.])\0|\0(?![\d.])")
_LINE_END = re.compile(rb"\r?\n")


def _compiled(integer: str, time: str) -> dict[int, re.Pattern[bytes]]:
    start = rf"(?:{integer})\.\d{{3}}"
    words = {"i": f"(?:{integer})", "s": start, "t": f"(?:{time})", "to": _ARROW}
    return {n: re.compile(g.format(**words).encode()) for n, g in _GRAMMARS.items()}


# With up to twelve digits, values × 1000 and sums fit int64 exactly.
# Not ``(?:…)?+``: in Python 3.11.2, ``1.`` matches it as well.
ANY = _compiled(r"\d{1,12}+", r"\d{1,12}+(?:\.\d{1,3}+|(?!\.))")
"""The grammars with numbers in any format."""
PRINTED = _compiled(
    r"0|[1-9]\d{0,11}", r"0\.0\d\d|0\.[1-9]\d|[1-9]\.\d|[1-9]\d{1,11}|0"
)
"""The grammars with numbers exactly as the runtime prints them.

From fmtNSAsMS: two digits below 10 ms, whole milliseconds above, no leading zeros.
"""

HEAD = re.compile(rb"gc \d{1,12}+ @\d{1,12}+\.\d{3}")
"""The number and start of a line: enough to show that a line began."""
TIMER = re.compile(rb"GC forced(?![ \w])")
"""Printed alone before the line of a GC cycle that sysmon forced."""

_BLANKS = bytes(b if chr(b) in "0123456789." else ord(" ") for b in range(256))


class Line(NamedTuple):
    """A whole line: its numbers, how many they are, and its end in the text."""

    numbers: bytes
    grammar: int
    forced: bool
    end: int


def read_line(
    text: bytes, at: int = 0, grammars: dict[int, re.Pattern[bytes]] = ANY
) -> Line | None:
    """Return the whole line at offset `at` of a text, or None."""
    for grammar, pattern in grammars.items():
        if match := pattern.match(text, at):
            forced = match["forced"] is not None
            return Line(numbers_of(match[0]), grammar, forced, match.end())
    return None


def numbers_of(text: bytes) -> bytes:
    """Return a line, whole or partial, with spaces for all but its numbers."""
    return text.replace(b"\\u003", b"").translate(_BLANKS)


def columns(numbers: list[bytes]) -> Column:
    """Return lines of one grammar as integers, shape (`COLUMNS`, lines).

    Times are in µs, the start in ms. For Go 1.5, the scan phase counts as marking, and
    the pause that installs write barriers as mark termination.
    """
    parsed = np.fromstring(b" ".join(numbers), sep=" ").reshape(len(numbers), -1).T
    grammar = len(parsed)
    parsed[1] *= 1000
    parsed[3 : 15 if grammar == GO_1_5 else 11] *= 1000
    # With fifteen digits, a double is off by less than half an integer.
    v = np.rint(parsed).astype(np.int64)
    missing = np.full_like(v[:2], MISSING)
    if grammar == GO_1_5:
        wall = v[3], v[4] + v[6], v[5] + v[7]
        cpu = v[8], v[11], v[9] + v[12], v[13], v[10] + v[14]
        return np.vstack((v[:3], *wall, *cpu, v[15:19], missing, v[19]))
    return v if grammar == GO_1_18 else np.vstack((v[:15], missing, v[15]))


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
    least = max(_OFTEN, seen.total() // _SHARE)
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
    step = next((s for s in (1, 10, 100) if printed < 100 * s), 1000)
    return printed, printed + step
