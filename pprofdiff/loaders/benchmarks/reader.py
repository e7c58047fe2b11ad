"""Parse the output of ``go test -bench``, from any log, into `Benchmarks`.

The format is https://go.dev/design/14313-benchmark-format, read as benchstat does:
golang.org/x/perf, benchfmt/reader.go, and strconv for numbers. In addition, a result is
reassembled when the program's output separates its name from its values
(testing/benchmark.go, processBench).
"""

from __future__ import annotations

import math
import re
from itertools import chain
from typing import NamedTuple

from pprofdiff.errors import FormatError
from pprofdiff.model.benchmarks import Benchmarks, Result, Round

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
# `go test` prints the padded name and a tab; see processBench.
_NAME = rb"Benchmark(?![a-z])(\S*+) *+\t"
_STARTED = re.compile(_NAME)
# At the start of a line any Benchmark, inside a line only what `go test` prints.
_LINE = re.compile(
    rb"Benchmark(?:(?<![^\n]Benchmark)|(?![a-z])(?:[^\sB]|B(?!enchmark))*+ *+\t)[^\n]*"
)
# Output that follows the end of a benchmark or of its process.
_OVER = rb"(?:PASS|FAIL|ok  |--- |goos: )"
_OVER_HERE, _OVER_LATER = re.compile(_OVER), re.compile(rb"\n" + _OVER)
_PER_OPERATION = re.compile(rb"/op(?![^ \t\r\n])")

# See parseKeyValueLine; `_is_key` checks non-ASCII keys.
_CONFIG = rb"([a-z\x80-\xff][^:\sA-Z]*):([ \t][^\n]*|\r?(?=\n|\Z))"
_FIRST_CONFIG, _CONFIG_LINE = re.compile(_CONFIG), re.compile(rb"\n" + _CONFIG)

# What `pprofdiff measure` prints before the results of a round.
_IN_TURNS = b"measured"
_ROUND = re.compile(rb"^Round of (\S{1,40}), (base|new)\r?$", re.MULTILINE)

_LONGEST_LINE = 1 << 16  # the limit of bufio.Scanner, and so of benchstat
_STANDARD_KEYS = {"goos", "goarch", "pkg", "cpu"}
_MOST_OTHER_KEYS = 64


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


def parse(data: bytes, name: str) -> Benchmarks:
    """Return the results in `data`; raises FormatError, with `name`, without any."""
    scanner = BenchmarkScanner()
    scanner.feed(data)
    benchmarks = scanner.close()
    if benchmarks is None:
        raise FormatError(
            f"{name}: there is no benchmark result in it; give what go test -bench "
            "printed"
        )
    return benchmarks


class BenchmarkScanner:
    """Collects results from blocks of whole lines, fed in order.

    As in benchstat, ``key: value`` lines apply to the results after them, except those
    printed while a benchmark runs. `config` holds goos, goarch, pkg, cpu and the last
    64 other keys, sorted. A name may also start inside a line, and values separated
    from it may end a line, if both are printed as by ``go test`` and the values precede
    the next benchmark or the end of the tests.
    """

    def __init__(self) -> None:
        self._config: dict[str, str] = {}
        self._config_now: tuple[tuple[str, str], ...] | None = ()
        self._results: dict[
            tuple[tuple[tuple[str, str], ...], bytes, str],
            tuple[list[float], list[int]],
        ] = {}
        self._torn = 0
        self._rounds: list[Round] = []
        self._waiting: bytes | None = None  # name still without values
        self._running = False

    def feed(self, block: bytes) -> None:
        """Read the next block, which ends with a newline unless it is the last."""
        position = 0
        for match in _LINE.finditer(block):
            first = block.rfind(b"\n", position, match.start()) + 1 or position
            self._between(block, position, first)
            line = match[0].removesuffix(b"\r")
            if first == match.start():
                self._benchmark_line(line)
            else:
                self._started(line)
            position = match.end() + 1
        self._between(block, position, len(block))

    def close(self) -> Benchmarks | None:
        """Return all results, or None if there are none."""
        self._over()
        results = tuple(
            Result(*split_name(name), config, unit, tuple(values), tuple(iterations))
            for (config, name, unit), (values, iterations) in self._results.items()
        )
        if not results:
            return None
        return Benchmarks(results, self._torn, tuple(self._rounds))

    def _benchmark_line(self, line: bytes) -> None:
        result = read_line(line) if len(line) <= _LONGEST_LINE else None
        if result is not None:
            self._over()
            self._add(result)
        elif len(line.split(None, 1)) == 1 and not line[-1:].isspace():
            self._over()  # `go test -v` announces the next benchmark
            self._running = True
        else:
            self._started(line)

    def _started(self, line: bytes) -> None:
        started = _STARTED.match(line)
        if started is None or started.end() > _LONGEST_LINE:
            return
        self._over()
        values = read_values(line[max(started.end(), len(line) - _LONGEST_LINE) :])
        if values is not None:
            self._add(Line(started[1], *values))
        else:
            self._waiting, self._running = started[1], True

    def _between(self, block: bytes, start: int, end: int) -> None:
        if self._running and start < end:
            start = self._output(block, start, end)
        if start < end:
            self._configure(block, start, end)

    def _output(self, block: bytes, start: int, end: int) -> int:
        here = _OVER_HERE.match(block, start, end)
        later = None if here else _OVER_LATER.search(block, start, end)
        limit = start if here else later.start() + 1 if later else end
        if self._waiting is not None:
            last = start
            for match in _PER_OPERATION.finditer(block, start, limit):
                if match.start() < last:
                    continue
                first = block.rfind(b"\n", start, match.start()) + 1 or start
                last = block.find(b"\n", match.end(), limit)
                last = limit if last < 0 else last
                first = max(first, last - _LONGEST_LINE)
                values = read_values(block[first:last].removesuffix(b"\r"))
                if values is not None:
                    self._add(Line(self._waiting, *values))
                    self._waiting, self._running = None, False
                    return last + 1
        if here or later:
            self._over()
        return limit

    def _over(self) -> None:
        """Give up waiting for values of the last benchmark named."""
        self._torn += self._waiting is not None
        self._waiting, self._running = None, False

    def _configure(self, block: bytes, start: int, end: int) -> None:
        first = _FIRST_CONFIG.match(block, start, end)
        # The last line of a key wins: a log may repeat a key millions of times.
        lines = {
            match[1]: match
            for match in chain((first,), _CONFIG_LINE.finditer(block, start, end))
            if match and match.end() - match.start() <= _LONGEST_LINE
        }
        for key, match in sorted(lines.items(), key=lambda item: item[1].start()):
            if _is_key(key):
                value = match[2].removesuffix(b"\r").lstrip(b" \t")
                self._set(_text(key), _text(value))
        if _IN_TURNS in lines:
            found = _ROUND.finditer(block, start, end)
            self._rounds += [Round(_text(one[1]), _text(one[2])) for one in found]

    def _set(self, key: str, value: str) -> None:
        self._config.pop(key, None)
        self._config[key] = value
        others = [name for name in self._config if name not in _STANDARD_KEYS]
        if len(others) > _MOST_OTHER_KEYS:
            del self._config[others[0]]
        self._config_now = None

    def _add(self, line: Line) -> None:
        if self._config_now is None:
            config = sorted(self._config.items())
            self._config_now = tuple((key, value) for key, value in config if value)
        for value, unit in line.values:
            key = self._config_now, line.name, unit
            values, iterations = self._results.setdefault(key, ([], []))
            values.append(value)
            iterations.append(line.iterations)


def _is_key(key: bytes) -> bool:
    """Return whether `key`, if not ASCII, has no upper-case letters or space."""
    if key.isascii():
        return True
    import unicodedata

    text = _text(key)
    kinds = [unicodedata.category(c) for c in text]
    return kinds[0] == "Ll" and "Lu" not in kinds and not SPACE.search(text)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
