"""Parse the output of ``go test -bench``, from any log, into `Benchmarks`.

The format is https://go.dev/design/14313-benchmark-format, read as benchstat does:
golang.org/x/perf, benchfmt/reader.go. In addition, a result is reassembled when the
program's output separates its name from its values (testing/benchmark.go,
processBench).
"""

from __future__ import annotations

import re
from itertools import chain

from pprofdiff.errors import FormatError
from pprofdiff.loaders.benchmarks.line import (
    SPACE,
    Line,
    read_line,
    read_values,
    split_name,
)
from pprofdiff.model.benchmarks import Benchmarks, Result, Round

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
        """Read a name printed by `go test`, with its values if they follow."""
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
        """Read the output of a running benchmark; return where it ends."""
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
        """Apply the ``key: value`` lines between two positions."""
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
