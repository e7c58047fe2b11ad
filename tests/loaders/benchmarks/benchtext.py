"""Benchmark output for hypothesis, printed as Go prints it, and what ours makes of it."""

from __future__ import annotations

import math
import struct

from hypothesis import strategies as st

NAMES = st.one_of(
    st.sampled_from(["X", "X-8", "X/size=1k-8", "X/a-b/c-16", "Decode_x-1", "", "-8"]),
    st.text(
        st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), max_size=8
    ),
)
UNITS = st.sampled_from(
    ["ns/op", "B/op", "allocs/op", "MB/s", "p99-ns/op", "widgets", "%", "µs/op", "5"]
)
STRANGE_NUMBERS = """
NaN nan +nan Inf -inf +Infinity infinit 1e999 -1e400 1e-999 0x1p-2 0X1.8P3 0x1 0x.p1
1_000 1__0 _1 1_.5 1e1_0 9223372036854775807 9223372036854775808 .5 5. . + 1e 1e+ --1
+5 -0 0.1e-7 1,5 ٣ 1.5.2 111111111111111111111111111111 1e99999 0x1p99999 0x1p-99999
"""
TOO_LONG = ["9" * 400, "9" * 5000, "0x" + "f" * 5000 + "p0", "0x1p" + "9" * 5000]
NUMBERS = st.one_of(
    st.integers(0, 10**6).map(str),
    st.floats(allow_nan=False).map(repr),
    st.sampled_from(STRANGE_NUMBERS.split()),
)
STRANGE_COUNTS = ["1", "+1", "-1", "1_0", "0x1", "x", "9223372036854775807"]
STRANGE_COUNTS += ["9223372036854775808", "-9223372036854775808", "٣", *TOO_LONG]
COUNTS = st.one_of(st.integers(0, 10**9).map(str), st.sampled_from(STRANGE_COUNTS))
SPACES = st.sampled_from(
    [" ", "\t", "   \t", " \t ", "\v", "\u00a0", "\u2003 ", "\x85"]
)
CONFIG_LINES = (
    "goos: linux|goarch: amd64|pkg: a/b|pkg: c|cpu: Xeon  8|pkg:|gogc: 100|gogc:\t200|"
    "gogc:300|gogc: |a:b: c|ab: x:y |:x|Key: v|kEy: v|key\v: v|key:\vv|k\x1c: v|k\r: v|"
    "k:\rv|k: v\r|ключ: да|Ключ: v|k\xa0: v|kЛ: v|kéy: v|ªk: v"
)
CONFIGS = st.one_of(
    st.sampled_from(CONFIG_LINES.split("|")),
    st.from_regex(r"[a-z:]{1,3}[ :\t][a-z :]{0,3}", fullmatch=True),
)
OTHER_LINES = (
    "PASS|ok  \ta/b\t1.5s||Unit ns/op better=lower|Unit|Unit x y|--- BENCH: BenchmarkX-8|"
    "    x_test.go:3: hello|benchmark X 1 2 ns/op|  BenchmarkX 1 2 ns/op|\0\x01|"
    "12:00 served 3 ns/op|     100\t 3 ns/op"
)
NOISE = st.sampled_from(OTHER_LINES.split("|"))


@st.composite
def _results(draw):
    """Return a line that begins with Benchmark and may be a result."""
    words = [draw(COUNTS)]
    for _ in range(draw(st.integers(0, 3))):
        words += [draw(NUMBERS), draw(UNITS)]
    if draw(st.integers(0, 9)) == 0:
        words.append(draw(NUMBERS))
    line = f"Benchmark{draw(NAMES)}"
    for index, word in enumerate(words):
        line += draw(SPACES if index else st.just(" ")) + word
    return line + draw(st.sampled_from(["", "", " ", "\t"]))


@st.composite
def outputs(draw):
    """Return output without lines of `go test` whose values are missing."""
    lines = draw(st.lists(st.one_of(_results(), CONFIGS, NOISE), max_size=12))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    text = end.join(lines) + draw(st.sampled_from(["", end]))
    return text.encode()


def strange():
    """Return output with every spelling of a number or configuration line above."""
    numbers = STRANGE_NUMBERS.split() + TOO_LONG
    lines = [f"BenchmarkN 1 {number} x" for number in numbers]
    lines += [f"BenchmarkC {count} 2 x" for count in STRANGE_COUNTS]
    for line in CONFIG_LINES.split("|"):
        lines += [line, "BenchmarkL 1 2 x", "goos: x", "pkg: y", "k: z", "gogc: 1"]
    return "".join(line + "\n" for line in lines).encode()


def go_line(width, name, count, measurements):
    """Return what `go test` prints before a benchmark runs, and what after it."""
    values = "".join(f"\t{value:10.4g} {unit}" for value, unit in measurements)
    return f"{'Benchmark' + name:<{width}}\t".encode(), f"{count:8d}{values}\n".encode()


@st.composite
def runs(draw):
    """Return (before, after) of each benchmark of a run of `go test`."""
    width = draw(st.integers(0, 30))
    lines = []
    for _ in range(draw(st.integers(1, 5))):
        name = draw(st.sampled_from(["X", "X-8", "Y/a=1-8", "Z/b-2"]))
        extra = draw(st.lists(st.sampled_from(["MB/s", "B/op", "x/op"]), max_size=2))
        units = ["ns/op", *extra]
        values = [draw(st.floats(0, 1e9)) for _ in units]
        pairs = list(zip(values, units, strict=True))
        count = draw(st.integers(1, 10**10))
        lines.append(go_line(width, name, count, pairs))
    return lines


def _bits(value):
    bits = struct.unpack("<Q", struct.pack("<d", value))
    return "NaN" if math.isnan(value) else str(*bits)


def found(benchmarks):
    """Return {(config, full name, unit): [(count, bits of the value)]} in order."""
    results = {}
    for result in benchmarks.results if benchmarks else ():
        name = result.name if result.procs is None else f"{result.name}-{result.procs}"
        pairs = zip(result.iterations, map(_bits, result.values), strict=True)
        results.setdefault((result.config, name, result.unit), []).extend(pairs)
    return results
