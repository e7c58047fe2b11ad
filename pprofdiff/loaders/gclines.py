"""The lines of ``GODEBUG=gctrace=1`` and of its neighbours: patterns and grammars.

Source: the end of gcMarkTermination in runtime/mgc.go, Go 1.5 to 1.27. There are three
grammars: Go 1.5 prints five clock and seven CPU times, Go 1.6 three and five, Go 1.18
adds stacks and globals. They have 20, 16 and 18 numbers: the count tells the grammar.
"""

from __future__ import annotations

import re

__all__ = [
    "ARROW_ESCAPES",
    "FORCED_BY_TIMER",
    "FORCED_LATE",
    "GRAMMARS",
    "HEAD",
    "LINE",
    "OTHERS",
    "SHORTEST",
    "grammar",
]

# Twelve digits: neither a thousandfold nor a sum of such numbers leaves int64. Nothing
# is given back: what follows a number is no digit.
_INTEGER = rb"\d{1,12}+"
_TIME = rb"\d{1,12}+(?:\.\d{1,3}+)?+"
# A pattern's letters: i an integer, s the start, t a time; the rest stands for itself.
_LETTERS = {b"i": _INTEGER, b"s": _INTEGER + rb"\.\d{3}", b"t": _TIME}
# What each print statement writes, by the number of numbers in the line. The runtime
# gives every argument to write(2) by itself.
_HEAD = ("gc ", "#i", " @", "#s", "s ", "#i", "%", ": ")
_MARKING = ("#t", "/", "#t", "/", "#t", "+", "#t", " ms cpu, ")
_SIZES = ("#i", "->", "#i", "->", "#i", " MB, ", "#i", " MB goal, ")
_SCAN = ("#i", " MB stacks, ", "#i", " MB globals, ")
_CLOCK = ("#t", "+", "#t", "+", "#t", " ms clock, ", "#t", "+")
_CLOCK_GO15 = ("#t", "+") * 4 + ("#t", " ms clock, ") + ("#t", "+") * 3
_END = ("#i", " P")
GRAMMARS: dict[int, tuple[str, ...]] = {
    20: _HEAD + _CLOCK_GO15 + _MARKING + _SIZES + _END,
    16: _HEAD + _CLOCK + _MARKING + _SIZES + _END,
    18: _HEAD + _CLOCK + _MARKING + _SIZES + _SCAN + _END,
}
"""What a line is printed as, by how many numbers it has: text, or ``#i`` for an
integer, ``#s`` for the start in seconds, ``#t`` for a time in milliseconds."""

# Shippers that write JSON or HTML escape the arrow.
ARROW_ESCAPES = (b"\\u003e", b"\\u003E", b"&gt;")


def _pattern(arguments: tuple[str, ...]) -> bytes:
    """Return the pattern of printed arguments."""
    parts = [
        _LETTERS[a[1:].encode()] if a[0] == "#" else re.escape(a.encode())
        for a in arguments
    ]
    arrow = b"-(?:>|" + b"|".join(map(re.escape, ARROW_ESCAPES)) + b")"
    return b"".join(arrow if p == re.escape(b"->") else p for p in parts)


def _line() -> bytes:
    """Return the pattern of a line, or of as much of its start as stands together."""
    leaks = rb"(?: \(checking for goroutine leaks\))?: "
    later = _pattern(_CLOCK + _MARKING + _SIZES) + b"(?:" + _pattern(_SCAN) + b")?"
    either = later + b"|" + _pattern(_CLOCK_GO15 + _MARKING + _SIZES)
    rest = _pattern(_HEAD[4:7]) + leaks + b"(?:" + either + b")"
    rest += _pattern(_END) + rb"(?: \(forced\))?"
    start = _pattern(_HEAD[3:4]) + b"(?:" + rest + b")?"
    return b"gc (?:" + _INTEGER + b"(?: @(?:" + start + b")?)?)?"


# One group, the whole: `split` gives text and lines in turns.
LINE = re.compile(b"(" + _line() + b")")
# More bytes than a start alone can have, fewer than a whole line has.
SHORTEST = 50

# As much of a line as counts as one that began.
HEAD = re.compile(_pattern(_HEAD[:4]))
# The end of a line that other output was written into, right before it.
FORCED_LATE = re.compile(rb"\n \(forced\)")
# Printed by itself before the line of a collection that sysmon asked for.
FORCED_BY_TIMER = re.compile(rb"GC forced(?![ \w])")

# Lines of other runtime traces, by the GODEBUG setting that prints them. Until Go 1.13
# gctrace printed the scavenger's.
OTHERS: dict[str, re.Pattern[bytes]] = {
    "gctrace of Go 1.4 or older": re.compile(rb"gc\d+\(\d+\): \d+\+"),
    "scavtrace": re.compile(rb"sc(?:vg-?\d*: |av (?:\d+ )?\d+ KiB work)"),
    "gcpacertrace": re.compile(rb"pacer: (?:assist|sweep|H_m|\d+% CPU)"),
    "schedtrace": re.compile(rb"SCHED \d+ms: "),
    "inittrace": re.compile(rb"init \S+ @\d"),
}


def grammar(line: bytes) -> int:
    """Return the grammar of a whole line."""
    if b" stacks, " in line:
        return 18
    return 20 if line.count(b"+") > 4 else 16
