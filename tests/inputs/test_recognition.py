"""Kinds are recognized by content: real bytes where they can be had, and any bytes at all."""

from __future__ import annotations

import gzip
import random
import struct
import sys
import urllib.request
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.errors import FormatError
from pprofdiff.inputs import DEFAULT_MAX_SIZE, Foreign
from pprofdiff.inputs.intake import take_bytes
from pprofdiff.inputs.recognition import refusal
from pprofdiff.kinds import KINDS
from tests.repository import go

GC_LINE = (
    b"gc 7 @0.123s 4%: 0.026+0.65+0.015 ms clock, 0.41+0.24/1.1/0.50+0.25 ms cpu, "
    b"4->4->1 MB, 5 MB goal, 16 P\n"
)
BENCH_LINE = b"BenchmarkDecode/small-8   \t  1000\t      1234.5 ns/op\t 12 B/op\n"
TRACE = b"go 1.22 trace\0\0\0"
WRK = (Path(__file__).parents[1] / "data/load/wrk.txt").read_bytes()
PROFILE = (
    b"\x0a\x04\x08\x01\x10\x02"  # sample_type
    b"\x12\x06\x0a\x01\x01\x12\x01\x0a"  # sample
    b"\x32\x00\x32\x03cpu\x32\x0bnanoseconds"  # string_table
    b"\x48\x80\x80\x80\x80\x01\x50\x01"  # time_nanos, duration_nanos
)
GPERFTOOLS = struct.pack("<5Q", 0, 3, 0, 10_000, 0)


def kinds(data):
    return take_bytes(data, "x", DEFAULT_MAX_SIZE).kinds


def outcome(data):
    """Return the kinds, or the error that says why there are none."""
    try:
        return kinds(data)
    except FormatError as error:
        return error


def fetch(address, path):
    with urllib.request.urlopen(f"http://{address}{path}") as response:
        return response.read()


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PROFILE, "profile"),
        (TRACE, "trace"),
        (b"go 1.5 trace\0\0\0\0", "trace"),
        (GC_LINE, "gctrace"),
        (b"12:00 worker 1" + GC_LINE, "gctrace"),
        (b'{"log":"' + GC_LINE[:-1] + b'"}\n', "gctrace"),
        (b"BenchmarkX-2   \t" + GC_LINE, "gctrace"),
        (bytes(9000) + b"\n" + GC_LINE, "gctrace"),
        (BENCH_LINE, "benchmark"),
        (b"goos: linux\r\n" + BENCH_LINE, "benchmark"),
        (b"BenchmarkX 1 NaN widgets\n", "benchmark"),
        (b"BenchmarkX-2   \tlog\n      50\t 3 ns/op\n", "benchmark"),
        (WRK, "load"),
        (b"BenchmarkX\n    x_test.go:8: BenchmarkX-8 1 2 ns/op\n", Foreign.UNKNOWN),
        (b"", Foreign.EMPTY),
        (b"heap profile: 1: 2 [3: 4] @ heap/1048576\n", Foreign.LEGACY_PROFILE_TEXT),
        (b"heap profile:  1: 2 [ 3: 4] @ heapprofile\n", Foreign.GPERFTOOLS_HEAP),
        (b"goroutine profile: total 4\n4 @ 0x1\n", Foreign.LEGACY_PROFILE_TEXT),
        (b"--- contention:\ncycles/second=1\n", Foreign.LEGACY_PROFILE_TEXT),
        (b"goroutine 1 [running]:\nmain.main()\n", Foreign.GOROUTINE_DUMP),
        (GPERFTOOLS, Foreign.GPERFTOOLS),
        (struct.pack(">5I", 0, 3, 1, 10_000, 0), Foreign.GPERFTOOLS),
        (b"mode: atomic\nx/y.go:1.1,2.2 3 4\n", Foreign.COVERAGE),
        (b"PERFILE2" + bytes(96), Foreign.PERF_DATA),
        (
            b"app 105 136.61:  3344 cpu-clock:pppH: \n\t4a f+0x1 (/app)\n",
            Foreign.PERF_SCRIPT,
        ),
        (b"JAVA PROFILE 1.0.2\0", Foreign.JAVA),
        (b"FLR\0\0\2\0\1", Foreign.JAVA),
        (b"\x04\x08{\x10:\x0cversionf\x081.2", Foreign.STACKPROF),
        (b"\xfb)\x03\xfa\x05cp.py\xe9\x01\0\0\0", Foreign.CPROFILE),
        (b"MOJ\x03\x01\x02", Foreign.AUSTIN),
        (b"v8-version,11,3,244,8,-node.15,0\n", Foreign.V8_LOG),
        (b"Statistical profiling result from v8.log, (1 ticks", Foreign.V8_LOG),
        (b"command,mean,stddev,median,user\n", Foreign.HYPERFINE),
        (b"| Command | Mean [ms] | Min [ms] |\n", Foreign.HYPERFINE),
        (b"timeStamp,elapsed,label,responseCode\n", Foreign.LOAD),
        (b'"test","rps","avg_latency_ms"\n', Foreign.LOAD),
        (
            b'<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "x">\n<svg>',
            Foreign.FLAME_GRAPH,
        ),
        (b"<!DOCTYPE html>\n<h1>CPU</h1>\n// async-profiler", Foreign.FLAME_GRAPH),
        (b"Nettrace\x14\0\0\0!FastSerialization.1", Foreign.NETTRACE),
        (b"\x04\x22\x4d\x18\x64\x40", Foreign.LZ4),
        (b"Flat profile:\n\nEach sample counts as 0.01 seconds.\n", Foreign.REPORT),
        (
            b"\tSat Nov 28 03:21 2026 Time and Allocation Profiling Report  (Final)\n",
            Foreign.GHC,
        ),
        ("goos: linux\n        │ old.txt │\n".encode(), Foreign.BENCHSTAT),
        (b"name   old time/op  new time/op  delta\n", Foreign.BENCHSTAT),
        (b"M=1 P=0 G=1 StateTransition Time=1\n", Foreign.TRACE_TEXT),
        (b"SCHED 1009ms: gomaxprocs=2 idleprocs=0\n", Foreign.SCHEDTRACE),
        (b"# HELP go_gc_duration_seconds A summary.\n", Foreign.METRICS),
        (b"Total: 1.20s\nROUTINE ==== main.f in a.go\n", Foreign.PPROF_REPORT),
        (b"      flat  flat%   sum%        cum\n", Foreign.PPROF_REPORT),
        (b"# callgrind format\nversion: 1\n", Foreign.CALLGRIND),
        (b"version: 1\ncreator: xdebug 3.2.0\ncmd: x.php\n", Foreign.CALLGRIND),
        (b'sample.interval=5000\n"c" "total" \n', Foreign.RPROF),
        (b"$by.self\n     self.time self.pct\n", Foreign.RPROF_SUMMARY),
        (b"NYTProf 5 0\n#Perl profile database\n", Foreign.NYTPROF),
        (b"67%  base.lua:1\n  <-  \n", Foreign.LUAJIT),
        (b"heap_v2/4096\n  t*: 4229: 12972996 [0: 0]\n", Foreign.JEMALLOC),
        (b"--- symbol\nbinary=app\n0x1 main\n", Foreign.JEMALLOC),
        (b"Total: 23.5 MB\n    23.4  99.7%  99.7%     23.4", Foreign.JEMALLOC),
        (b"\x80\x02cyappi\nYFuncStats\nq\0)", Foreign.CPROFILE),
        (b"\x80\x04\x95\x10\0\0\0\0\0\0\0\x8c\x05yappi\x94", Foreign.CPROFILE),
        (b"\nClock type: CPU\nOrdered by: totaltime, desc\n", Foreign.CPROFILE),
        (b"\n  _     ._   __/__   _ _  _  _ _/_\n", Foreign.PYTHON_TEXT),
        (b" /a/cart.py: % of time = 100.00% (534ms) out\n", Foreign.PYTHON_TEXT),
        (
            b"   Memory usage: x (max: 11.0 MB)\n  c.py: % of time =  90.1% out",
            Foreign.PYTHON_TEXT,
        ),
        (b"% self  % total  name\n 59.35    59.35  block", Foreign.RBSPY),
        (
            b'[2026-11-28 14:31:44,233] vm/INFO/locust.main: Starting\n{"U": 4} (4)\n',
            Foreign.LOCUST,
        ),
        (b"Type     Name     # reqs      # fails |    Avg\n", Foreign.LOCUST),
        (b"Timestamp,User Count,Type,Name,Requests/s\n", Foreign.LOCUST),
        (b"Method,Name,Error,Occurrences\n", Foreign.LOCUST),
        (b"Count,Message,Traceback,Nodes\n", Foreign.LOCUST),
        (
            b"1795876307150223181,200,6426460,0,2,,b2s=,,0,GET,http://h/,Q29=\n",
            Foreign.VEGETA,
        ),
        (
            b'1795876307150223181,0,64,0,0,"dial ""h"", refused",,load,0,POST,u,\n',
            Foreign.VEGETA,
        ),
        (b"1795876307,200,17\n1795876308,200,18\n", Foreign.UNKNOWN),
        (b"desc: (none)\ncmd: ./app\ntime_unit: i\n", Foreign.VALGRIND),
        (
            b"2026-11-29 12:38:21\nFull thread dump OpenJDK 64-Bit Server VM",
            Foreign.THREAD_DUMP,
        ),
        (
            bytes(8)
            + b"\3"
            + bytes(15)
            + b"\x88\x13"
            + bytes(14)
            + b"\5\0\7\0\7cpython\6",
            Foreign.VMPROF,
        ),
        (b"Bucket         #    %       Histogram\n", Foreign.LATENCIES),
        (b"Value(ms)  Percentile  TotalCount  1/(1-P", Foreign.LATENCIES),
        (b"goos: linux\npkg: x\n,base.txt,\n,sec/op,CI\n", Foreign.BENCHSTAT),
        (b"memory profiling: line profiling: sample.interval=5000\n", Foreign.RPROF),
        (b"main.main;main.work 12\nmain.main 3;x 4\n", "profile"),
        (b"swapper 3\r\n\r\nf;g h\t4", "profile"),
        (b"f;g 3\nf;g\n", Foreign.UNKNOWN),
        (b"requests 3\nerrors 4\n", Foreign.UNKNOWN),
        (b"f;g\0 3\n", Foreign.UNKNOWN),
        (b"\n<!DOCTYPE html>\n<html>", Foreign.HTML),
        (b'{"error": "no"}', Foreign.JSON),
        (b"[\n  1, 2]", Foreign.JSON),
        (b"PK\3\4rest", Foreign.ARCHIVE),
        (b"\xff\xfeg\0c\0", Foreign.UTF16_TEXT),
        (b"num_symbols: 1\n", Foreign.UNKNOWN),
        (b"\n\nplain words about a gc 1 at night\n", Foreign.UNKNOWN),
        (b"\x00\x01\x02\x03", Foreign.UNKNOWN),
    ],
    ids=lambda value: value.name if isinstance(value, Foreign) else "",
)
def test_kind(data, kind, pack):
    assert kinds(pack(data)) == (kind,)


def test_gzip_inside_gzip_is_named():
    assert kinds(gzip.compress(gzip.compress(PROFILE))) == (Foreign.COMPRESSED,)


def test_a_log_can_be_several_kinds():
    assert kinds(BENCH_LINE + GC_LINE) == ("gctrace", "benchmark")
    assert kinds(WRK + GC_LINE) == ("gctrace", "load")
    assert kinds(WRK + BENCH_LINE + GC_LINE) == ("gctrace", "benchmark", "load")


def test_every_member_of_a_gzip_stream_is_looked_at():
    parts = map(gzip.compress, (b"", b"some text\n", GC_LINE))
    assert kinds(b"".join(parts)) == ("gctrace",)
    assert kinds(gzip.compress(PROFILE[:6]) + gzip.compress(PROFILE[6:])) == (
        "profile",
    )


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_the_first_gc_line_may_come_late(pack):
    log = b"12:00:01 request handled in 3 ms\n" * 10_000
    assert kinds(pack(log)) == (Foreign.UNKNOWN,)
    assert kinds(pack(log + GC_LINE)) == ("gctrace",)


@pytest.mark.parametrize(
    "data",
    [
        b"\x0a\x04\x08\x01\x18\x02" + PROFILE,  # a value type with a field 3
        b"\x32\x01a" + PROFILE,  # a first string that is not empty
        b"\x08\x01" + PROFILE,  # sample_type as a number
        b"\x00\x00" + PROFILE,  # field 0
        b"\x48" + b"\xff" * 11 + PROFILE,  # a number that never ends
        b"\x48\x01",  # neither sample type nor string
        b"\nP1 text\n",
    ],
)
def test_what_is_nearly_a_profile(data):
    assert kinds(data) == (Foreign.UNKNOWN,)


def test_a_field_that_profile_proto_may_gain_is_no_obstacle():
    assert kinds(PROFILE + b"\x82\x01\x01a" + b"\x8d\x01\0\0\0\0") == ("profile",)


def test_a_long_profile_may_begin_with_its_samples():
    sample = b"\x12\x06\x0a\x01\x01\x12\x01\x0a"
    assert kinds(sample * 1000 + PROFILE) == ("profile",)
    assert kinds(sample * 10) == (Foreign.UNKNOWN,)


def test_a_program_is_named():
    assert kinds(Path(sys.executable).read_bytes()) == (Foreign.PROGRAM,)


@pytest.mark.parametrize("kind", sorted(Foreign))
def test_every_other_kind_is_refused_in_one_line(kind):
    text = str(refusal(kind, "dir/x.pb.gz", b"\x1b[2J\nbytes"))
    assert text.startswith("dir/x.pb.gz: ")
    assert text.isprintable()


def test_the_refusal_of_unknown_bytes_shows_them():
    assert str(refusal(Foreign.UNKNOWN, "x", b"\x1b\xffhello")).endswith(
        r"it begins with \x1b\xffhello"
    )
    for text in (b"Profiling results\n----", b"Profiling results\r\n----"):
        said = str(refusal(Foreign.UNKNOWN, "x", text))
        assert said.endswith("it begins with Profiling results")
    assert str(refusal(Foreign.UNKNOWN, "x", b"\nx")).endswith(r"begins with \nx")


@pytest.mark.go
@pytest.mark.parametrize(
    "path",
    [
        "profile?seconds=1",
        *("heap", "allocs", "block", "mutex", "goroutine", "threadcreate"),
        "heap?seconds=1",
    ],
)
def test_profiles_of_a_go_program(go_server, path):
    data = fetch(go_server.address, f"/debug/pprof/{path}")
    assert kinds(data) == ("profile",)
    assert kinds(gzip.decompress(data)) == ("profile",)


@pytest.mark.go
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/debug/pprof/trace?seconds=0.1", "trace"),
        ("/debug/pprof/heap?debug=1", Foreign.LEGACY_PROFILE_TEXT),
        ("/debug/pprof/goroutine?debug=1", Foreign.LEGACY_PROFILE_TEXT),
        ("/debug/pprof/goroutine?debug=2", Foreign.GOROUTINE_DUMP),
        ("/debug/pprof/", Foreign.HTML),
        ("/debug/pprof/cmdline", Foreign.UNKNOWN),
        ("/debug/pprof/symbol", Foreign.UNKNOWN),
        ("/heapdump", Foreign.HEAP_DUMP),
    ],
)
def test_other_answers_of_a_go_program(go_server, path, kind):
    assert kinds(fetch(go_server.address, path)) == (kind,)


@pytest.mark.go
def test_the_gc_log_and_binary_of_a_go_program(go_server):
    assert kinds(go_server.log.read_bytes()) == ("gctrace",)
    assert kinds(go_server.binary.read_bytes()) == (Foreign.PROGRAM,)


@pytest.mark.go
def test_benchmark_output_in_gos_own_tests(go_root):
    folder = go_root / "src/cmd/internal/test2json/testdata"
    assert kinds((folder / "bench.test").read_bytes()) == ("benchmark",)
    assert kinds((folder / "bench.json").read_bytes()) == (Foreign.GO_TEST_JSON,)


@pytest.mark.matrix
@pytest.mark.go
@pytest.mark.parametrize(
    "view", ["top", "tree", "traces", "raw", "dot", "callgrind", "proto"]
)
def test_what_go_tool_pprof_prints(go_server, tmp_path, view):
    profile, printed = tmp_path / "heap.pb.gz", tmp_path / "printed"
    profile.write_bytes(fetch(go_server.address, "/debug/pprof/heap"))
    go("tool", "pprof", f"-{view}", f"-output={printed}", profile)
    expected = "profile" if view == "proto" else Foreign.PPROF_REPORT
    assert kinds(printed.read_bytes()) == (expected,)


@pytest.mark.go
def test_the_gperftools_bytes_above_are_what_pprof_takes_for_one(go_root, tmp_path):
    path = tmp_path / "cpu.prof"
    sample, end = struct.pack("<3Q", 1, 1, 0x401000), struct.pack("<3Q", 0, 1, 0)
    path.write_bytes(GPERFTOOLS + sample + end)
    printed = go("tool", "pprof", "-raw", path)
    assert "PeriodType: cpu nanoseconds\nPeriod: 10000000" in printed
    assert kinds(path.read_bytes()) == (Foreign.GPERFTOOLS,)


BEGINNINGS = [
    *(b"", PROFILE, TRACE, GC_LINE, BENCH_LINE, GPERFTOOLS, b"\x1f\x8b\x08\0", b"\x0a"),
    *(b"heap profile: ", b"goroutine 1 [", b"MZ", b"{", b"<", b"a;b 1\n", b"\n"),
]


@given(st.sampled_from(BEGINNINGS), st.binary(max_size=300), st.booleans())
def test_any_bytes_are_some_kind_or_a_format_error(beginning, rest, packed):
    data = beginning + rest
    found = outcome(gzip.compress(data) if packed else data)
    if isinstance(found, FormatError):
        assert str(found).isprintable()
    else:
        assert found
        assert set(found) <= set(KINDS) or len(found) == 1
        assert str(refusal(found[0], "x", data)).isprintable()


@pytest.mark.parametrize("seed", range(20))
def test_damaged_profiles_and_gzip_streams(seed):
    noise = random.Random(seed)
    data = bytearray(gzip.compress(PROFILE * 50, compresslevel=0))
    for _ in range(200):
        data[noise.randrange(2, len(data))] = noise.randrange(256)
        found = outcome(bytes(data))
        if isinstance(found, FormatError):
            assert str(found).startswith("x: ")
        else:
            assert set(found) <= set(KINDS) | set(Foreign)
