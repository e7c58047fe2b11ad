"""Grammars of ``GODEBUG=gctrace=1`` lines, one regular expression each.

Source: the end of gcMarkTermination in runtime/mgc.go, Go 1.5 to 1.27. Go 1.5 prints
five clock and seven CPU times, Go 1.6 three and five; Go 1.18 adds stacks and globals.
"""

from __future__ import annotations

import re
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
