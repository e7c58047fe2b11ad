"""Traces in Go's text form, turned to bytes: the test data of internal/trace.

`upstream()` reads GOROOT's own ``*.test`` files in place and yields what a reader is to
do with each; `fuzzed()` yields the inputs that Go's fuzzing found. `encode` writes what
GOROOT's internal/trace/raw writes: event types and arguments as minimal varints, sizes as
the text says them (of events' batches) or by the data (of strings and experiments). A
comment is a line of its own, as for Go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .toolchains import run_go

# Event type: (name, number of arguments), by GOROOT's internal/trace/tracev2/events.go.
EVENTS = {
    1: ("EventBatch", 4), 2: ("Stacks", 0), 3: ("Stack", 2), 4: ("Strings", 0),
    5: ("String", 1), 6: ("CPUSamples", 0), 7: ("CPUSample", 5), 8: ("Frequency", 1),
    9: ("ProcsChange", 3), 10: ("ProcStart", 3), 11: ("ProcStop", 1),
    12: ("ProcSteal", 4), 13: ("ProcStatus", 3), 14: ("GoCreate", 4),
    15: ("GoCreateSyscall", 2), 16: ("GoStart", 3), 17: ("GoDestroy", 1),
    18: ("GoDestroySyscall", 1), 19: ("GoStop", 3), 20: ("GoBlock", 3),
    21: ("GoUnblock", 4), 22: ("GoSyscallBegin", 3), 23: ("GoSyscallEnd", 1),
    24: ("GoSyscallEndBlocked", 1), 25: ("GoStatus", 4), 26: ("STWBegin", 3),
    27: ("STWEnd", 1), 28: ("GCActive", 2), 29: ("GCBegin", 3), 30: ("GCEnd", 2),
    31: ("GCSweepActive", 2), 32: ("GCSweepBegin", 2), 33: ("GCSweepEnd", 3),
    34: ("GCMarkAssistActive", 2), 35: ("GCMarkAssistBegin", 2),
    36: ("GCMarkAssistEnd", 1), 37: ("HeapAlloc", 2), 38: ("HeapGoal", 2),
    39: ("GoLabel", 2), 40: ("UserTaskBegin", 5), 41: ("UserTaskEnd", 3),
    42: ("UserRegionBegin", 4), 43: ("UserRegionEnd", 4), 44: ("UserLog", 5),
    45: ("GoSwitch", 3), 46: ("GoSwitchDestroy", 3), 47: ("GoCreateBlocked", 4),
    48: ("GoStatusStack", 5), 49: ("ExperimentalBatch", 4), 50: ("Sync", 0),
    51: ("ClockSnapshot", 4), 52: ("EndOfGeneration", 0), 128: ("Span", 4),
    129: ("SpanAlloc", 4), 130: ("SpanFree", 2), 131: ("HeapObject", 3),
    132: ("HeapObjectAlloc", 3), 133: ("HeapObjectFree", 2),
    134: ("GoroutineStack", 3), 135: ("GoroutineStackAlloc", 3),
    136: ("GoroutineStackFree", 2),
}  # fmt: skip
_TYPE = {name: (number, count) for number, (name, count) in EVENTS.items()}
_DATA = {"String", "ExperimentalBatch"}

_ARGUMENT = re.compile(r"\w+=(\d+)")
_ESCAPE = re.compile(
    rb"\\(?:x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))"
)
_PLAIN = dict(
    zip(b"abfnrtv\\\"'", (bytes([c]) for c in b"\a\b\f\n\r\t\v\\\"'"), strict=True)
)


class Case(NamedTuple):
    """A trace of Go's tests: what Go's reader says, None for success, is a pattern."""

    name: str
    content: bytes
    failure: str | None


def upstream(go: str | None = None) -> Iterator[Case]:
    """Yield the traces in ``internal/trace/testdata/tests``; needs Go."""
    for path in sorted(data(go).glob("tests/*.test")):
        expect, _ = sections(path.read_text("utf-8"))
        words = expect.split(" ", 1)
        failure = unquoted(words[1].strip()).decode() if len(words) > 1 else None
        yield Case(path.stem, encode(text_of(path)), failure)


def fuzzed(go: str | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of what once broke Go's reader; needs Go."""
    for path in sorted(data(go).glob("fuzz/FuzzReader/*")):
        line = path.read_text("utf-8").splitlines()[1]
        yield path.name, unquoted(line.removeprefix("[]byte(").removesuffix(")"))


@cache
def data(go: str | None = None) -> Path:
    """Return the folder of Go's own test data; needs Go."""
    return Path(run_go("env", "GOROOT", go=go).strip()) / "src/internal/trace/testdata"


def text_of(path: Path) -> str:
    """Return the trace in a ``.test`` file, in text form."""
    return sections(path.read_text("utf-8"))[1]


def sections(archive: str) -> tuple[str, str]:
    """Return the parts ``expect`` and ``trace`` of a txtar archive."""
    parts = re.split(r"^-- (?:expect|trace) --\n", archive, flags=re.MULTILINE)
    _, expect, rest = parts
    return expect.strip(), rest


def encode(text: str) -> bytes:
    """Return the bytes of a trace in text form; ValueError if it is none."""
    lines = [s for line in text.splitlines() if (s := line.strip()) and s[0] != "#"]
    header = re.fullmatch(r"Trace Go1\.(\d+)", lines[0])
    if header is None:
        raise ValueError(f"no header of a trace: {lines[0]!r}")
    out = bytearray(b"go 1.%d trace\0\0\0" % int(header[1]))
    at = 1
    while at < len(lines):
        name = lines[at].split()[0]
        number, count = _TYPE[name]
        values = _arguments(lines[at], count)
        out.append(number)
        out += b"".join(map(varint, values))
        at += 1
        if name == "Stack":
            for line in lines[at : at + values[1]]:
                out += b"".join(map(varint, _arguments(line, 4)))
            at += values[1]
        elif name in _DATA:
            data = unquoted(lines[at].split("=", 1)[1].strip())
            out += varint(len(data)) + data
            at += 1
    return bytes(out)


def _arguments(line: str, count: int) -> list[int]:
    found = [int(value) for value in _ARGUMENT.findall(line)]
    if len(found) != count:
        raise ValueError(f"not {count} arguments: {line!r}")
    return found


def varint(value: int) -> bytes:
    """Return an unsigned LEB128 number in as few bytes as it needs."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def unquoted(literal: str) -> bytes:
    """Return the bytes of a Go string literal, interpreted or raw."""
    if literal[0] == "`":
        return literal[1:-1].replace("\r", "").encode()

    def plain(match: re.Match[bytes]) -> bytes:
        hexadecimal, octal, short, long, one = match.groups()
        if hexadecimal:
            return bytes([int(hexadecimal, 16)])
        if octal:
            return bytes([int(octal, 8)])
        if short or long:
            return chr(int(short or long, 16)).encode()
        return _PLAIN[one[0]]

    return _ESCAPE.sub(plain, literal[1:-1].encode())
