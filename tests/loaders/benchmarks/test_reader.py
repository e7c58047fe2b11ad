"""Benchmark output: what benchstat's own reader finds is what is found, and no less."""

from __future__ import annotations

import json
import os
import re
import subprocess
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.loaders.benchmarks.reader import BenchmarkScanner, parse
from tests.loaders.feeding import fed

from .benchtext import TOO_LONG, found, go_line, outputs, runs, strange

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "data"
CAPTURES = sorted(DATA.rglob("bench.txt"))
UNREACHABLE = re.compile(r"dial tcp|no such host|module lookup disabled|i/o timeout")
NOISY_TEST = """
package p

import ("fmt"; "os"; "runtime"; "testing")

func BenchmarkPrints(b *testing.B) {
	fmt.Println("pkg: is what the program says")
	fmt.Fprint(os.Stderr, "no line's end")
	for i := 0; i < b.N; i++ {}
}

func BenchmarkCollects(b *testing.B) {
	b.ReportAllocs()
	for i := 0; i < b.N; i++ { runtime.GC() }
}

func BenchmarkLogs(b *testing.B) {
	b.Log("logged")
	b.Run("size=1k", func(b *testing.B) {
		b.SetBytes(1024)
		b.ReportMetric(3.5, "widgets/op")
		fmt.Print("... ")
	})
}

func BenchmarkSkips(b *testing.B) { b.Skip("not today") }
"""


scanned = partial(fed, BenchmarkScanner)


def torn(lines, draw):
    """Return benchmarks with other output between name and values."""
    text = b""
    for before, after in lines:
        # A count of nine digits or more can't be separated from digits before it.
        padded = after.startswith(b" ")
        text += before + draw.draw(st.sampled_from(NOISE if padded else LINES)) + after
    return text


LINES = [b"", b"log\n", b"pkg: x\n", b"x 3\t4 ns/op\n", b"gc 5 @0.1s 2%: 0.01+\n"]
NOISE = [*LINES, b"gc 5 @0.1s 2%: 0.01+", b"a\tb\nc", b"x 8\n\n...", b"7 ", b"x\t"]


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    """Return a function: output in, what golang.org/x/perf/benchfmt finds out."""
    program = tmp_path_factory.mktemp("benchfmt") / "benchfmt"
    built = subprocess.run(
        ["go", "build", "-o", program, "."],
        cwd=HERE / "benchfmt", capture_output=True, text=True, check=False,
    )  # fmt: skip
    if built.returncode and UNREACHABLE.search(built.stderr):
        pytest.skip(f"Go cannot fetch modules: {built.stderr.splitlines()[-1]}")
    assert built.returncode == 0, built.stderr

    def ask(data):
        process.stdin.write(data.hex() + "\n")
        process.stdin.flush()
        results = {}
        for one in json.loads(process.stdout.readline()):
            config = [[text(k), text(v)] for k, v in one["Config"] or ()]
            held = tuple(sorted((k, v) for k, v in config))
            for bits, unit in one["Values"]:
                key = held, text(one["Name"]), text(unit)
                results.setdefault(key, []).append((int(one["Iters"]), bits))
        return results

    def text(shown):
        return bytes.fromhex(shown).decode("utf-8", "backslashreplace")

    with subprocess.Popen(
        [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield ask
        process.stdin.close()


@pytest.mark.go
@pytest.mark.parametrize("path", CAPTURES, ids=lambda p: "/".join(p.parts[-3:-1]))
def test_captures_read_as_benchstat_reads_them(oracle, path):
    data = path.read_bytes()
    benchmarks = parse(data, "x")
    assert found(benchmarks) == oracle(data)
    assert len(benchmarks.results) == 8
    assert {len(result.values) for result in benchmarks.results} == {10}
    assert benchmarks.torn == 0


@pytest.mark.go
def test_any_output_reads_as_benchstat_reads_it(oracle):
    @given(outputs())
    def check(data):
        assert found(scanned(data)) == oracle(data)

    check()


@pytest.mark.go
def test_strange_spellings_read_as_benchstat_reads_them(oracle):
    assert found(scanned(strange())) == oracle(strange())


@pytest.mark.go
@pytest.mark.parametrize("flags", [(), ("-v",)], ids=["quiet", "v"])
def test_a_package_of_gos_own(oracle, flags):
    data = subprocess.run(
        ["go", "test", "-vet=off", "-run=^$", "-bench=.", "-benchtime=5x", "-count=2", *flags, "strconv"],
        stdout=subprocess.PIPE, check=True,
    ).stdout  # fmt: skip
    benchmarks = parse(data, "x")
    assert found(benchmarks) == oracle(data)
    assert benchmarks.torn == 0
    assert {len(result.values) for result in benchmarks.results} == {2}


@pytest.mark.go
@pytest.mark.parametrize("flags", [(), ("-v",)], ids=["quiet", "v"])
def test_what_programs_print_in_between_loses_nothing(tmp_path, flags):
    (tmp_path / "p_test.go").write_text(NOISY_TEST)
    (tmp_path / "go.mod").write_text("module example.com/p\ngo 1.20\n")
    program = tmp_path / "p.test"
    subprocess.run(["go", "test", "-c", "-o", program], cwd=tmp_path, check=True)
    flags = [f"-test{flag}" for flag in (".bench=.", ".benchtime=20x", ".count=3")]
    data = subprocess.run(
        [program, *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True,
        env={**os.environ, "GODEBUG": "gctrace=1"},
    ).stdout  # fmt: skip
    benchmarks = parse(data, "x")
    units = {(r.name, r.unit): r for r in benchmarks.results}
    assert set(units) == {
        ("Prints", "ns/op"),
        *((("Collects"), unit) for unit in ("ns/op", "B/op", "allocs/op")),
        *(("Logs/size=1k", unit) for unit in ("ns/op", "MB/s", "widgets/op")),
    }
    assert {r.iterations for r in units.values()} == {(20, 20, 20)}
    assert units["Logs/size=1k", "widgets/op"].values == (3.5, 3.5, 3.5)
    assert {dict(r.config)["pkg"] for r in units.values()} == {"example.com/p"}


@pytest.mark.go
def test_torn_lines_read_as_if_they_were_whole(oracle):
    @given(runs(), st.data())
    def check(lines, draw):
        whole = b"".join(before + after for before, after in lines)
        assert found(scanned(torn(lines, draw))) == oracle(whole)

    check()


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (b"BenchmarkX-8 \tlog\n", 1),
        (b"BenchmarkX-8 \tlog\nPASS\n     100\t 5 ns/op\n", 1),
        (b"BenchmarkX-8 \tlog\nBenchmarkY-8\n     100\t 5 ns/op\n", 1),
        (b"BenchmarkX-8 \tlog\nFAIL\texample.com/p\t0.1s\n     100\t 5 ns/op\n", 1),
        (b"BenchmarkX-8 \tx    100\t 5 ns/op\n", 1),
        (b"BenchmarkX-8 \tx123456789\t 5 ns/op\n", 1),
        (b"BenchmarkX-8 \tport 80\t 5 ns/op\n", 1),
        (b"BenchmarkX-8\n     100\t 5 ns/op\n", 0),
        (b"Benchmark results: none\n     100\t 5 ns/op\n", 0),
        (b"     100\t 5 ns/op\n", 0),
    ],
)
def test_what_cannot_be_proved_is_counted(text, count):
    fine = b"BenchmarkFine-8 \t     100\t 5 ns/op\n"
    benchmarks = parse(text + fine, "x")
    assert [r.name for r in benchmarks.results] == ["Fine"]
    assert benchmarks.torn == count


def test_a_name_within_a_line_is_found():
    text = b"... BenchmarkX-8   \tlog\n     100\t 5 ns/op\n12:00 BenchmarkY \t       7\t 3 B/op\n"
    text += b"BenchmarkZ \ta\t80 1000000\t 5 ns/op\n"
    first, last, other = parse(text, "x").results
    assert (other.name, other.iterations) == ("Z", (1000000,))
    assert (first.name, first.values, last.name, last.values) == ("X", (5,), "Y", (3,))


def test_a_running_benchmark_configures_nothing():
    text = (
        b"pkg: a\nBenchmarkX-8 \tpkg-path: b\nnote: c\n     100\t 5 ns/op\nlater: d\n"
    )
    again, last = parse(text + text, "x").results
    assert again.config == (("pkg", "a"),)
    assert last.config == (("later", "d"), ("pkg", "a"))


def test_names_procs_and_frame():
    text = b"".join(
        before + after
        for before, after in (
            go_line(20, name, 7, [(1.5, "ns/op"), (2, "B/op")])
            for name in ("X-8", "X/a=1-8", "X", "X-08", "X-8", "X/b-c")
        )
    )
    benchmarks = parse(text, "x")
    names = {"X": None, "X-08": None, "X/b-c": None}
    found = [(r.name, r.procs) for r in benchmarks.results[::2]]
    assert found == [("X", 8), ("X/a=1", 8), *names.items()]
    frame = benchmarks.to_frame()
    assert " ".join(frame.columns) == "name procs unit run value iterations"
    assert len(frame) == 12
    assert set(frame["iterations"]) == {7}


def test_configuration_is_bounded():
    noise = b"".join(b"key-%d: %d\n" % (i, i) for i in range(10_000))
    (result,) = parse(b"goos: linux\n" + noise + b"BenchmarkX 1 2 ns/op\n", "x").results
    assert len(result.config) == 65
    assert dict(result.config)["goos"] == "linux"
    assert dict(result.config)["key-9999"] == "9999"
    few = b"".join(b"key-%d: x\n" % i for i in range(50))
    many = b"".join(b"other-%d: x\n" % i for i in range(50))
    again = scanned(b"kept: 1\n", few, b"kept: 2\n", many, b"BenchmarkX 1 2 ns/op\n")
    assert dict(again.results[0].config)["kept"] == "2"


@pytest.mark.slow
@given(outputs(), runs(), st.data())
def test_blocks_may_end_at_any_line(text, lines, draw):
    data = torn(lines, draw) + text + b"\n" + torn(lines, draw)
    by_line = [line + b"\n" for line in data.split(b"\n")]
    assert repr(scanned(*by_line)) == repr(scanned(data))  # NaN is not itself


PIECES = (b"Benchmark", b"BenchmarkX \t", b"x/op ", b"\t1 x", b"1", b" ", b"a:", b"\n")


@pytest.mark.parametrize("piece", [*PIECES, b"B 1 "], ids=repr)
def test_long_lines_take_no_longer(piece):
    data = piece * ((1 << 22) // len(piece))
    assert parse(b"BenchmarkX-8 \t" + data + b"\nBenchmarkY 1 2 x\n", "x").torn == 1


@pytest.mark.slow
@pytest.mark.parametrize("number", [*TOO_LONG, "1e99999"], ids=len)
def test_numbers_too_large_for_go_are_of_no_result(number):
    good = b"BenchmarkGood-2 \t 10 \t 5 ns/op\n"
    lines = [
        f"BenchmarkX-2 \t {number} \t 5 ns/op\n",
        f"BenchmarkX-2 \t 10 \t {number} ns/op\n",
        f"BenchmarkX-2 \t 10 \t 5 ns/op \t {number} B/op\n",
        f"BenchmarkX-2 \t\nother output\n{number}\t{number} ns/op\n",
    ]
    for line in lines:
        (result,) = scanned(line.encode() + good).results
        assert (result.name, result.values) == ("Good", (5.0,))
    named = scanned(f"BenchmarkX-{number} 1 5 ns/op\n".encode()).results[0]
    assert (named.name, named.procs) == (f"X-{number}", None)
