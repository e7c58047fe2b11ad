"""Parse one line of benchmark output the way benchstat does.

Source: golang.org/x/perf, benchfmt/reader.go (parseBenchmarkLine, splitField), and
strconv for numbers.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

_BENCHMARK = b"Benchmark"
_DIGITS = b"0123456789"

SPACE = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
"""Space as in Go's unicode.IsSpace; str.isspace also accepts U+001C to U+001F."""

_DECIMAL = re.compile(rb"[+-]?[0-9_.]+(?:[eE][+-]?[0-9_]+)?")
_HEXADECIMAL = re.compile(
    rb"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+"
)
_SPECIAL = re.compile(rb"(?i:[+-]?inf(?:inity)?|nan)")
_COUNT = re.compile(rb"[+-]?[0-9]+")
_MEASUREMENT = re.compile(rb" *([^\s]+) ([^\s0-9][^\s]*)")
_PROCS = re.compile(r"-([1-9][0-9]{0,8})\Z")
_COUNT_WIDTH = 8  # testing.BenchmarkResult.String prints the count with %8d


class Values(NamedTuple):
    """The part of a benchmark line after the name."""

    iterations: int
    values: tuple[tuple[float, str], ...]
    """(value, unit) pairs as printed, at least one."""


class Line(NamedTuple):
    """One result: the printed name without ``Benchmark``, and its values."""

    name: bytes
    iterations: int
    values: tuple[tuple[float, str], ...]


def read_line(line: bytes) -> Line | None:
    """Return the result on a line that starts with ``Benchmark``, or None."""
    first, *rest = _fields(line)
    values = _read(rest)
    return None if values is None else Line(first.removeprefix(_BENCHMARK), *values)


def read_values(text: bytes) -> Values | None:
    """Return the values at the end of `text`, printed as by ``go test``, or None.

    Anything may precede the count, which is padded to 8 columns: only a longer one can
    run into preceding digits.
    """
    before, *_ = parts = text.split(b"\t")
    measured: list[bytes] = []
    while len(parts) > 1 and (pair := _MEASUREMENT.fullmatch(parts[-1])):
        measured[:0] = pair[1], pair[2]
        before = parts[-2]
        parts.pop()
    other = before.rstrip(_DIGITS)
    count = before[len(other) :]
    padding = len(other) - len(other.rstrip(b" "))
    if not measured or not count or padding + len(count) < _COUNT_WIDTH:
        return None
    if len(count) > _COUNT_WIDTH and other and not padding:
        return None
    return _read([count, *measured])


def split_name(printed: bytes) -> tuple[str, int | None]:
    """Return the name without the GOMAXPROCS suffix ``-P``, and P or None."""
    name = printed.decode("utf-8", "backslashreplace")
    procs = _PROCS.search(name)
    return (name[: procs.start()], int(procs[1])) if procs else (name, None)


def _read(fields: list[bytes]) -> Values | None:
    """Return the values parsed from the fields after the name, or None if invalid."""
    if len(fields) < 3 or len(fields) % 2 == 0:
        return None
    iterations = _count(fields[0])
    values = [_number(field) for field in fields[1::2]]
    if iterations is None:
        return None
    units = [unit.decode("utf-8", "backslashreplace") for unit in fields[2::2]]
    pairs = tuple((v, u) for v, u in zip(values, units, strict=True) if v is not None)
    return Values(iterations, pairs) if len(pairs) == len(units) else None


def _fields(line: bytes) -> list[bytes]:
    """Return the fields between white space as defined by Go's unicode.IsSpace."""
    if line.isascii():
        return line.split()
    text = line.decode("utf-8", "surrogateescape")
    return [f.encode("utf-8", "surrogateescape") for f in SPACE.split(text) if f]


def _count(field: bytes) -> int | None:
    """Return the result of Go's strconv.Atoi, or None on error."""
    try:
        value = int(field) if _COUNT.fullmatch(field) else None
    except ValueError:  # more digits than int() accepts
        return None
    return value if value is not None and -(1 << 63) <= value < 1 << 63 else None


def _number(field: bytes) -> float | None:
    """Return the result of Go's strconv.ParseFloat, or None on error."""
    try:
        if _DECIMAL.fullmatch(field):
            value = float(field)
        elif _HEXADECIMAL.fullmatch(field):
            value = float.fromhex(field.decode("ascii"))
        else:
            return float(field) if _SPECIAL.fullmatch(field) else None
    except (ValueError, OverflowError):
        return None
    return None if math.isinf(value) else value
